/* The constants for which the kernels of a run are compiled, one row each, in the common subset of
 * C11 and CUDA C. kernels/cuda/specialise.c defines GPU_SPECIAL_NAME for every row in front of the
 * sources of the kernels. Values of the ice and the seed are not among them, so that a cached
 * program serves all runs with the same features and sizes.
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
    ROW(FEATURES, features)                                                                        \
    ROW(TILT_ROWS, tilt.depth_rows)                                                                \
    ROW(TILT_U, tilt.nodes_u)                                                                      \
    ROW(TILT_V, tilt.nodes_v)                                                                      \
    ROW(TILT_CLAMP, tilt.clamp)

/* ROW(NAME, member of ics_special_options) */
#define GPU_SPECIAL_OPTIONS(ROW)                                                                   \
    ROW(BLOCK, block)                                                                              \
    ROW(BLOCKS, blocks_per_processor)                                                              \
    ROW(BOUNCES, bounces_per_wave)                                                                 \
    ROW(REFILL, refill)                                                                            \
    ROW(PROFILES, light_profiles)                                                                  \
    ROW(START_SHIFT, start_shift)

/* With histograms of photons (stages/histograms/photon_histogram.h) there are these definitions,
 * too:
 *
 *   GPU_SPECIAL_PHOTON_CELLS       cells of all histograms
 *   GPU_SPECIAL_PHOTON_EDGES       the edges of all histograms with commas between them
 *   GPU_SPECIAL_PHOTONS(ROW)       ROW(quantity, bins, first cell, first edge) of each of them that
 *                                  counts photons at their end
 *   GPU_SPECIAL_SEGMENTS(ROW)      ROW(quantity, bins, first cell, first edge, in a row) of each of
 *                                  them that counts segments; not defined if there is none. `in a
 *                                  row` is 1: its edges are whole numbers in a row
 *   GPU_SPECIAL_CANDIDATES         1: one counts candidates; not defined if there is none
 *   GPU_SPECIAL_PHOTON_WAYS        1: one needs more of a photon than its bounces; 0: none does
 *
 * Without histograms none of them is defined, and no kernel has an instruction for them. */

#endif
