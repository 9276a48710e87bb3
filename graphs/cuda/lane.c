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
    void *piece = from->block ? from->block + from->used : NULL;
    from->used += (bytes + 255) / 256 * 256;
    return piece;
}

static uint32_t start_count(const is_gpu_options *options)
{
    return options->batch_photons / IS_START_STRIDE + 2;
}

/* The only place that says what a lane's device memory holds. */
static int lay_out(is_lane *lane, arena *from, is_gpu_plan *plan)
{
    const is_gpu_options *options = lane->options;
    const uint32_t capacity = is_gpu_lane_slots(options);
    const uint64_t ring = (uint64_t)IS_LANE_BATCHES << is_gpu_start_shift(options);
    const bool wavefront = options->schedule == IS_SCHEDULE_WAVEFRONT;
    is_lane_memory *memory = &lane->memory;
    uint64_t before = from->used;

    memory->capacity = capacity;
    memory->start_count = start_count(options);
    memory->place = take(from, (uint64_t)capacity * sizeof(is_word));
    memory->course = take(from, (uint64_t)capacity * sizeof(is_word));
    memory->label = take(from, (uint64_t)capacity * sizeof(is_word));
    if (wavefront)
        memory->segment = take(from, (uint64_t)capacity * sizeof(is_word));
    lane->window.base_ptr = memory->place;
    lane->window.num_bytes = from->used - before;
    memory->met = take(from, (uint64_t)capacity * sizeof(uint32_t));
    if (lane->schedule->loops)
        memory->vacant = take(from, (uint64_t)capacity / 32 * sizeof(uint32_t));
    if (options->schedule == IS_SCHEDULE_FUSED)
        memory->leftovers = take(from, (uint64_t)capacity / 32 * sizeof(is_leftover));
    if (wavefront)
        memory->candidates = take(from, (uint64_t)capacity / 32 * sizeof(uint32_t));
    if (lane->schedule->takes_steps)
        memory->cursors = take(from, (uint64_t)capacity * 2 * sizeof(uint32_t));
    if (lane->schedule->loops) {
        const int result = is_lane_compact_bytes(options, &lane->tables, &lane->compact_bytes);
        if (result != cudaSuccess && !plan)
            return IS_GRAPH_FAULT;
        /* A plan for a device that is not here: CUB keeps a key and an index, twice, and little
         * else. */
        if (result != cudaSuccess)
            lane->compact_bytes = (size_t)capacity * 16;
        lane->compact_memory = take(from, lane->compact_bytes);
        if (options->sort != IS_SORT_NONE) {
            for (int i = 0; i < 3; ++i)
                lane->spare[i] = take(from, (uint64_t)capacity * sizeof(is_word));
            lane->spare_met = take(from, (uint64_t)capacity * sizeof(uint32_t));
        }
        lane->clock = take(from, (IS_WAVE_STAGES + 1) * sizeof *lane->clock);
    }
    memory->progress = take(from, sizeof(is_progress));
    memory->shares = take(from, IS_SHARES * sizeof(is_share));
    memory->launch = take(from, sizeof(is_launch));
    if (plan)
        plan->pool_bytes += from->used - before;

    before = from->used;
    memory->emissions = take(from, ring * sizeof(ice_emission));
    memory->offsets = take(from, ring * sizeof(uint32_t));
    memory->starts = take(from, (uint64_t)IS_LANE_BATCHES * memory->start_count * sizeof(uint32_t));
    if (plan)
        plan->queue_bytes += from->used - before;

    before = from->used;
    for (int i = 0; i < IS_LANE_LAUNCHES; ++i)
        lane->launches[i].hits = take(from, (uint64_t)options->hits * sizeof(ice_arrival));
    if (plan)
        plan->hit_bytes += from->used - before;
    return IS_GRAPH_OK;
}

uint64_t is_lane_bytes(const is_gpu_options *options, const ice_tables *tables, is_gpu_plan *plan)
{
    is_lane lane = {
        .options = options, .schedule = is_gpu_schedule_of(options->schedule), .tables = *tables};
    arena counter = {0};
    if (lay_out(&lane, &counter, plan) != IS_GRAPH_OK)
        return 0;
    if (plan)
        plan->staging_bytes +=
            (uint64_t)IS_LANE_BATCHES *
                (options->batch_emissions * (sizeof(ice_emission) + sizeof(uint32_t)) +
                 start_count(options) * sizeof(uint32_t)) +
            (uint64_t)IS_LANE_LAUNCHES * options->hits * sizeof(ice_arrival);
    return counter.used;
}

static int make_staging(is_lane *lane, is_gpu_error *error)
{
    const is_gpu_options *options = lane->options;
    const int ordinal = lane->ordinal;
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i) {
        is_lane_batch *batch = &lane->batches[i];
        IS_CUDA(ordinal, error,
                cudaMallocHost((void **)&batch->emissions,
                               options->batch_emissions * sizeof *batch->emissions));
        IS_CUDA(ordinal, error,
                cudaMallocHost((void **)&batch->offsets,
                               options->batch_emissions * sizeof *batch->offsets));
        IS_CUDA(ordinal, error,
                cudaMallocHost((void **)&batch->starts,
                               lane->memory.start_count * sizeof *batch->starts));
        IS_CUDA(ordinal, error, cudaEventCreateWithFlags(&batch->ready, cudaEventDisableTiming));
    }
    for (int i = 0; i < IS_LANE_LAUNCHES; ++i) {
        is_lane_launch *launch = &lane->launches[i];
        IS_CUDA(ordinal, error, cudaMallocHost((void **)&launch->order, sizeof *launch->order));
        IS_CUDA(ordinal, error, cudaMallocHost((void **)&launch->report, sizeof *launch->report));
        IS_CUDA(
            ordinal, error,
            cudaMallocHost((void **)&launch->download, options->hits * sizeof *launch->download));
        IS_CUDA(ordinal, error, cudaEventCreate(&launch->begun));
        IS_CUDA(ordinal, error, cudaEventCreate(&launch->computed));
        IS_CUDA(ordinal, error,
                cudaEventCreateWithFlags(&launch->reported, cudaEventDisableTiming));
        IS_CUDA(ordinal, error,
                cudaEventCreateWithFlags(&launch->downloaded, cudaEventDisableTiming));
    }
    IS_CUDA(ordinal, error, cudaMallocHost((void **)&lane->snapshot, sizeof *lane->snapshot));
    IS_CUDA(ordinal, error, cudaMallocHost((void **)&lane->whole, sizeof *lane->whole));
    *lane->whole = lane->memory.capacity;
    IS_CUDA(ordinal, error, cudaMallocHost((void **)&lane->decision, sizeof *lane->decision));
    return IS_GRAPH_OK;
}

/* Every byte is written once before a kernel reads it; slots are free, cursors name no step. */
static int clear_memory(is_lane *lane, void *memory, uint64_t bytes, is_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    IS_CUDA(ordinal, error, cudaMemsetAsync(memory, 0, bytes, lane->compute));
    IS_CUDA(ordinal, error,
            cudaMemsetAsync(lane->memory.label, 0xff, lane->memory.capacity * sizeof(is_word),
                            lane->compute));
    if (lane->memory.vacant)
        IS_CUDA(ordinal, error,
                cudaMemsetAsync(lane->memory.vacant, 0xff,
                                lane->memory.capacity / 32 * sizeof(uint32_t), lane->compute));
    if (lane->memory.cursors)
        IS_CUDA(ordinal, error,
                cudaMemsetAsync(lane->memory.cursors, 0xff,
                                (size_t)lane->memory.capacity * 2 * sizeof(uint32_t),
                                lane->compute));
    IS_CUDA(ordinal, error, cudaStreamSynchronize(lane->compute));
    return IS_GRAPH_OK;
}

/* The lane's part of what the device sets aside of its second level cache. A device that cannot
 * (old, or divided) works without. */
static void wish_for_cache(is_lane *lane)
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

int is_lane_create(is_lane *lane, const is_gpu_options *options, const ice_tables *tables,
                   cudaLibrary_t library, void *memory, is_gpu_error *error)
{
    const int ordinal = options->ordinal;
    lane->options = options;
    lane->schedule = is_gpu_schedule_of(options->schedule);
    lane->ordinal = ordinal;
    lane->tables = *tables;
    arena from = {.block = memory};
    if (lay_out(lane, &from, NULL) != IS_GRAPH_OK)
        return is_gpu_error_set(error, IS_GRAPH_FAULT, "GPU %d: cannot size a compaction", ordinal);
    IS_CUDA(ordinal, error, cudaStreamCreateWithFlags(&lane->upload, cudaStreamNonBlocking));
    IS_CUDA(ordinal, error, cudaStreamCreateWithFlags(&lane->compute, cudaStreamNonBlocking));
    IS_CUDA(ordinal, error, cudaStreamCreateWithFlags(&lane->download, cudaStreamNonBlocking));
    int status = make_staging(lane, error);
    if (status == IS_GRAPH_OK)
        status = clear_memory(lane, memory, from.used, error);
    if (status != IS_GRAPH_OK)
        return status;
    for (uint32_t i = 0; lane->schedule->kernels[i].name; ++i)
        IS_CUDA(ordinal, error,
                cudaLibraryGetKernel(&lane->kernels[i], library, lane->schedule->kernels[i].name));
    lane->grid = options->pool / options->lanes / options->block;
    wish_for_cache(lane);
    if (lane->schedule->loops)
        IS_CUDA(ordinal, error,
                cudaLibraryGetKernel(&lane->mark_vacant, library, "is_mark_vacant"));
    if (lane->schedule->loops) {
        if (options->profile)
            IS_CUDA(ordinal, error, cudaLibraryGetKernel(&lane->stamp, library, "is_stamp"));
        nvtxRangePushA("build the loop");
        status = is_lane_build_loop(lane, error);
        nvtxRangePop();
        return status;
    }
    return IS_GRAPH_OK;
}

void is_lane_destroy(is_lane *lane)
{
    /* Results are of no interest: after a fault every call fails. */
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i) {
        is_lane_batch *batch = &lane->batches[i];
        is_arrivals_free(&batch->result.arrivals);
        (void)cudaFreeHost(batch->emissions);
        (void)cudaFreeHost(batch->offsets);
        (void)cudaFreeHost(batch->starts);
        if (batch->ready)
            (void)cudaEventDestroy(batch->ready);
    }
    for (int i = 0; i < IS_LANE_LAUNCHES; ++i) {
        is_lane_launch *launch = &lane->launches[i];
        (void)cudaFreeHost(launch->order);
        (void)cudaFreeHost(launch->report);
        (void)cudaFreeHost(launch->download);
        cudaEvent_t events[] = {launch->begun, launch->computed, launch->reported,
                                launch->downloaded};
        for (int k = 0; k < 4; ++k)
            if (events[k])
                (void)cudaEventDestroy(events[k]);
    }
    (void)cudaFreeHost(lane->snapshot);
    (void)cudaFreeHost(lane->whole);
    (void)cudaFreeHost(lane->decision);
    if (lane->loop)
        (void)cudaGraphExecDestroy(lane->loop);
    if (lane->graph)
        (void)cudaGraphDestroy(lane->graph);
    if (lane->compaction)
        (void)cudaGraphExecDestroy(lane->compaction);
    if (lane->compaction_graph)
        (void)cudaGraphDestroy(lane->compaction_graph);
    cudaStream_t streams[] = {lane->upload, lane->compute, lane->download};
    for (int k = 0; k < 3; ++k)
        if (streams[k])
            (void)cudaStreamDestroy(streams[k]);
}

/* ---- batches --------------------------------------------------------------------------------- */

bool is_lane_has_room(const is_lane *lane)
{
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i)
        if (!lane->batches[i].used)
            return true;
    return false;
}

uint32_t is_lane_load(const is_lane *lane)
{
    uint32_t load = 0;
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i)
        load += lane->batches[i].used;
    return load;
}

/* Where photons of the batch begin: emission by emission, and every IS_START_STRIDE-th photon. */
static uint32_t index_batch(is_lane_batch *batch)
{
    uint32_t starts = 0;
    uint64_t photons = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
        batch->offsets[i] = (uint32_t)photons;
        photons += batch->emissions[i].photons;
        while ((uint64_t)starts * IS_START_STRIDE < photons)
            batch->starts[starts++] = i;
    }
    batch->starts[starts++] = batch->count - 1;
    batch->photons = photons;
    return starts;
}

static int upload(is_lane *lane, uint32_t place, uint32_t starts, is_gpu_error *error)
{
    const is_lane_batch *batch = &lane->batches[place];
    const is_lane_memory *memory = &lane->memory;
    const size_t base = (size_t)place << is_gpu_start_shift(lane->options);
    const int ordinal = lane->ordinal;
    IS_CUDA(ordinal, error,
            cudaMemcpyAsync(memory->emissions + base, batch->emissions,
                            batch->count * sizeof(ice_emission), cudaMemcpyHostToDevice,
                            lane->upload));
    IS_CUDA(ordinal, error,
            cudaMemcpyAsync(memory->offsets + base, batch->offsets, batch->count * sizeof(uint32_t),
                            cudaMemcpyHostToDevice, lane->upload));
    IS_CUDA(ordinal, error,
            cudaMemcpyAsync(memory->starts + (size_t)place * memory->start_count, batch->starts,
                            starts * sizeof(uint32_t), cudaMemcpyHostToDevice, lane->upload));
    IS_CUDA(ordinal, error, cudaEventRecord(batch->ready, lane->upload));
    return IS_GRAPH_OK;
}

int is_lane_submit(is_lane *lane, const ice_emission *emissions, uint32_t count, void *tag,
                   is_gpu_error *error)
{
    uint32_t place = 0;
    while (lane->batches[place].used)
        ++place;
    is_lane_batch *batch = &lane->batches[place];
    nvtxRangePushA("submit batch");
    memcpy(batch->emissions, emissions, count * sizeof *emissions);
    batch->count = count;
    const uint32_t starts = index_batch(batch);
    batch->queue =
        (is_queue_batch){.first = lane->queue_end,
                         .size = lane->schedule->takes_steps ? count : (uint32_t)batch->photons,
                         .emissions = count};
    batch->serial = lane->queue_end + 1;
    batch->result = (is_gpu_result){.tag = tag, .account = {.created = batch->photons}};
    const int status = upload(lane, place, starts, error);
    nvtxRangePop();
    if (status != IS_GRAPH_OK)
        return status;
    lane->queue_end += batch->queue.size;
    batch->used = batch->fresh = true;
    return IS_GRAPH_OK;
}

/* All photons of the batch have come to their end. */
static bool is_complete(const is_lane_batch *batch)
{
    const ice_account *account = &batch->result.account;
    return account->absorbed + account->detected + account->left + account->stopped ==
           account->created;
}

bool is_lane_take(is_lane *lane, is_gpu_result *out)
{
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i) {
        is_lane_batch *batch = &lane->batches[i];
        if (batch->used && !batch->fresh && is_complete(batch)) {
            *out = batch->result;
            batch->result = (is_gpu_result){0};
            batch->used = false;
            return true;
        }
    }
    return false;
}

/* ---- launches -------------------------------------------------------------------------------- */

static is_lane_launch *launch_at(is_lane *lane, uint32_t number)
{
    return &lane->launches[(lane->first_launch + number) % IS_LANE_LAUNCHES];
}

/* Tells the kernels of the batches, those that are new to them included, and starts them. */
static int start_launch(is_lane *lane, bool drain, cudaHostFn_t wake, void *user,
                        is_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    is_lane_launch *launch = launch_at(lane, lane->launches_out);
    is_progress *progress = lane->memory.progress;
    *launch->order = (is_launch){.end = lane->queue_end,
                                 .hits = launch->hits,
                                 .hit_capacity = lane->options->hits,
                                 .drain = drain};
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i) {
        is_lane_batch *batch = &lane->batches[i];
        launch->holds[i] = batch->used ? batch->serial : 0;
        if (!batch->used)
            continue;
        launch->order->batches[i] = batch->queue;
        if (batch->fresh) {
            IS_CUDA(ordinal, error, cudaStreamWaitEvent(lane->compute, batch->ready, 0));
            IS_CUDA(ordinal, error,
                    cudaMemset2DAsync(&lane->memory.shares->batches[i], sizeof(is_share), 0,
                                      sizeof(is_batch_count), IS_SHARES, lane->compute));
            batch->fresh = false;
        }
    }
    IS_CUDA(ordinal, error,
            cudaMemcpyAsync(lane->memory.launch, launch->order, sizeof *launch->order,
                            cudaMemcpyHostToDevice, lane->compute));
    IS_CUDA(ordinal, error,
            cudaMemsetAsync(&progress->waves, 0,
                            offsetof(is_progress, alive) - offsetof(is_progress, waves),
                            lane->compute));
    IS_CUDA(ordinal, error,
            cudaMemset2DAsync(&lane->memory.shares->stalled, sizeof(is_share), 0, sizeof(uint32_t),
                              IS_SHARES, lane->compute));
    if (!drain) /* new steps need all slots */
        IS_CUDA(ordinal, error,
                cudaMemcpyAsync(&progress->slots, lane->whole, sizeof progress->slots,
                                cudaMemcpyHostToDevice, lane->compute));
    IS_CUDA(ordinal, error, cudaEventRecord(launch->begun, lane->compute));
    nvtxRangePushA(is_schedule_name(lane->options->schedule));
    const int status = is_lane_enqueue(lane, error);
    nvtxRangePop();
    if (status != IS_GRAPH_OK)
        return status;
    IS_CUDA(ordinal, error, cudaEventRecord(launch->computed, lane->compute));
    /* Before the next launch changes it. */
    IS_CUDA(ordinal, error,
            cudaMemcpyAsync(&launch->report->progress, progress, sizeof *progress,
                            cudaMemcpyDeviceToHost, lane->compute));
    IS_CUDA(ordinal, error,
            cudaMemcpyAsync(launch->report->shares, lane->memory.shares,
                            sizeof launch->report->shares, cudaMemcpyDeviceToHost, lane->compute));
    IS_CUDA(ordinal, error, cudaEventRecord(launch->reported, lane->compute));
    IS_CUDA(ordinal, error, cudaStreamWaitEvent(lane->download, launch->reported, 0));
    IS_CUDA(ordinal, error, cudaLaunchHostFunc(lane->download, wake, user));
    launch->state = IS_LAUNCH_COMPUTES;
    ++lane->launches_out;
    return IS_GRAPH_OK;
}

/* 1: it has happened, 0: not yet, else a status. */
static int has_happened(is_lane *lane, cudaEvent_t event, is_gpu_error *error)
{
    const cudaError_t result = cudaEventQuery(event);
    if (result == cudaErrorNotReady)
        return 0;
    return result == cudaSuccess ? 1 : is_cuda_failed(result, "kernel", lane->ordinal, error);
}

/* Whether the batch that is at a place now is the one that the launch knew there: a batch may have
 * come to its end with the launch before, and another one be at its place already. */
static bool knows(const is_lane_launch *launch, const is_lane *lane, uint32_t place)
{
    return lane->batches[place].used && lane->batches[place].serial == launch->holds[place];
}

/* The launch's hits go to their batches. */
static int hand_out_hits(is_lane *lane, const is_lane_launch *launch, is_gpu_error *error)
{
    const uint32_t shift = is_gpu_start_shift(lane->options);
    for (uint32_t i = 0; i < launch->count; ++i) {
        ice_arrival arrival = launch->download[i];
        const uint32_t place = arrival.emission >> shift;
        if (place >= IS_LANE_BATCHES || !knows(launch, lane, place))
            return is_gpu_error_set(error, IS_GRAPH_FAULT,
                                    "GPU %d: internal error: a hit names place %u of the queue, "
                                    "which holds no batch",
                                    lane->ordinal, place);
        arrival.emission &= (1u << shift) - 1;
        if (is_arrivals_put(&lane->batches[place].result.arrivals, &arrival) != IS_GRAPH_OK)
            return is_gpu_error_set(error, IS_GRAPH_NO_MEMORY,
                                    "out of memory for %zu hits of a batch",
                                    lane->batches[place].result.arrivals.count);
    }
    return IS_GRAPH_OK;
}

/* What the launch says about its batches. */
static void take_report(is_lane *lane, const is_lane_launch *launch)
{
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i) {
        if (!knows(launch, lane, i))
            continue;
        ice_account *account = &lane->batches[i].result.account;
        *account = (ice_account){.created = account->created};
        for (uint32_t share = 0; share < IS_SHARES; ++share) {
            const is_batch_count *count = &launch->report->shares[share].batches[i];
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
static int check_drained(const is_lane *lane, const is_lane_launch *launch, is_gpu_error *error)
{
    if (!launch->order->drain || launch->count > 0)
        return IS_GRAPH_OK;
    const is_progress *progress = &launch->report->progress;
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i)
        if (knows(launch, lane, i) && !is_complete(&lane->batches[i]))
            return is_gpu_error_set(
                error, IS_GRAPH_FAULT,
                "GPU %d: internal error: a launch of %s ended before its photons (queue %llu of "
                "%llu, no hits)",
                lane->ordinal, is_schedule_name(lane->options->schedule),
                (unsigned long long)progress->next, (unsigned long long)launch->order->end);
    return IS_GRAPH_OK;
}

/* Moves the oldest launches on: computing, downloading, done. */
static int collect(is_lane *lane, cudaHostFn_t wake, void *user, is_launch_observer observer,
                   is_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    while (lane->launches_out > 0) {
        is_lane_launch *launch = launch_at(lane, 0);
        int happened = has_happened(
            lane, launch->state == IS_LAUNCH_COMPUTES ? launch->reported : launch->downloaded,
            error);
        if (happened <= 0)
            return happened;
        if (launch->state == IS_LAUNCH_COMPUTES) {
            observer.computed(observer.user, launch);
            launch->count = launch->report->progress.hits < lane->options->hits
                                ? launch->report->progress.hits
                                : lane->options->hits;
            if (launch->count > 0) {
                IS_CUDA(ordinal, error,
                        cudaMemcpyAsync(launch->download, launch->hits,
                                        launch->count * sizeof *launch->hits,
                                        cudaMemcpyDeviceToHost, lane->download));
                IS_CUDA(ordinal, error, cudaEventRecord(launch->downloaded, lane->download));
                IS_CUDA(ordinal, error, cudaLaunchHostFunc(lane->download, wake, user));
                launch->state = IS_LAUNCH_DOWNLOADS;
                continue;
            }
        }
        int status = hand_out_hits(lane, launch, error);
        if (status != IS_GRAPH_OK)
            return status;
        take_report(lane, launch);
        status = check_drained(lane, launch, error);
        if (status != IS_GRAPH_OK)
            return status;
        launch->state = IS_LAUNCH_FREE;
        lane->first_launch = (lane->first_launch + 1) % IS_LANE_LAUNCHES;
        --lane->launches_out;
    }
    return IS_GRAPH_OK;
}

int is_lane_advance(is_lane *lane, cudaHostFn_t wake, void *user, is_launch_observer observer,
                    is_gpu_error *error)
{
    int status = collect(lane, wake, user, observer, error);
    if (status != IS_GRAPH_OK)
        return status;
    bool fresh = false, unfinished = false;
    for (uint32_t i = 0; i < IS_LANE_BATCHES; ++i) {
        const is_lane_batch *batch = &lane->batches[i];
        fresh |= batch->used && batch->fresh;
        unfinished |= batch->used && !batch->fresh && !is_complete(batch);
    }
    /* With new steps the pool is kept for those that may follow. Without any, and with nothing
     * under way, what lives is carried to its end; also after a launch that left because of its
     * hits. */
    if (fresh && lane->launches_out < IS_LANE_LAUNCHES)
        return start_launch(lane, false, wake, user, error);
    if (unfinished && lane->launches_out == 0)
        return start_launch(lane, true, wake, user, error);
    return IS_GRAPH_OK;
}

/* ---- the watchdog ---------------------------------------------------------------------------- */

/* Seconds between two looks at the counters of a launch that runs. */
#define LOOK_PERIOD 1.0

int is_lane_watch(is_lane *lane, double now, is_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    if (lane->launches_out == 0 || launch_at(lane, 0)->state != IS_LAUNCH_COMPUTES ||
        lane->watched != launch_at(lane, 0)) {
        lane->watched = lane->launches_out ? launch_at(lane, 0) : NULL;
        lane->seen_at = lane->asked_at = now;
        return IS_GRAPH_OK;
    }
    if (now - lane->asked_at < LOOK_PERIOD)
        return IS_GRAPH_OK;
    const is_progress *seen = &lane->snapshot->progress;
    if (memcmp(lane->snapshot, &lane->seen, sizeof lane->seen) != 0) {
        lane->seen = *lane->snapshot;
        lane->seen_at = now;
    } else if (now - lane->seen_at > lane->options->watchdog) {
        return is_gpu_error_set(
            error, IS_GRAPH_FAULT,
            "GPU %d: schedule %s made no progress for %.0f s (device.watchdog): queue %llu of "
            "%llu, "
            "waves %llu, alive %u, slots %u, hits %u of %u, waiting %u; if a "
            "photon may live as long as that (run.bounce_limit, hardly any absorption), raise "
            "device.watchdog, else report this",
            ordinal, is_schedule_name(lane->options->schedule), lane->options->watchdog,
            (unsigned long long)seen->next, (unsigned long long)lane->queue_end,
            (unsigned long long)seen->waves, seen->alive, seen->slots, seen->hits,
            lane->options->hits, seen->stalled);
    }
    lane->asked_at = now;
    /* On a stream of its own: the download stream waits for the launch. */
    IS_CUDA(ordinal, error,
            cudaMemcpyAsync(&lane->snapshot->progress, lane->memory.progress,
                            sizeof lane->snapshot->progress, cudaMemcpyDeviceToHost, lane->upload));
    IS_CUDA(ordinal, error,
            cudaMemcpyAsync(lane->snapshot->shares, lane->memory.shares,
                            sizeof lane->snapshot->shares, cudaMemcpyDeviceToHost, lane->upload));
    return IS_GRAPH_OK;
}
