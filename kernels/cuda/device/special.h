/* The constants for which the kernels of a run are compiled, one row each, in the common subset of
 * C11 and CUDA C. kernels/cuda/specialise.c defines GPU_SPECIAL_NAME for every row in front of the
 * sources of the kernels. The coefficients of the layers and the seed are not among them, so that
 * a cached program serves many runs.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_SPECIAL_H
#define ICS_KERNELS_CUDA_DEVICE_SPECIAL_H

/* ROW(NAME, member of ice_variants) */
#define GPU_SPECIAL_VARIANTS(ROW)                                                                  \
    ROW(CREATE, create)                                                                            \
    ROW(PROPAGATE, propagate)                                                                      \
    ROW(COLLIDE, collide)                                                                          \
    ROW(SCATTER, scatter)

/* ROW(NAME, member of ice_tables) */
#define GPU_SPECIAL_TABLES(ROW)                                                                    \
    ROW(LAYERS, layer_count)                                                                       \
    ROW(SPECTRA, spectrum_count)                                                                   \
    ROW(CLEARANCE_NX, clearance_nx)                                                                \
    ROW(CLEARANCE_NY, clearance_ny)                                                                \
    ROW(AXIS_MASK, axis_mask)                                                                      \
    ROW(KEEP_HIT_PHOTONS, keep_hit_photons)                                                        \
    ROW(REACH_CULL, reach_cull)                                                                    \
    ROW(BOUNDED, bounded)                                                                          \
    ROW(BOUNCE_LIMIT, bounce_limit)                                                                \
    ROW(FEATURES, features)                                                                        \
    ROW(TILT_ROWS, tilt.depth_rows)                                                                \
    ROW(TILT_U, tilt.nodes_u)                                                                      \
    ROW(TILT_V, tilt.nodes_v)                                                                      \
    ROW(TILT_CLAMP, tilt.clamp)

/* ROW(member of ice_tables): the numbers that kernels read at every bounce. As constants they are
 * part of the instructions; as parameters each of them would be one more instruction, a tenth
 * of a bounce in all. kernels/cuda/specialise.c defines GPU_SPECIAL_NUMBERS(ROW), which is
 * ROW(member, bits of the number) for each of them. */
#define GPU_CONSTANT_NUMBERS(ROW)                                                                  \
    ROW(bottom)                                                                                    \
    ROW(thickness)                                                                                 \
    ROW(inverse_thickness)                                                                         \
    ROW(layer_of_zero)                                                                             \
    ROW(absorb_above)                                                                              \
    ROW(absorb_below)                                                                              \
    GPU_SCATTER_NUMBERS(ROW, scatter)                                                              \
    ROW(tilt.inverse_depth_step)                                                                   \
    ROW(tilt.depth_of_zero)                                                                        \
    ROW(tilt.ux)                                                                                   \
    ROW(tilt.uy)                                                                                   \
    ROW(tilt.u_of_zero)                                                                            \
    ROW(tilt.vx)                                                                                   \
    ROW(tilt.vy)                                                                                   \
    ROW(tilt.v_of_zero)                                                                            \
    ROW(tilt.cut_u)                                                                                \
    ROW(tilt.cut_v)                                                                                \
    ROW(tilt.image.inverse_width)                                                                  \
    ROW(tilt.image.column_of_zero)                                                                 \
    ROW(tilt.image.unit)                                                                           \
    ROW(tilt.known_along)                                                                          \
    ROW(tilt.known_z)                                                                              \
    ROW(tilt.known_half_along)                                                                     \
    ROW(tilt.known_half_z)                                                                         \
    ROW(tilt.known_distance)                                                                       \
    GPU_STRETCHING_NUMBERS(ROW, even_anisotropy.to)                                                \
    GPU_STRETCHING_NUMBERS(ROW, even_anisotropy.back)                                              \
    GPU_FORM_NUMBERS(ROW, even_absorption.narrow)                                                  \
    GPU_FORM_NUMBERS(ROW, even_absorption.wide)                                                    \
    GPU_FORM_NUMBERS(ROW, absorption_form)                                                         \
    ROW(absorption_exponent)                                                                       \
    ROW(flow_x)                                                                                    \
    ROW(flow_y)                                                                                    \
    ROW(hole.radius)                                                                               \
    ROW(hole.scattering_length)                                                                    \
    ROW(hole.absorption_length)                                                                    \
    ROW(hole.margin)                                                                               \
    ROW(hole.absorption)                                                                           \
    GPU_SCATTER_NUMBERS(ROW, hole.scatter)                                                         \
    ROW(middle)                                                                                    \
    ROW(half_height)                                                                               \
    ROW(others_step)                                                                               \
    ROW(others_less)                                                                               \
    ROW(axis_radius)                                                                               \
    ROW(near_scale)                                                                                \
    ROW(near_others)                                                                               \
    ROW(near_radius)                                                                               \
    ROW(cable_reach)                                                                               \
    ROW(clearance_inverse_cell)                                                                    \
    ROW(clearance_of_zero_x)                                                                       \
    ROW(clearance_of_zero_y)

#define GPU_SCATTER_NUMBERS(ROW, scatter)                                                          \
    ROW(scatter.g)                                                                                 \
    ROW(scatter.one_minus_g_squared)                                                               \
    ROW(scatter.liu_exponent)                                                                      \
    ROW(scatter.liu_fraction)                                                                      \
    ROW(scatter.inverse_liu)                                                                       \
    ROW(scatter.inverse_henyey)                                                                    \
    ROW(scatter.parameters[0])                                                                     \
    ROW(scatter.parameters[1])                                                                     \
    ROW(scatter.parameters[2])                                                                     \
    ROW(scatter.parameters[3])

#define GPU_STRETCHING_NUMBERS(ROW, stretching)                                                    \
    ROW(stretching.xx)                                                                             \
    ROW(stretching.xy)                                                                             \
    ROW(stretching.yy)

#define GPU_FORM_NUMBERS(ROW, form)                                                                \
    ROW(form.across)                                                                               \
    ROW(form.along)                                                                                \
    ROW(form.up)

/* ROW(NAME, member of ics_special_options) */
#define GPU_SPECIAL_OPTIONS(ROW)                                                                   \
    ROW(BLOCK, block)                                                                              \
    ROW(BLOCKS, blocks_per_processor)                                                              \
    ROW(BOUNCES, bounces_per_wave)                                                                 \
    ROW(REFILL, refill)                                                                            \
    ROW(PROFILES, light_profiles)                                                                  \
    ROW(START_SHIFT, start_shift)                                                                  \
    ROW(COLUMNS, columns)                                                                          \
    ROW(COUNTS_AT_ONCE, counts_at_once)

/* With histograms of photons of at most ICE_PHOTON_BINS bins
 * (stages/histograms/photon_histogram.h) there are these definitions, too:
 *
 *   GPU_SPECIAL_PHOTON_CELLS       cells of all histograms
 *   GPU_SPECIAL_PHOTON_EDGES       the edges of all histograms with commas between them
 *   GPU_SPECIAL_PHOTONS(ROW)       ROW(quantity, bins, first cell, first edge) of each of them that
 *                                  counts photons at their end
 *   GPU_SPECIAL_SEGMENTS(ROW)      ROW(quantity, bins, first cell, first edge, in a row) of each of
 *                                  them that counts segments; not defined if there is none. `in a
 *                                  row` is 1: its edges are whole numbers in a row
 *   GPU_SPECIAL_CANDIDATES         1: one counts candidates; not defined if there is none
 *
 * With histograms of photons of more bins (stages/histograms/large_histogram.h):
 *
 *   GPU_SPECIAL_LARGE_CELLS        cells of all of them
 *   GPU_SPECIAL_LARGE(ROW)         ROW(quantity, bins, first cell, first word, shift, word of the
 *                                  first edge, word of the last edge) of each of them
 *
 * With both kinds:
 *
 *   GPU_SPECIAL_PHOTON_WAYS        1: one needs more of a photon than its bounces; 0: none does
 *
 * Without histograms none of them is defined, and no kernel has an instruction for them. */

#endif
