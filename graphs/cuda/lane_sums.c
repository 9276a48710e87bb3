/* Sums of the hits of a launch, made on the device (kernels/cuda/hit_sums.h).
 *
 * The sums follow the kernels of a launch in the compute stream of its lane, because the lane has
 * the processors that its kernels have just left. Every launch makes sums of only its hits, so a
 * full hit buffer needs no care: the host adds up the sums of all launches of a batch.
 */
#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/lane.h"

#include <stdlib.h>

int ics_lane_rule_upload(const ics_gpu_options *options, ics_hit_sum_rule *out, void **memory,
                         uint64_t *bytes, icestream_error *error)
{
    *out = (ics_hit_sum_rule){.modules = 1};
    if (options->sums == NULL) {
        return ICESTREAM_OK;
    }
    const ics_hit_sum_rule *from = options->sums;
    const size_t size = from->bias_count * sizeof(double);
    *out = *from;
    if (size == 0) {
        return ICESTREAM_OK;
    }
    CUDA_TRY(options->ordinal, error, cudaMalloc(memory, 2 * size));
    double *values = *memory;
    out->bias_wavelength = values;
    out->bias = values + from->bias_count;
    CUDA_TRY(options->ordinal, error,
             cudaMemcpy(values, from->bias_wavelength, size, cudaMemcpyHostToDevice));
    CUDA_TRY(options->ordinal, error,
             cudaMemcpy(values + from->bias_count, from->bias, size, cudaMemcpyHostToDevice));
    *bytes += 2 * size;
    return ICESTREAM_OK;
}

static ics_hit_sum_layout layout_of(const ics_lane *lane)
{
    const uint32_t shift = ics_settings_start_shift(lane->options);
    return (ics_hit_sum_layout){.shift = shift,
                                .emissions = ICS_LANE_BATCHES << shift,
                                .module_bits = ics_hit_sum_bits(lane->sums.rule.modules - 1)};
}

int ics_lane_sums_enqueue(ics_lane *lane, ics_lane_launch *launch, icestream_error *error)
{
    const ics_hit_sum_work work = {.hits = launch->hits,
                                   .count = &lane->memory.progress->hits,
                                   .capacity = lane->options->hits,
                                   .layout = layout_of(lane),
                                   .emissions = lane->memory.emissions,
                                   .steps = lane->sums.steps,
                                   .keys = launch->keys,
                                   .totals = launch->totals,
                                   .report = lane->sums.report,
                                   .temporary = lane->sums.memory,
                                   .bytes = lane->sums.bytes};
    CUDA_TRY(lane->ordinal, error,
             (cudaError_t)ics_hit_sums_make(lane->compute, &lane->tables, &lane->sums.rule, &work));
    CUDA_TRY(lane->ordinal, error,
             cudaMemcpyAsync(&launch->report->sums, lane->sums.report, sizeof launch->report->sums,
                             cudaMemcpyDeviceToHost, lane->compute));
    return ICESTREAM_OK;
}

/* Where the totals lie in the pinned memory of a launch: behind the keys. Both together take less
 * than the hits. */
static ics_hit_sum_key *keys_of(const ics_lane_launch *launch)
{
    void *memory = launch->download;
    return memory;
}

static ics_hit_sum_total *totals_of(const ics_lane_launch *launch)
{
    void *memory = keys_of(launch) + launch->count;
    return memory;
}

_Static_assert(sizeof(ics_hit_sum_key) + sizeof(ics_hit_sum_total) <= sizeof(ice_arrival),
               "the sums of a launch fit where its hits do");

int ics_lane_sums_download(ics_lane *lane, ics_lane_launch *launch, icestream_error *error)
{
    const size_t key_bytes = launch->count * sizeof *launch->keys;
    const size_t total_bytes = launch->count * sizeof *launch->totals;
    CUDA_TRY(lane->ordinal, error,
             cudaMemcpyAsync(keys_of(launch), launch->keys, key_bytes, cudaMemcpyDeviceToHost,
                             lane->download));
    CUDA_TRY(lane->ordinal, error,
             cudaMemcpyAsync(totals_of(launch), launch->totals, total_bytes, cudaMemcpyDeviceToHost,
                             lane->download));
    lane->downloaded_bytes += key_bytes + total_bytes;
    return ICESTREAM_OK;
}

/* Makes room for one more sum; `more`: how many may follow. */
static int reserve(ics_hit_sums *sums, size_t more, icestream_error *error)
{
    if (sums->count < sums->capacity) {
        return ICESTREAM_OK;
    }
    const size_t capacity = sums->capacity + sums->capacity / 2 + more;
    ics_hit_sum *items = realloc(sums->items, capacity * sizeof *items);
    if (items == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu sums of hits",
                             capacity);
    }
    sums->items = items;
    sums->capacity = capacity;
    return ICESTREAM_OK;
}

int ics_lane_sums_add(ics_lane *lane, const ics_lane_launch *launch, icestream_error *error)
{
    const ics_hit_sum_layout layout = layout_of(lane);
    const uint32_t mask = (1u << layout.shift) - 1;
    for (uint32_t i = 0; i < launch->count; ++i) {
        ics_hit_sum sum;
        if (!ics_hit_sum_read(&layout, &keys_of(launch)[i], &totals_of(launch)[i], &sum)) {
            continue;
        }
        const uint32_t index = sum.emission >> layout.shift;
        if (index >= ICS_LANE_BATCHES || !ics_lane_launch_knows(launch, lane, index)) {
            return ics_error_set(error, ICESTREAM_E_FAILED,
                                 "GPU %d: internal error: a sum of hits names index %u of the "
                                 "queue, which holds no batch",
                                 lane->ordinal, index);
        }
        ics_hit_sums *sums = &lane->queue.batches[index].result.sums;
        ICS_TRY(reserve(sums, launch->count - i, error));
        sum.emission &= mask;
        sums->items[sums->count++] = sum;
    }
    return ICESTREAM_OK;
}
