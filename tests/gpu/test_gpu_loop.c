/* The decision of the loop on a GPU (kernels/cuda/compact.h): the loop continues, stops and
 * compacts as the host computes, in the body of a CUDA graph or with the host in its place.
 *
 * How to join: a new reason to stop joins in the table `situations`, a new rule for compaction in
 * `compactions`. */
#include "tests/gpu/compact_pool.h"
#include "tests/gpu/gpu_world.h"

/* A CUDA graph with a loop that only decides, and compacts if the decision says so. If the host
 * runs the loop, there are two graphs: one decides, the other compacts. */
typedef struct loop_graph {
    cudaGraph_t graph, compaction_graph;
    cudaGraphExec_t program, compaction;
    cudaStream_t stream;
    ics_launch *launch;
} loop_graph;

static cudaGraph_t add_body(cudaGraph_t graph, const cudaGraphNode_t *after,
                            cudaGraphConditionalHandle handle,
                            enum cudaGraphConditionalNodeType type)
{
    struct cudaGraphNodeParams parameters = {.type = cudaGraphNodeTypeConditional};
    parameters.conditional.handle = handle;
    parameters.conditional.type = type;
    parameters.conditional.size = 1;
    cudaGraphNode_t node;
    COMPACT_CHECK(cudaGraphAddNode(&node, graph, after, NULL, after ? 1 : 0, &parameters));
    return parameters.conditional.phGraph_out[0];
}

static void begin_capture(cudaStream_t stream, cudaGraph_t graph)
{
    COMPACT_CHECK(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                                cudaStreamCaptureModeThreadLocal));
}

static void end_capture(cudaStream_t stream)
{
    cudaGraph_t captured;
    COMPACT_CHECK(cudaStreamEndCapture(stream, &captured));
}

/* `key` is the key for sorting, or NULL for a partition. */
static void capture_compaction(const loop_graph *self, cudaGraph_t graph,
                               const compact_device_pool *there, const ics_compact_key *key)
{
    begin_capture(self->stream, graph);
    if (key != NULL) {
        COMPACT_CHECK(ics_compact_sorted(self->stream, &there->pool, &there->spare, key,
                                         there->progress, there->temporary, there->bytes));
    } else {
        COMPACT_CHECK(ics_compact_partition(self->stream, &there->pool, there->progress,
                                            there->temporary, there->bytes));
    }
    end_capture(self->stream);
}

static void make_for_host(loop_graph *self, const compact_device_pool *there, uint32_t every,
                          const ics_compact_key *key)
{
    const ics_loop_compaction compaction = {.every = every};
    begin_capture(self->stream, self->graph);
    COMPACT_CHECK(
        ics_compact_decide(self->stream, NULL, &compaction, self->launch, NULL, there->progress));
    end_capture(self->stream);
    COMPACT_CHECK(cudaGraphInstantiate(&self->program, self->graph, 0));
    COMPACT_CHECK(cudaGraphCreate(&self->compaction_graph, 0));
    capture_compaction(self, self->compaction_graph, there, key);
    COMPACT_CHECK(cudaGraphInstantiate(&self->compaction, self->compaction_graph, 0));
}

static loop_graph loop_create(const compact_device_pool *there, uint32_t every,
                              const ics_compact_key *key)
{
    loop_graph self = {.launch = compact_device_memory(sizeof(ics_launch))};
    COMPACT_CHECK(cudaStreamCreateWithFlags(&self.stream, cudaStreamNonBlocking));
    COMPACT_CHECK(cudaGraphCreate(&self.graph, 0));
    if (gpu_host_loop()) {
        make_for_host(&self, there, every, key);
        return self;
    }
    cudaGraphConditionalHandle loop;
    COMPACT_CHECK(
        cudaGraphConditionalHandleCreate(&loop, self.graph, 1, cudaGraphCondAssignDefault));
    const cudaGraph_t body = add_body(self.graph, NULL, loop, cudaGraphCondTypeWhile);
    ics_loop_compaction compaction = {.every = every};
    COMPACT_CHECK(cudaGraphConditionalHandleCreate(&compaction.handle, body, 0, 0));
    begin_capture(self.stream, body);
    const unsigned long long handle = loop;
    COMPACT_CHECK(
        ics_compact_decide(self.stream, &handle, &compaction, self.launch, NULL, there->progress));
    end_capture(self.stream);
    cudaGraphNode_t decision;
    size_t one = 1;
    COMPACT_CHECK(cudaGraphGetNodes(body, &decision, &one));
    const cudaGraph_t inner = add_body(body, &decision, compaction.handle, cudaGraphCondTypeIf);
    capture_compaction(&self, inner, there, key);
    COMPACT_CHECK(cudaGraphInstantiate(&self.program, self.graph, 0));
    return self;
}

static void loop_destroy(loop_graph *self)
{
    COMPACT_CHECK(cudaGraphExecDestroy(self->program));
    COMPACT_CHECK(cudaGraphDestroy(self->graph));
    if (self->compaction != NULL) {
        COMPACT_CHECK(cudaGraphExecDestroy(self->compaction));
        COMPACT_CHECK(cudaGraphDestroy(self->compaction_graph));
    }
    COMPACT_CHECK(cudaStreamDestroy(self->stream));
    COMPACT_CHECK(cudaFree(self->launch));
}

static ics_launch_progress run_loop(const loop_graph *self, const compact_device_pool *there,
                                    const ics_launch *launch, const ics_launch_progress *progress)
{
    COMPACT_CHECK(cudaMemcpy(self->launch, launch, sizeof *launch, cudaMemcpyHostToDevice));
    COMPACT_CHECK(cudaMemcpy(there->progress, progress, sizeof *progress, cudaMemcpyHostToDevice));
    ics_launch_progress after;
    do {
        COMPACT_CHECK(cudaGraphLaunch(self->program, self->stream));
        COMPACT_CHECK(cudaStreamSynchronize(self->stream));
        after = compact_pool_progress(there);
        if (self->compaction != NULL && after.decision & ICS_COMPACTS) {
            COMPACT_CHECK(cudaGraphLaunch(self->compaction, self->stream));
        }
        COMPACT_CHECK(cudaStreamSynchronize(self->stream));
    } while (self->compaction != NULL && after.decision & ICS_GOES_ON);
    return compact_pool_progress(there);
}

/* States before the decision. The loop stops after one wave (`stops`), or continues to the limit of
 * 9 waves. */
static const struct {
    const char *name;
    ics_launch launch;
    ics_launch_progress progress;
    bool stops;
} situations[] = {
    {"photons to create", {.end = 10}, {.next = 9, .alive = 0}, false},
    {"all created, to be drained", {.end = 10, .drain = 1}, {.next = 10, .alive = 1}, false},
    {"all created, not to be drained", {.end = 10}, {.next = 10, .alive = 1}, true},
    {"drained", {.end = 10, .drain = 1}, {.next = 10, .alive = 0}, true},
    {"more taken than there are", {.end = 10}, {.next = 12, .alive = 5}, true},
    {"photons wait", {.end = 10}, {.next = 0, .alive = 5, .stalled = 1}, true},
    {"photons wait in the tail", {.end = 10, .drain = 1}, {.next = 10, .stalled = 3}, true},
};
enum { SITUATIONS = sizeof situations / sizeof *situations };

START_TEST(loop_ends)
{
    compact_device_pool there = compact_pool_create(1000, NULL);
    loop_graph loop = loop_create(&there, 1000, NULL);
    ics_launch launch = situations[_i].launch;
    ics_launch_progress progress = situations[_i].progress;
    launch.wave_limit = 9;
    progress.trips = 17;
    const ics_launch_progress after = run_loop(&loop, &there, &launch, &progress);
    ck_assert_msg(after.waves == (situations[_i].stops ? 1 : 9), "%s: %llu waves",
                  situations[_i].name, (unsigned long long)after.waves);
    ck_assert_uint_eq(after.trips, 17 + after.waves);
    ck_assert_uint_eq(after.stalled, progress.stalled);
    ck_assert_uint_eq(after.next, progress.next);
    loop_destroy(&loop);
    compact_pool_destroy(&there);
}
END_TEST

/* The loop counts 10 waves. After a compaction fewer slots are in use. */
static const struct {
    uint32_t every;
    uint64_t next; /* of 100 */
    double share;  /* of slots that are alive */
    bool compacts;
} compactions[] = {
    {0, 100, 0.3, true},  {0, 100, 0.7, false}, {0, 99, 0.3, false}, {1, 99, 0.7, true},
    {9, 99, 0.7, true},   {10, 99, 0.7, false}, /* the tenth wave is the last */
    {20, 99, 0.7, false},
};
enum { COMPACTIONS = sizeof compactions / sizeof *compactions };

START_TEST(loop_compacts)
{
    const int which = _i / 2;
    const ics_compact_key *key = _i % 2 ? &compact_keys[2] : NULL;
    enum { CAPACITY = 20000, USED = 19968 };
    compact_slots before =
        compact_random_slots(CAPACITY, USED, compactions[which].share, 77 + (uint64_t)_i);
    compact_device_pool there = compact_pool_create(CAPACITY, key);
    loop_graph loop = loop_create(&there, compactions[which].every, key);
    compact_pool_put(&there, &before);
    const ics_launch launch = {.end = 100, .drain = 1, .wave_limit = 10};
    const ics_launch_progress progress = {
        .next = compactions[which].next, .alive = before.alive, .slots = USED};
    const ics_launch_progress last = run_loop(&loop, &there, &launch, &progress);
    ck_assert_uint_eq(last.waves, 10);
    compact_slots after = compact_pool_get(&there, CAPACITY);
    if (compactions[which].compacts) {
        compact_expect(&before, &after);
    } else {
        ck_assert_uint_eq(after.used, USED);
    }
    compact_slots_destroy(&before);
    compact_slots_destroy(&after);
    loop_destroy(&loop);
    compact_pool_destroy(&there);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu loop");
    TCase *tests = tcase_create("loop");
    tcase_add_loop_test(tests, loop_ends, 0, SITUATIONS);
    tcase_add_loop_test(tests, loop_compacts, 0, 2 * COMPACTIONS);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
