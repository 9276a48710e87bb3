#include "pipeline/photons/replay/backend.h"

#include "base/error.h"
#include "graphs/gpu.h"

#include <string.h>

int ics_replay_choose_gpu(const char *backend, bool fast_maths, size_t count, bool *on_gpu,
                          icestream_error *error)
{
    enum { MANY = 100000 };
    const bool is_auto = backend == NULL || strcmp(backend, "auto") == 0;
    const bool is_cuda = backend != NULL && strcmp(backend, "cuda") == 0;
    icestream_error why = {.status = ICESTREAM_OK};
    if (!is_auto && !is_cuda && strcmp(backend, "cpu") != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--backend: found %s, expected auto, cpu or cuda", backend);
    }
    *on_gpu = (is_cuda || (is_auto && (fast_maths || count >= MANY))) && ics_gpu_count(&why) > 0;
    return *on_gpu || !is_cuda ? ICESTREAM_OK
                               : ics_error_set(error, ICESTREAM_E_DEVICE,
                                               "--backend: found cuda, but %s", why.text);
}

int ics_replay_check_kernels(const ics_kernels *made, const ics_kernels *here,
                             icestream_error *error)
{
    char of_hits[192], found[192];
    if (made->code == 0 || here->code == made->code) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_DIFFERENT,
                         "device.math: found hits that were made with fast maths by %s, but this "
                         "machine has %s; expected the same compute capability and compiler",
                         ics_kernels_text(made, of_hits, sizeof of_hits),
                         ics_kernels_text(here, found, sizeof found));
}
