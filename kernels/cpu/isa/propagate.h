/* The stage propagate of a wave: the parts of ice_start_bounce(), each as a loop over photons. */
#ifndef ICS_KERNELS_CPU_ISA_PROPAGATE_H
#define ICS_KERNELS_CPU_ISA_PROPAGATE_H

#include "kernels/cpu/isa/columns.h"

/* ---- random numbers, heights, reach ---------------------------------------------------------- */

/* Draws the scattering depths of the segments. */
static void ics_draw_depths(const ics_wave *wave)
{
    const ics_wave w = *wave;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const ice_random random = {w.random[i]};
        w.depth[i] = ice_depth_of(random);
    }
}

/* Computes the heights of the photons among tilted layers. */
static void ics_find_heights(const ice_tables *tables, const ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    if (ICE_HAS(&t, ICE_HAS_TILT_MAP)) {
        for (uint32_t i = 0; i < w.count; ++i) {
            w.height[i] = ice_height(&t, w.x[i], w.y[i], w.z[i]);
        }
        return;
    }
    /* First the position among the stations. The stretches are added in the order of
     * ice_tilt_position(), so that the sums are equal. */
    for (uint32_t i = 0; i < w.count; ++i) {
        w.height[i] = 0.0f;
    }
    for (int32_t k = 0; k < t.tilt.nodes_u - 1; ++k) {
        const ice_tilt_stretch stretch = t.tilt.stretches[k];
        ICS_VECTOR_LOOP
        for (uint32_t i = 0; i < w.count; ++i) {
            w.height[i] +=
                ice_tilt_share(&t.tilt, stretch, k, ice_tilt_coordinate(&t.tilt, w.x[i], w.y[i]));
        }
    }
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        w.height[i] = w.z[i] - ice_shift_in_cell(&t.tilt, w.height[i], w.z[i]);
    }
}

/* Ends photons that cannot reach a module any more, and sets the column `distance`. `features` is a
 * constant, so that the loop has only what the bound of this ice needs. */
ICE_FN void ics_drop_with(const ice_tables *tables, const ics_wave *wave, const float *heights,
                          uint32_t features)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.features = features;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const float height = heights[i];
        const ice_photon photon = ics_load_photon(&w, i);
        ice_optics optics = ics_load_optics(&w, i);
        optics.clearest = ice_clearest_cost(&t, optics);
        const float distance =
            ice_least_distance(&t, ice_clearance(&t, photon.x, photon.y), photon.z);
        w.distance[i] = distance;
        w.fate[i] = ice_is_dropped(&t, &photon, distance, height, optics) ? ICE_LEFT : ICE_ALIVE;
    }
}

static void ics_drop(const ice_tables *tables, const ics_wave *wave, const float *heights)
{
    const uint32_t features = ICE_HAS(tables, ICE_HAS_TILT | ICE_HAS_HOLES);
    if (features == 0) {
        ics_drop_with(tables, wave, heights, 0);
    } else if (features == ICE_HAS_TILT_LINE) {
        ics_drop_with(tables, wave, heights, ICE_HAS_TILT_LINE);
    } else {
        ics_drop_with(tables, wave, heights, features);
    }
}

/* ---- segments -------------------------------------------------------------------------------- */

ICE_FN ice_segment_start ics_load_start(const ics_wave *wave, const float *heights, uint32_t i)
{
    const ice_photon photon = ics_load_photon(wave, i);
    return ice_segment_start_of(&photon, heights[i], wave->depth[i], ics_load_optics(wave, i));
}

/* Divides the absorption depths by the factors of the direction, for ice in which absorption
 * depends on direction. `features` is a constant, so that the loop contains only the kinds of
 * anisotropy that the ice has. */
ICE_FN void ics_scale_absorption_with(const ice_tables *tables, const ics_wave *wave,
                                      const float *heights, uint32_t features)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.features = features;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const ice_direction n = {w.dx[i], w.dy[i], w.dz[i]};
        const ice_absorption_factor factor = ice_absorption_factor_along(&t, heights[i], n);
        w.factor[i] = factor.factor;
        w.absorption[i] *= factor.inverse;
    }
}

static void ics_scale_absorption(const ice_tables *tables, const ics_wave *wave,
                                 const float *heights)
{
    const uint32_t features = ICE_HAS(tables, ICE_HAS_DIRECTIONS);
    if (features == ICE_HAS_ABSORPTION_ANISOTROPY) {
        ics_scale_absorption_with(tables, wave, heights, ICE_HAS_ABSORPTION_ANISOTROPY);
    } else if (features == ICE_HAS_OLD_ABSORPTION_ANISOTROPY) {
        ics_scale_absorption_with(tables, wave, heights, ICE_HAS_OLD_ABSORPTION_ANISOTROPY);
    } else {
        ics_scale_absorption_with(tables, wave, heights, ICE_HAS_DIRECTIONS);
    }
}

/* Multiplies the absorption depths by the factors again. */
static void ics_unscale_absorption(const ics_wave *wave)
{
    const ics_wave w = *wave;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        w.absorption[i] *= w.factor[i];
    }
}

/* Finds the segments photon by photon: in ice with columns of hole ice, and if the variant decides
 * about every segment. */
static void ics_find_segments_singly(ice_variant variant, const ice_tables *tables,
                                     const ics_wave *wave, const float *heights)
{
    const ics_wave w = *wave;
    for (uint32_t i = 0; i < w.count; ++i) {
        if (w.fate[i] != ICE_ALIVE) {
            continue;
        }
        const ice_photon photon = ics_load_photon(&w, i);
        const ice_segment segment =
            ice_find_segment(variant, tables, ics_load_start(&w, heights, i), &photon,
                             ice_clearance(tables, photon.x, photon.y));
        w.length[i] = segment.length;
        w.absorption[i] = segment.absorption;
    }
}

/* Finds the segments that end in the layer after the first one, of photons queue[0] .. queue[count
 * - 1]. Returns the number of the others, which are at the front of the queue then. */
static uint32_t ics_find_segments_in_next_layer(const ice_tables *tables, const ics_wave *wave,
                                                const float *heights, uint32_t count)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < count; ++k) {
        const int32_t i = (int32_t)w.queue[k]; /* gathers take indices with a sign */
        const ice_optics optics = {w.optics_scattering[i], w.optics_dust[i], w.optics_ice[i], 0.0f};
        const ice_segment_start start = {heights[i], w.dz[i], w.depth[i], w.absorption[i], optics};
        ice_passage passage = ice_pass_first_layer(&t, start);
        const int32_t ends = ice_pass_layer(&t, optics, &passage);
        w.scratch_a[k] = passage.segment.length;
        w.scratch_b[k] = ice_select(ends, passage.segment.absorption, -1.0f);
    }
    uint32_t queued = 0;
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t i = w.queue[k];
        const bool ends = !(w.scratch_b[k] < 0.0f);
        w.queue[queued] = i;
        queued += ends ? 0 : 1;
        /* The length of a segment that goes on is computed again. No branch, which would often be
         * predicted wrongly. */
        w.length[i] = w.scratch_a[k];
        w.absorption[i] = ends ? w.scratch_b[k] : w.absorption[i];
    }
    return queued;
}

/* Finds the segments in ice without columns. A vector loop computes every segment as if it ended in
 * its first layer. Segments that leave this layer are queued, and computed one by one. */
static void ics_find_segments(ice_variant variant, const ice_tables *tables, const ics_wave *wave,
                              const float *heights)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const float absorption = w.absorption[i];
        int32_t leaves;
        const ice_segment segment =
            ice_segment_in_layer(&t, ics_load_start(&w, heights, i), &leaves);
        w.length[i] = segment.length;
        /* A segment that leaves its layer keeps the depth at its start for the second loop. */
        w.absorption[i] = leaves ? absorption : segment.absorption;
        w.flags[i] = leaves && w.fate[i] == ICE_ALIVE ? ICS_FLAG_LEAVES_LAYER : 0;
    }
    uint32_t queued = ics_queue_flagged(&w, ICS_FLAG_LEAVES_LAYER);
    if (ICE_ONLY_propagate(variant) == ICE_propagate_cumulative) {
        queued = ics_find_segments_in_next_layer(&t, &w, heights, queued);
    }
    for (uint32_t k = 0; k < queued; ++k) {
        const uint32_t i = w.queue[k];
        const ice_segment segment =
            ice_propagate_beyond(variant, &t, ics_load_start(&w, heights, i));
        w.length[i] = segment.length;
        w.absorption[i] = segment.absorption;
    }
}

static void ics_propagate(ice_variant variant, const ice_tables *tables, ics_wave *wave)
{
    const float *heights = ics_heights(tables, wave);
    ics_draw_depths(wave);
    if (ICE_HAS(tables, ICE_HAS_TILT)) {
        ics_find_heights(tables, wave);
    }
    ics_drop(tables, wave, heights);
    if (ICE_HAS(tables, ICE_HAS_HOLES) || ice_propagates_all(variant)) {
        ics_find_segments_singly(variant, tables, wave, heights);
        return;
    }
    if (ICE_HAS(tables, ICE_HAS_DIRECTIONS)) {
        ics_scale_absorption(tables, wave, heights);
    }
    ics_find_segments(variant, tables, wave, heights);
    if (ICE_HAS(tables, ICE_HAS_DIRECTIONS)) {
        ics_unscale_absorption(wave);
    }
}

#endif
