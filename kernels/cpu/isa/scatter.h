/* The stage scatter of a wave: the parts of ice_end_bounce(), each as a loop over photons.
 *
 * Ice that is the same in all directions needs one loop. In birefringent or anisotropic ice,
 * separate loops move the photons to the ends of their segments, and stretch their directions
 * before and after the scatter.
 */
#ifndef ICS_KERNELS_CPU_ISA_SCATTER_H
#define ICS_KERNELS_CPU_ISA_SCATTER_H

#include "kernels/cpu/isa/propagate.h"

/* ---- to the ends of the segments ------------------------------------------------------------- */

/* The loops that move photons also change the column `height`, which holds the height of the end of
 * the segment from here on. */
static void ics_advance_straight(const ics_wave *wave, const float *heights)
{
    const ics_wave w = *wave;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const float length = w.length[i];
        ice_photon photon = ics_load_photon(&w, i);
        w.height[i] = fmaf(length, photon.dz, heights[i]);
        ice_advance(&photon, length);
        ics_store_position(&w, i, &photon);
    }
}

/* Stores the integrals of the diffusion and of the mean deflection in the columns `depth` and
 * `factor`, which are free by now. */
ICE_FN void ics_find_birefringence_with(const ice_tables *tables, const ics_wave *wave,
                                        const float *heights, uint32_t features)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.features = features;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const float length = w.length[i];
        const ice_photon photon = ics_load_photon(&w, i);
        const ice_birefringence_sum along =
            ice_birefringence_along(&t, &photon, heights[i], length);
        w.depth[i] = along.diffusion;
        w.factor[i] = along.mean;
    }
}

static void ics_find_birefringence(const ice_tables *tables, const ics_wave *wave,
                                   const float *heights)
{
    if (ICE_HAS(tables, ICE_HAS_MEAN_BIREFRINGENCE)) {
        ics_find_birefringence_with(tables, wave, heights, ICE_HAS_MEAN_BIREFRINGENCE);
    } else {
        ics_find_birefringence_with(tables, wave, heights, 0);
    }
}

static void ics_draw_deflections(const ice_tables *tables, const ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        ice_random random = {w.random[i]};
        const ice_normal g = ice_draw_deflection(&t, &random);
        w.scratch_a[i] = g.a;
        w.scratch_b[i] = g.b;
        w.scratch_c[i] = g.c;
        w.scratch_d[i] = g.d;
        w.random[i] = random.state;
    }
}

/* Moves one photon to the end of its segment and deflects it. In a separate function the
 * structures get no address within the loop, which would otherwise not be vectorised. */
ICE_FN void ics_advance_one_deflected(const ice_tables *tables, const ics_wave *wave, float height,
                                      uint32_t i)
{
    const ics_wave w = *wave;
    const float length = w.length[i];
    const ice_birefringence_sum along = {w.depth[i], w.factor[i]};
    const ice_normal g = {w.scratch_a[i], w.scratch_b[i], w.scratch_c[i], w.scratch_d[i]};
    ice_photon photon = ics_load_photon(&w, i);
    const ice_bent_segment bent = ice_bend(tables, ice_direction_of(&photon), along, length, g);
    w.height[i] = fmaf(length, photon.dz, height);
    ice_advance_bent(tables, &bent, length, &photon);
    ics_store_position(&w, i, &photon);
    ics_store_direction(&w, i, ice_direction_of(&photon));
}

static void ics_advance_deflected(const ice_tables *tables, const ics_wave *wave,
                                  const float *heights)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        ics_advance_one_deflected(&t, &w, heights[i], i);
    }
}

static void ics_advance(const ice_tables *tables, const ics_wave *wave)
{
    const float *heights = ics_heights(tables, wave);
    if (ICE_HAS(tables, ICE_HAS_BIREFRINGENCE)) {
        ics_find_birefringence(tables, wave, heights);
        ics_draw_deflections(tables, wave);
        ics_advance_deflected(tables, wave, heights);
    } else {
        ics_advance_straight(wave, heights);
    }
}

/* ---- new directions -------------------------------------------------------------------------- */

/* Stretches one direction. `row` is in the tables, and is not copied, because a loop with a copy
 * would not be vectorised. */
ICE_FN void ics_stretch_one(const ice_anisotropy_row *row, const ics_wave *wave, uint32_t i,
                            bool is_out)
{
    const ice_direction n = {wave->dx[i], wave->dy[i], wave->dz[i]};
    ics_store_direction(wave, i, is_out ? ice_stretch_out(row, n) : ice_stretch_in(row, n));
}

ICE_FN void ics_stretch_with(const ice_tables *tables, const ics_wave *wave, bool is_out)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    if (ICE_HAS(&t, ICE_HAS_EVEN_ANISOTROPY)) {
        ICS_VECTOR_LOOP
        for (uint32_t i = 0; i < w.count; ++i) {
            ics_stretch_one(&t.even_anisotropy, &w, i, is_out);
        }
        return;
    }
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        ics_stretch_one(&t.anisotropy[ice_layer_at(&t, w.height[i])], &w, i, is_out);
    }
}

static void ics_stretch_in(const ice_tables *tables, const ics_wave *wave)
{
    ics_stretch_with(tables, wave, false);
}

static void ics_stretch_out(const ice_tables *tables, const ics_wave *wave)
{
    ics_stretch_with(tables, wave, true);
}

/* Scatters the photons. If `advances` is true, they are still at the starts of their segments, and
 * the loop also moves them. If `is_stretched` is true, ics_stretch_out() follows, so that the
 * directions need not have length 1. The callers pass constants, so that there is one loop for each
 * case. */
ICE_FN void ics_scatter_with(ice_variant variant, bool advances, bool is_stretched,
                             const ice_tables *tables, const ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    const ice_scatter_constants constants = t.scatter;
    const int32_t keeps_length = is_stretched ? 0 : 1;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const uint32_t fate = w.fate[i];
        ice_photon photon = ics_load_photon(&w, i);
        const ice_bounce bounce = ics_load_bounce(&t, &w, i);
        if (advances) {
            ice_advance(&photon, bounce.length);
            ics_store_position(&w, i, &photon);
        }
        ice_random random = {w.random[i]};
        const ice_scatter_draw draw = ice_draw_scatter(&random);
        ics_store_direction(&w, i,
                            ice_scatter_direction(variant, &constants, draw,
                                                  ice_direction_of(&photon), keeps_length));
        w.random[i] = random.state;
        w.fate[i] = ice_fate_at_end(fate, bounce.leaves_world, bounce.absorption, bounce.is_last);
        w.scatters[i] = photon.scatters + 1;
    }
}

/* Computes the stage in ice with columns of hole ice, photon by photon. */
static void ics_scatter_in_holes(ice_variant variant, const ice_tables *tables,
                                 const ics_wave *wave)
{
    const ics_wave w = *wave;
    const float *heights = ics_heights(tables, wave);
    for (uint32_t i = 0; i < w.count; ++i) {
        ice_photon photon = ics_load_photon(&w, i);
        ice_bounce bounce = ics_load_bounce(tables, &w, i);
        bounce.height = heights[i];
        ice_find_birefringence(tables, &photon, &bounce);
        ice_random random = {w.random[i]};
        ice_site site;
        ice_end_bounce(variant, tables, &bounce, &photon, &random, &w.fate[i], &site);
        w.random[i] = random.state;
        ics_store_photon(&w, i, &photon);
    }
}

#endif
