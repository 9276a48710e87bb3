/* Worlds of tests/support/stage_world.h on a GPU: whole runs through graphs/gpu.h, and what the
 * CPU says to the same light. Everything here fails the test on errors. */
#ifndef GPU_WORLD_H
#define GPU_WORLD_H

#include "graphs/gpu.h"
#include "tests/support/stage_world.h"

#include <check.h>

/* The result of a suite that has nothing to run on; CTest reports it as skipped. */
enum { GPU_SKIPPED = 77 };

/* Runs a suite without fork(), which a CUDA context does not survive; where there is no device it
 * says so and returns GPU_SKIPPED. Programs are cached in a folder of the suite's own, or in
 * $ICESTREAM_GPU_CACHE, which several suites may share. */
int gpu_suite_run(Suite *suite);

/* Whether case `index` of a loop test is left to another process: with the environment variable
 * ICESTREAM_GPU_PART = "i/n" only every n-th case runs, from the i-th (0 .. n - 1) on. Without it
 * all do. Compiling kernels is most of a suite's time, and processes side by side compile side by
 * side. */
bool gpu_is_of_another_part(int index);

/* Whether the host is to go round the loops (ics_gpu_options.host_loop): where the environment
 * variable ICESTREAM_GPU_HOST_LOOP is set. */
bool gpu_host_loop(void);

/* The environment variable ICESTREAM_GPU_SCALE (default 1) multiplies samples; at least `least`
 * are left. */
uint64_t gpu_scaled(uint64_t count, uint64_t least);

/* All that a schedule chooses left to it; the first device. */
ics_gpu_options gpu_options(ics_schedule schedule, ics_math math);
ics_gpu *gpu_create(const stage_world *world, const ics_gpu_options *options);

/* Light, and how it is handed over. */
typedef struct gpu_load {
    const ice_emission *emissions; /* [count], in batches of which emissions may be cut */
    size_t count;
    uint32_t batch_photons;   /* 0: as many as the GPU takes */
    uint32_t batch_emissions; /* 0: as many as the GPU takes */
    uint32_t in_flight;       /* batches that are out at a time, 0: as many as may be */
} gpu_load;

/* Carries the light to its end. Every batch's arrivals go to `take`, with emissions counted as in
 * `load`; in no order, all of a photon's
 * in one batch. Returns the account of all. */
ice_account gpu_stream(ics_gpu *gpu, const gpu_load *load,
                       void (*take)(void *user, ics_arrivals *arrivals), void *user);
/* The same, with all arrivals in the order of world_run(). */
world_result gpu_carry(ics_gpu *gpu, const gpu_load *load);
/* Makes a GPU for this one run. */
world_result gpu_run(const stage_world *world, const ics_gpu_options *options,
                     const gpu_load *load);

/* What the CPU's wavefront makes of it, on all threads; of the options it takes the stages. */
world_result gpu_cpu_run(const stage_world *world, const ics_gpu_options *options,
                         const ice_emission *emissions, size_t count);

/* Fails unless arrivals and account are the same to the bit. */
void gpu_expect_same(const world_result *result, const world_result *expected, const char *name);

#endif
