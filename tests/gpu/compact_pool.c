#include "tests/gpu/compact_pool.h"

#include "tests/support/test_scale.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

void compact_check(cudaError_t error, const char *what)
{
    ck_assert_msg(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

void *compact_device_memory(size_t bytes)
{
    void *memory = NULL;
    COMPACT_CHECK(cudaMalloc(&memory, bytes));
    return memory;
}

static void *host_memory(size_t bytes)
{
    void *memory = calloc(bytes, 1);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

uint32_t *compact_emission_of(const compact_slots *pool, uint32_t slot)
{
    return &pool->columns[2][slot * COMPACT_WORD + 1];
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static compact_slots compact_slots_create(uint32_t capacity)
{
    compact_slots pool = {.capacity = capacity,
                          .random = host_memory(capacity * sizeof(ice_random)),
                          .recorded = host_memory(capacity * sizeof(uint32_t))};
    for (int k = 0; k < COMPACT_COLUMNS; ++k) {
        pool.columns[k] = host_memory(capacity * COMPACT_WORD * sizeof(uint32_t));
    }
    return pool;
}

void compact_slots_destroy(compact_slots *pool)
{
    for (int k = 0; k < COMPACT_COLUMNS; ++k) {
        free(pool->columns[k]);
    }
    free(pool->random);
    free(pool->recorded);
}

/* Whether a photon waits for a place in the hit buffer, in either of the two ways of state.h. */
static bool waits(const compact_slots *pool, uint32_t slot)
{
    const uint32_t *identity = &pool->columns[2][slot * COMPACT_WORD];
    return (identity[3] & ICS_WAITING) != 0 || (identity[0] & 0x80000000u) != 0;
}

compact_slots compact_random_slots(uint32_t capacity, uint32_t used, double share, uint64_t seed)
{
    compact_slots pool = compact_slots_create(capacity);
    uint64_t state = seed;
    pool.used = used;
    for (uint32_t i = 0; i < capacity; ++i) {
        for (int k = 0; k < COMPACT_COLUMNS; ++k) {
            for (uint32_t w = 0; w < COMPACT_WORD; ++w) {
                pool.columns[k][i * COMPACT_WORD + w] = (uint32_t)test_word(&state);
            }
        }
        for (uint32_t axis = 0; axis < 3; ++axis) {
            pool.columns[0][i * COMPACT_WORD + axis] =
                bits_of((float)test_between(&state, -600, 600));
        }
        pool.random[i].state = test_word(&state);
        pool.columns[2][i * COMPACT_WORD + 2] = i; /* photon_id: where it came from */
        const uint32_t recorded = (uint32_t)test_word(&state);
        const bool lives = i < used && test_uniform(&state) < share;
        *compact_emission_of(&pool, i) = i >= used || lives ? 7 : ICS_NOBODY;
        pool.recorded[i] = lives && waits(&pool, i) ? recorded : 0;
        pool.alive += lives;
    }
    return pool;
}

static ics_compact_pool device_columns(uint32_t capacity)
{
    return (ics_compact_pool){.position = compact_device_memory(capacity * 16),
                              .direction = compact_device_memory(capacity * 16),
                              .identity = compact_device_memory(capacity * 16),
                              .random = compact_device_memory(capacity * sizeof(ice_random)),
                              .recorded = compact_device_memory(capacity * 4),
                              .capacity = capacity};
}

compact_device_pool compact_pool_create(uint32_t capacity, const ics_compact_key *key)
{
    compact_device_pool there = {.pool = device_columns(capacity),
                                 .spare = device_columns(capacity)};
    COMPACT_CHECK(ics_compact_bytes(capacity, key, &there.bytes));
    there.temporary = compact_device_memory(there.bytes);
    there.progress = compact_device_memory(sizeof *there.progress);
    return there;
}

static void free_columns(const ics_compact_pool *pool)
{
    COMPACT_CHECK(cudaFree(pool->position));
    COMPACT_CHECK(cudaFree(pool->direction));
    COMPACT_CHECK(cudaFree(pool->identity));
    COMPACT_CHECK(cudaFree(pool->random));
    COMPACT_CHECK(cudaFree(pool->recorded));
}

void compact_pool_destroy(compact_device_pool *there)
{
    free_columns(&there->pool);
    free_columns(&there->spare);
    COMPACT_CHECK(cudaFree(there->temporary));
    COMPACT_CHECK(cudaFree(there->progress));
}

static void copy_pool(const compact_device_pool *there, const compact_slots *pool, bool back)
{
    void *const columns[COMPACT_COLUMNS] = {there->pool.position, there->pool.direction,
                                            there->pool.identity};
    const enum cudaMemcpyKind kind = back ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    for (int k = 0; k < COMPACT_COLUMNS; ++k) {
        COMPACT_CHECK(cudaMemcpy(back ? (void *)pool->columns[k] : columns[k],
                                 back ? columns[k] : (void *)pool->columns[k], pool->capacity * 16,
                                 kind));
    }
    COMPACT_CHECK(cudaMemcpy(back ? pool->random : there->pool.random,
                             back ? there->pool.random : pool->random,
                             pool->capacity * sizeof(ice_random), kind));
    COMPACT_CHECK(cudaMemcpy(back ? pool->recorded : there->pool.recorded,
                             back ? there->pool.recorded : pool->recorded, pool->capacity * 4,
                             kind));
}

void compact_pool_put(const compact_device_pool *there, const compact_slots *pool)
{
    const ics_launch_progress progress = {.slots = pool->used, .alive = pool->alive};
    copy_pool(there, pool, false);
    COMPACT_CHECK(cudaMemcpy(there->progress, &progress, sizeof progress, cudaMemcpyHostToDevice));
}

ics_launch_progress compact_pool_progress(const compact_device_pool *there)
{
    ics_launch_progress progress;
    COMPACT_CHECK(cudaMemcpy(&progress, there->progress, sizeof progress, cudaMemcpyDeviceToHost));
    return progress;
}

compact_slots compact_pool_get(const compact_device_pool *there, uint32_t capacity)
{
    compact_slots pool = compact_slots_create(capacity);
    COMPACT_CHECK(cudaDeviceSynchronize());
    copy_pool(there, &pool, true);
    const ics_launch_progress progress = compact_pool_progress(there);
    pool.used = progress.slots;
    pool.alive = progress.alive;
    return pool;
}

const ics_compact_key compact_keys[COMPACT_KEYS] = {
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

static uint32_t rounded(uint32_t alive, uint32_t used)
{
    const uint32_t needed = (alive + 31) / 32 * 32;
    return needed < used ? needed : used;
}

void compact_expect(const compact_slots *before, const compact_slots *after)
{
    ck_assert_uint_eq(after->used, rounded(before->alive, before->used));
    ck_assert_uint_eq(after->alive, before->alive);
    unsigned char *seen = host_memory(before->capacity);
    for (uint32_t i = 0; i < before->used; ++i) {
        if (i >= before->alive) {
            ck_assert_uint_eq(*compact_emission_of(after, i), ICS_NOBODY);
            ck_assert_uint_eq(after->recorded[i], 0);
            continue;
        }
        const uint32_t from = after->columns[2][i * COMPACT_WORD + 2];
        ck_assert_uint_lt(from, before->used);
        ck_assert_uint_ne(*compact_emission_of(before, from), ICS_NOBODY);
        ck_assert_uint_eq(seen[from], 0);
        seen[from] = 1;
        for (int k = 0; k < COMPACT_COLUMNS; ++k) {
            ck_assert_mem_eq(&after->columns[k][i * COMPACT_WORD],
                             &before->columns[k][from * COMPACT_WORD], 16);
        }
        ck_assert_uint_eq(after->random[i].state, before->random[from].state);
        ck_assert_uint_eq(after->recorded[i], before->recorded[from]);
    }
    free(seen);
}
