#include "bench/lab/lab.h"

#include "base/error.h"
#include "graphs/gpu.h"
#include "pipeline/config/table.h"

#include <stdlib.h>

ics_lab_options ics_lab_options_of(const ics_arguments *given)
{
    return (ics_lab_options){.bench = ics_bench_options_of(given),
                             .reference = given->options[ICS_LAB_REFERENCE].text};
}

static int apply_reference(ics_lab *lab, const char *directory, icestream_error *error)
{
    lab->has_reference = true;
    lab->options.workload = true;
    ICS_TRY(ics_reference_open(directory, &lab->reference, error));
    ICS_TRY(ics_reference_check(&lab->config, directory, error));
    ics_reference_apply(&lab->reference, &lab->config);
    lab->bench.world = lab->config.detector.file == lab->reference.modules
                           ? "clsim's ice and modules"
                           : "clsim's ice, modules of detector.file";
    return ICESTREAM_OK;
}

static int refuse_table(const icestream_config *config, const char *name, icestream_error *error)
{
    return ics_config_tabulate(config) == ICS_TABULATE_NONE
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "%s: found stages.tabulate, whose table has one kernel and no hits; "
                               "expected --set stages.tabulate=none",
                               name);
}

int ics_lab_open(const icestream_config *config, const ics_lab_options *options, const char *name,
                 ics_lab **out, icestream_error *error)
{
    const char *hits_only = options->reference != NULL && name == NULL ? "--reference" : name;
    if (hits_only != NULL) {
        ICS_TRY(refuse_table(config, hits_only, error));
    }
    ics_lab *lab = calloc(1, sizeof *lab);
    if (lab == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "icestream-lab: out of memory");
    }
    lab->config = *config;
    lab->options = options->bench;
    int status =
        options->reference != NULL ? apply_reference(lab, options->reference, error) : ICESTREAM_OK;
    if (status != ICESTREAM_OK) {
        ics_lab_close(lab);
        return status;
    }
    ics_bench_begin(&lab->bench, &lab->config, &lab->options);
    *out = lab;
    return ICESTREAM_OK;
}

void ics_lab_close(ics_lab *lab)
{
    if (lab != NULL && lab->has_reference) {
        ics_reference_close(&lab->reference);
    }
    free(lab);
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
