/* The machine: a WHILE node whose body is the stages, a kernel each, several waves of them; then
 * the decision whether to go on; then, if it said so, compaction. Counts stay on the device.
 *
 *   while (decided to go on) {
 *       repeat IS_WAVES_PER_TRIP times { create; propagate; collide; scatter }   (fused: create;
 * visit) decide if (decided to) { compact }
 *   }
 *
 * Several waves in a trip, because a trip costs as much by itself as a few kernels do, and because
 * a twentieth of free slots costs less than looking for them after every bounce.
 */
#include "graphs/cuda/check.h"
#include "graphs/cuda/lane.h"
#include "kernels/cuda/compact.h"

#include <nvtx3/nvToolsExt.h>

enum { VISITS_PER_TRIP = 2 };

/* Stages that are one thread per slot; create looks after stretches of eight blocks, and a quarter
 * of the blocks is more than collide ever has work for. */
static uint32_t blocks_of(const is_lane *lane, uint32_t kernel)
{
    const bool collide = lane->schedule->kernels[2].name && kernel == 2;
    if (lane->schedule->loops && (kernel == 0 || collide))
        return (lane->grid + 7) / 8;
    return lane->grid;
}

static int launch_kernel(is_lane *lane, uint32_t kernel, uint32_t wave, is_gpu_error *error)
{
    /* Only the stages of wavefront take the last one; the others are not given it. */
    void *arguments[] = {&lane->tables, &lane->memory, &wave};
    nvtxRangePushA(lane->schedule->kernels[kernel].name);
    const cudaError_t result =
        cudaLaunchKernel((const void *)lane->kernels[kernel], (dim3){blocks_of(lane, kernel), 1, 1},
                         (dim3){lane->options->block, 1, 1}, arguments, 0, lane->compute);
    nvtxRangePop();
    return result == cudaSuccess
               ? IS_GRAPH_OK
               : is_cuda_failed(result, lane->schedule->kernels[kernel].name, lane->ordinal, error);
}

/* Adds the time since the last stamp to a stage's. */
static int launch_stamp(is_lane *lane, uint32_t stage, is_gpu_error *error)
{
    void *arguments[] = {&lane->clock, &stage};
    IS_CUDA(lane->ordinal, error,
            cudaLaunchKernel((const void *)lane->stamp, (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments,
                             0, lane->compute));
    return IS_GRAPH_OK;
}

static uint32_t waves_per_trip(const is_lane *lane)
{
    return lane->options->schedule == IS_SCHEDULE_WAVEFRONT ? IS_WAVES_PER_TRIP : VISITS_PER_TRIP;
}

static int capture_waves(is_lane *lane, is_gpu_error *error)
{
    const bool often = lane->options->schedule == IS_SCHEDULE_FUSED;
    for (uint32_t wave = 0; wave < waves_per_trip(lane); ++wave)
        for (uint32_t kernel = wave == 0 || often ? 0 : 1; lane->schedule->kernels[kernel].name;
             ++kernel) {
            int status = launch_kernel(lane, kernel, wave, error);
            if (status == IS_GRAPH_OK && lane->options->profile)
                status = launch_stamp(lane, kernel, error);
            if (status != IS_GRAPH_OK)
                return status;
        }
    return IS_GRAPH_OK;
}

static is_compact_key key_of(const is_lane *lane)
{
    const ice_tables *tables = &lane->tables;
    is_compact_key key = {.nx = 1,
                          .ny = 1,
                          .bottom = tables->bottom,
                          .inverse_thickness = tables->inverse_thickness,
                          .layers = (uint32_t)tables->layer_count};
    if (lane->options->sort == IS_SORT_CELL) {
        key.x = tables->string_grid.x;
        key.y = tables->string_grid.y;
        key.inverse_cell = tables->string_grid.inverse_cell;
        key.nx = (uint32_t)tables->string_grid.nx;
        key.ny = (uint32_t)tables->string_grid.ny;
    }
    return key;
}

int is_lane_compact_bytes(const is_gpu_options *options, const ice_tables *tables, size_t *bytes)
{
    const is_lane lane = {.options = options, .tables = *tables};
    const is_compact_key key = key_of(&lane);
    return is_compact_bytes(is_gpu_lane_slots(options), options->sort == IS_SORT_NONE ? NULL : &key,
                            bytes);
}

static int capture_compaction(is_lane *lane, is_gpu_error *error)
{
    const is_lane_memory *memory = &lane->memory;
    const is_compact_pool pool = {memory->place, memory->course, memory->label, memory->met,
                                  memory->capacity};
    const is_compact_pool spare = {lane->spare[0], lane->spare[1], lane->spare[2], lane->spare_met,
                                   memory->capacity};
    const is_compact_key key = key_of(lane);
    const int result = lane->options->sort == IS_SORT_NONE
                           ? is_compact_partition(lane->compute, &pool, memory->progress,
                                                  lane->compact_memory, lane->compact_bytes)
                           : is_compact_sorted(lane->compute, &pool, &spare, &key, memory->progress,
                                               lane->compact_memory, lane->compact_bytes);
    return result == cudaSuccess
               ? IS_GRAPH_OK
               : is_cuda_failed((cudaError_t)result, "compact", lane->ordinal, error);
}

/* Captures what `enqueue` puts into the lane's compute stream into a graph. *last: the node that
 * everything else comes before. */
static int capture(is_lane *lane, cudaGraph_t graph,
                   int (*enqueue)(is_lane *lane, is_gpu_error *error), cudaGraphNode_t *last,
                   is_gpu_error *error)
{
    IS_CUDA(lane->ordinal, error,
            cudaStreamBeginCaptureToGraph(lane->compute, graph, NULL, NULL, 0,
                                          cudaStreamCaptureModeThreadLocal));
    int status = enqueue(lane, error);
    enum cudaStreamCaptureStatus state;
    const cudaGraphNode_t *ends = NULL;
    size_t count = 0;
    const cudaError_t asked =
        cudaStreamGetCaptureInfo(lane->compute, &state, NULL, NULL, &ends, NULL, &count);
    if (asked == cudaSuccess && count == 1 && last)
        *last = ends[0];
    cudaGraph_t captured = NULL;
    const cudaError_t ended = cudaStreamEndCapture(lane->compute, &captured);
    if (status == IS_GRAPH_OK && asked != cudaSuccess)
        status = is_cuda_failed(asked, "cudaStreamGetCaptureInfo", lane->ordinal, error);
    if (status == IS_GRAPH_OK && ended != cudaSuccess)
        status = is_cuda_failed(ended, "cudaStreamEndCapture", lane->ordinal, error);
    return status;
}

/* Adds a conditional node behind `after` (NULL: none) and gives its body. */
static int add_conditional(is_lane *lane, cudaGraph_t graph, const cudaGraphNode_t *after,
                           enum cudaGraphConditionalNodeType type,
                           cudaGraphConditionalHandle handle, cudaGraph_t *body,
                           is_gpu_error *error)
{
    struct cudaGraphNodeParams parameters = {.type = cudaGraphNodeTypeConditional};
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = 1;
    cudaGraphNode_t node;
    IS_CUDA(lane->ordinal, error,
            cudaGraphAddNode(&node, graph, after, NULL, after ? 1 : 0, &parameters));
    *body = parameters.conditional.phGraph_out[0];
    return IS_GRAPH_OK;
}

/* What the capturing function of the decision needs beside the lane. */
typedef struct decision {
    is_lane lane; /* first: a decision is a lane */
    cudaGraphConditionalHandle loop, compaction;
} decision;

static int capture_trip(is_lane *lane, is_gpu_error *error)
{
    const decision *self = (const decision *)lane;
    const int status = capture_waves(lane, error);
    if (status != IS_GRAPH_OK)
        return status;
    const uint32_t waves = waves_per_trip(lane);
    const is_loop_compaction compaction = {.handle = self->compaction,
                                           .every =
                                               lane->options->when == IS_COMPACT_TAIL ? 0
                                               : lane->options->when == IS_COMPACT_ALWAYS
                                                   ? 1
                                                   : (lane->options->every + waves - 1) / waves};
    const int result = is_loop_decide(lane->compute, self->loop, &compaction, lane->memory.launch,
                                      lane->memory.progress);
    return result == cudaSuccess
               ? IS_GRAPH_OK
               : is_cuda_failed((cudaError_t)result, "decide", lane->ordinal, error);
}

int is_lane_build_loop(is_lane *lane, is_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    IS_CUDA(ordinal, error, cudaGraphCreate(&lane->graph, 0));
    decision self = {.lane = *lane};
    IS_CUDA(
        ordinal, error,
        cudaGraphConditionalHandleCreate(&self.loop, lane->graph, 1, cudaGraphCondAssignDefault));
    cudaGraph_t body = NULL, compaction = NULL;
    int status =
        add_conditional(lane, lane->graph, NULL, cudaGraphCondTypeWhile, self.loop, &body, error);
    if (status != IS_GRAPH_OK)
        return status;
    IS_CUDA(ordinal, error, cudaGraphConditionalHandleCreate(&self.compaction, body, 0, 0));
    cudaGraphNode_t decided = NULL;
    status = capture(&self.lane, body, capture_trip, &decided, error);
    if (status == IS_GRAPH_OK)
        status = add_conditional(lane, body, &decided, cudaGraphCondTypeIf, self.compaction,
                                 &compaction, error);
    if (status == IS_GRAPH_OK)
        status = capture(lane, compaction, capture_compaction, NULL, error);
    if (status != IS_GRAPH_OK)
        return status;
    IS_CUDA(ordinal, error, cudaGraphInstantiate(&lane->loop, lane->graph, 0));
    return IS_GRAPH_OK;
}

int is_lane_enqueue(is_lane *lane, is_gpu_error *error)
{
    if (!lane->schedule->loops)
        return launch_kernel(lane, 0, 0, error);
    IS_CUDA(lane->ordinal, error, cudaGraphLaunch(lane->loop, lane->compute));
    return IS_GRAPH_OK;
}
