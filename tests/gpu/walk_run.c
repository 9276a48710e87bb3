#include "tests/gpu/walk_run.h"

#include "graphs/cuda/upload.h"

#include <check.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>

static void check(int error, const char *what)
{
    ck_assert_msg(error == cudaSuccess, "%s: %s", what, cudaGetErrorString((cudaError_t)error));
}
#define CHECK(call) check((int)(call), #call)

static const struct {
    uint32_t sums, bins;
} sizes[WALK_VIEWS] = {
    [WALK_ENDS] = {WALK_ENDS_SUMS, WALK_ENDS_BINS},
    [WALK_PATHS] = {WALK_PATHS_SUMS, WALK_PATHS_BINS},
    [WALK_TURN] = {WALK_TURN_SUMS, WALK_TURN_BINS},
    [WALK_SHELLS] = {WALK_SHELLS_SUMS, WALK_SHELLS_BINS},
    [WALK_FIRST] = {WALK_FIRST_SUMS, WALK_FIRST_BINS},
    [WALK_START] = {WALK_START_SUMS, WALK_START_BINS},
};

static void *zeros(size_t bytes)
{
    void *memory = NULL;
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemset(memory, 0, bytes));
    return memory;
}

static void *fetched(const void *memory, size_t bytes)
{
    void *copy = malloc(bytes);
    ck_assert_ptr_nonnull(copy);
    CHECK(cudaMemcpy(copy, memory, bytes, cudaMemcpyDeviceToHost));
    return copy;
}

walk_seen walk_run_on_gpu(const stage_world *world, ics_math math, walk_view view, walk_job job)
{
    ck_assert_int_eq(world->tables->device.reach_cull, 0);
    ics_upload upload = {0};
    icestream_error error = {0};
    ck_assert_msg(ics_upload_tables(0, world->tables, math == ICS_MATH_FAST, &upload, &job.tables,
                                    &error) == ICESTREAM_OK,
                  "%s", error.text);
    const size_t sums_bytes = sizes[view].sums * sizeof(walk_sum);
    const size_t bins_bytes = sizes[view].bins * sizeof(double);
    walk_sum *sums = zeros(sums_bytes);
    double *bins = zeros(bins_bytes);
    CHECK(math == ICS_MATH_FAST ? walk_gpu_fast(&job, view, sums, bins)
                                : walk_gpu_portable(&job, view, sums, bins));
    const walk_seen seen = {fetched(sums, sums_bytes), fetched(bins, bins_bytes)};
    CHECK(cudaFree(sums));
    CHECK(cudaFree(bins));
    ics_upload_free(&upload);
    return seen;
}

void walk_seen_free(walk_seen *seen)
{
    free(seen->sums);
    free(seen->bins);
    *seen = (walk_seen){0};
}
