/* Pools of photons on the host and on a GPU, and what compaction must do with them. Every function
 * fails the test on errors. */
#ifndef COMPACT_POOL_H
#define COMPACT_POOL_H

#include "kernels/cuda/compact.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

/* Fails the test unless a CUDA call returns 0; the message quotes the call. */
#define COMPACT_CHECK(call) compact_check((cudaError_t)(call), #call)
void compact_check(cudaError_t error, const char *what);

/* Allocates memory on the device; the caller frees it with cudaFree(). */
void *compact_device_memory(size_t bytes);

enum { COMPACT_COLUMNS = 3, COMPACT_WORD = 4 /* numbers of 4 bytes in a word of a column */ };

/* A pool on the host. */
typedef struct compact_slots {
    uint32_t capacity, used, alive;
    /* [capacity][COMPACT_WORD] each: position, direction, identity */
    uint32_t *columns[COMPACT_COLUMNS];
    ice_random *random; /* [capacity] */
    uint32_t *recorded; /* [capacity] */
} compact_slots;

/* Points to the emission of the photon in a slot; ICS_NOBODY: the slot is free. */
uint32_t *compact_emission_of(const compact_slots *pool, uint32_t slot);

/* Makes a pool with `used` slots in use, of which a share has photons. All words of photons are
 * random, and photon_id is the slot. Free slots keep the rest of other photons, and the slots
 * behind those in use look like photons. */
compact_slots compact_random_slots(uint32_t capacity, uint32_t used, double share, uint64_t seed);
void compact_slots_destroy(compact_slots *pool);

/* The same pool on the device, with the memory that compaction needs. */
typedef struct compact_device_pool {
    ics_compact_pool pool, spare;
    ics_launch_progress *progress;
    void *temporary;
    size_t bytes;
} compact_device_pool;

/* `key` is the key for sorting, or NULL for a partition. */
compact_device_pool compact_pool_create(uint32_t capacity, const ics_compact_key *key);
void compact_pool_destroy(compact_device_pool *there);
/* Copies a pool to the device, and back into a new pool, which the caller destroys. */
void compact_pool_put(const compact_device_pool *there, const compact_slots *pool);
compact_slots compact_pool_get(const compact_device_pool *there, uint32_t capacity);
ics_launch_progress compact_pool_progress(const compact_device_pool *there);

/* Keys for sorting by layer alone, and by cell and layer. */
enum { COMPACT_KEYS = 3 };
extern const ics_compact_key compact_keys[COMPACT_KEYS];

/* Fails unless all photons are in front and unchanged, none is lost and none is there twice. */
void compact_expect(const compact_slots *before, const compact_slots *after);

#endif
