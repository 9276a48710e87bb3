/* The compaction of a photon pool, and the decision that ends the loop of a graph, as C functions.
 * nvcc compiles them when the program is built, because they need CUB or the device runtime.
 *
 * Except for ics_compact_bytes(), the functions only enqueue work. They neither wait nor allocate,
 * so that a stream can capture them into the body of a conditional node. In such a body the size of
 * a launch cannot depend on data of the device. Kernels are therefore launched for the capacity of
 * the pool, and read the actual number of slots on the device.
 *
 * The functions return 0 or a cudaError_t.
 */
#ifndef ICS_KERNELS_CUDA_COMPACT_H
#define ICS_KERNELS_CUDA_COMPACT_H

#include "kernels/cuda/state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* *cudaStream_t, without CUDA's headers */

/* The columns of a pool that compaction moves, in device memory (state.h). */
typedef struct ics_compact_pool {
    ICS_MOVED_COLUMNS(ICS_COLUMN_POINTER)
    uint32_t capacity; /* slots, >= 1 */
} ics_compact_pool;

/* The order of sorted photons: by vertical column of the ice, row by row, and from below within a
 * column. nx = ny = 1 and inverse_cell = 0 sort by height alone. Photons outside the cells or
 * layers belong to the nearest ones. */
typedef struct ics_compact_key {
    float x, y, inverse_cell;        /* lower corner in m, 1/m */
    uint32_t nx, ny;                 /* cells, >= 1 */
    float bottom, inverse_thickness; /* m, 1/m */
    uint32_t layers;                 /* >= 1; nx * ny * layers < 2^31; up to 255 sort fastest */
} ics_compact_key;

/* Sets *bytes to the size of the temporary device memory that a compaction needs; the memory must
 * be aligned to 256 bytes. `key` is NULL for ics_compact_partition. Uses the current device, and
 * must not be called during a capture. */
int ics_compact_bytes(uint32_t capacity, const ics_compact_key *key, size_t *bytes);

/* Moves as few photons as possible so that all living ones are in front: the last photon fills the
 * first free slot, and so on. Sets progress->slots to the number of photons, rounded up to a
 * multiple of 32, but not above its former value. Slots from the former progress->slots on count as
 * free, whatever they contain. The result depends only on the pool. */
int ics_compact_partition(struct CUstream_st *stream, const ics_compact_pool *pool,
                          ics_launch_progress *progress, void *temporary, size_t bytes);

/* As ics_compact_partition, and also sorts the photons by their keys; photons with equal keys keep
 * their order. `spare` has columns of the same capacity, whose content is overwritten. */
int ics_compact_sorted(struct CUstream_st *stream, const ics_compact_pool *pool,
                       const ics_compact_pool *spare, const ics_compact_key *key,
                       ics_launch_progress *progress, void *temporary, size_t bytes);

/* When the body of the loop compacts the pool. */
typedef struct ics_loop_compaction {
    unsigned long long handle; /* cudaGraphConditionalHandle of an IF node after the decision */
    uint32_t every; /* waves between two compactions; 0: only in the tail, when no photons are left
                       to create and more than half of the slots in use are free */
} ics_loop_compaction;

/* Ends a trip through the loop: adds up `alive` and `stalled` of the shares, counts the trip in
 * progress->waves and progress->trips, and decides whether the loop continues and whether the pool
 * is compacted first. `progress` must have next and slots as they are after the trip.
 *
 * `shares`: NULL if `progress` already has alive and stalled.
 * `loop`: the cudaGraphConditionalHandle of the WHILE node. NULL: there is no graph, and the host
 * reads the decision from progress->decision.
 * `compaction`: NULL if the loop does not compact.
 *
 * The loop continues unless
 *   - photons wait for room in the hit buffer, because the host must empty the buffer first;
 *   - all photons of the launch are created, and the pool need not be drained or is empty;
 *   - the limit of waves is reached. */
int ics_compact_decide(struct CUstream_st *stream, const unsigned long long *loop,
                       const ics_loop_compaction *compaction, const ics_launch *launch,
                       const ics_share *shares, ics_launch_progress *progress);

#ifdef __cplusplus
}
#endif

#endif
