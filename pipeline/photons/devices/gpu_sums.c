#include "pipeline/photons/devices/gpu_sums.h"

#include "physics/detect/arrival_time.h"

#include <stdio.h>
#include <stdlib.h>

/* Why the host makes the sums from the hits of all batches; NULL: it does not have to. */
static const char *find_obstacle(const ics_hit_models *models)
{
    if (models->detection != NULL) {
        return "stages.detect decides on the host which hits are photo-electrons";
    }
    return getenv("ICESTREAM_GPU_HOST_SUMS") != NULL
               ? "the environment variable ICESTREAM_GPU_HOST_SUMS asks for it"
               : NULL;
}

bool ics_device_gpu_sums_wanted(const ics_hit_models *models)
{
    return models->bins.width > 0 && find_obstacle(models) == NULL;
}

const char *ics_device_gpu_sums_text(const ics_hit_models *models,
                                     char text[ICS_DEVICE_GPU_SUMS_TEXT])
{
    const char *obstacle = find_obstacle(models);
    snprintf(text, ICS_DEVICE_GPU_SUMS_TEXT, "waveforms: the %s makes the sums of hits%s%s",
             obstacle == NULL ? "GPU" : "host", obstacle == NULL ? "" : ", because ",
             obstacle == NULL ? "" : obstacle);
    return text;
}

ics_hit_sum_rule ics_device_gpu_sums_rule(const ics_hit_models *models)
{
    return (ics_hit_sum_rule){.bins = models->bins,
                              .oversize = models->detector->oversize,
                              .bias_wavelength = models->light->bias_wavelength,
                              .bias = models->light->bias,
                              .bias_count = (uint32_t)models->light->bias_count,
                              .modules = (uint32_t)models->detector->module_count};
}

bool ics_device_gpu_sums_steps(const ics_hit_models *models, const ics_batch *batch,
                               ics_hit_sum_step *steps)
{
    for (uint32_t i = 0; i < batch->count; ++i) {
        const icestream_step *step = &batch->steps[i];
        const bool same = i > 0 && batch->steps[i - 1].event_id == step->event_id;
        if (ice_emission_has_pulse(&batch->emissions[i]) ||
            ics_batch_check_light(models->light, step, NULL) != ICESTREAM_OK) {
            return false;
        }
        steps[i] = (ics_hit_sum_step){.kept = (double)step->weight *
                                              ics_batch_thinning(models->light, step),
                                      .t = step->t,
                                      .event = same ? steps[i - 1].event : i};
    }
    return true;
}
