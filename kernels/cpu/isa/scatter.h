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
    if (tables->features & ICE_HAS_MEAN_BIREFRINGENCE) {
        ics_find_birefringence_with(tables, wave, heights, ICE_HAS_MEAN_BIREFRINGENCE);
    } else {
        ics_find_birefringence_with(tables, wave, heights, 0);
    }
}

static void ics_advance_deflected(const ice_tables *tables, const ics_wave *wave,
                                  const float *heights)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    for (uint32_t i = 0; i < w.count; ++i) {
        const float length = w.length[i];
        ice_photon photon = ics_load_photon(&w, i);
        const ice_birefringence_sum along = {w.depth[i], w.factor[i]};
        const ice_normal g = {w.normal_a[i], w.normal_b[i], w.normal_c[i], w.normal_d[i]};
        const ice_deflected more =
            ice_deflection_by(&t, ice_direction_of(&photon), along, length, g);
        w.height[i] = fmaf(length, photon.dz, heights[i]);
        ice_advance(&photon, length);
        ice_add_deflection(&t, &more, &photon);
        ics_store_position(&w, i, &photon);
        ics_store_direction(&w, i, ice_direction_of(&photon));
    }
}

static void ics_advance(const ice_tables *tables, const ics_wave *wave)
{
    const float *heights = ics_heights(tables, wave);
    if (tables->features & ICE_HAS_BIREFRINGENCE) {
        ics_find_birefringence(tables, wave, heights);
        ics_advance_deflected(tables, wave, heights);
    } else {
        ics_advance_straight(wave, heights);
    }
}

/* ---- new directions -------------------------------------------------------------------------- */

ICE_FN void ics_stretch_with(const ice_tables *tables, const ics_wave *wave, bool is_out)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    /* The rows of the layers exist also if all are equal; with them there is one loop for both. */
    t.features &= ~(uint32_t)ICE_HAS_EVEN_ANISOTROPY;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const ice_anisotropy_row row = ice_anisotropy_at(&t, w.height[i]);
        const ice_direction n = {w.dx[i], w.dy[i], w.dz[i]};
        ics_store_direction(&w, i, is_out ? ice_stretch_out(&row, n) : ice_stretch_in(&row, n));
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
 * the loop also moves them. The callers pass constants, so that there is one loop for each case. */
ICE_FN void ics_scatter_with(ice_variant variant, bool advances, const ice_tables *tables,
                             const ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    const ice_scatter_constants constants = t.scatter;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const uint32_t fate = w.fate[i];
        ice_photon photon = ics_load_photon(&w, i);
        const ice_bounce bounce = ics_load_bounce(&t, &w, i);
        if (advances) {
            ice_advance(&photon, bounce.length);
            ics_store_position(&w, i, &photon);
        }
        ics_store_direction(&w, i,
                            ice_scatter_direction(variant, &constants, bounce.draw.angle,
                                                  bounce.draw.azimuth, ice_direction_of(&photon)));
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
        bounce.draw = ics_draw_of(tables, &w, i);
        ice_end_bounce(variant, tables, &bounce, &photon, &w.fate[i]);
        ics_store_photon(&w, i, &photon);
    }
}

#endif
