/* The microscope: runs the program under ncu once for each schedule, and makes rooflines of what
 * ncu counts. `icestream bench --roofline` and `icestream compare --profile` use it.
 */
#ifndef ICS_TOOLS_ROOFLINE_MICROSCOPE_H
#define ICS_TOOLS_ROOFLINE_MICROSCOPE_H

#include "pipeline/telemetry/task_progress.h"
#include "pipeline/tools/roofline/microscope_command.h"
#include "pipeline/tools/roofline/roofline.h"

#include <jansson.h>

/* Twice: the second configuration of compare has schedules, too. */
enum { ICS_MICROSCOPE_SCHEDULES = 2 * ICS_SCHEDULE_COUNT };

/* What was counted. Zeros are a microscope that has counted nothing. */
typedef struct ics_microscope {
    ics_roofline schedules[ICS_MICROSCOPE_SCHEDULES]; /* [count] */
    size_t count;
    char device[128]; /* the GPU */
    char origin[256]; /* of the steps: "workload cascade" */
    uint64_t steps, photons;
    ics_task_progress progress;
} ics_microscope;

/* Counts all schedules of the request and adds them to the microscope. auto is left out, because it
 * is one of the others. Every schedule runs as `icestream bench --once` in another process, on the
 * GPU and without the limit of device.watchdog, because ncu repeats every kernel.
 * ICESTREAM_E_CONFIG: device.backend does not allow a GPU. ICESTREAM_E_USAGE: there is no schedule.
 * ICESTREAM_E_INPUT: what ncu wrote is damaged, or a metric is missing. The errors of
 * ics_ncu_find, before anything runs, and of ics_counted_run. The caller calls
 * ics_microscope_free, also after an error. */
int ics_microscope_look(ics_microscope *microscope, const ics_microscope_request *request,
                        icestream_error *error);
/* Accepts zeros. */
void ics_microscope_free(ics_microscope *microscope);

/* Prints what was counted as text. ICESTREAM_E_MEMORY. */
int ics_microscope_print(const ics_microscope *microscope, bool markdown, FILE *out,
                         icestream_error *error);
/* Returns it as JSON, or NULL if there is no memory. The caller releases it. */
json_t *ics_microscope_json(const ics_microscope *microscope);

#endif
