/* Worlds of tests/support/stage_world.h on a GPU: whole runs through graphs/gpu.h, and the results
 * of the CPU for the same light. Every function fails the test on errors. */
#ifndef GPU_WORLD_H
#define GPU_WORLD_H

#include "graphs/gpu.h"
#include "tests/support/stage_world.h"

#include <check.h>

/* The exit status of a suite without a device; CTest reports the suite as skipped. */
enum { GPU_SKIPPED = 77 };

/* Runs a suite without fork(), because a CUDA context does not survive it. Without a device, prints
 * a message and returns GPU_SKIPPED. Programs are cached in a new folder, or in
 * $ICESTREAM_GPU_CACHE, which several suites may share. */
int gpu_suite_run(Suite *suite);

/* Whether case `index` of a loop test is left to another process. If the environment variable
 * ICESTREAM_GPU_PART is "i/n", only every n-th case runs, beginning with case i (0 to n - 1).
 * Without it all cases run. Most of the time of a suite is spent in compiling kernels, and several
 * processes can compile at the same time. */
bool gpu_is_of_another_part(int index);

/* Whether the host runs the loops (ics_gpu_options.host_loop): true if the environment variable
 * ICESTREAM_GPU_HOST_LOOP is set. */
bool gpu_host_loop(void);

/* Returns `count` multiplied by the environment variable ICESTREAM_GPU_SCALE (default 1), but at
 * least `least`. */
uint64_t gpu_scaled(uint64_t count, uint64_t least);

/* Returns options for the first device that leave all choices to the schedule. */
ics_gpu_options gpu_options(ics_schedule schedule, ics_math math);
ics_gpu *gpu_create(const stage_world *world, const ics_gpu_options *options);

/* Light, and how it is submitted to the GPU. */
typedef struct gpu_load {
    const ice_emission *emissions; /* [count], in batches of which emissions may be cut */
    size_t count;
    uint32_t batch_photons;   /* 0: as many as the GPU accepts */
    uint32_t batch_emissions; /* 0: as many as the GPU accepts */
    uint32_t
        in_flight; /* most batches on the GPU at the same time; 0: as many as the GPU accepts */
    uint64_t *photon_cells; /* [ICE_PHOTON_CELLS], to which the histograms of photons are added;
                               NULL: to nothing */
    uint64_t *large_cells;  /* [large_count], the same of those with more bins */
    uint32_t large_count;
} gpu_load;

/* Computes all photons of the light. `take` gets the arrivals of every batch, in no order; the
 * arrivals of one photon are in one batch. Emissions are numbered as in `load`. Returns the account
 * of all photons. */
ice_account gpu_stream(ics_gpu *gpu, const gpu_load *load,
                       void (*take)(void *user, ics_arrivals *arrivals), void *user);
/* Does the same, and returns all arrivals in the order of world_run(). */
world_result gpu_carry(ics_gpu *gpu, const gpu_load *load);
/* Does the same on a GPU that is created for this run. */
world_result gpu_run(const stage_world *world, const ics_gpu_options *options,
                     const gpu_load *load);

/* Computes the light with schedule wavefront of the CPU, on all threads. Of the options only the
 * stages are used. */
world_result gpu_cpu_run(const stage_world *world, const ics_gpu_options *options,
                         const ice_emission *emissions, size_t count);

/* Fails unless arrivals and account are the same to the bit. */
void gpu_expect_same(const world_result *result, const world_result *expected, const char *name);

#endif
