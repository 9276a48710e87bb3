/* Making the hits of a computed batch from its arrivals, with their weights (physics.md 3.2). */
#include "base/cleanup.h"
#include "base/memory.h"
#include "physics/detect/arrival_time.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/models/light/curve.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>

double ics_batch_light_bias(const ice_light *light, double wavelength)
{
    const ics_curve bias = {
        .x = light->bias_wavelength, .y = light->bias, .count = light->bias_count};
    return bias.count > 0 ? ics_curve_at_or_end(&bias, wavelength) : 1.0;
}

int ics_batch_check_light(const ice_light *light, const icestream_step *step,
                          icestream_error *error)
{
    if (light->kept == NULL || light->kept[step->spectrum] > 0 ||
        (step->flags & ICESTREAM_STEP_NOT_THINNED) != 0) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "event %" PRIu64 ", step %u, field spectrum: found %u (%s), expected a "
                         "spectrum with light where light.acceptance is above 0",
                         step->event_id, step->step_id, step->spectrum,
                         light->spectra[step->spectrum].name);
}

double ics_batch_weight(const ics_hit_models *models, const icestream_step *step, double bias)
{
    return ice_hit_weight((double)step->weight * ics_batch_thinning(models->light, step), bias,
                          models->detector->oversize);
}

int ics_batch_hit_from_arrival(const ics_hit_models *models, const ics_batch *batch,
                               const ice_arrival *arrival, icestream_hit *out,
                               icestream_error *error)
{
    const uint32_t index = ice_arrival_module(arrival);
    ICS_TRY(ics_batch_check_arrival(models, batch, arrival, error));
    const icestream_step *step = &batch->steps[arrival->emission];
    const ice_emission *emission = &batch->emissions[arrival->emission];
    const ice_module *module = &models->detector->modules[index];
    double bias = ics_batch_light_bias(models->light, arrival->wavelength);
    double weight = ics_batch_weight(models, step, bias);
    ICS_TRY(ics_batch_check_light(models->light, step, error));
    if (!(bias > 0.0)) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "internal error: event %" PRIu64 ", step %u, photon %u arrived with "
                             "%.3f nm, where the bias is %g",
                             step->event_id, step->step_id, arrival->photon_id,
                             (double)arrival->wavelength, bias);
    }
    if (weight > (double)FLT_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "event %" PRIu64 ", step %u, field weight: found %g; divided by the "
                             "probability that its light was kept it exceeds %g, the largest "
                             "weight of a hit",
                             step->event_id, step->step_id, (double)step->weight, (double)FLT_MAX);
    }
    *out = (icestream_hit){
        .event_id = step->event_id,
        .t = step->t + ics_tables_arrival_delay(models->tables, emission, arrival),
        .x = arrival->x,
        .y = arrival->y,
        .z = arrival->z,
        .dx = arrival->dx,
        .dy = arrival->dy,
        .dz = arrival->dz,
        .wavelength = arrival->wavelength,
        .weight = (float)weight,
        .step_id = step->step_id,
        .photon_id = arrival->photon_id,
        .string = module->string,
        .module = module->module,
        .pmt = -1,
        .scatters = arrival->scatters < UINT16_MAX ? (uint16_t)arrival->scatters : UINT16_MAX,
    };
    return ICESTREAM_OK;
}

/* Makes the hit of an arrival as the detect stage wants it. Of many arrivals there is no row, so
 * the stage decides before. */
static int make_hit(ics_batch *batch, const ics_hit_models *models, const ice_arrival *arrival,
                    icestream_hit *out, bool *is_kept, icestream_error *error)
{
    ics_detection_verdict verdict = {.is_kept = true};
    if (models->detection != NULL) {
        ICS_TRY(ics_hit_detection_decide(models, batch, arrival, &verdict, error));
    }
    *is_kept = verdict.is_kept;
    if (!*is_kept) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_batch_hit_from_arrival(models, batch, arrival, out, error));
    if (models->detection != NULL) {
        ics_hit_detection_mark(models, &batch->steps[arrival->emission], &verdict, out);
    }
    return ICESTREAM_OK;
}

int ics_batch_repeat_hit(const ics_hit_models *models, ics_batch *batch, const ice_arrival *arrival,
                         icestream_hit *out, icestream_error *error)
{
    ics_detection_verdict verdict = {.is_kept = false};
    ICS_TRY(ics_batch_hit_from_arrival(models, batch, arrival, out, error));
    if (models->detection != NULL) {
        ICS_TRY(ics_hit_detection_decide(models, batch, arrival, &verdict, error));
    }
    if (verdict.is_kept) {
        ics_hit_detection_mark(models, &batch->steps[arrival->emission], &verdict, out);
    }
    return ICESTREAM_OK;
}

static int make_hits(ics_batch *batch, const ics_hit_models *models, const ics_arrivals *arrivals,
                     icestream_error *error)
{
    size_t count = 0;
    if (arrivals->count == 0) {
        return ICESTREAM_OK;
    }
    ICS_FREES icestream_hit *hits = ics_memory_large(arrivals->count * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu hits",
                             arrivals->count);
    }
    for (size_t i = 0; i < arrivals->count; ++i) {
        bool is_kept = true;
        ICS_TRY(make_hit(batch, models, &arrivals->items[i], &hits[count], &is_kept, error));
        count += is_kept;
    }
    if (models->bins.width == 0) {
        ics_hit_sort(hits, count);
        for (size_t i = 0; i < count; ++i) {
            ics_weight_sum_add(&batch->weights, &hits[i]);
        }
    }
    batch->hits = hits;
    batch->hit_count = count;
    hits = NULL;
    return ICESTREAM_OK;
}

/* Makes the hits, checks the account, and makes the sums of the hits if there shall be any. */
static int make_all(ics_batch *batch, const ics_hit_models *models, const ics_arrivals *arrivals,
                    icestream_error *error)
{
    ICS_TRY(make_hits(batch, models, arrivals, error));
    const uint64_t rows = batch->hit_count + ics_batch_sums_hits(batch);
    ICS_TRY(ics_batch_account_check(&batch->account, batch->photons, rows, error));
    return models->bins.width > 0 ? ics_batch_sums_make(batch, models, error) : ICESTREAM_OK;
}

void ics_batch_finish(ics_batch *batch, const ics_hit_models *models, const ice_account *account,
                      const ics_arrivals *arrivals)
{
    batch->weights = (ics_weight_sum){0};
    batch->account = (icestream_account){.created = account->created,
                                         .absorbed = account->absorbed,
                                         .detected = account->detected,
                                         .left = account->left,
                                         .stopped = account->stopped,
                                         .hits = account->hits,
                                         .bounces = account->bounces};
    /* Here, because several threads make hits, and only one gathers batches. */
    ics_light_levels_count(&batch->light, batch->steps, batch->emissions, batch->count);
    icestream_error error = {.status = ICESTREAM_OK};
    /* Sums do not depend on the order of the hits. */
    ics_arrivals sorted =
        models->bins.width > 0 ? (ics_arrivals){0} : ics_hit_sort_arrivals(batch, arrivals);
    make_all(batch, models, sorted.items != NULL ? &sorted : arrivals, &error);
    ics_graph_arrivals_free(&sorted);
    ics_error_keep(&batch->error, &error);
}
