/* graphs/gpu_replay.h in a build without the CUDA toolkit, as graphs/gpu_none.c. */
#include "base/error.h"
#include "graphs/gpu_replay.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

static int no_gpu(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_DEVICE,
                         "this build has no GPU part: it was made without the CUDA toolkit");
}

int ics_gpu_replay_create(const ics_gpu_options *options, const ics_tables *tables,
                          const ics_gpu_replay_wish *wish, ics_gpu_replay **out,
                          icestream_error *error)
{
    *out = NULL;
    return no_gpu(error);
}

int ics_gpu_replay_plan(const ics_gpu_options *options, const ics_tables *tables,
                        const ics_gpu_replay_wish *wish, int architecture,
                        ics_kernel_resources *out, icestream_error *error)
{
    return no_gpu(error);
}

void ics_gpu_replay_destroy(ics_gpu_replay *replay)
{
}

ics_kernels ics_gpu_replay_kernels(const ics_gpu_replay *replay)
{
    return (ics_kernels){.code = 0};
}

uint32_t ics_gpu_replay_most(const ics_gpu_replay *replay)
{
    return 0;
}

int ics_gpu_replay_submit(ics_gpu_replay *replay, uint32_t launch,
                          const ics_gpu_replay_photons *photons, icestream_error *error)
{
    return no_gpu(error);
}

int ics_gpu_replay_wait(ics_gpu_replay *replay, uint32_t launch, ics_gpu_replay_output *out,
                        icestream_error *error)
{
    return no_gpu(error);
}
