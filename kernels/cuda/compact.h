/* Compaction of a photon pool, and the decision that ends the loop of a graph: what nvcc compiles
 * ahead of time, because it needs CUB or the device runtime, behind a C interface.
 *
 * Every function but ics_compact_bytes() only enqueues: no waiting, no allocation, so that a stream
 * may capture it into the body of a conditional node. The sizes of launches in such a body cannot
 * depend on device data: kernels are launched for the capacity of the pool and read the actual
 * number there.
 *
 * The int that functions return is 0 or a cudaError_t.
 */
#ifndef ICS_KERNELS_CUDA_COMPACT_H
#define ICS_KERNELS_CUDA_COMPACT_H

#include "kernels/cuda/state.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* *cudaStream_t, without CUDA's headers */

/* The columns of a pool, in device memory (state.h). */
typedef struct ics_compact_pool {
    void *position, *direction, *identity; /* [capacity] words of 16 bytes */
    uint32_t *recorded;                    /* [capacity] recorded hits of photons that wait */
    uint32_t capacity;                     /* slots, >= 1 */
} ics_compact_pool;

/* How photons are ordered: by column of the ice, row by row, and from below within a column. Depth
 * alone: nx = ny = 1 and inverse_cell = 0. Photons outside count to the nearest cell and layer. */
typedef struct ics_compact_key {
    float x, y, inverse_cell;        /* lower corner in m, 1/m */
    uint32_t nx, ny;                 /* cells, >= 1 */
    float bottom, inverse_thickness; /* m, 1/m */
    uint32_t layers;                 /* >= 1; nx * ny * layers < 2^31; up to 255 sort fastest */
} ics_compact_key;

/* Temporary device memory that compaction needs, aligned to 256 bytes. `key`: NULL for partition.
 * Not inside a capture; asks the current device. */
int ics_compact_bytes(uint32_t capacity, const ics_compact_key *key, size_t *bytes);

/* Moves as few photons as possible so that all living ones are in front: the last one fills the
 * first hole and so on. Sets progress->slots to their number, rounded up to a multiple of 32 but no
 * more than it was. Slots from the former progress->slots on count as free, whatever they hold. The
 * result depends on the pool alone. */
int ics_compact_partition(struct CUstream_st *stream, const ics_compact_pool *pool,
                          ics_launch_progress *progress, void *temporary, size_t bytes);

/* As ics_compact_partition, and orders the photons by their key; those with equal keys keep their
 * order. `spare`: columns of the same capacity, their content is lost. */
int ics_compact_sorted(struct CUstream_st *stream, const ics_compact_pool *pool,
                       const ics_compact_pool *spare, const ics_compact_key *key,
                       ics_launch_progress *progress, void *temporary, size_t bytes);

/* Condition of a compaction in the body of the loop. */
typedef struct ics_loop_compaction {
    unsigned long long handle; /* cudaGraphConditionalHandle of an IF node behind the decision */
    uint32_t every; /* waves between two compactions; 0: only in the tail, when no photons are left
                       to create and more than half of the slots in use are free */
} ics_loop_compaction;

/* The end of a trip: adds up `alive` and `stalled` of the shares (NULL: `progress` has them
 * already), counts the trip, in this launch and in all, and sets the condition of the WHILE node
 * `loop` (a cudaGraphConditionalHandle; NULL: there is none, nor one for compaction, and the host
 * reads `progress->decision`), and that of a compaction (NULL: there is none). Wants
 * next, stalled, alive and slots as they are after the trip. The loop goes on unless
 *   - photons wait for room in the hit buffer, which the host must empty first;
 *   - all photons of the launch were taken and the pool is not to be drained or is empty;
 *   - the limit of waves is reached. */
int ics_compact_decide(struct CUstream_st *stream, const unsigned long long *loop,
                       const ics_loop_compaction *compaction, const ics_launch *launch,
                       const ics_share *shares, ics_launch_progress *progress);

#ifdef __cplusplus
}
#endif

#endif
