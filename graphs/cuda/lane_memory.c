/* The memory of a lane: what lies on the device, and the pinned staging on the host. */
#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/lane.h"

#include <stdlib.h>
#include <string.h>

/* ---- columns of the pool --------------------------------------------------------------------- */

/* A row of ICS_POOL_COLUMNS. */
typedef struct column {
    size_t member;   /* offset of its pointer in ics_lane_memory */
    uint32_t needed; /* the bit of the schedules that have it; 0: all have it */
    uint32_t bytes;  /* bytes for every `slots` slots */
    uint32_t slots;
    int fill; /* value of every byte in a new lane; ICS_ANY_FILL: it does not matter */
    bool in_cache;
} column;

#define ROW(type, name, entries, slots, needed, fill, in_cache)                                    \
    {offsetof(ics_lane_memory, name), needed, (entries) * sizeof(type), slots, fill, in_cache},
static const column columns[] = {ICS_POOL_COLUMNS(ROW, ICS_EACH_COLUMN)};
#undef ROW
enum { COLUMNS = sizeof columns / sizeof *columns };

static bool has_column(const ics_lane *lane, const column *one)
{
    return one->needed == 0 || (one->needed & lane->schedule->columns) != 0;
}

static uint64_t bytes_of(const column *one, uint32_t capacity)
{
    return (uint64_t)capacity / one->slots * one->bytes;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Hands out pieces of a block of memory; with block NULL it only counts. */
typedef struct arena {
    char *block;
    uint64_t used;
} arena;

static void *reserve(arena *from, uint64_t bytes)
{
    void *piece = from->block != NULL ? from->block + from->used : NULL;
    from->used += (bytes + 255) / 256 * 256;
    return piece;
}

static uint32_t start_count(const ics_gpu_options *options)
{
    return options->batch_photons / ICS_START_STRIDE + 2;
}

static void lay_out_columns_of(ics_lane *lane, arena *from, bool in_cache)
{
    for (const column *one = columns; one < columns + COLUMNS; ++one) {
        if (one->in_cache == in_cache && has_column(lane, one)) {
            void *piece = reserve(from, bytes_of(one, lane->memory.capacity));
            memcpy((char *)&lane->memory + one->member, &piece, sizeof piece);
        }
    }
}

/* The columns that the cache should keep lie together. */
static void lay_out_columns(ics_lane *lane, arena *from)
{
    const uint64_t before = from->used;
    lay_out_columns_of(lane, from, true);
    lane->loop.window.num_bytes = from->used - before;
    lane->loop.window.base_ptr = lane->memory.position;
    lay_out_columns_of(lane, from, false);
}

/* `planned`: the device may be missing. The size of a compaction is an estimate then: CUB keeps a
 * key and an index, twice, and little else. */
static int lay_out_compaction(ics_lane *lane, arena *from, bool planned)
{
    const uint64_t capacity = lane->memory.capacity;
    const int result =
        ics_lane_compact_bytes(lane->options, &lane->tables, &lane->loop.compact_bytes);
    if (result != cudaSuccess && !planned) {
        return ICESTREAM_E_FAILED;
    }
    if (result != cudaSuccess) {
        lane->loop.compact_bytes = capacity * 16;
    }
    lane->loop.compact_memory = reserve(from, lane->loop.compact_bytes);
    if (lane->options->sort != ICS_SORT_NONE) {
#define SPARE(type, name, ...) lane->loop.spare.name = reserve(from, capacity * sizeof(type));
        ICS_MOVED_COLUMNS(SPARE)
#undef SPARE
        lane->loop.spare.capacity = lane->memory.capacity;
    }
    return ICESTREAM_OK;
}

/* The memory of sums of hits. `planned`: as above; CUB needs little besides keys and values. */
static int lay_out_sums(ics_lane *lane, arena *from, bool planned)
{
    const uint64_t ring = (uint64_t)ICS_LANE_BATCHES << ics_settings_start_shift(lane->options);
    const uint32_t capacity = lane->options->hits;
    const int result = ics_hit_sums_bytes(capacity, &lane->sums.bytes);
    if (result != cudaSuccess && !planned) {
        return ICESTREAM_E_FAILED;
    }
    lane->sums.steps = reserve(from, ring * sizeof *lane->sums.steps);
    lane->sums.report = reserve(from, sizeof *lane->sums.report);
    lane->sums.memory = reserve(from, lane->sums.bytes);
    for (int i = 0; i < ICS_LANE_LAUNCHES; ++i) {
        lane->ring.launches[i].keys = reserve(from, capacity * sizeof(ics_hit_sum_key));
        lane->ring.launches[i].totals = reserve(from, capacity * sizeof(ics_hit_sum_total));
    }
    return ICESTREAM_OK;
}

/* Lays out all device memory of a lane; no other function does. `plan`: NULL, or where to add the
 * bytes of each part. */
static int lay_out(ics_lane *lane, arena *from, ics_gpu_plan *plan)
{
    const ics_gpu_options *options = lane->options;
    const uint64_t ring = (uint64_t)ICS_LANE_BATCHES << ics_settings_start_shift(options);
    ics_lane_memory *memory = &lane->memory;
    const uint64_t begin = from->used;

    memory->capacity = ics_settings_lane_slots(options);
    memory->start_count = start_count(options);
    lay_out_columns(lane, from);
    if (lane->schedule->compacts) {
        ICS_TRY(lay_out_compaction(lane, from, plan != NULL));
    }
    if (lane->schedule->loops) {
        lane->loop.clock = reserve(from, sizeof *lane->loop.clock);
    }
    memory->progress = reserve(from, sizeof(ics_launch_progress));
    memory->shares = reserve(from, ICS_SHARES * sizeof(ics_share));
    memory->launch = reserve(from, sizeof(ics_launch));
    if (ics_lane_photon_bytes(options) > 0) {
        memory->photon_cells =
            reserve(from, ics_lane_photon_bytes(options) + ics_lane_copy_bytes(options) +
                              ics_large_axes_words(&options->large) * sizeof(uint32_t));
    }
    const uint64_t after_pool = from->used;

    memory->emissions = reserve(from, ring * sizeof(ice_emission));
    memory->offsets = reserve(from, ring * sizeof(uint32_t));
    memory->starts =
        reserve(from, (uint64_t)ICS_LANE_BATCHES * memory->start_count * sizeof(uint32_t));
    const uint64_t after_queue = from->used;

    for (int i = 0; i < ICS_LANE_LAUNCHES; ++i) {
        lane->ring.launches[i].hits = reserve(from, (uint64_t)options->hits * sizeof(ice_arrival));
    }
    if (options->sums != NULL) {
        ICS_TRY(lay_out_sums(lane, from, plan != NULL));
    }
    if (plan != NULL) {
        plan->pool_bytes += after_pool - begin;
        plan->queue_bytes += after_queue - after_pool;
        plan->hit_bytes += from->used - after_queue;
    }
    return ICESTREAM_OK;
}

uint64_t ics_lane_bytes(const ics_gpu_options *options, const ice_tables *tables,
                        ics_gpu_plan *plan)
{
    ics_lane lane = {
        .options = options, .schedule = ics_schedule_row(options->schedule), .tables = *tables};
    arena counter = {0};
    if (lay_out(&lane, &counter, plan) != ICESTREAM_OK) {
        return 0;
    }
    if (plan != NULL) {
        plan->staging_bytes += (uint64_t)ICS_LANE_BATCHES *
                                   (options->batch_emissions *
                                        (sizeof(ice_emission) + sizeof(uint32_t) +
                                         (options->sums != NULL ? sizeof(ics_hit_sum_step) : 0)) +
                                    start_count(options) * sizeof(uint32_t)) +
                               (uint64_t)ICS_LANE_LAUNCHES * (options->hits * sizeof(ice_arrival) +
                                                              ics_lane_photon_bytes(options));
    }
    return counter.used;
}

/* ---- device memory --------------------------------------------------------------------------- */

/* Writes every byte once before a kernel reads it: slots are free, cursors name no step. */
static int clear_memory(ics_lane *lane, void *memory, uint64_t bytes, icestream_error *error)
{
    CUDA_TRY(lane->ordinal, error, cudaMemsetAsync(memory, 0, bytes, lane->compute));
    for (int i = 0; i < COLUMNS; ++i) {
        if (has_column(lane, &columns[i]) && columns[i].fill > 0) {
            void *piece;
            memcpy(&piece, (char *)&lane->memory + columns[i].member, sizeof piece);
            CUDA_TRY(lane->ordinal, error,
                     cudaMemsetAsync(piece, columns[i].fill,
                                     bytes_of(&columns[i], lane->memory.capacity), lane->compute));
        }
    }
    CUDA_TRY(lane->ordinal, error, cudaStreamSynchronize(lane->compute));
    return ICESTREAM_OK;
}

/* Copies the edges of histograms with many bins behind the counts of all histograms and their
 * copies. */
static int upload_words(ics_lane *lane, icestream_error *error)
{
    const ics_large_axes *axes = &lane->options->large;
    uint32_t *words = NULL;
    ICS_TRY(ics_large_axes_create_words(axes, &words, error));
    char *to = (char *)lane->memory.photon_cells + ics_lane_photon_bytes(lane->options) +
               ics_lane_copy_bytes(lane->options);
    cudaError_t result = cudaMemcpyAsync(to, words, ics_large_axes_words(axes) * sizeof *words,
                                         cudaMemcpyHostToDevice, lane->compute);
    result = result == cudaSuccess ? cudaStreamSynchronize(lane->compute) : result;
    free(words);
    CUDA_TRY(lane->ordinal, error, result);
    return ICESTREAM_OK;
}

int ics_lane_memory_prepare(ics_lane *lane, void *memory, icestream_error *error)
{
    arena from = {.block = memory};
    if (lay_out(lane, &from, NULL) != ICESTREAM_OK) {
        return ics_error_set(error, ICESTREAM_E_FAILED,
                             "GPU %d: cannot size a compaction or sums of hits", lane->ordinal);
    }
    ICS_TRY(clear_memory(lane, memory, from.used, error));
    return lane->options->large.count > 0 ? upload_words(lane, error) : ICESTREAM_OK;
}

/* ---- staging --------------------------------------------------------------------------------- */

/* Allocates pinned memory, and sets `pointer`, the address of a pointer, to it. Does nothing for 0
 * bytes. */
static int pin(const ics_lane *lane, void *pointer, size_t bytes, icestream_error *error)
{
    if (bytes > 0) {
        CUDA_TRY(lane->ordinal, error, cudaMallocHost((void **)pointer, bytes));
    }
    return ICESTREAM_OK;
}

int ics_lane_batch_stage(ics_lane *lane, ics_lane_batch *batch, icestream_error *error)
{
    const size_t steps = lane->options->batch_emissions;
    const size_t sums = lane->options->sums != NULL ? steps : 0;
    if (batch->starts != NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(pin(lane, &batch->emissions, steps * sizeof *batch->emissions, error));
    ICS_TRY(pin(lane, &batch->offsets, steps * sizeof *batch->offsets, error));
    ICS_TRY(pin(lane, &batch->steps, sums * sizeof *batch->steps, error));
    return pin(lane, &batch->starts, lane->memory.start_count * sizeof *batch->starts, error);
}

int ics_lane_staging_create(ics_lane *lane, icestream_error *error)
{
    const ics_gpu_options *options = lane->options;
    const int ordinal = lane->ordinal;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        CUDA_TRY(ordinal, error,
                 cudaEventCreateWithFlags(&lane->queue.batches[i].ready, cudaEventDisableTiming));
    }
    for (int i = 0; i < ICS_LANE_LAUNCHES; ++i) {
        ics_lane_launch *launch = &lane->ring.launches[i];
        ICS_TRY(pin(lane, &launch->order, sizeof *launch->order, error));
        ICS_TRY(pin(lane, &launch->report, sizeof *launch->report, error));
        ICS_TRY(pin(lane, &launch->photon_cells, ics_lane_photon_bytes(options), error));
        ICS_TRY(pin(lane, &launch->download, options->hits * sizeof *launch->download, error));
        CUDA_TRY(ordinal, error, cudaEventCreate(&launch->begun));
        CUDA_TRY(ordinal, error, cudaEventCreate(&launch->computed));
        CUDA_TRY(ordinal, error,
                 cudaEventCreateWithFlags(&launch->reported, cudaEventDisableTiming));
        CUDA_TRY(ordinal, error,
                 cudaEventCreateWithFlags(&launch->downloaded, cudaEventDisableTiming));
    }
    ICS_TRY(pin(lane, &lane->watch.snapshot, sizeof *lane->watch.snapshot, error));
    ICS_TRY(pin(lane, &lane->ring.whole, sizeof *lane->ring.whole, error));
    *lane->ring.whole = lane->memory.capacity;
    return pin(lane, &lane->loop.decision, sizeof *lane->loop.decision, error);
}

void ics_lane_staging_destroy(ics_lane *lane)
{
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        ics_lane_batch *batch = &lane->queue.batches[i];
        ics_graph_arrivals_free(&batch->result.arrivals);
        free(batch->result.sums.items);
        free(batch->result.large_cells);
        (void)cudaFreeHost(batch->steps);
        (void)cudaFreeHost(batch->emissions);
        (void)cudaFreeHost(batch->offsets);
        (void)cudaFreeHost(batch->starts);
        if (batch->ready != NULL) {
            (void)cudaEventDestroy(batch->ready);
        }
    }
    for (int i = 0; i < ICS_LANE_LAUNCHES; ++i) {
        ics_lane_launch *launch = &lane->ring.launches[i];
        (void)cudaFreeHost(launch->order);
        (void)cudaFreeHost(launch->report);
        (void)cudaFreeHost(launch->download);
        (void)cudaFreeHost(launch->photon_cells);
        cudaEvent_t events[] = {launch->begun, launch->computed, launch->reported,
                                launch->downloaded};
        for (int k = 0; k < 4; ++k) {
            if (events[k] != NULL) {
                (void)cudaEventDestroy(events[k]);
            }
        }
    }
    (void)cudaFreeHost(lane->watch.snapshot);
    (void)cudaFreeHost(lane->ring.whole);
    (void)cudaFreeHost(lane->loop.decision);
}
