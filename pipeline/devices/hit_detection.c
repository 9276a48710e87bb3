/* The detect stage: decides on the host which hits are photo-electrons (physics.md 3.2, 8.5). */
#include "base/error.h"
#include "physics/detect/detect_pe.h"
#include "pipeline/devices/batch.h"

#include <inttypes.h>

/* A probability may exceed 1 by this much, because of rounding (physics.md 8.5). */
#define CERTAINTY_TOLERANCE 1e-4

/* Decides whether the photon of one arrival is detected. */
static int decide(const ics_hit_models *models, const ics_batch *batch, const ice_arrival *arrival,
                  bool *detected, icestream_error *error)
{
    const ice_detection *tables = &models->detection->tables;
    if (arrival->module >= tables->module_count) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "internal error: an arrival names module %u of %u", arrival->module,
                             tables->module_count);
    }
    const icestream_step *step = &batch->steps[arrival->emission];
    const ice_module *module = &models->detector->modules[arrival->module];
    const double probability = (double)step->weight * (double)ice_detect_pe(tables, arrival);
    if (!(probability <= 1.0 + CERTAINTY_TOLERANCE)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "event %" PRIu64
                             ", step %u, field weight: found %g, with which photon "
                             "%u is detected by string %u, module %u with a probability of %g, "
                             "expected at most 1; such steps need stages.detect: none",
                             step->event_id, step->step_id, (double)step->weight,
                             arrival->photon_id, module->string, module->module, probability);
    }
    const ice_identity identity =
        ice_identity_of(&batch->emissions[arrival->emission], arrival->photon_id);
    const float number = ice_detection_number(models->tables, identity, arrival->scatters,
                                              module->string, module->module);
    *detected = (double)number < probability;
    return ICESTREAM_OK;
}

int ics_hit_detection_apply(const ics_hit_models *models, const ics_batch *batch,
                            const ics_arrivals *arrivals, icestream_hit *hits, size_t *count,
                            icestream_account *account, icestream_error *error)
{
    const ics_hit_content content = models->detection->content;
    size_t kept = 0;
    for (size_t i = 0; i < *count; ++i) {
        bool detected = false;
        const int status = decide(models, batch, &arrivals->items[i], &detected, error);
        if (status != ICESTREAM_OK) {
            return status;
        }
        account->photo_electrons += detected;
        if (content == ICS_CONTENT_PE && !detected) {
            account->undetected++;
            continue;
        }
        icestream_hit *hit = &hits[kept++];
        *hit = hits[i];
        if (detected && content != ICS_CONTENT_PHOTONS) {
            hit->pmt = 0;
        }
        if (content == ICS_CONTENT_PE) {
            hit->weight = (float)ics_batch_thinning(models->light,
                                                    &batch->steps[arrivals->items[i].emission]);
        }
    }
    *count = kept;
    return ICESTREAM_OK;
}
