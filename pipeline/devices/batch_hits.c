/* Making the hits of a computed batch from its arrivals. */
#include "base/memory.h"
#include "pipeline/devices/batch.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>

int ics_batch_hit_from_arrival(const ics_hit_models *models, const ics_batch *batch,
                               const ice_arrival *arrival, icestream_hit *out,
                               icestream_error *error)
{
    const uint32_t index = ice_arrival_module(arrival);
    if (arrival->emission >= batch->count || index >= models->detector->module_count) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "internal error: an arrival names emission %u of %u, module %u of %zu",
                             arrival->emission, batch->count, index,
                             models->detector->module_count);
    }
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

static int make_hits(ics_batch *batch, const ics_hit_models *models, const ics_arrivals *arrivals,
                     icestream_error *error)
{
    size_t count = arrivals->count;
    if (count == 0) {
        return ICESTREAM_OK;
    }
    icestream_hit *hits = ics_memory_large(count * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu hits", count);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; status == ICESTREAM_OK && i < count; ++i) {
        status = ics_batch_hit_from_arrival(models, batch, &arrivals->items[i], &hits[i], error);
    }
    if (status == ICESTREAM_OK && models->detection != NULL) {
        status =
            ics_hit_detection_apply(models, batch, arrivals, hits, &count, &batch->account, error);
    }
    if (status != ICESTREAM_OK) {
        free(hits);
        return status;
    }
    if (models->bins.width == 0) {
        ics_hit_sort(hits, count);
        for (size_t i = 0; i < count; ++i) {
            ics_weight_sum_add(&batch->weights, &hits[i]);
        }
    }
    batch->hits = hits;
    batch->hit_count = count;
    return ICESTREAM_OK;
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
    int status = make_hits(batch, models, sorted.items != NULL ? &sorted : arrivals, &error);
    ics_graph_arrivals_free(&sorted);
    if (status == ICESTREAM_OK) {
        const uint64_t rows = batch->hit_count + ics_batch_sums_hits(batch);
        status = ics_batch_account_check(&batch->account, batch->photons, rows, &error);
    }
    if (status == ICESTREAM_OK && models->bins.width > 0) {
        ics_batch_sums_make(batch, models, &error);
    }
    ics_error_keep(&batch->error, &error);
}
