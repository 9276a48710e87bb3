/* What the replay of hits sums along a path in an ice: its probability, and what it has gone
 * through in every layer.
 *
 * The CPU (pipeline/photons/replay) and the GPU (kernels/cuda/device/replay.h) call the same
 * functions with the points of stages/path_walk.h, so that their sums have the same bits. Before a
 * kernel includes this file, it defines where points go, as for that one.
 */
#ifndef ICS_STAGES_PATH_ICE_H
#define ICS_STAGES_PATH_ICE_H

#include "stages/path_sum.h"
#include "stages/path_walk.h"

#define ICE_PUT_PIECE(sink, layer, scattering, absorption)                                         \
    ice_layer_sums_add((ice_layer_sums *)(sink), layer, scattering, absorption)
#include "stages/path_weight.h"

/* An ice. */
typedef struct ice_path_ice {
    const ice_tables *tables;
    ice_variant scatter;
    int32_t is_own;       /* 1: the ice in which the photon flies */
    int32_t needs_angles; /* 0: the densities of the angles of this ice are not wanted */
} ice_path_ice;

ICE_FN ice_path_state ice_path_begin(const ice_path_ice *ice, float wavelength)
{
    ice_path_state state;
    state.sum = ice_path_sum_begin();
    state.angles = ice_path_sum_begin();
    state.limit = (double)ICE_INFINITY;
    state.optics = ice_layer_optics_at(ice->tables, wavelength);
    return state;
}

/* Returns the segment of a point. In the own ice its height is known. */
ICE_FN ice_path_segment ice_path_segment_at(const ice_path_ice *ice, const ice_path_state *state,
                                            const ice_path_point *point)
{
    const ice_photon *begin = point->begin;
    const float height =
        ice->is_own ? point->height : ice_height(ice->tables, begin->x, begin->y, begin->z);
    const ice_path_segment segment = {begin->x, begin->y, height, ice_direction_of(begin),
                                      state->optics};
    return segment;
}

/* Adds the scatter at the end of a segment. `sums` and `by_angle` may be 0. */
ICE_FN void ice_path_add_scatter(const ice_path_ice *ice, ice_path_state *state,
                                 const ice_path_point *point, ice_layer_sums *sums,
                                 ice_angle_sums *by_angle)
{
    const ice_path_segment segment = ice_path_segment_at(ice, state, point);
    const ice_path_depth depth =
        ice_path_depth_of(ice->tables, &segment, (double)point->length, sums);
    ice_path_sum_add(&state->sum, &depth);
    ice_path_sum_multiply(&state->sum, depth.density);
    if (sums != NULL) {
        ice_layer_sum_of(sums, depth.layer)->scatters += 1;
    }
    if (ice->needs_angles) {
        ice_photon end = *point->begin;
        end.x = point->x;
        end.y = point->y;
        end.z = point->z;
        end.dx = point->dx;
        end.dy = point->dy;
        end.dz = point->dz;
        ice_density angle;
        const float end_height = fmaf(point->length, point->begin->dz, segment.height);
        ice_path_sum_multiply(
            &state->angles,
            ice_path_scatter(ice->scatter, ice->tables, end_height, point->arriving, &end, &angle));
        if (by_angle != NULL) {
            if (ICE_HAS(ice->tables, ICE_HAS_HOLES) &&
                ice_in_hole(ice->tables, point->x, point->y)) {
                by_angle->column_mean_cosine += angle.by_mean_cosine;
                by_angle->column_mixture += angle.by_mixture;
            } else {
                by_angle->mean_cosine += angle.by_mean_cosine;
                by_angle->mixture += angle.by_mixture;
            }
        }
    }
}

/* Returns the sum of an ice up to a hit or to an entry that was not reached. `sums` gets the
 * pieces, and may be 0. */
ICE_FN ice_path_sum ice_path_sum_at(const ice_path_ice *ice, const ice_path_state *state,
                                    const ice_path_point *point, ice_layer_sums *sums)
{
    const ice_photon *begin = point->begin;
    const ice_path_segment segment = ice_path_segment_at(ice, state, point);
    const int32_t beyond =
        ICE_HAS(ice->tables, ICE_HAS_ENTRIES) && point->distance > point->length ? 1 : 0;
    const float length = point->distance < point->length ? point->distance : point->length;
    const ice_path_depth depth = ice_path_depth_of(ice->tables, &segment, (double)length, sums);
    ice_path_sum sum = state->sum;
    ice_path_sum_add(&sum, &depth);
    if (beyond) {
        const ice_contact_search search = {
            begin->x, begin->y, begin->z, ice_direction_of(begin), point->length, -1.0f, 0};
        const float beyond_end = point->distance - point->length;
        const double cost =
            (double)(beyond_end * ice_absorption_beyond(ice->tables, &search, begin->wavelength));
        sum.absorption += cost;
        ice_path_sum_multiply(&sum, depth.density);
        if (sums != NULL) {
            ice_layer_sum *layer = ice_layer_sum_of(sums, depth.layer);
            layer->scatters += 1;
            layer->absorption_depth += cost;
        }
    }
    return sum;
}

/* The same with all that a weight needs. */
ICE_FN ice_path_end ice_path_end_at(const ice_path_ice *ice, const ice_path_state *state,
                                    const ice_path_point *point, ice_layer_sums *sums)
{
    ice_path_end end;
    end.sum = ice_path_sum_at(ice, state, point, sums);
    end.angles = state->angles;
    end.limit = state->limit;
    return end;
}

/* Takes an entry that was not reached: the limit becomes the depth of its impact, if that is less.
 */
ICE_FN void ice_path_add_unreached(const ice_path_ice *ice, ice_path_state *state,
                                   const ice_path_point *point)
{
    const double limit = ice_path_sum_at(ice, state, point, 0).absorption;
    state->limit = limit < state->limit ? limit : state->limit;
}

#endif
