/* The speed of schedules, as `icestream bench` measures it, with what only a laboratory asks for.
 */
#ifndef ICS_BENCH_LAB_SPEED_SPEED_H
#define ICS_BENCH_LAB_SPEED_SPEED_H

#include "bench/lab/lab.h"

/* What is measured besides the times that `icestream bench` shows. Zeros are nothing. */
typedef struct ics_speed_extras {
    ics_without without; /* what the kernels of a GPU leave out. With anything but
                            ICS_WITHOUT_NOTHING, the options or the configuration name schedules
                            other than auto, and the configuration has a GPU and no table */
    bool stages; /* whether to time each stage inside schedules with one kernel as well; needs a GPU
                  */
} ics_speed_extras;

/* Measures, and writes the tables or the JSON of icestream_bench(). The errors of ics_lab_open,
 * ics_lab_check_gpu and icestream_bench. */
int ics_speed_measure(const icestream_config *config, const ics_lab_options *options,
                      ics_speed_extras extras, FILE *out, icestream_error *error);

#endif
