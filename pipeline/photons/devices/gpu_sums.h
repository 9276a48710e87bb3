/* Sums of hits that a GPU makes (sink.hits: waveforms): where they are made, and what the GPU needs
 * for them (kernels/cuda/hit_sums.h).
 */
#ifndef ICS_PHOTONS_DEVICES_GPU_SUMS_H
#define ICS_PHOTONS_DEVICES_GPU_SUMS_H

#include "pipeline/photons/devices/batch.h"

/* Whether a GPU makes sums of hits, except those of batches whose steps have pulses. False also if
 * there shall be none. */
bool ics_device_gpu_sums_wanted(const ics_hit_models *models);
/* Writes where the sums of models with bins are made, and if the host makes them why: text for
 * people. Returns `text`. */
enum { ICS_DEVICE_GPU_SUMS_TEXT = 192 };
const char *ics_device_gpu_sums_text(const ics_hit_models *models,
                                     char text[ICS_DEVICE_GPU_SUMS_TEXT]);
/* Returns what the sums of a GPU are computed from. The models must outlive it. */
ics_hit_sum_rule ics_device_gpu_sums_rule(const ics_hit_models *models);
/* Fills steps[batch->count]. Returns false if the host must make the hits of the batch, because it
 * draws the times of pulses. */
bool ics_device_gpu_sums_steps(const ics_hit_models *models, const ics_batch *batch,
                               ics_hit_sum_step *steps);

#endif
