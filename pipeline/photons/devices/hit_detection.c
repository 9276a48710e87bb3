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

typedef struct detection_verdict {
    bool detected;
    int16_t pmt;   /* number of the PMT that detects it */
    float transit; /* ns, how long its signal takes through the PMT */
} detection_verdict;

/* Finds the PMT that detects an arrival, and the time of its transit. */
static void find_pmt(const ics_hit_models *models, const ice_arrival *arrival,
                     ice_identity identity, uint32_t block, detection_verdict *out)
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

/* Decides whether the photon of one arrival is detected. */
static int decide(const ics_hit_models *models, const ics_batch *batch, const ice_arrival *arrival,
                  detection_verdict *out, icestream_error *error)
{
    const ice_detection *tables = &models->detection->tables;
    const uint32_t index = ice_arrival_module(arrival);
    if (index >= tables->module_count) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "internal error: an arrival names module %u of %u", index,
                             tables->module_count);
    }
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
    *out = (detection_verdict){.detected = (double)number < probability};
    if (out->detected) {
        find_pmt(models, arrival, identity,
                 ice_detection_block(arrival->scatters, module->string, module->module), out);
    }
    return ICESTREAM_OK;
}

int ics_hit_detection_apply(const ics_hit_models *models, const ics_batch *batch,
                            const ics_arrivals *arrivals, icestream_hit *hits, size_t *count,
                            icestream_account *account, icestream_error *error)
{
    const ics_hit_content content = models->detection->content;
    size_t kept = 0;
    for (size_t i = 0; i < *count; ++i) {
        detection_verdict verdict = {0}; /* gcc does not see that decide() fills it */
        ICS_TRY(decide(models, batch, &arrivals->items[i], &verdict, error));
        account->photo_electrons += verdict.detected;
        if (content == ICS_CONTENT_PE && !verdict.detected) {
            account->undetected++;
            continue;
        }
        icestream_hit *hit = &hits[kept++];
        *hit = hits[i];
        if (verdict.detected && content != ICS_CONTENT_PHOTONS) {
            hit->pmt = verdict.pmt;
            hit->t += (double)verdict.transit;
        }
        if (content == ICS_CONTENT_PE) {
            hit->weight = (float)ics_batch_thinning(models->light,
                                                    &batch->steps[arrivals->items[i].emission]);
        }
    }
    *count = kept;
    return ICESTREAM_OK;
}
