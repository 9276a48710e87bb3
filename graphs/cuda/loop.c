/* The machine: a WHILE node whose body is the stages, a kernel each, several waves of them; then
 * the decision whether to go on; then, if it said so, compaction. Counts stay on the device.
 *
 *   while (decided to go on) {
 *       side by side, for every chain (a part of the pool) {
 *           create
 *           repeat ICS_WAVES_PER_TRIP times { propagate; collide; scatter }
 *       }
 *       decide
 *       if (decided to) { compact; mark vacant slots }
 *   }
 *
 * and for fused, where a visit is many bounces: repeat VISITS_PER_TRIP times { create; visit }.
 *
 * Several waves in a trip, because a trip costs as much by itself as a few kernels do, and because
 * a twentieth of free slots costs less than looking for them after every bounce. Several chains,
 * because one fills the GPU while the kernels of another begin and end.
 */
#include "graphs/cuda/check.h"
#include "graphs/cuda/lane.h"
#include "kernels/cuda/compact.h"

enum { VISITS_PER_TRIP = 2 };

/* Blocks of a kernel with a thread for every slot of a chain; create and collide list slots first:
 * a block of theirs looks after that of two and of four. */
static uint32_t blocks_of(const ics_lane *lane, uint32_t kernel)
{
    const uint32_t stretch = kernel == 0 ? 2 : kernel == 2 ? 4 : 1;
    return lane->schedule->loops ? (lane->grid + stretch - 1) / stretch : lane->grid;
}

static bool is_fused(const ics_lane *lane)
{
    return lane->options->schedule == ICS_SCHEDULE_FUSED;
}

static uint32_t waves_per_trip(const ics_lane *lane)
{
    return is_fused(lane) ? VISITS_PER_TRIP : ICS_WAVES_PER_TRIP;
}

/* Adds a kernel behind *last (NULL: at the beginning) and makes it the last. */
static int add_kernel(const ics_lane *lane, cudaGraph_t graph, cudaKernel_t kernel, uint32_t blocks,
                      uint32_t threads, void **arguments, cudaGraphNode_t *last,
                      ics_gpu_error *error)
{
    struct cudaGraphNodeParams parameters = {.type = cudaGraphNodeTypeKernel};
    parameters.kernel.func = (void *)kernel;
    parameters.kernel.gridDim = (dim3){blocks, 1, 1};
    parameters.kernel.blockDim = (dim3){threads, 1, 1};
    parameters.kernel.kernelParams = arguments;
    cudaGraphNode_t node;
    CUDA_TRY(lane->ordinal, error,
             cudaGraphAddNode(&node, graph, *last ? last : NULL, NULL, *last ? 1 : 0, &parameters));
    *last = node;
    if (lane->window.num_bytes > 0) {
        const cudaLaunchAttributeValue value = {.accessPolicyWindow = lane->window};
        CUDA_TRY(
            lane->ordinal, error,
            cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeAccessPolicyWindow, &value));
    }
    return ICS_GRAPH_OK;
}

/* The waves of one chain, one kernel behind the other. */
static int add_waves(ics_lane *lane, cudaGraph_t body, ics_chain chain, cudaGraphNode_t *last,
                     ics_gpu_error *error)
{
    int status = ICS_GRAPH_OK;
    for (chain.wave = 0; chain.wave < waves_per_trip(lane); ++chain.wave) {
        uint32_t kernel = chain.wave == 0 || is_fused(lane) ? 0 : 1;
        for (; lane->schedule->kernels[kernel].name != NULL; ++kernel) {
            void *arguments[] = {&lane->tables, &lane->memory, &chain};
            void *stamp[] = {&lane->clock, &kernel};
            status = add_kernel(lane, body, lane->kernels[kernel], blocks_of(lane, kernel),
                                lane->options->block, arguments, last, error);
            if (status == ICS_GRAPH_OK && lane->options->profile) {
                status = add_kernel(lane, body, lane->stamp, 1, 1, stamp, last, error);
            }
            if (status != ICS_GRAPH_OK) {
                return status;
            }
        }
    }
    return ICS_GRAPH_OK;
}

static ics_compact_key key_of(const ics_lane *lane)
{
    const ice_tables *tables = &lane->tables;
    ics_compact_key key = {.nx = 1,
                           .ny = 1,
                           .bottom = tables->bottom,
                           .inverse_thickness = tables->inverse_thickness,
                           .layers = (uint32_t)tables->layer_count};
    if (lane->options->sort == ICS_SORT_CELL) {
        key.x = tables->string_grid.x;
        key.y = tables->string_grid.y;
        key.inverse_cell = tables->string_grid.inverse_cell;
        key.nx = (uint32_t)tables->string_grid.nx;
        key.ny = (uint32_t)tables->string_grid.ny;
    }
    return key;
}

int ics_lane_compact_bytes(const ics_gpu_options *options, const ice_tables *tables, size_t *bytes)
{
    const ics_lane lane = {.options = options, .tables = *tables};
    const ics_compact_key key = key_of(&lane);
    return ics_compact_bytes(ics_schedule_lane_slots(options),
                             options->sort == ICS_SORT_NONE ? NULL : &key, bytes);
}

static int capture_compaction(ics_lane *lane, ics_gpu_error *error)
{
    const ics_lane_memory *memory = &lane->memory;
    const ics_compact_pool pool = {memory->position, memory->direction, memory->identity,
                                   memory->recorded, memory->capacity};
    const ics_compact_pool spare = {lane->spare[0], lane->spare[1], lane->spare[2], lane->spare_met,
                                    memory->capacity};
    const ics_compact_key key = key_of(lane);
    const int result =
        lane->options->sort == ICS_SORT_NONE
            ? ics_compact_partition(lane->compute, &pool, memory->progress, lane->compact_memory,
                                    lane->compact_bytes)
            : ics_compact_sorted(lane->compute, &pool, &spare, &key, memory->progress,
                                 lane->compact_memory, lane->compact_bytes);
    return result == cudaSuccess
               ? ICS_GRAPH_OK
               : ics_check_failed((cudaError_t)result, "compact", lane->ordinal, error);
}

/* Captures what `enqueue` puts into the lane's compute stream into a graph, behind the nodes
 * `after`. *last: the node that everything else comes before. */
static int capture(ics_lane *lane, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
                   int (*enqueue)(ics_lane *lane, ics_gpu_error *error), cudaGraphNode_t *last,
                   ics_gpu_error *error)
{
    CUDA_TRY(lane->ordinal, error,
             cudaStreamBeginCaptureToGraph(lane->compute, graph, after, NULL, count,
                                           cudaStreamCaptureModeThreadLocal));
    int status = enqueue(lane, error);
    enum cudaStreamCaptureStatus state;
    const cudaGraphNode_t *ends = NULL;
    size_t end_count = 0;
    const cudaError_t asked =
        cudaStreamGetCaptureInfo(lane->compute, &state, NULL, NULL, &ends, NULL, &end_count);
    if (asked == cudaSuccess && end_count == 1) {
        *last = ends[0];
    }
    cudaGraph_t captured = NULL;
    const cudaError_t ended = cudaStreamEndCapture(lane->compute, &captured);
    if (status == ICS_GRAPH_OK && asked != cudaSuccess) {
        status = ics_check_failed(asked, "cudaStreamGetCaptureInfo", lane->ordinal, error);
    }
    if (status == ICS_GRAPH_OK && ended != cudaSuccess) {
        status = ics_check_failed(ended, "cudaStreamEndCapture", lane->ordinal, error);
    }
    return status;
}

/* Adds a conditional node behind `after` (NULL: none) and gives its body. */
static int add_conditional(ics_lane *lane, cudaGraph_t graph, const cudaGraphNode_t *after,
                           enum cudaGraphConditionalNodeType type,
                           cudaGraphConditionalHandle handle, cudaGraph_t *body,
                           ics_gpu_error *error)
{
    struct cudaGraphNodeParams parameters = {.type = cudaGraphNodeTypeConditional};
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = 1;
    cudaGraphNode_t node;
    CUDA_TRY(lane->ordinal, error,
             cudaGraphAddNode(&node, graph, after, NULL, after ? 1 : 0, &parameters));
    *body = parameters.conditional.phGraph_out[0];
    return ICS_GRAPH_OK;
}

/* What the capturing function of the decision needs beside the lane. */
typedef struct decision {
    ics_lane lane; /* first: a decision is a lane */
    bool in_graph; /* the conditions are those of nodes */
    cudaGraphConditionalHandle loop, compaction;
} decision;

static int capture_decision(ics_lane *lane, ics_gpu_error *error)
{
    const decision *self = (const decision *)lane;
    const uint32_t waves = waves_per_trip(lane);
    const ics_loop_compaction compaction = {.handle = self->compaction,
                                            .every =
                                                lane->options->when == ICS_COMPACT_TAIL ? 0
                                                : lane->options->when == ICS_COMPACT_ALWAYS
                                                    ? 1
                                                    : (lane->options->every + waves - 1) / waves};
    const int result =
        ics_compact_decide(lane->compute, self->in_graph ? &self->loop : NULL, &compaction,
                           lane->memory.launch, lane->memory.shares, lane->memory.progress);
    return result == cudaSuccess
               ? ICS_GRAPH_OK
               : ics_check_failed((cudaError_t)result, "decide", lane->ordinal, error);
}

static int build_compaction(ics_lane *lane, cudaGraph_t graph, ics_gpu_error *error)
{
    cudaGraphNode_t last = NULL;
    int status = capture(lane, graph, NULL, 0, capture_compaction, &last, error);
    ics_chain whole = {.first = 0, .slots = lane->memory.capacity};
    void *arguments[] = {&lane->tables, &lane->memory, &whole};
    if (status == ICS_GRAPH_OK) {
        status =
            add_kernel(lane, graph, lane->mark_vacant, lane->memory.capacity / lane->options->block,
                       lane->options->block, arguments, &last, error);
    }
    return status;
}

/* The chains, and the decision behind them; *decided: its node. */
static int build_trip(ics_lane *lane, cudaGraph_t body, decision *self, cudaGraphNode_t *decided,
                      ics_gpu_error *error)
{
    const uint32_t chains = lane->options->profile ? 1 : lane->options->chains;
    cudaGraphNode_t ends[ICS_CHAINS_MAX] = {NULL};
    ics_chain chain = {.slots = lane->memory.capacity / chains};
    lane->grid = chain.slots / lane->options->block;
    int status = ICS_GRAPH_OK;
    for (uint32_t i = 0; status == ICS_GRAPH_OK && i < chains; ++i) {
        chain.first = i * chain.slots;
        status = add_waves(lane, body, chain, &ends[i], error);
    }
    if (status == ICS_GRAPH_OK) {
        status = capture(&self->lane, body, ends, chains, capture_decision, decided, error);
    }
    return status;
}

static int build_body(ics_lane *lane, cudaGraph_t body, cudaGraphConditionalHandle loop,
                      ics_gpu_error *error)
{
    decision self = {.lane = *lane, .in_graph = true, .loop = loop};
    CUDA_TRY(lane->ordinal, error, cudaGraphConditionalHandleCreate(&self.compaction, body, 0, 0));
    cudaGraphNode_t decided = NULL;
    cudaGraph_t compaction = NULL;
    int status = build_trip(lane, body, &self, &decided, error);
    if (status == ICS_GRAPH_OK) {
        status = add_conditional(lane, body, &decided, cudaGraphCondTypeIf, self.compaction,
                                 &compaction, error);
    }
    if (status == ICS_GRAPH_OK) {
        status = build_compaction(lane, compaction, error);
    }
    return status;
}

/* One trip and one compaction, for a host that goes round by itself. */
static int build_for_host(ics_lane *lane, ics_gpu_error *error)
{
    decision self = {.lane = *lane};
    cudaGraphNode_t decided = NULL;
    int status = build_trip(lane, lane->graph, &self, &decided, error);
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    CUDA_TRY(lane->ordinal, error, cudaGraphInstantiate(&lane->loop, lane->graph, 0));
    CUDA_TRY(lane->ordinal, error, cudaGraphCreate(&lane->compaction_graph, 0));
    status = build_compaction(lane, lane->compaction_graph, error);
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    CUDA_TRY(lane->ordinal, error,
             cudaGraphInstantiate(&lane->compaction, lane->compaction_graph, 0));
    return ICS_GRAPH_OK;
}

int ics_lane_build_loop(ics_lane *lane, ics_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    CUDA_TRY(ordinal, error, cudaGraphCreate(&lane->graph, 0));
    if (lane->options->host_loop) {
        return build_for_host(lane, error);
    }
    cudaGraphConditionalHandle loop;
    CUDA_TRY(ordinal, error,
             cudaGraphConditionalHandleCreate(&loop, lane->graph, 1, cudaGraphCondAssignDefault));
    cudaGraph_t body = NULL;
    int status =
        add_conditional(lane, lane->graph, NULL, cudaGraphCondTypeWhile, loop, &body, error);
    if (status == ICS_GRAPH_OK) {
        status = build_body(lane, body, loop, error);
    }
    if (status != ICS_GRAPH_OK) {
        return status;
    }
    CUDA_TRY(ordinal, error, cudaGraphInstantiate(&lane->loop, lane->graph, 0));
    return ICS_GRAPH_OK;
}

static int go_round(ics_lane *lane, ics_gpu_error *error)
{
    const int ordinal = lane->ordinal;
    do {
        CUDA_TRY(ordinal, error, cudaGraphLaunch(lane->loop, lane->compute));
        CUDA_TRY(ordinal, error,
                 cudaMemcpyAsync(lane->decision, &lane->memory.progress->decision,
                                 sizeof *lane->decision, cudaMemcpyDeviceToHost, lane->compute));
        CUDA_TRY(ordinal, error, cudaStreamSynchronize(lane->compute));
        if (*lane->decision & ICS_COMPACTS) {
            CUDA_TRY(ordinal, error, cudaGraphLaunch(lane->compaction, lane->compute));
        }
    } while (*lane->decision & ICS_GOES_ON);
    return ICS_GRAPH_OK;
}

int ics_lane_enqueue(ics_lane *lane, ics_gpu_error *error)
{
    if (lane->schedule->loops && lane->options->host_loop) {
        return go_round(lane, error);
    }
    if (lane->schedule->loops) {
        CUDA_TRY(lane->ordinal, error, cudaGraphLaunch(lane->loop, lane->compute));
        return ICS_GRAPH_OK;
    }
    void *arguments[] = {&lane->tables, &lane->memory};
    const cudaError_t result =
        cudaLaunchKernel((const void *)lane->kernels[0], (dim3){lane->grid, 1, 1},
                         (dim3){lane->options->block, 1, 1}, arguments, 0, lane->compute);
    return result == cudaSuccess
               ? ICS_GRAPH_OK
               : ics_check_failed(result, lane->schedule->kernels[0].name, lane->ordinal, error);
}
