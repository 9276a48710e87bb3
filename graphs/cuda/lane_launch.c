/* The launches of a lane: up to three are on their way at a time. One computes, one waits behind
 * it, and the hits of one are downloaded.
 *
 *   start_launch   waits for uploads, sends the order, enqueues the kernels and the report
 *   collect        report here -> download its hits -> give hits and counts to the batches -> free
 *   ics_lane_watch checks that the launch that computes makes progress
 */
#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/lane.h"
#include "kernels/fault.h"

#include <nvtx3/nvToolsExt.h>
#include <string.h>

/* ---- launches -------------------------------------------------------------------------------- */

static ics_lane_launch *launch_at(ics_lane *lane, uint32_t number)
{
    return &lane->ring.launches[(lane->ring.first + number) % ICS_LANE_LAUNCHES];
}

/* Writes the order of a launch, and clears the counts of batches that no launch has seen. */
static int write_order(ics_lane *lane, ics_lane_launch *launch, bool drain, icestream_error *error)
{
    const int ordinal = lane->ordinal;
    *launch->order = (ics_launch){.end = lane->queue.end,
                                  .hits = launch->hits,
                                  .hit_capacity = lane->options->hits,
                                  .drain = drain};
    launch->makes_sums = launch->keys != NULL;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        ics_lane_batch *batch = &lane->queue.batches[i];
        launch->holds[i] = batch->used ? batch->serial : 0;
        if (!batch->used) {
            continue;
        }
        launch->makes_sums = launch->makes_sums && batch->has_steps;
        launch->order->batches[i] = batch->queue;
        if (batch->fresh) {
            CUDA_TRY(ordinal, error, cudaStreamWaitEvent(lane->compute, batch->ready, 0));
            CUDA_TRY(ordinal, error,
                     cudaMemset2DAsync(&lane->memory.shares->batches[i], sizeof(ics_share), 0,
                                       sizeof(ics_batch_count), ICS_SHARES, lane->compute));
            if (lane->memory.photon_cells != NULL) {
                const uint64_t counts =
                    ics_photon_counts_of_batch(&lane->options->photons, &lane->options->large);
                CUDA_TRY(ordinal, error,
                         cudaMemsetAsync(lane->memory.photon_cells + i * counts, 0,
                                         counts * sizeof(uint64_t), lane->compute));
            }
            batch->fresh = false;
        }
    }
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(lane->memory.launch, launch->order, sizeof *launch->order,
                             cudaMemcpyHostToDevice, lane->compute));
    return ICESTREAM_OK;
}

/* Sets the counters of a launch to where it begins. */
static int reset_progress(ics_lane *lane, bool drain, icestream_error *error)
{
    const int ordinal = lane->ordinal;
    ics_launch_progress *progress = lane->memory.progress;
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
                 cudaMemcpyAsync(&progress->slots, lane->ring.whole, sizeof progress->slots,
                                 cudaMemcpyHostToDevice, lane->compute));
    }
    return ICESTREAM_OK;
}

/* Enqueues the copy of the counters, before the next launch changes them, and the call of `wake`
 * when the copy is here. */
static int enqueue_report(ics_lane *lane, ics_lane_launch *launch, ics_lane_wake wake,
                          icestream_error *error)
{
    const int ordinal = lane->ordinal;
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(&launch->report->progress, lane->memory.progress,
                             sizeof launch->report->progress, cudaMemcpyDeviceToHost,
                             lane->compute));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(launch->report->shares, lane->memory.shares,
                             sizeof launch->report->shares, cudaMemcpyDeviceToHost, lane->compute));
    if (launch->photon_cells != NULL) {
        CUDA_TRY(ordinal, error,
                 cudaMemcpyAsync(launch->photon_cells, lane->memory.photon_cells,
                                 ics_lane_photon_bytes(lane->options), cudaMemcpyDeviceToHost,
                                 lane->compute));
    }
    if (lane->fault != NULL) {
        CUDA_TRY(ordinal, error,
                 cudaMemcpyAsync(&launch->report->fault, lane->fault, sizeof launch->report->fault,
                                 cudaMemcpyDeviceToHost, lane->compute));
    }
    CUDA_TRY(ordinal, error, cudaEventRecord(launch->reported, lane->compute));
    CUDA_TRY(ordinal, error, cudaStreamWaitEvent(lane->download, launch->reported, 0));
    CUDA_TRY(ordinal, error, cudaLaunchHostFunc(lane->download, wake.call, wake.user));
    return ICESTREAM_OK;
}

/* Starts a launch with all batches of the lane. `drain`: it runs until no photon is alive. */
static int start_launch(ics_lane *lane, bool drain, ics_lane_wake wake, icestream_error *error)
{
    ics_lane_launch *launch = launch_at(lane, lane->ring.out);
    ICS_TRY(write_order(lane, launch, drain, error));
    ICS_TRY(reset_progress(lane, drain, error));
    CUDA_TRY(lane->ordinal, error, cudaEventRecord(launch->begun, lane->compute));
    nvtxRangePushA(ics_graph_schedule_name(lane->options->schedule));
    const int status = ics_lane_enqueue(lane, error);
    nvtxRangePop();
    if (status != ICESTREAM_OK) {
        return status;
    }
    if (launch->makes_sums) {
        ICS_TRY(ics_lane_sums_enqueue(lane, launch, error));
    }
    CUDA_TRY(lane->ordinal, error, cudaEventRecord(launch->computed, lane->compute));
    ICS_TRY(enqueue_report(lane, launch, wake, error));
    launch->state = ICS_LAUNCH_COMPUTES;
    ++lane->ring.out;
    return ICESTREAM_OK;
}

/* Sets *happened to whether the event has happened. ICESTREAM_E_FAILED: a kernel failed. */
static int query(const ics_lane *lane, cudaEvent_t event, bool *happened, icestream_error *error)
{
    const cudaError_t result = cudaEventQuery(event);
    *happened = result == cudaSuccess;
    return result == cudaSuccess || result == cudaErrorNotReady
               ? ICESTREAM_OK
               : ics_check_failed(result, "kernel", lane->ordinal, error);
}

/* Makes room for the hits of a launch in its batches, as many as the launch reports. There is more
 * room than that, because the last photons of a batch come with a later launch. */
static int reserve_hits(ics_lane *lane, const ics_lane_launch *launch)
{
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        ics_arrivals *arrivals = &lane->queue.batches[i].result.arrivals;
        uint64_t hits = 0;
        for (uint32_t share = 0; share < ICS_SHARES && ics_lane_launch_knows(launch, lane, i);
             ++share) {
            hits += launch->report->shares[share].batches[i].of[ICS_COUNT_HITS];
        }
        if (hits > arrivals->capacity) {
            ICS_TRY(ics_graph_arrivals_reserve(arrivals, hits + hits / 4 - arrivals->count));
        }
    }
    return ICESTREAM_OK;
}

static int no_memory_for_hits(size_t hits, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu hits of a batch", hits);
}

/* Adds the hits of a launch to its batches. One thread does this for all lanes of the GPU. */
static int add_hits(ics_lane *lane, const ics_lane_launch *launch, icestream_error *error)
{
    const uint32_t shift = ics_settings_start_shift(lane->options);
    const uint32_t mask = (1u << shift) - 1;
    if (launch->count > 0 && reserve_hits(lane, launch) != ICESTREAM_OK) {
        return no_memory_for_hits(launch->count, error);
    }
    for (uint32_t i = 0; i < launch->count; ++i) {
        const uint32_t index = launch->download[i].emission >> shift;
        if (index >= ICS_LANE_BATCHES || !ics_lane_launch_knows(launch, lane, index)) {
            return ics_error_set(error, ICESTREAM_E_FAILED,
                                 "GPU %d: internal error: a hit names index %u of the queue, which "
                                 "holds no batch",
                                 lane->ordinal, index);
        }
        ics_arrivals *arrivals = &lane->queue.batches[index].result.arrivals;
        if (arrivals->count == arrivals->capacity &&
            ics_graph_arrivals_reserve(arrivals, 1) != ICESTREAM_OK) {
            return no_memory_for_hits(arrivals->count, error);
        }
        ice_arrival *arrival = &arrivals->items[arrivals->count++];
        *arrival = launch->download[i];
        arrival->emission &= mask;
    }
    return ICESTREAM_OK;
}

/* Replaces the histograms of the photons of the batch at index `index` by what the launch reports:
 * sums over all launches since it was submitted. Its account is replaced before. */
static void update_photon_cells(ics_lane *lane, const ics_lane_launch *launch, uint32_t index)
{
    ics_gpu_result *result = &lane->queue.batches[index].result;
    const ice_photon_axes *photons = &lane->options->photons;
    const ics_large_axes *large = &lane->options->large;
    const ics_photon_sums sums = {result->photon_cells, result->large_cells};
    ics_photon_counts_sum(photons, large,
                          launch->photon_cells + index * ics_photon_counts_of_batch(photons, large),
                          result->account.bounces, &sums);
}

/* Replaces the accounts of the batches by what the launch reports: the counts of a batch are sums
 * over all launches since it was submitted. */
static void update_accounts(ics_lane *lane, const ics_lane_launch *launch)
{
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        if (!ics_lane_launch_knows(launch, lane, i)) {
            continue;
        }
        ice_account *account = &lane->queue.batches[i].result.account;
        *account = (ice_account){.created = account->created};
        for (uint32_t share = 0; share < ICS_SHARES; ++share) {
            const ics_batch_count *count = &launch->report->shares[share].batches[i];
            account->absorbed += count->of[ICS_COUNT_ABSORBED];
            account->detected += count->of[ICS_COUNT_DETECTED];
            account->left += count->of[ICS_COUNT_LEFT];
            account->stopped += count->of[ICS_COUNT_STOPPED];
            account->hits += count->of[ICS_COUNT_HITS];
            account->bounces += count->of[ICS_COUNT_BOUNCES];
        }
        if (launch->photon_cells != NULL) {
            update_photon_cells(lane, launch, i);
        }
    }
}

/* Checks that a draining launch completed every batch that it knew. A draining launch runs until no
 * photon is alive, unless the hit buffer fills up. If it recorded no hit and a batch is still
 * incomplete, the next launch would fail in the same way, and the run would never end. */
static int check_drained(const ics_lane *lane, const ics_lane_launch *launch,
                         icestream_error *error)
{
    if (!launch->order->drain || launch->count > 0) {
        return ICESTREAM_OK;
    }
    const ics_launch_progress *progress = &launch->report->progress;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        if (ics_lane_launch_knows(launch, lane, i) &&
            !ics_lane_batch_is_complete(&lane->queue.batches[i])) {
            return ics_error_set(
                error, ICESTREAM_E_FAILED,
                "GPU %d: internal error: a launch of %s ended before its photons (queue %llu of "
                "%llu, no hits)",
                lane->ordinal, ics_graph_schedule_name(lane->options->schedule),
                (unsigned long long)progress->next, (unsigned long long)launch->order->end);
        }
    }
    return ICESTREAM_OK;
}

/* Enqueues the download of the hits of a launch, or of their sums. */
static int enqueue_download(ics_lane *lane, ics_lane_launch *launch, icestream_error *error)
{
    launch->has_sums = launch->makes_sums && launch->report->sums.fault == 0;
    if (launch->has_sums) {
        launch->count = launch->report->sums.count;
        return ics_lane_sums_download(lane, launch, error);
    }
    const size_t bytes = launch->count * sizeof *launch->hits;
    CUDA_TRY(lane->ordinal, error,
             cudaMemcpyAsync(launch->download, launch->hits, bytes, cudaMemcpyDeviceToHost,
                             lane->download));
    lane->downloaded_bytes += bytes;
    return ICESTREAM_OK;
}

/* Starts the download of the hits of a launch, if it has any. */
static int start_download(ics_lane *lane, ics_lane_launch *launch, ics_lane_wake wake,
                          icestream_error *error)
{
    const uint32_t wanted = launch->report->progress.hits;
    launch->count = wanted < lane->options->hits ? wanted : lane->options->hits;
    if (launch->count == 0) {
        return ICESTREAM_OK;
    }
    ICS_TRY(enqueue_download(lane, launch, error));
    CUDA_TRY(lane->ordinal, error, cudaEventRecord(launch->downloaded, lane->download));
    CUDA_TRY(lane->ordinal, error, cudaLaunchHostFunc(lane->download, wake.call, wake.user));
    launch->state = ICS_LAUNCH_DOWNLOADS;
    return ICESTREAM_OK;
}

static int finish_launch(ics_lane *lane, ics_lane_launch *launch, icestream_error *error)
{
    if (launch->count > 0 && launch->has_sums) {
        ICS_TRY(ics_lane_sums_add(lane, launch, error));
    } else {
        ICS_TRY(add_hits(lane, launch, error));
    }
    update_accounts(lane, launch);
    ICS_TRY(check_drained(lane, launch, error));
    launch->state = ICS_LAUNCH_FREE;
    lane->ring.first = (lane->ring.first + 1) % ICS_LANE_LAUNCHES;
    --lane->ring.out;
    return ICESTREAM_OK;
}

/* Moves the oldest launches on, as far as possible without waiting: it computes, its hits are
 * downloaded, it is finished. */
static int collect(ics_lane *lane, ics_lane_wake wake, ics_launch_observer observer,
                   icestream_error *error)
{
    while (lane->ring.out > 0) {
        ics_lane_launch *launch = launch_at(lane, 0);
        const bool computes = launch->state == ICS_LAUNCH_COMPUTES;
        bool happened = false;
        ICS_TRY(query(lane, computes ? launch->reported : launch->downloaded, &happened, error));
        if (!happened) {
            return ICESTREAM_OK;
        }
        if (computes) {
            observer.computed(observer.user, launch);
            if (lane->fault != NULL && launch->report->fault.kind != ICE_FAULT_NONE) {
                return ics_fault_report(&launch->report->fault, lane->options->custom, error);
            }
            ICS_TRY(start_download(lane, launch, wake, error));
        }
        if (!computes || launch->count == 0) {
            ICS_TRY(finish_launch(lane, launch, error));
        }
    }
    return ICESTREAM_OK;
}

int ics_lane_advance(ics_lane *lane, ics_lane_wake wake, ics_launch_observer observer,
                     icestream_error *error)
{
    ICS_TRY(collect(lane, wake, observer, error));
    bool fresh = false, unfinished = false;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        const ics_lane_batch *batch = &lane->queue.batches[i];
        fresh |= batch->used && batch->fresh;
        unfinished |= batch->used && !batch->fresh && !ics_lane_batch_is_complete(batch);
    }
    /* With new steps, the launch ends when the steps are used up, and living photons stay in the
     * pool together with those of steps that may follow. Without new steps, and if no launch is on
     * its way, the next launch drains the pool. It also does so after a launch that ended because
     * the hit buffer was full. */
    if (fresh && lane->ring.out < ICS_LANE_LAUNCHES) {
        return start_launch(lane, false, wake, error);
    }
    if (unfinished && lane->ring.out == 0) {
        return start_launch(lane, true, wake, error);
    }
    return ICESTREAM_OK;
}

/* ---- the watchdog ---------------------------------------------------------------------------- */

/* Time (s) between two readings of the counters of a launch that runs. */
#define LOOK_PERIOD 1.0

int ics_lane_watch(ics_lane *lane, double now, icestream_error *error)
{
    const int ordinal = lane->ordinal;
    if (lane->ring.out == 0 || launch_at(lane, 0)->state != ICS_LAUNCH_COMPUTES ||
        lane->watch.launch != launch_at(lane, 0)) {
        lane->watch.launch = lane->ring.out ? launch_at(lane, 0) : NULL;
        lane->watch.seen_at = lane->watch.asked_at = now;
        return ICESTREAM_OK;
    }
    if (now - lane->watch.asked_at < LOOK_PERIOD) {
        return ICESTREAM_OK;
    }
    const ics_launch_progress *seen = &lane->watch.snapshot->progress;
    if (memcmp(&lane->watch.snapshot->progress, &lane->watch.seen.progress,
               sizeof lane->watch.seen.progress) != 0 ||
        memcmp(lane->watch.snapshot->shares, lane->watch.seen.shares,
               sizeof lane->watch.seen.shares) != 0) {
        lane->watch.seen = *lane->watch.snapshot;
        lane->watch.seen_at = now;
    } else if (now - lane->watch.seen_at > lane->options->watchdog) {
        return ics_error_set(
            error, ICESTREAM_E_FAILED,
            "GPU %d: schedule %s made no progress for %.0f s (device.watchdog): queue %llu of "
            "%llu, waves %llu, alive %u, slots %u, hits %u of %u, waiting %u; if a photon may live "
            "as long as that (run.bounce_limit, hardly any absorption), raise "
            "device.watchdog, else report this",
            ordinal, ics_graph_schedule_name(lane->options->schedule), lane->options->watchdog,
            (unsigned long long)seen->next, (unsigned long long)lane->queue.end,
            (unsigned long long)seen->waves, seen->alive, seen->slots, seen->hits,
            lane->options->hits, seen->stalled);
    }
    lane->watch.asked_at = now;
    /* On the upload stream, because the download stream waits for the launch. */
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(&lane->watch.snapshot->progress, lane->memory.progress,
                             sizeof lane->watch.snapshot->progress, cudaMemcpyDeviceToHost,
                             lane->upload));
    CUDA_TRY(ordinal, error,
             cudaMemcpyAsync(lane->watch.snapshot->shares, lane->memory.shares,
                             sizeof lane->watch.snapshot->shares, cudaMemcpyDeviceToHost,
                             lane->upload));
    return ICESTREAM_OK;
}
