/* `icestream-lab roofline`: runs the program under ncu once for each schedule, and makes rooflines
 * of what ncu counts. */
#ifndef ICS_BENCH_LAB_ROOFLINE_COUNTING_H
#define ICS_BENCH_LAB_ROOFLINE_COUNTING_H

#include "bench/lab/roofline/counted_command.h"
#include "bench/lab/roofline/roofline.h"
#include "pipeline/telemetry/task_progress.h"

#include <jansson.h>

/* What was counted. Zeros: nothing was. */
typedef struct ics_counting {
    ics_roofline schedules[ICS_SCHEDULE_COUNT]; /* [count] */
    size_t count;
    char device[128]; /* the GPU */
    char origin[256]; /* the origin of the steps: "workload cascade" */
    uint64_t steps, photons;
    ics_task_progress progress;
} ics_counting;

/* Counts all schedules of the request, into zeros. auto is left out, because it is one of the
 * others. Every schedule runs as `icestream-lab speed --once` in another process, on the GPU and
 * without the limit of device.watchdog, because ncu repeats every kernel. ICESTREAM_E_CONFIG:
 * device.backend does not allow a GPU. ICESTREAM_E_USAGE: there is no schedule. ICESTREAM_E_INPUT:
 * what ncu wrote is damaged, or a metric is missing. The errors of ics_ncu_find, before anything
 * runs, and of ics_counted_run. The caller calls ics_counting_free, also after an error. */
int ics_counting_run(ics_counting *counting, const ics_counted_request *request,
                     icestream_error *error);
/* Accepts zeros. */
void ics_counting_free(ics_counting *counting);

/* Prints what was counted as text. ICESTREAM_E_MEMORY. */
int ics_counting_print(const ics_counting *counting, bool markdown, FILE *out,
                       icestream_error *error);
/* Returns it as JSON, or NULL if there is no memory. The caller releases it. */
json_t *ics_counting_json(const ics_counting *counting);

#endif
