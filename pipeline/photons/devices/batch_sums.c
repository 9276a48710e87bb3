/* The sums of a batch: those that its hits become, and those that a GPU made. */
#include "pipeline/photons/devices/batch.h"

#include <inttypes.h>
#include <stdlib.h>

uint64_t ics_batch_sums_hits(const ics_batch *batch)
{
    uint64_t hits = 0;
    for (size_t i = 0; i < batch->sums.count; ++i) {
        hits += batch->sums.items[i].hits;
    }
    return hits;
}

/* Turns a sum that a GPU made into one of the host. */
static int convert(const ics_batch *batch, const ics_hit_models *models, const ics_hit_sum *from,
                   ics_bin_sum *out, icestream_error *error)
{
    if (from->emission >= batch->count || from->module >= models->detector->module_count) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "internal error: a sum of hits names emission %u of %u, module %u of "
                             "%zu",
                             from->emission, batch->count, from->module,
                             models->detector->module_count);
    }
    const ice_module *module = &models->detector->modules[from->module];
    *out = (ics_bin_sum){.event_id = batch->steps[from->emission].event_id,
                         .bin = (double)from->bin,
                         .hits = from->hits,
                         .mantissa = from->mantissa,
                         .exponent = from->exponent,
                         .string = module->string,
                         .module = module->module};
    return ICESTREAM_OK;
}

/* Appends the sums of the GPU to those in batch->hits, which has room for them. */
static int append_sums(ics_batch *batch, const ics_hit_models *models, icestream_error *error)
{
    void *rows = batch->hits;
    ics_bin_sum *sums = rows;
    for (size_t i = 0; i < batch->sums.count; ++i) {
        const ics_hit_sum *from = &batch->sums.items[i];
        if (from->exponent < ICE_WEIGHT_CLASSES) { /* else hits outside the range */
            ICS_TRY(convert(batch, models, from, &sums[batch->hit_count], error));
            ++batch->hit_count;
        }
    }
    batch->hit_count = ics_hit_bins_unite(sums, batch->hit_count);
    return ICESTREAM_OK;
}

/* Gives batch->hits a size for `count` sums; the memory may stay larger. */
static int resize(ics_batch *batch, size_t count, icestream_error *error)
{
    icestream_hit *sized = count > 0 ? realloc(batch->hits, count * sizeof *sized) : NULL;
    if (count > batch->hit_count && sized == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu sums of hits",
                             count);
    }
    batch->hits = sized != NULL ? sized : batch->hits;
    return ICESTREAM_OK;
}

int ics_batch_sums_make(ics_batch *batch, const ics_hit_models *models, icestream_error *error)
{
    ICS_TRY(ics_hit_bins_replace(&models->bins, batch->hits, &batch->hit_count, error));
    if (batch->sums.count > 0) {
        ICS_TRY(resize(batch, batch->hit_count + batch->sums.count, error));
        ICS_TRY(append_sums(batch, models, error));
    }
    return resize(batch, batch->hit_count, error);
}
