/* A lane: its creation and its end, and the batches that it holds. lane_memory.c has its memory,
 * lane_launch.c its launches, loop.c the graph that a launch runs. */
#include "graphs/cuda/lane.h"

#include "base/error.h"
#include "graphs/cuda/check.h"

#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <string.h>

/* ---- creation -------------------------------------------------------------------------------- */

/* Asks for a share of the part of the second level cache that the device reserves for loops. A
 * device that has no such part (because it is old, or divided) works without it. */
static void set_window(ics_lane *lane)
{
    int most = 0;
    size_t reserved = 0;
    if (!lane->schedule->compacts ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, lane->ordinal) !=
            cudaSuccess ||
        cudaDeviceGetLimit(&reserved, cudaLimitPersistingL2CacheSize) != cudaSuccess ||
        reserved == 0 || lane->loop.window.num_bytes > (size_t)most) {
        lane->loop.window.num_bytes = 0;
        (void)cudaGetLastError();
        return;
    }
    const double share =
        (double)reserved / (double)(lane->loop.window.num_bytes * lane->options->lanes);
    lane->loop.window.hitRatio = share < 1.0 ? (float)share : 1.0f;
    lane->loop.window.hitProp = cudaAccessPropertyPersisting;
    lane->loop.window.missProp = cudaAccessPropertyStreaming;
}

static int find_kernels(ics_lane *lane, cudaLibrary_t library, icestream_error *error)
{
    const int ordinal = lane->ordinal;
    const ics_schedule_kernel *kernels = ics_schedule_kernels(lane->schedule, lane->options->join);
    for (uint32_t i = 0; kernels[i].name != NULL; ++i) {
        CUDA_TRY(ordinal, error,
                 cudaLibraryGetKernel(&lane->kernels.of_waves[i], library, kernels[i].name));
    }
    if (lane->schedule->compacts) {
        CUDA_TRY(ordinal, error,
                 cudaLibraryGetKernel(&lane->kernels.mark_vacant, library, "gpu_mark_vacant"));
    }
    if (ics_lane_copy_bytes(lane->options) > 0) {
        CUDA_TRY(ordinal, error,
                 cudaLibraryGetKernel(&lane->kernels.add_copies, library, "gpu_add_copies"));
    }
    if (lane->options->check) {
        void *fault = NULL;
        size_t bytes = 0;
        CUDA_TRY(ordinal, error, cudaLibraryGetGlobal(&fault, &bytes, library, "ice_fault_found"));
        if (bytes != sizeof *lane->fault) {
            return ics_error_set(error, ICESTREAM_E_CONFIG,
                                 "internal error: a fault has %zu bytes on the GPU, expected %zu",
                                 bytes, sizeof *lane->fault);
        }
        lane->fault = fault;
    }
    if (lane->schedule->loops && lane->options->profile) {
        CUDA_TRY(ordinal, error, cudaLibraryGetKernel(&lane->kernels.stamp, library, "gpu_stamp"));
    }
    return ICESTREAM_OK;
}

int ics_lane_create(ics_lane *lane, const ics_lane_parts *parts, icestream_error *error)
{
    const int ordinal = parts->options->ordinal;
    lane->options = parts->options;
    lane->schedule = ics_schedule_row(parts->options->schedule);
    lane->ordinal = ordinal;
    lane->tables = *parts->tables;
    lane->sums.rule = *parts->rule;
    CUDA_TRY(ordinal, error, cudaStreamCreateWithFlags(&lane->upload, cudaStreamNonBlocking));
    CUDA_TRY(ordinal, error, cudaStreamCreateWithFlags(&lane->compute, cudaStreamNonBlocking));
    CUDA_TRY(ordinal, error, cudaStreamCreateWithFlags(&lane->download, cudaStreamNonBlocking));
    ICS_TRY(ics_lane_memory_prepare(lane, parts->memory, error));
    ICS_TRY(ics_lane_staging_create(lane, error));
    ICS_TRY(find_kernels(lane, parts->library, error));
    set_window(lane);
    if (!lane->schedule->loops) {
        return ICESTREAM_OK;
    }
    nvtxRangePushA("build the loop");
    const int status = ics_lane_build_loop(lane, error);
    nvtxRangePop();
    return status;
}

void ics_lane_destroy(ics_lane *lane)
{
    /* Nothing checks results here: after a fault every call fails. */
    ics_lane_staging_destroy(lane);
    if (lane->loop.trips != NULL) {
        (void)cudaGraphExecDestroy(lane->loop.trips);
    }
    if (lane->loop.graph != NULL) {
        (void)cudaGraphDestroy(lane->loop.graph);
    }
    if (lane->loop.compaction != NULL) {
        (void)cudaGraphExecDestroy(lane->loop.compaction);
    }
    if (lane->loop.compaction_graph != NULL) {
        (void)cudaGraphDestroy(lane->loop.compaction_graph);
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
        if (!lane->queue.batches[i].used) {
            return true;
        }
    }
    return false;
}

uint32_t ics_lane_load(const ics_lane *lane)
{
    uint32_t load = 0;
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        load += lane->queue.batches[i].used;
    }
    return load;
}

/* Writes where photons of the batch begin: the first photon of every emission (offsets), and the
 * emission of every ICS_START_STRIDE-th photon (starts). Returns the number of starts. */
static uint32_t index_photons(ics_lane_batch *batch)
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

static int upload(ics_lane *lane, uint32_t index, uint32_t starts, icestream_error *error)
{
    const ics_lane_batch *batch = &lane->queue.batches[index];
    const ics_lane_memory *memory = &lane->memory;
    const size_t base = (size_t)index << ics_settings_start_shift(lane->options);
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
             cudaMemcpyAsync(memory->starts + (size_t)index * memory->start_count, batch->starts,
                             starts * sizeof(uint32_t), cudaMemcpyHostToDevice, lane->upload));
    if (batch->has_steps) {
        CUDA_TRY(ordinal, error,
                 cudaMemcpyAsync(lane->sums.steps + base, batch->steps,
                                 batch->count * sizeof *batch->steps, cudaMemcpyHostToDevice,
                                 lane->upload));
    }
    CUDA_TRY(ordinal, error, cudaEventRecord(batch->ready, lane->upload));
    return ICESTREAM_OK;
}

int ics_lane_submit(ics_lane *lane, const ice_emission *emissions, const ics_hit_sum_step *steps,
                    uint32_t count, void *tag, icestream_error *error)
{
    uint32_t index = 0;
    while (lane->queue.batches[index].used) {
        ++index;
    }
    ics_lane_batch *batch = &lane->queue.batches[index];
    ICS_TRY(ics_lane_batch_stage(lane, batch, error));
    free(batch->result.large_cells); /* of a batch whose upload failed */
    batch->result = (ics_gpu_result){.tag = tag};
    ICS_TRY(ics_large_axes_create_cells(&lane->options->large, &batch->result.large_cells, error));
    nvtxRangePushA("submit batch");
    memcpy(batch->emissions, emissions, count * sizeof *emissions);
    batch->has_steps = steps != NULL && batch->steps != NULL;
    if (batch->has_steps) {
        memcpy(batch->steps, steps, count * sizeof *steps);
    }
    batch->count = count;
    const uint32_t starts = index_photons(batch);
    batch->queue =
        (ics_queue_batch){.first = lane->queue.end,
                          .size = lane->schedule->takes_steps ? count : (uint32_t)batch->photons,
                          .emissions = count};
    batch->serial = lane->queue.end + 1;
    batch->result.account.created = batch->photons;
    const int status = upload(lane, index, starts, error);
    nvtxRangePop();
    if (status != ICESTREAM_OK) {
        return status;
    }
    lane->queue.end += batch->queue.size;
    batch->used = batch->fresh = true;
    return ICESTREAM_OK;
}

bool ics_lane_take(ics_lane *lane, ics_gpu_result *out)
{
    for (uint32_t i = 0; i < ICS_LANE_BATCHES; ++i) {
        ics_lane_batch *batch = &lane->queue.batches[i];
        if (batch->used && !batch->fresh && ics_lane_batch_is_complete(batch)) {
            *out = batch->result;
            batch->result = (ics_gpu_result){0};
            batch->used = false;
            return true;
        }
    }
    return false;
}
