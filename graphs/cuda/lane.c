#include "graphs/cuda/lane.h"

#include "graphs/cuda/check.h"

#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* Hands out pieces of a block of memory; with block NULL it only counts. */
typedef struct arena {
    char *block;
    uint64_t used;
} arena;

static void *take(arena *from, uint64_t bytes)
{
    void *piece = from->block != NULL ? from->block + from->used : NULL;
    from->used += (bytes + 255) / 256 * 256;
    return piece;
}

static uint32_t start_count(const ics_gpu_options *options)
{
    return options->batch_photons / ICS_START_STRIDE + 2;
}

/* The only place that says what a lane's device memory holds. */
static int lay_out(ics_lane *lane, arena *from, ics_gpu_plan *plan)
{
    const ics_gpu_options *options = lane->options;
    const uint32_t capacity = ics_schedule_lane_slots(options);
    const uint64_t ring = (uint64_t)ICS_LANE_BATCHES << ics_schedule_start_shift(options);
    const bool wavefront = options->schedule == ICS_SCHEDULE_WAVEFRONT;
    ics_lane_memory *memory = &lane->memory;
    uint64_t before = from->used;

    memory->capacity = capacity;
    memory->start_count = start_count(options);
    memory->position = take(from, (uint64_t)capacity * sizeof(ics_word));
    memory->direction = take(from, (uint64_t)capacity * sizeof(ics_word));
    memory->identity = take(from, (uint64_t)capacity * sizeof(ics_word));
    if (wavefront) {
        memory->segment = take(from, (uint64_t)capacity * sizeof(ics_word));
    }
    lane->window.base_ptr = memory->position;
    lane->window.num_bytes = from->used - before;
    memory->recorded = take(from, (uint64_t)capacity * sizeof(uint32_t));
    if (lane->schedule->loops) {
        memory->vacant = take(from, (uint64_t)capacity / 32 * sizeof(uint32_t));
    }
    if (options->schedule == ICS_SCHEDULE_FUSED) {
        memory->leftovers = take(from, (uint64_t)capacity / 32 * sizeof(ics_leftover));
    }
    if (wavefront) {
        memory->candidates = take(from, (uint64_t)capacity / 32 * sizeof(uint32_t));
    }
    if (lane->schedule->takes_steps) {
        memory->cursors = take(from, (uint64_t)capacity * 2 * sizeof(uint32_t));
    }
    if (lane->schedule->loops) {
        const int result = ics_lane_compact_bytes(options, &lane->tables, &lane->compact_bytes);
        if (result != cudaSuccess && plan == NULL) {
            return ICS_GRAPH_FAULT;
        }
        /* A plan for a device that is not here: CUB keeps a key and an index, twice, and little
         * else. */
        if (result != cudaSuccess) {
            lane->compact_bytes = (size_t)capacity * 16;
        }
        lane->compact_memory = take(from, lane->compact_bytes);
        if (options->sort != ICS_SORT_NONE) {
            for (int i = 0; i < 3; ++i) {
                lane->spare[i] = take(from, (uint64_t)capacity * sizeof(ics_word));
            }
            lane->spare_met = take(from, (uint64_t)capacity * sizeof(uint32_t));
        }
        lane->clock = take(from, (ICS_WAVE_STAGES + 1) * sizeof *lane->clock);
    }
    memory->progress = take(from, sizeof(ics_launch_progress));
    memory->shares = take(from, ICS_SHARES * sizeof(ics_share));
    memory->launch = take(from, sizeof(ics_launch));
    if (plan != NULL) {
        plan->pool_bytes += from->used - before;
    }

    before = from->used;
    memory->emissions = take(from, ring * sizeof(ice_emission));
    memory->offsets = take(from, ring * sizeof(uint32_t));
    memory->starts =
        take(from, (uint64_t)ICS_LANE_BATCHES * memory->start_count * sizeof(uint32_t));
    if (plan != NULL) {
        plan->queue_bytes += from->used - before;
    }

    before = from->used;
    for (int i = 0; i < ICS_LANE_LAUNCHES; ++i) {
        lane->launches[i].hits = take(from, (uint64_t)options->hits * sizeof(ice_arrival));
    }
    if (plan != NULL) {
        plan->hit_bytes += from->used - before;
    }
    return ICS_GRAPH_OK;
}

uint64_t ics_lane_bytes(const ics_gpu_options *options, const ice_tables *tables,
                        ics_gpu_plan *plan)
{
    ics_lane lane = {
        .options = options, .schedule = ics_schedule_row(options->schedule), .tables = *tables};
    arena counter = {0};
    if (lay_out(&lane, &counter, plan) != ICS_GRAPH_OK) {
        return 0;
    }
    if (plan != NULL) {
        plan->staging_bytes +=
            (uint64_t)ICS_LANE_BATCHES *
                (options->batch_emissions * (sizeof(ice_emission) + sizeof(uint32_t)) +
                 start_count(options) * sizeof(uint32_t)) +
            (uint64_t)ICS_LANE_LAUNCHES * options->hits * sizeof(ice_arrival);
    }
    return counter.used;
}

static int make_staging(ics_lane *lane, ics_gpu_error *error)
{
    const ics_gpu_options *options = lane->options;
    const int ordinal = lane->ordinal;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        ics_lane_batch *batch = &lane->batches[i];
        CUDA_TRY(ordinal, error,
                 cudaMallocHost((void **)&batch->emissions,
                                options->batch_emissions * sizeof *batch->emissions));
        CUDA_TRY(ordinal, error,
                 cudaMallocHost((void **)&batch->offsets,
                                options->batch_emissions * sizeof *batch->offsets));
        CUDA_TRY(ordinal, error,
                 cudaMallocHost((void **)&batch->starts,
                                lane->memory.start_count * sizeof *batch->starts));
        CUDA_TRY(ordinal, error, cudaEventCreateWithFlags(&batch->ready, cudaEventDisableTiming));
    }
    for (int i = 0; i < ICS_LANE_LAUNCHES; ++i) {
        ics_lane_launch *launch = &lane->launches[i];
        CUDA_TRY(ordinal, error, cudaMallocHost((void **)&launch->order, sizeof *launch->order));
        CUDA_TRY(ordinal, error, cudaMallocHost((void **)&launch->report, sizeof *launch->report));
        CUDA_TRY(
            ordinal, error,
            cudaMallocHost((void **)&launch->download, options->hits * sizeof *launch->download));
        CUDA_TRY(ordinal, error, cudaEventCreate(&launch->begun));
        CUDA_TRY(ordinal, error, cudaEventCreate(&launch->computed));
        CUDA_TRY(ordinal, error,
                 cudaEventCreateWithFlags(&launch->reported, cudaEventDisableTiming));
        CUDA_TRY(ordinal, error,
                 cudaEventCreateWithFlags(&launch->downloaded, cudaEventDisableTiming));
    }
    CUDA_TRY(ordinal, error, cudaMallocHost((void **)&lane->snapshot, sizeof *lane->snapshot));
    CUDA_TRY(ordinal, error, cudaMallocHost((void **)&lane->whole, sizeof *lane->whole));
    *lane->whole = lane->memory.capacity;
    CUDA_TRY(ordinal, error, cudaMallocHost((void **)&lane->decision, sizeof *lane->decision));
    return ICS_GRAPH_OK;
}

/* Every byte is written once before a kernel reads it; slots are free, cursors name no step. */
static int clear_memory(ics_lane *lane, void *memory, uint64_t bytes, ics_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    CUDA_TRY(ordinal, error, cudaMemsetAsync(memory, 0, bytes, lane->compute));
    CUDA_TRY(ordinal, error,
             cudaMemsetAsync(lane->memory.identity, 0xff, lane->memory.capacity * sizeof(ics_word),
                             lane->compute));
    if (lane->memory.vacant != NULL) {
        CUDA_TRY(ordinal, error,
                 cudaMemsetAsync(lane->memory.vacant, 0xff,
                                 lane->memory.capacity / 32 * sizeof(uint32_t), lane->compute));
    }
    if (lane->memory.cursors != NULL) {
        CUDA_TRY(ordinal, error,
                 cudaMemsetAsync(lane->memory.cursors, 0xff,
                                 (size_t)lane->memory.capacity * 2 * sizeof(uint32_t),
                                 lane->compute));
    }
    CUDA_TRY(ordinal, error, cudaStreamSynchronize(lane->compute));
    return ICS_GRAPH_OK;
}

/* The lane's part of what the device sets aside of its second level cache. A device that cannot
 * (old, or divided) works without. */
static void wish_for_cache(ics_lane *lane)
{
    int most = 0;
    size_t aside = 0;
    if (!lane->schedule->loops ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, lane->ordinal) !=
            cudaSuccess ||
        cudaDeviceGetLimit(&aside, cudaLimitPersistingL2CacheSize) != cudaSuccess || aside == 0 ||
        lane->window.num_bytes > (size_t)most) {
        lane->window.num_bytes = 0;
        (void)cudaGetLastError();
        return;
    }
    const double share = (double)aside / (double)(lane->window.num_bytes * lane->options->lanes);
    lane->window.hitRatio = share < 1.0 ? (float)share : 1.0f;
    lane->window.hitProp = cudaAccessPropertyPersisting;
    lane->window.missProp = cudaAccessPropertyStreaming;
}

int ics_lane_create(ics_lane *lane, const ics_gpu_options *options, const ice_tables *tables,
                    cudaLibrary_t library, void *memory, ics_gpu_error *error)
{
    const int ordinal = options->ordinal;
    lane->options = options;
    lane->schedule = ics_schedule_row(options->schedule);
    lane->ordinal = ordinal;
    lane->tables = *tables;
    arena from = {.block = memory};
    if (lay_out(lane, &from, NULL) != ICS_GRAPH_OK) {
        return ics_check_error_set(error, ICS_GRAPH_FAULT, "GPU %d: cannot size a compaction",
                                   ordinal);
    }
    CUDA_TRY(ordinal, error, cudaStreamCreateWithFlags(&lane->upload, cudaStreamNonBlocking));
    CUDA_TRY(ordinal, error, cudaStreamCreateWithFlags(&lane->compute, cudaStreamNonBlocking));
    CUDA_TRY(ordinal, error, cudaStreamCreateWithFlags(&lane->download, cudaStreamNonBlocking));
    int status = make_staging(lane, error);
    if (status == ICS_GRAPH_OK) {
        status = clear_memory(lane, memory, from.used, error);
    }
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    for (uint32_t i = 0; lane->schedule->kernels[i].name != NULL; ++i) {
        CUDA_TRY(ordinal, error,
                 cudaLibraryGetKernel(&lane->kernels[i], library, lane->schedule->kernels[i].name));
    }
    lane->grid = options->pool / options->lanes / options->block;
    wish_for_cache(lane);
    if (lane->schedule->loops) {
        CUDA_TRY(ordinal, error,
                 cudaLibraryGetKernel(&lane->mark_vacant, library, "gpu_mark_vacant"));
    }
    if (lane->schedule->loops) {
        if (options->profile) {
            CUDA_TRY(ordinal, error, cudaLibraryGetKernel(&lane->stamp, library, "gpu_stamp"));
        }
        nvtxRangePushA("build the loop");
        status = ics_lane_build_loop(lane, error);
        nvtxRangePop();
        return status;
    }
    return ICS_GRAPH_OK;
}

void ics_lane_destroy(ics_lane *lane)
{
    /* Results are of no interest: after a fault every call fails. */
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        ics_lane_batch *batch = &lane->batches[i];
        ics_graph_arrivals_free(&batch->result.arrivals);
        (void)cudaFreeHost(batch->emissions);
        (void)cudaFreeHost(batch->offsets);
        (void)cudaFreeHost(batch->starts);
        if (batch->ready != NULL) {
            (void)cudaEventDestroy(batch->ready);
        }
    }
    for (int i = 0; i < ICS_LANE_LAUNCHES; ++i) {
        ics_lane_launch *launch = &lane->launches[i];
        (void)cudaFreeHost(launch->order);
        (void)cudaFreeHost(launch->report);
        (void)cudaFreeHost(launch->download);
        cudaEvent_t events[] = {launch->begun, launch->computed, launch->reported,
                                launch->downloaded};
        for (int k = 0; k < 4; ++k) {
            if (events[k] != NULL) {
                (void)cudaEventDestroy(events[k]);
            }
        }
    }
    (void)cudaFreeHost(lane->snapshot);
    (void)cudaFreeHost(lane->whole);
    (void)cudaFreeHost(lane->decision);
    if (lane->loop != NULL) {
        (void)cudaGraphExecDestroy(lane->loop);
    }
    if (lane->graph != NULL) {
        (void)cudaGraphDestroy(lane->graph);
    }
    if (lane->compaction != NULL) {
        (void)cudaGraphExecDestroy(lane->compaction);
    }
    if (lane->compaction_graph != NULL) {
        (void)cudaGraphDestroy(lane->compaction_graph);
    }
    cudaStream_t streams[] = {lane->upload, lane->compute, lane->download};
    for (int k = 0; k < 3; ++k) {
        if (streams[k] != NULL) {
            (void)cudaStreamDestroy(streams[k]);
        }
    }
}

/* ---- batches --------------------------------------------------------------------------------- */

bool ics_lane_has_room(const ics_lane *lane)
{
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        if (!lane->batches[i].used) {
            return true;
        }
    }
    return false;
}

uint32_t ics_lane_load(const ics_lane *lane)
{
    uint32_t load = 0;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        load += lane->batches[i].used;
    }
    return load;
}

/* Where photons of the batch begin: emission by emission, and every ICS_START_STRIDE-th photon. */
static uint32_t index_batch(ics_lane_batch *batch)
{
    uint32_t starts = 0;
    uint64_t photons = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
        batch->offsets[i] = (uint32_t)photons;
        photons += batch->emissions[i].photons;
        while ((uint64_t)starts * ICS_START_STRIDE < photons) {
            batch->starts[starts++] = i;
        }
    }
    batch->starts[starts++] = batch->count - 1;
    batch->photons = photons;
    return starts;
}

static int upload(ics_lane *lane, uint32_t place, uint32_t starts, ics_gpu_error *error)
{
    const ics_lane_batch *batch = &lane->batches[place];
    const ics_lane_memory *memory = &lane->memory;
    const size_t base = (size_t)place << ics_schedule_start_shift(lane->options);
    const int ordinal = lane->ordinal;
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(memory->emissions + base, batch->emissions,
                             batch->count * sizeof(ice_emission), cudaMemcpyHostToDevice,
                             lane->upload));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(memory->offsets + base, batch->offsets,
                             batch->count * sizeof(uint32_t), cudaMemcpyHostToDevice,
                             lane->upload));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(memory->starts + (size_t)place * memory->start_count, batch->starts,
                             starts * sizeof(uint32_t), cudaMemcpyHostToDevice, lane->upload));
    CUDA_TRY(ordinal, error, cudaEventRecord(batch->ready, lane->upload));
    return ICS_GRAPH_OK;
}

int ics_lane_submit(ics_lane *lane, const ice_emission *emissions, uint32_t count, void *tag,
                    ics_gpu_error *error)
{
    uint32_t place = 0;
    while (lane->batches[place].used) {
        ++place;
    }
    ics_lane_batch *batch = &lane->batches[place];
    nvtxRangePushA("submit batch");
    memcpy(batch->emissions, emissions, count * sizeof *emissions);
    batch->count = count;
    const uint32_t starts = index_batch(batch);
    batch->queue =
        (ics_queue_batch){.first = lane->queue_end,
                          .size = lane->schedule->takes_steps ? count : (uint32_t)batch->photons,
                          .emissions = count};
    batch->serial = lane->queue_end + 1;
    batch->result = (ics_gpu_result){.tag = tag, .account = {.created = batch->photons}};
    const int status = upload(lane, place, starts, error);
    nvtxRangePop();
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    lane->queue_end += batch->queue.size;
    batch->used = batch->fresh = true;
    return ICS_GRAPH_OK;
}

/* All photons of the batch have come to their end. */
static bool is_complete(const ics_lane_batch *batch)
{
    const ice_account *account = &batch->result.account;
    return account->absorbed + account->detected + account->left + account->stopped ==
           account->created;
}

bool ics_lane_take(ics_lane *lane, ics_gpu_result *out)
{
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        ics_lane_batch *batch = &lane->batches[i];
        if (batch->used && !batch->fresh && is_complete(batch)) {
            *out = batch->result;
            batch->result = (ics_gpu_result){0};
            batch->used = false;
            return true;
        }
    }
    return false;
}

/* ---- launches -------------------------------------------------------------------------------- */

static ics_lane_launch *launch_at(ics_lane *lane, uint32_t number)
{
    return &lane->launches[(lane->first_launch + number) % ICS_LANE_LAUNCHES];
}

/* Tells the kernels of the batches, those that are new to them included, and starts them. */
static int start_launch(ics_lane *lane, bool drain, cudaHostFn_t wake, void *user,
                        ics_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    ics_lane_launch *launch = launch_at(lane, lane->launches_out);
    ics_launch_progress *progress = lane->memory.progress;
    *launch->order = (ics_launch){.end = lane->queue_end,
                                  .hits = launch->hits,
                                  .hit_capacity = lane->options->hits,
                                  .drain = drain};
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        ics_lane_batch *batch = &lane->batches[i];
        launch->holds[i] = batch->used ? batch->serial : 0;
        if (!batch->used) {
            continue;
        }
        launch->order->batches[i] = batch->queue;
        if (batch->fresh) {
            CUDA_TRY(ordinal, error, cudaStreamWaitEvent(lane->compute, batch->ready, 0));
            CUDA_TRY(ordinal, error,
                     cudaMemset2DAsync(&lane->memory.shares->batches[i], sizeof(ics_share), 0,
                                       sizeof(ics_batch_count), ICS_SHARES, lane->compute));
            batch->fresh = false;
        }
    }
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(lane->memory.launch, launch->order, sizeof *launch->order,
                             cudaMemcpyHostToDevice, lane->compute));
    CUDA_TRY(
        ordinal, error,
        cudaMemsetAsync(&progress->waves, 0,
                        offsetof(ics_launch_progress, alive) - offsetof(ics_launch_progress, waves),
                        lane->compute));
    CUDA_TRY(ordinal, error,
             cudaMemset2DAsync(&lane->memory.shares->stalled, sizeof(ics_share), 0,
                               sizeof(uint32_t), ICS_SHARES, lane->compute));
    if (!drain) { /* new steps need all slots */
        CUDA_TRY(ordinal, error,
                 cudaMemcpyAsync(&progress->slots, lane->whole, sizeof progress->slots,
                                 cudaMemcpyHostToDevice, lane->compute));
    }
    CUDA_TRY(ordinal, error, cudaEventRecord(launch->begun, lane->compute));
    nvtxRangePushA(ics_graph_schedule_name(lane->options->schedule));
    const int status = ics_lane_enqueue(lane, error);
    nvtxRangePop();
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    CUDA_TRY(ordinal, error, cudaEventRecord(launch->computed, lane->compute));
    /* Before the next launch changes it. */
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(&launch->report->progress, progress, sizeof *progress,
                             cudaMemcpyDeviceToHost, lane->compute));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(launch->report->shares, lane->memory.shares,
                             sizeof launch->report->shares, cudaMemcpyDeviceToHost, lane->compute));
    CUDA_TRY(ordinal, error, cudaEventRecord(launch->reported, lane->compute));
    CUDA_TRY(ordinal, error, cudaStreamWaitEvent(lane->download, launch->reported, 0));
    CUDA_TRY(ordinal, error, cudaLaunchHostFunc(lane->download, wake, user));
    launch->state = ICS_LAUNCH_COMPUTES;
    ++lane->launches_out;
    return ICS_GRAPH_OK;
}

/* 1: it has happened, 0: not yet, else a status. */
static int has_happened(ics_lane *lane, cudaEvent_t event, ics_gpu_error *error)
{
    const cudaError_t result = cudaEventQuery(event);
    if (result == cudaErrorNotReady) {
        return 0;
    }
    return result == cudaSuccess ? 1 : ics_check_failed(result, "kernel", lane->ordinal, error);
}

/* Whether the batch that is at a place now is the one that the launch knew there: a batch may have
 * come to its end with the launch before, and another one be at its place already. */
static bool knows(const ics_lane_launch *launch, const ics_lane *lane, uint32_t place)
{
    return lane->batches[place].used && lane->batches[place].serial == launch->holds[place];
}

/* The launch's hits go to their batches. */
static int hand_out_hits(ics_lane *lane, const ics_lane_launch *launch, ics_gpu_error *error)
{
    const uint32_t shift = ics_schedule_start_shift(lane->options);
    for (uint32_t i = 0; i < launch->count; ++i) {
        ice_arrival arrival = launch->download[i];
        const uint32_t place = arrival.emission >> shift;
        if (place >= ICS_LANE_BATCHES || !knows(launch, lane, place)) {
            return ics_check_error_set(error, ICS_GRAPH_FAULT,
                                       "GPU %d: internal error: a hit names place %u of the queue, "
                                       "which holds no batch",
                                       lane->ordinal, place);
        }
        arrival.emission &= (1u << shift) - 1;
        if (ics_graph_arrivals_put(&lane->batches[place].result.arrivals, &arrival) !=
            ICS_GRAPH_OK) {
            return ics_check_error_set(error, ICS_GRAPH_NO_MEMORY,
                                       "out of memory for %zu hits of a batch",
                                       lane->batches[place].result.arrivals.count);
        }
    }
    return ICS_GRAPH_OK;
}

/* What the launch says about its batches. */
static void take_report(ics_lane *lane, const ics_lane_launch *launch)
{
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        if (!knows(launch, lane, i)) {
            continue;
        }
        ice_account *account = &lane->batches[i].result.account;
        *account = (ice_account){.created = account->created};
        for (uint32_t share = 0; share < ICS_SHARES; ++share) {
            const ics_batch_count *count = &launch->report->shares[share].batches[i];
            account->absorbed += count->absorbed;
            account->detected += count->detected;
            account->left += count->left;
            account->stopped += count->stopped;
            account->hits += count->hits;
            account->bounces += count->bounces;
        }
    }
}

/* A launch that was to carry everything to its end, and found room for all hits, has done so; if
 * not, the next one would do no better, and for ever. */
static int check_drained(const ics_lane *lane, const ics_lane_launch *launch, ics_gpu_error *error)
{
    if (!launch->order->drain || launch->count > 0) {
        return ICS_GRAPH_OK;
    }
    const ics_launch_progress *progress = &launch->report->progress;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        if (knows(launch, lane, i) && !is_complete(&lane->batches[i])) {
            return ics_check_error_set(
                error, ICS_GRAPH_FAULT,
                "GPU %d: internal error: a launch of %s ended before its photons (queue %llu of "
                "%llu, no hits)",
                lane->ordinal, ics_graph_schedule_name(lane->options->schedule),
                (unsigned long long)progress->next, (unsigned long long)launch->order->end);
        }
    }
    return ICS_GRAPH_OK;
}

/* Moves the oldest launches on: computing, downloading, done. */
static int collect(ics_lane *lane, cudaHostFn_t wake, void *user, ics_launch_observer observer,
                   ics_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    while (lane->launches_out > 0) {
        ics_lane_launch *launch = launch_at(lane, 0);
        int happened = has_happened(
            lane, launch->state == ICS_LAUNCH_COMPUTES ? launch->reported : launch->downloaded,
            error);
        if (happened <= 0) {
            return happened;
        }
        if (launch->state == ICS_LAUNCH_COMPUTES) {
            observer.computed(observer.user, launch);
            launch->count = launch->report->progress.hits < lane->options->hits
                                ? launch->report->progress.hits
                                : lane->options->hits;
            if (launch->count > 0) {
                CUDA_TRY(ordinal, error,
                         cudaMemcpyAsync(launch->download, launch->hits,
                                         launch->count * sizeof *launch->hits,
                                         cudaMemcpyDeviceToHost, lane->download));
                CUDA_TRY(ordinal, error, cudaEventRecord(launch->downloaded, lane->download));
                CUDA_TRY(ordinal, error, cudaLaunchHostFunc(lane->download, wake, user));
                launch->state = ICS_LAUNCH_DOWNLOADS;
                continue;
            }
        }
        int status = hand_out_hits(lane, launch, error);
        if (status != ICS_GRAPH_OK) {
            return status;
        }
        take_report(lane, launch);
        status = check_drained(lane, launch, error);
        if (status != ICS_GRAPH_OK) {
            return status;
        }
        launch->state = ICS_LAUNCH_FREE;
        lane->first_launch = (lane->first_launch + 1) % ICS_LANE_LAUNCHES;
        --lane->launches_out;
    }
    return ICS_GRAPH_OK;
}

int ics_lane_advance(ics_lane *lane, cudaHostFn_t wake, void *user, ics_launch_observer observer,
                     ics_gpu_error *error)
{
    int status = collect(lane, wake, user, observer, error);
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    bool fresh = false, unfinished = false;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        const ics_lane_batch *batch = &lane->batches[i];
        fresh |= batch->used && batch->fresh;
        unfinished |= batch->used && !batch->fresh && !is_complete(batch);
    }
    /* With new steps the pool is kept for those that may follow. Without any, and with nothing
     * under way, what lives is carried to its end; also after a launch that left because of its
     * hits. */
    if (fresh && lane->launches_out < ICS_LANE_LAUNCHES) {
        return start_launch(lane, false, wake, user, error);
    }
    if (unfinished && lane->launches_out == 0) {
        return start_launch(lane, true, wake, user, error);
    }
    return ICS_GRAPH_OK;
}

/* ---- the watchdog ---------------------------------------------------------------------------- */

/* Seconds between two looks at the counters of a launch that runs. */
#define LOOK_PERIOD 1.0

int ics_lane_watch(ics_lane *lane, double now, ics_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    if (lane->launches_out == 0 || launch_at(lane, 0)->state != ICS_LAUNCH_COMPUTES ||
        lane->watched != launch_at(lane, 0)) {
        lane->watched = lane->launches_out ? launch_at(lane, 0) : NULL;
        lane->seen_at = lane->asked_at = now;
        return ICS_GRAPH_OK;
    }
    if (now - lane->asked_at < LOOK_PERIOD) {
        return ICS_GRAPH_OK;
    }
    const ics_launch_progress *seen = &lane->snapshot->progress;
    if (memcmp(lane->snapshot, &lane->seen, sizeof lane->seen) != 0) {
        lane->seen = *lane->snapshot;
        lane->seen_at = now;
    } else if (now - lane->seen_at > lane->options->watchdog) {
        return ics_check_error_set(
            error, ICS_GRAPH_FAULT,
            "GPU %d: schedule %s made no progress for %.0f s (device.watchdog): queue %llu of "
            "%llu, "
            "waves %llu, alive %u, slots %u, hits %u of %u, waiting %u; if a "
            "photon may live as long as that (run.bounce_limit, hardly any absorption), raise "
            "device.watchdog, else report this",
            ordinal, ics_graph_schedule_name(lane->options->schedule), lane->options->watchdog,
            (unsigned long long)seen->next, (unsigned long long)lane->queue_end,
            (unsigned long long)seen->waves, seen->alive, seen->slots, seen->hits,
            lane->options->hits, seen->stalled);
    }
    lane->asked_at = now;
    /* On a stream of its own: the download stream waits for the launch. */
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(&lane->snapshot->progress, lane->memory.progress,
                             sizeof lane->snapshot->progress, cudaMemcpyDeviceToHost,
                             lane->upload));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(lane->snapshot->shares, lane->memory.shares,
                             sizeof lane->snapshot->shares, cudaMemcpyDeviceToHost, lane->upload));
    return ICS_GRAPH_OK;
}
