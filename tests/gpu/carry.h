/* Runs the stage headers on a GPU, a thread a photon, for comparison with the CPU's bits. */
#ifndef IS_TEST_GPU_CARRY_H
#define IS_TEST_GPU_CARRY_H

#include "stages/photon.h"
#include "stages/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of CUDA devices; 0 also without a driver. */
int is_gpu_devices(void);

/* Carries photons 0 .. photons - 1 of each of `count` emissions with the default stage variants.
 * `memory`, `bytes`: the block that the pointers of `tables` point into. Writes at most `capacity`
 * arrivals, in any order, and how many there were. Returns 0, or -1 with the CUDA error in `why`.
 */
int is_gpu_carry(const ice_tables *tables, const void *memory, size_t bytes,
                 const ice_emission *emissions, uint32_t count, uint32_t photons,
                 ice_arrival *arrivals, uint32_t capacity, uint32_t *arrived, uint64_t *bounces,
                 char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
