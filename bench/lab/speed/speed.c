#include "bench/lab/speed/speed.h"

#include "base/error.h"

int ics_speed_measure(const icestream_config *config, const ics_lab_options *options,
                      ics_speed_extras extras, FILE *out, icestream_error *error)
{
    ics_lab *lab = NULL;
    ICS_TRY(ics_lab_open(config, options, extras.stages ? "stages" : NULL, &lab, error));
    lab->bench.without = extras.without;
    lab->bench.stages = extras.stages;
    int status = extras.stages
                     ? ics_lab_check_gpu(&lab->config, "stages reads clocks of a GPU", error)
                     : ICESTREAM_OK;
    if (status == ICESTREAM_OK) {
        status = ics_bench_report(&lab->bench, out, error);
    }
    ics_lab_close(lab);
    return status;
}
