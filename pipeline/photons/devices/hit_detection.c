/* The detect stage: decides on the host which hits are photo-electrons (physics.md 3.2, 8.5). */
#include "base/error.h"
#include "pipeline/photons/devices/batch.h"

#include <inttypes.h>

/* A probability may exceed 1 by this much, because of rounding (physics.md 8.5). */
#define CERTAINTY_TOLERANCE 1e-4

double ics_batch_thinning(const ice_light *light, const icestream_step *step)
{
    return (step->flags & ICESTREAM_STEP_NOT_THINNED) != 0 ? light->kept[step->spectrum] : 1.0;
}

/* Finds the PMT that detects an arrival, and the time of its transit. */
static void find_pmt(const ics_hit_models *models, const ice_arrival *arrival,
                     ice_identity identity, uint32_t block, ics_detection_verdict *out)
{
    const ics_detection *detection = models->detection;
    const float share = ice_uniform(ice_draw_of(models->tables, identity, block).b);
    const int32_t pmt = detection->variant->pmt(&detection->tables, arrival, share);
    out->pmt = (int16_t)pmt;
    if (detection->tables.pmts != NULL) {
        const ice_pmt_tables *pmts = detection->tables.pmts;
        const ice_pmt_type *type = &pmts->types[pmts->modules[ice_arrival_module(arrival)].type];
        const ice_pmt_window *window = &pmts->windows[type->first + (uint32_t)pmt];
        out->transit = ice_pmt_transit_time(models->tables, pmts, window, identity, block);
    }
}

int ics_hit_detection_decide(const ics_hit_models *models, ics_batch *batch,
                             const ice_arrival *arrival, ics_detection_verdict *out,
                             icestream_error *error)
{
    const ice_detection *tables = &models->detection->tables;
    ICS_TRY(ics_batch_check_arrival(models, batch, arrival, error));
    const uint32_t index = ice_arrival_module(arrival);
    const icestream_step *step = &batch->steps[arrival->emission];
    const ice_module *module = &models->detector->modules[index];
    const double probability =
        (double)step->weight * (double)models->detection->variant->probability(tables, arrival);
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
    const bool is_detected = (double)number < probability;
    *out = (ics_detection_verdict){.is_detected = is_detected,
                                   .is_kept =
                                       is_detected || models->detection->content != ICS_CONTENT_PE};
    if (is_detected) {
        find_pmt(models, arrival, identity,
                 ice_detection_block(arrival->scatters, module->string, module->module), out);
    }
    batch->account.photo_electrons += is_detected;
    batch->account.undetected += !out->is_kept;
    return ICESTREAM_OK;
}

void ics_hit_detection_mark(const ics_hit_models *models, const icestream_step *step,
                            const ics_detection_verdict *verdict, icestream_hit *hit)
{
    const ics_hit_content content = models->detection->content;
    if (verdict->is_detected && content != ICS_CONTENT_PHOTONS) {
        hit->pmt = verdict->pmt;
        hit->t += (double)verdict->transit;
    }
    if (content == ICS_CONTENT_PE) {
        hit->weight = (float)ics_batch_thinning(models->light, step);
    }
}
