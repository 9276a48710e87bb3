/* Compaction of a pool and the decision of the loop (kernels/cuda/compact.h) give what the host
 * computes, both alone and in the body of a graph. */
#include "kernels/cuda/compact.h"
#include "tests/gpu/gpu_world.h"
#include "tests/support/test_scale.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

static void check(cudaError_t error, const char *what)
{
    ck_assert_msg(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}
#define CHECK(call) check((cudaError_t)(call), #call)

static void *device_memory(size_t bytes)
{
    void *memory = NULL;
    CHECK(cudaMalloc(&memory, bytes));
    return memory;
}

static void *host_memory(size_t bytes)
{
    void *memory = calloc(bytes, 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

/* ---- pools ---------------------------------------------------------------------------------- */

enum { COLUMNS = 3, WORD = 4 /* numbers of 4 bytes in a word */ };

/* A pool on the host. */
typedef struct slots {
    uint32_t capacity, used, alive;
    uint32_t *columns[COLUMNS]; /* [capacity][WORD]; position, direction, identity */
    uint32_t *recorded;         /* [capacity] */
} slots;

static uint32_t *emission_of(const slots *pool, uint32_t slot)
{
    return &pool->columns[2][slot * WORD + 1];
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float place_of(const slots *pool, uint32_t slot, int axis)
{
    float value;
    memcpy(&value, &pool->columns[0][slot * WORD + (uint32_t)axis], sizeof value);
    return value;
}

static slots slots_create(uint32_t capacity)
{
    slots pool = {.capacity = capacity, .recorded = host_memory(capacity * sizeof(uint32_t))};
    for (int k = 0; k < COLUMNS; ++k) {
        pool.columns[k] = host_memory(capacity * WORD * sizeof(uint32_t));
    }
    return pool;
}

static void slots_destroy(slots *pool)
{
    for (int k = 0; k < COLUMNS; ++k) {
        free(pool->columns[k]);
    }
    free(pool->recorded);
}

/* Whether a photon waits for a place in the hit buffer, in either of the two ways of state.h. */
static bool waits(const slots *pool, uint32_t slot)
{
    const uint32_t *identity = &pool->columns[2][slot * WORD];
    return (identity[3] & ICS_WAITING) != 0 || (identity[0] & 0x80000000u) != 0;
}

/* A share of the slots in use is occupied, by photons whose every word is their own. Free slots
 * keep the remains of other photons, and behind the slots in use there are what look like photons.
 */
static slots random_pool(uint32_t capacity, uint32_t used, double share, uint64_t seed)
{
    slots pool = slots_create(capacity);
    uint64_t state = seed;
    pool.used = used;
    for (uint32_t i = 0; i < capacity; ++i) {
        for (int k = 0; k < COLUMNS; ++k) {
            for (uint32_t w = 0; w < WORD; ++w) {
                pool.columns[k][i * WORD + w] = (uint32_t)test_word(&state);
            }
        }
        for (uint32_t axis = 0; axis < 3; ++axis) {
            pool.columns[0][i * WORD + axis] = bits_of((float)test_between(&state, -600, 600));
        }
        pool.columns[2][i * WORD + 2] = i; /* photon_id: where it came from */
        const uint32_t recorded = (uint32_t)test_word(&state);
        const bool lives = i < used && test_uniform(&state) < share;
        *emission_of(&pool, i) = i >= used || lives ? 7 : ICS_NOBODY;
        pool.recorded[i] = lives && waits(&pool, i) ? recorded : 0;
        pool.alive += lives;
    }
    return pool;
}

typedef struct device_pool {
    ics_compact_pool pool, spare;
    ics_launch_progress *progress;
    void *temporary;
    size_t bytes;
} device_pool;

static ics_compact_pool device_columns(uint32_t capacity)
{
    return (ics_compact_pool){.position = device_memory(capacity * 16),
                              .direction = device_memory(capacity * 16),
                              .identity = device_memory(capacity * 16),
                              .recorded = device_memory(capacity * 4),
                              .capacity = capacity};
}

static device_pool device_pool_create(uint32_t capacity, const ics_compact_key *key)
{
    device_pool there = {.pool = device_columns(capacity), .spare = device_columns(capacity)};
    CHECK(ics_compact_bytes(capacity, key, &there.bytes));
    there.temporary = device_memory(there.bytes);
    there.progress = device_memory(sizeof *there.progress);
    return there;
}

static void free_columns(const ics_compact_pool *pool)
{
    CHECK(cudaFree(pool->position));
    CHECK(cudaFree(pool->direction));
    CHECK(cudaFree(pool->identity));
    CHECK(cudaFree(pool->recorded));
}

static void device_pool_destroy(device_pool *there)
{
    free_columns(&there->pool);
    free_columns(&there->spare);
    CHECK(cudaFree(there->temporary));
    CHECK(cudaFree(there->progress));
}

static void copy_pool(const device_pool *there, const slots *pool, bool back)
{
    void *const columns[COLUMNS] = {there->pool.position, there->pool.direction,
                                    there->pool.identity};
    const enum cudaMemcpyKind kind = back ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    for (int k = 0; k < COLUMNS; ++k) {
        CHECK(cudaMemcpy(back ? (void *)pool->columns[k] : columns[k],
                         back ? columns[k] : (void *)pool->columns[k], pool->capacity * 16, kind));
    }
    CHECK(cudaMemcpy(back ? pool->recorded : there->pool.recorded,
                     back ? there->pool.recorded : pool->recorded, pool->capacity * 4, kind));
}

static void put(const device_pool *there, const slots *pool)
{
    const ics_launch_progress progress = {.slots = pool->used, .alive = pool->alive};
    copy_pool(there, pool, false);
    CHECK(cudaMemcpy(there->progress, &progress, sizeof progress, cudaMemcpyHostToDevice));
}

static ics_launch_progress progress_of(const device_pool *there)
{
    ics_launch_progress progress;
    CHECK(cudaMemcpy(&progress, there->progress, sizeof progress, cudaMemcpyDeviceToHost));
    return progress;
}

static slots get(const device_pool *there, uint32_t capacity)
{
    slots pool = slots_create(capacity);
    CHECK(cudaDeviceSynchronize());
    copy_pool(there, &pool, true);
    const ics_launch_progress progress = progress_of(there);
    pool.used = progress.slots;
    pool.alive = progress.alive;
    return pool;
}

/* ---- what must hold -------------------------------------------------------------------------- */

static uint32_t rounded(uint32_t alive, uint32_t used)
{
    const uint32_t needed = (alive + 31) / 32 * 32;
    return needed < used ? needed : used;
}

/* All photons are in front and whole; none is lost, none is there twice. */
static void expect_compact(const slots *before, const slots *after)
{
    ck_assert_uint_eq(after->used, rounded(before->alive, before->used));
    ck_assert_uint_eq(after->alive, before->alive);
    unsigned char *seen = host_memory(before->capacity);
    for (uint32_t i = 0; i < before->used; ++i) {
        if (i >= before->alive) {
            ck_assert_uint_eq(*emission_of(after, i), ICS_NOBODY);
            ck_assert_uint_eq(after->recorded[i], 0);
            continue;
        }
        const uint32_t from = after->columns[2][i * WORD + 2];
        ck_assert_uint_lt(from, before->used);
        ck_assert_uint_ne(*emission_of(before, from), ICS_NOBODY);
        ck_assert_uint_eq(seen[from], 0);
        seen[from] = 1;
        for (int k = 0; k < COLUMNS; ++k) {
            ck_assert_mem_eq(&after->columns[k][i * WORD], &before->columns[k][from * WORD], 16);
        }
        ck_assert_uint_eq(after->recorded[i], before->recorded[from]);
    }
    free(seen);
}

static const struct {
    uint32_t capacity, used;
    double share;
} pools[] = {
    {1, 1, 1.0},
    {1, 1, 0.0},
    {1, 0, 1.0},
    {31, 20, 0.5},
    {1000, 1000, 0.0},
    {1000, 1000, 1.0},
    {1000, 64, 0.9},
    {4096, 4000, 0.02},
    {100003, 99999, 0.45},
    {262144, 262144, 0.1},
    {1 << 20, 900000, 0.97},
};
enum { POOLS = sizeof pools / sizeof *pools };

START_TEST(partition)
{
    const uint32_t capacity = pools[_i].capacity;
    slots before = random_pool(capacity, pools[_i].used, pools[_i].share, 3 + (uint64_t)_i);
    device_pool there = device_pool_create(capacity, NULL);
    put(&there, &before);
    CHECK(ics_compact_partition(NULL, &there.pool, there.progress, there.temporary, there.bytes));
    slots after = get(&there, capacity);
    expect_compact(&before, &after);
    /* Photons in front of the new end stay where they are; the others come from the back. */
    uint32_t last = before.used;
    for (uint32_t i = 0; i < before.alive; ++i) {
        const uint32_t from = after.columns[2][i * WORD + 2];
        if (*emission_of(&before, i) != ICS_NOBODY) {
            ck_assert_uint_eq(from, i);
        } else {
            ck_assert_uint_ge(from, before.alive);
            ck_assert_uint_lt(from, last);
            last = from;
        }
    }
    slots_destroy(&before);
    slots_destroy(&after);
    device_pool_destroy(&there);
}
END_TEST

static const ics_compact_key keys[] = {
    {.nx = 1, .ny = 1, .bottom = -500.0f, .inverse_thickness = 0.1f, .layers = 100},
    {.nx = 1, .ny = 1, .bottom = -855.0f, .inverse_thickness = 0.1f, .layers = 255},
    {.x = -500.0f,
     .y = -450.0f,
     .inverse_cell = 0.008f,
     .nx = 8,
     .ny = 9,
     .bottom = -500.0f,
     .inverse_thickness = 0.05f,
     .layers = 50},
};
enum { KEYS = sizeof keys / sizeof *keys };

static uint32_t index_in(float position, float start, float inverse_width, uint32_t count)
{
    const float index = (position - start) * inverse_width;
    if (!(index > 0.0f)) {
        return 0;
    }
    return (uint32_t)index < count - 1 ? (uint32_t)index : count - 1;
}

static uint32_t key_of(const slots *pool, uint32_t slot, const ics_compact_key *key)
{
    const uint32_t x = index_in(place_of(pool, slot, 0), key->x, key->inverse_cell, key->nx);
    const uint32_t y = index_in(place_of(pool, slot, 1), key->y, key->inverse_cell, key->ny);
    const uint32_t layer =
        index_in(place_of(pool, slot, 2), key->bottom, key->inverse_thickness, key->layers);
    return (y * key->nx + x) * key->layers + layer;
}

START_TEST(sorted)
{
    const int which = _i / KEYS;
    const ics_compact_key *key = &keys[_i % KEYS];
    const uint32_t capacity = pools[which].capacity;
    slots before = random_pool(capacity, pools[which].used, pools[which].share, 31 + (uint64_t)_i);
    device_pool there = device_pool_create(capacity, key);
    put(&there, &before);
    CHECK(ics_compact_sorted(NULL, &there.pool, &there.spare, key, there.progress, there.temporary,
                             there.bytes));
    slots after = get(&there, capacity);
    expect_compact(&before, &after);
    for (uint32_t i = 1; i < before.alive; ++i) {
        const uint32_t left = key_of(&after, i - 1, key), right = key_of(&after, i, key);
        ck_assert_uint_le(left, right);
        if (left == right) {
            ck_assert_uint_lt(after.columns[2][(i - 1) * WORD + 2], after.columns[2][i * WORD + 2]);
        }
    }
    slots_destroy(&before);
    slots_destroy(&after);
    device_pool_destroy(&there);
}
END_TEST

START_TEST(too_little_memory)
{
    device_pool there = device_pool_create(1000, &keys[0]);
    ck_assert_int_ne(ics_compact_partition(NULL, &there.pool, there.progress, there.temporary, 100),
                     0);
    ck_assert_int_ne(ics_compact_sorted(NULL, &there.pool, &there.spare, &keys[0], there.progress,
                                        there.temporary, 100),
                     0);
    device_pool_destroy(&there);
}
END_TEST

/* ---- the loop -------------------------------------------------------------------------------- */

/* A graph whose loop does nothing but decide, and compact where the decision says so. Where the
 * host goes round it is two: one that decides, one that compacts. */
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
    CHECK(cudaGraphAddNode(&node, graph, after, NULL, after ? 1 : 0, &parameters));
    return parameters.conditional.phGraph_out[0];
}

static void begin_capture(cudaStream_t stream, cudaGraph_t graph)
{
    CHECK(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                        cudaStreamCaptureModeThreadLocal));
}

static void end_capture(cudaStream_t stream)
{
    cudaGraph_t captured;
    CHECK(cudaStreamEndCapture(stream, &captured));
}

/* key: NULL for partition. */
static void capture_compaction(const loop_graph *self, cudaGraph_t graph, const device_pool *there,
                               const ics_compact_key *key)
{
    begin_capture(self->stream, graph);
    if (key != NULL) {
        CHECK(ics_compact_sorted(self->stream, &there->pool, &there->spare, key, there->progress,
                                 there->temporary, there->bytes));
    } else {
        CHECK(ics_compact_partition(self->stream, &there->pool, there->progress, there->temporary,
                                    there->bytes));
    }
    end_capture(self->stream);
}

static void make_for_host(loop_graph *self, const device_pool *there, uint32_t every,
                          const ics_compact_key *key)
{
    const ics_loop_compaction compaction = {.every = every};
    begin_capture(self->stream, self->graph);
    CHECK(ics_compact_decide(self->stream, NULL, &compaction, self->launch, NULL, there->progress));
    end_capture(self->stream);
    CHECK(cudaGraphInstantiate(&self->program, self->graph, 0));
    CHECK(cudaGraphCreate(&self->compaction_graph, 0));
    capture_compaction(self, self->compaction_graph, there, key);
    CHECK(cudaGraphInstantiate(&self->compaction, self->compaction_graph, 0));
}

static loop_graph loop_create(const device_pool *there, uint32_t every, const ics_compact_key *key)
{
    loop_graph self = {.launch = device_memory(sizeof(ics_launch))};
    CHECK(cudaStreamCreateWithFlags(&self.stream, cudaStreamNonBlocking));
    CHECK(cudaGraphCreate(&self.graph, 0));
    if (gpu_host_loop()) {
        make_for_host(&self, there, every, key);
        return self;
    }
    cudaGraphConditionalHandle loop;
    CHECK(cudaGraphConditionalHandleCreate(&loop, self.graph, 1, cudaGraphCondAssignDefault));
    const cudaGraph_t body = add_body(self.graph, NULL, loop, cudaGraphCondTypeWhile);
    ics_loop_compaction compaction = {.every = every};
    CHECK(cudaGraphConditionalHandleCreate(&compaction.handle, body, 0, 0));
    begin_capture(self.stream, body);
    const unsigned long long handle = loop;
    CHECK(
        ics_compact_decide(self.stream, &handle, &compaction, self.launch, NULL, there->progress));
    end_capture(self.stream);
    cudaGraphNode_t decision;
    size_t one = 1;
    CHECK(cudaGraphGetNodes(body, &decision, &one));
    const cudaGraph_t inner = add_body(body, &decision, compaction.handle, cudaGraphCondTypeIf);
    capture_compaction(&self, inner, there, key);
    CHECK(cudaGraphInstantiate(&self.program, self.graph, 0));
    return self;
}

static void loop_destroy(loop_graph *self)
{
    CHECK(cudaGraphExecDestroy(self->program));
    CHECK(cudaGraphDestroy(self->graph));
    if (self->compaction != NULL) {
        CHECK(cudaGraphExecDestroy(self->compaction));
        CHECK(cudaGraphDestroy(self->compaction_graph));
    }
    CHECK(cudaStreamDestroy(self->stream));
    CHECK(cudaFree(self->launch));
}

static ics_launch_progress run_loop(const loop_graph *self, const device_pool *there,
                                    const ics_launch *launch, const ics_launch_progress *progress)
{
    CHECK(cudaMemcpy(self->launch, launch, sizeof *launch, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(there->progress, progress, sizeof *progress, cudaMemcpyHostToDevice));
    ics_launch_progress after;
    do {
        CHECK(cudaGraphLaunch(self->program, self->stream));
        CHECK(cudaStreamSynchronize(self->stream));
        after = progress_of(there);
        if (self->compaction != NULL && after.decision & ICS_COMPACTS) {
            CHECK(cudaGraphLaunch(self->compaction, self->stream));
        }
        CHECK(cudaStreamSynchronize(self->stream));
    } while (self->compaction != NULL && after.decision & ICS_GOES_ON);
    return progress_of(there);
}

/* Whether the loop stops at once, or goes on to the limit of 9 waves. */
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
    device_pool there = device_pool_create(1000, NULL);
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
    device_pool_destroy(&there);
}
END_TEST

/* The loop counts 10 waves. Compaction shows in the slots in use. */
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
    const ics_compact_key *key = _i % 2 ? &keys[2] : NULL;
    enum { CAPACITY = 20000, USED = 19968 };
    slots before = random_pool(CAPACITY, USED, compactions[which].share, 77 + (uint64_t)_i);
    device_pool there = device_pool_create(CAPACITY, key);
    loop_graph loop = loop_create(&there, compactions[which].every, key);
    put(&there, &before);
    const ics_launch launch = {.end = 100, .drain = 1, .wave_limit = 10};
    const ics_launch_progress progress = {
        .next = compactions[which].next, .alive = before.alive, .slots = USED};
    const ics_launch_progress last = run_loop(&loop, &there, &launch, &progress);
    ck_assert_uint_eq(last.waves, 10);
    slots after = get(&there, CAPACITY);
    if (compactions[which].compacts) {
        expect_compact(&before, &after);
    } else {
        ck_assert_uint_eq(after.used, USED);
    }
    slots_destroy(&before);
    slots_destroy(&after);
    loop_destroy(&loop);
    device_pool_destroy(&there);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu compact");
    TCase *tests = tcase_create("compact");
    tcase_add_loop_test(tests, partition, 0, POOLS);
    tcase_add_loop_test(tests, sorted, 0, POOLS * KEYS);
    tcase_add_test(tests, too_little_memory);
    tcase_add_loop_test(tests, loop_ends, 0, SITUATIONS);
    tcase_add_loop_test(tests, loop_compacts, 0, 2 * COMPACTIONS);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
