#include "bench/lab/lab.h"

#include "base/error.h"
#include "graphs/gpu.h"
#include "pipeline/photons/config/table.h"

#include <stdlib.h>

int ics_lab_open(const icestream_config *config, const icestream_bench_options *options,
                 ics_lab **out, icestream_error *error)
{
    ics_lab *lab = calloc(1, sizeof *lab);
    if (lab == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "icestream-lab: out of memory");
    }
    lab->config = *config;
    ics_bench_begin(&lab->bench, &lab->config, options);
    *out = lab;
    return ICESTREAM_OK;
}

int ics_lab_refuse_table(const icestream_config *config, const char *name, icestream_error *error)
{
    return ics_config_tabulate(config) == ICS_TABULATE_NONE
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "%s: found stages.tabulate, whose table has one kernel and no hits; "
                               "expected --set stages.tabulate=none",
                               name);
}

int ics_lab_check_gpu(const icestream_config *config, const char *reason, icestream_error *error)
{
    const ics_backend backend = config->device.backend;
    icestream_error missing = {.status = ICESTREAM_OK};
    if (backend == ICS_BACKEND_CPU || backend == ICS_BACKEND_CUDA_CPU) {
        char where[1024];
        ics_config_place(config, "device.backend", where, sizeof where); /* word: place */
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: error: device.backend: found %s, but %s; expected auto or cuda",
                             where, backend == ICS_BACKEND_CPU ? "cpu" : "cuda+cpu", reason);
    }
    if (ics_gpu_count(&missing) == 0) {
        return ics_error_set(error, ICESTREAM_E_DEVICE, "%s: %s", reason, missing.text);
    }
    return ICESTREAM_OK;
}
