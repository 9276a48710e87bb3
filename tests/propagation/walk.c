#include "tests/propagation/walk.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

typedef void walk_loop(const walk_job *job, walk_block *block);
walk_loop walk_loop_baseline;
#if defined(WALK_HAVE_AVX2)
walk_loop walk_loop_avx2;
#endif

static walk_loop *best_loop(void)
{
#if defined(WALK_HAVE_AVX2)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return walk_loop_avx2;
    }
#endif
    return walk_loop_baseline;
}

void walk_run(const walk_job *job)
{
    walk_block *block = aligned_alloc(64, (sizeof *block + 63) / 64 * 64);
    ck_assert_ptr_nonnull(block);
    memset(block, 0, sizeof *block);
    best_loop()(job, block);
    free(block);
}

static void *run_half(void *job)
{
    walk_run(job);
    return NULL;
}

void walk_run_halves(const walk_job *job, void *const users[2])
{
    walk_job halves[2] = {*job, *job};
    halves[0].photons = job->photons / 2;
    halves[0].user = users[0];
    halves[1].photons = job->photons - halves[0].photons;
    halves[1].first_photon = job->first_photon + halves[0].photons;
    halves[1].user = users[1];
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run_half, &halves[0]), 0);
    run_half(&halves[1]);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
