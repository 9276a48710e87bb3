/* The machine: a CUDA graph with one WHILE node. The body of the node is a trip: every stage is a
 * kernel, and the kernels of several waves follow each other. Then a kernel decides whether the
 * loop continues and whether the pool is compacted. All counts stay on the device.
 *
 *   while (the decision is to continue) {
 *       at the same time, for every chain (a part of the pool) {
 *           repeat until ICS_WAVES_PER_TRIP waves are done {
 *               create
 *               repeat ICS_WAVES_PER_CREATE times { propagate; collide; scatter }
 *           }                                 (join: a scatter and the propagate behind it are one)
 *       }
 *       decide
 *       if (the decision is to compact) { compact; mark vacant slots }
 *   }
 *
 * In event-wavefront a chain is: repeat ICS_EVENT_WAVES times { collide; column }, then fly; and it
 * is not compacted. The rows of graphs/schedule.c say which kernels a wave has.
 *
 * collide runs in parallel with the kernels behind it, up to the scatter of the next wave
 * (kernels/cuda/device/wavefront.h).
 *
 * A trip has several waves because a trip alone costs as much as a few kernels, and because it is
 * cheaper to leave a twentieth of the slots free than to look for free slots after every bounce.
 * There are several chains because one chain fills the GPU while the kernels of another one begin
 * and end.
 */
#include "base/error.h"
#include "graphs/cuda/check.h"
#include "graphs/cuda/graph_nodes.h"
#include "graphs/cuda/lane.h"

/* The parameters of a kernel follow 528 bytes of the driver's in the constant memory of the launch.
 * Where both together exceed 1536 bytes, a kernel of a graph begins about 0.14 us later, on an H200
 * (bench/results/2026-11-22-h200-house.md): wavefront, whose kernels are short, is 1.4 % slower. A
 * member of ice_tables that only some runs need is better an array in memory than a parameter. */
#define PARAMETER_BYTES (1536 - 528)
_Static_assert(sizeof(ice_tables) + sizeof(ics_lane_memory) + sizeof(ics_chain) <= PARAMETER_BYTES,
               "the parameters of a kernel are as short as a fast launch needs");

/* ---- kernels in a graph ---------------------------------------------------------------------- */

/* The most nodes that a kernel waits for. */
enum { AFTER_MAX = 3 };

/* Nodes of a graph that wait for each other in a row, and parallel nodes. */
typedef struct sequence {
    cudaGraph_t graph;
    cudaGraphNode_t last; /* last node of the row; NULL: there is none yet */
    cudaGraphNode_t
        parallel[2]; /* those of the last wave with an even and with an odd number; or NULL */
} sequence;

/* A launch of a kernel. */
typedef struct kernel_node {
    cudaKernel_t kernel;
    uint32_t blocks, threads;
    void **arguments;
} kernel_node;

/* Adds a kernel that waits for the nodes `after` [count]; any of them may be NULL. */
static int add_kernel_after(const ics_lane *lane, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t count, const kernel_node *added, cudaGraphNode_t *node,
                            icestream_error *error)
{
    cudaGraphNode_t there[AFTER_MAX];
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
        if (after[i] != NULL) {
            there[found++] = after[i];
        }
    }
    CUDA_TRY(lane->ordinal, error,
             ics_add_kernel_node(node, graph, there, found, added->kernel,
                                 (dim3){added->blocks, 1, 1}, (dim3){added->threads, 1, 1},
                                 added->arguments));
    if (lane->loop.window.num_bytes > 0) {
        const cudaLaunchAttributeValue value = {.accessPolicyWindow = lane->loop.window};
        CUDA_TRY(
            lane->ordinal, error,
            cudaGraphKernelNodeSetAttribute(*node, cudaLaunchAttributeAccessPolicyWindow, &value));
    }
    return ICESTREAM_OK;
}

static int add_kernel(const ics_lane *lane, sequence *nodes, const kernel_node *added,
                      icestream_error *error)
{
    const cudaGraphNode_t after = nodes->last;
    return add_kernel_after(lane, nodes->graph, &after, 1, added, &nodes->last, error);
}

/* Adds a kernel that notes the time for a profile. `ends`: what has just ended, of this stage. */
static int add_stamp(ics_lane *lane, sequence *nodes, uint32_t stage, ics_stamp ends,
                     icestream_error *error)
{
    uint32_t what = ends;
    void *arguments[] = {(void *)&lane->loop.clock, &lane->memory, &stage, &what};
    const kernel_node stamp = {lane->kernels.stamp, 1, 32, arguments};
    return add_kernel(lane, nodes, &stamp, error);
}

/* Adds a kernel of a wave. A profile has no parallel kernels, because the time between two
 * stamps must belong to one kernel. */
static int add_kernel_of_wave(ics_lane *lane, sequence *nodes, const ics_schedule_kernel *kernel,
                              uint32_t wave, const kernel_node *added, icestream_error *error)
{
    if (lane->options->profile) {
        ICS_TRY(add_kernel(lane, nodes, added, error));
        return add_stamp(lane, nodes, kernel->stage, ICS_STAMP_STAGE, error);
    }
    if (kernel->parallel) {
        return add_kernel_after(lane, nodes->graph, &nodes->last, 1, added,
                                &nodes->parallel[wave % 2], error);
    }
    const cudaGraphNode_t after[AFTER_MAX] = {
        nodes->last,
        ics_schedule_awaits(lane->schedule, kernel, wave, 0) ? nodes->parallel[0] : NULL,
        ics_schedule_awaits(lane->schedule, kernel, wave, 1) ? nodes->parallel[1] : NULL};
    return add_kernel_after(lane, nodes->graph, after, AFTER_MAX, added, &nodes->last, error);
}

/* Adds the waves of one chain, one kernel behind the other. */
static int add_waves(ics_lane *lane, ics_chain chain, sequence *nodes, icestream_error *error)
{
    const ics_gpu_schedule *schedule = lane->schedule;
    const ics_schedule_kernel *kernels = ics_schedule_kernels(schedule, lane->options->join);
    const bool has_columns = ics_settings_has_columns(lane->options, &lane->tables);
    for (chain.wave = 0; chain.wave < schedule->waves_per_trip; ++chain.wave) {
        for (uint32_t i = 0; kernels[i].name != NULL; ++i) {
            if (!ics_schedule_has_kernel(schedule, &kernels[i], chain.wave) ||
                (kernels[i].in_columns && !has_columns)) {
                continue;
            }
            void *arguments[] = {&lane->tables, &lane->memory, &chain};
            const uint32_t threads = ics_settings_kernel(lane->options, kernels[i].name).threads;
            const uint32_t slots = threads * kernels[i].slots_per_thread;
            const kernel_node one = {lane->kernels.of_waves[i], (chain.slots + slots - 1) / slots,
                                     threads, arguments};
            ICS_TRY(add_kernel_of_wave(lane, nodes, &kernels[i], chain.wave, &one, error));
        }
    }
    return ICESTREAM_OK;
}

/* ---- the contents of the graph --------------------------------------------------------------- */

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
    return ics_compact_bytes(ics_settings_lane_slots(options),
                             options->sort == ICS_SORT_NONE ? NULL : &key, bytes);
}

static int enqueue_compaction(void *user, icestream_error *error)
{
    const ics_lane *lane = user;
    const ics_lane_memory *memory = &lane->memory;
#define MOVED(type, name, ...) .name = memory->name,
    const ics_compact_pool pool = {ICS_MOVED_COLUMNS(MOVED).capacity = memory->capacity};
#undef MOVED
    const ics_compact_key key = key_of(lane);
    const int result =
        lane->options->sort == ICS_SORT_NONE
            ? ics_compact_partition(lane->compute, &pool, memory->progress,
                                    lane->loop.compact_memory, lane->loop.compact_bytes)
            : ics_compact_sorted(lane->compute, &pool, &lane->loop.spare, &key, memory->progress,
                                 lane->loop.compact_memory, lane->loop.compact_bytes);
    return result == cudaSuccess
               ? ICESTREAM_OK
               : ics_check_failed((cudaError_t)result, "compact", lane->ordinal, error);
}

/* The kernel that decides at the end of a trip. */
typedef struct decision {
    const ics_lane *lane;
    bool in_graph; /* the two handles are conditions of nodes; false: the host decides */
    cudaGraphConditionalHandle loop, compaction;
} decision;

/* Trips between two compactions; 0: only in the tail. */
static uint32_t trips_between_compactions(const ics_lane *lane)
{
    const uint32_t waves = lane->schedule->waves_per_trip;
    switch (lane->options->when) {
    case ICS_COMPACT_ALWAYS:
        return 1;
    case ICS_COMPACT_EVERY:
        return (lane->options->every + waves - 1) / waves;
    default:
        return 0;
    }
}

static int enqueue_decision(void *user, icestream_error *error)
{
    const decision *self = user;
    const ics_lane *lane = self->lane;
    const ics_loop_compaction compaction = {.handle = self->compaction,
                                            .every = trips_between_compactions(lane)};
    const int result =
        ics_compact_decide(lane->compute, self->in_graph ? &self->loop : NULL,
                           lane->schedule->compacts ? &compaction : NULL, lane->memory.launch,
                           lane->memory.shares, lane->memory.progress);
    return result == cudaSuccess
               ? ICESTREAM_OK
               : ics_check_failed((cudaError_t)result, "decide", lane->ordinal, error);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static int build_compaction(ics_lane *lane, cudaGraph_t graph, icestream_error *error)
{
    sequence nodes = {.graph = graph};
    const ics_captured_work work = {enqueue_compaction, lane};
    ICS_TRY(
        ics_graph_capture(lane->ordinal, lane->compute, graph, NULL, 0, &work, &nodes.last, error));
    ics_chain whole = {.first = 0, .slots = lane->memory.capacity};
    void *arguments[] = {&lane->tables, &lane->memory, &whole};
    const uint32_t block = lane->options->block;
    const kernel_node mark = {lane->kernels.mark_vacant, lane->memory.capacity / block, block,
                              arguments};
    return add_kernel(lane, &nodes, &mark, error);
}

/* Adds the chains, and the decision behind them; *decided: the node of the decision. A profile has
 * one chain, because the time between two stamps must belong to one kernel. */
static int build_trip(ics_lane *lane, cudaGraph_t body, decision *self, cudaGraphNode_t *decided,
                      icestream_error *error)
{
    const uint32_t chains = lane->options->profile ? 1 : lane->options->chains;
    cudaGraphNode_t ends[ICS_CHAINS_MAX] = {NULL};
    ics_chain chain = {.slots = lane->memory.capacity / chains};
    for (uint32_t i = 0; i < chains; ++i) {
        sequence nodes = {.graph = body};
        chain.first = i * chain.slots;
        if (lane->options->profile) {
            ICS_TRY(add_stamp(lane, &nodes, ICS_CLOCK_OTHER, ICS_STAMP_TRIP, error));
        }
        ICS_TRY(add_waves(lane, chain, &nodes, error));
        ends[i] = nodes.last;
    }
    const ics_captured_work work = {enqueue_decision, self};
    return ics_graph_capture(lane->ordinal, lane->compute, body, ends, chains, &work, decided,
                             error);
}

static int build_body(ics_lane *lane, cudaGraph_t body, cudaGraphConditionalHandle loop,
                      icestream_error *error)
{
    decision self = {.lane = lane, .in_graph = true, .loop = loop};
    cudaGraphNode_t decided = NULL;
    if (!lane->schedule->compacts) {
        return build_trip(lane, body, &self, &decided, error);
    }
    cudaGraph_t compaction = NULL;
    CUDA_TRY(lane->ordinal, error, cudaGraphConditionalHandleCreate(&self.compaction, body, 0, 0));
    ICS_TRY(build_trip(lane, body, &self, &decided, error));
    ICS_TRY(ics_graph_add_conditional(lane->ordinal, body, &decided, cudaGraphCondTypeIf,
                                      self.compaction, &compaction, error));
    return build_compaction(lane, compaction, error);
}

/* Builds one trip and one compaction as two graphs: with graph.host_loop the host is the loop. */
static int build_for_host(ics_lane *lane, icestream_error *error)
{
    decision self = {.lane = lane};
    cudaGraphNode_t decided = NULL;
    ICS_TRY(build_trip(lane, lane->loop.graph, &self, &decided, error));
    CUDA_TRY(lane->ordinal, error, cudaGraphInstantiate(&lane->loop.trips, lane->loop.graph, 0));
    if (!lane->schedule->compacts) {
        return ICESTREAM_OK;
    }
    CUDA_TRY(lane->ordinal, error, cudaGraphCreate(&lane->loop.compaction_graph, 0));
    ICS_TRY(build_compaction(lane, lane->loop.compaction_graph, error));
    CUDA_TRY(lane->ordinal, error,
             cudaGraphInstantiate(&lane->loop.compaction, lane->loop.compaction_graph, 0));
    return ICESTREAM_OK;
}

int ics_lane_build_loop(ics_lane *lane, icestream_error *error)
{
    const int ordinal = lane->ordinal;
    CUDA_TRY(ordinal, error, cudaGraphCreate(&lane->loop.graph, 0));
    if (lane->options->host_loop) {
        return build_for_host(lane, error);
    }
    cudaGraphConditionalHandle loop;
    CUDA_TRY(
        ordinal, error,
        cudaGraphConditionalHandleCreate(&loop, lane->loop.graph, 1, cudaGraphCondAssignDefault));
    cudaGraph_t body = NULL;
    ICS_TRY(ics_graph_add_conditional(ordinal, lane->loop.graph, NULL, cudaGraphCondTypeWhile, loop,
                                      &body, error));
    ICS_TRY(build_body(lane, body, loop, error));
    CUDA_TRY(ordinal, error, cudaGraphInstantiate(&lane->loop.trips, lane->loop.graph, 0));
    return ICESTREAM_OK;
}

/* ---- launching it ---------------------------------------------------------------------------- */

/* The loop on the host: waits for every trip and reads the decision. */
static int loop_on_host(ics_lane *lane, icestream_error *error)
{
    const int ordinal = lane->ordinal;
    do {
        CUDA_TRY(ordinal, error, cudaGraphLaunch(lane->loop.trips, lane->compute));
        CUDA_TRY(ordinal, error,
                 cudaMemcpyAsync(lane->loop.decision, &lane->memory.progress->decision,
                                 sizeof *lane->loop.decision, cudaMemcpyDeviceToHost,
                                 lane->compute));
        CUDA_TRY(ordinal, error, cudaStreamSynchronize(lane->compute));
        if (*lane->loop.decision & ICS_COMPACTS) {
            CUDA_TRY(ordinal, error, cudaGraphLaunch(lane->loop.compaction, lane->compute));
        }
    } while (*lane->loop.decision & ICS_GOES_ON);
    return ICESTREAM_OK;
}

/* Launches a kernel that is no part of a graph. */
static int launch_kernel(ics_lane *lane, cudaKernel_t kernel, const char *name, uint32_t blocks,
                         icestream_error *error)
{
    void *arguments[] = {&lane->tables, &lane->memory};
    const cudaError_t result = ics_launch_kernel(
        kernel, (dim3){blocks, 1, 1}, (dim3){lane->options->block, 1, 1}, arguments, lane->compute);
    return result == cudaSuccess ? ICESTREAM_OK
                                 : ics_check_failed(result, name, lane->ordinal, error);
}

int ics_lane_enqueue(ics_lane *lane, icestream_error *error)
{
    const uint32_t blocks = lane->options->pool / lane->options->lanes / lane->options->block;
    if (!lane->schedule->loops) {
        return launch_kernel(lane, lane->kernels.of_waves[0], lane->schedule->kernels[0].name,
                             blocks, error);
    }
    if (lane->options->host_loop) {
        ICS_TRY(loop_on_host(lane, error));
    } else {
        CUDA_TRY(lane->ordinal, error, cudaGraphLaunch(lane->loop.trips, lane->compute));
    }
    return lane->kernels.add_copies != NULL
               ? launch_kernel(lane, lane->kernels.add_copies, "gpu_add_copies", blocks, error)
               : ICESTREAM_OK;
}
