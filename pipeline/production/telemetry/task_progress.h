/* The progress of a command that is no run, such as `compare`: on a terminal a line like that of a
 * run, elsewhere nothing. */
#ifndef ICS_PRODUCTION_TELEMETRY_TASK_PROGRESS_H
#define ICS_PRODUCTION_TELEMETRY_TASK_PROGRESS_H

#include "pipeline/production/telemetry/progress.h"

typedef struct ics_task_progress {
    ics_progress line;
    char name[96]; /* what is being done, in front of the line; "": nothing */
    double due;    /* when the line may be shown again (s of ics_clock_seconds()) */
} ics_task_progress;

/* `out` is no terminal, or NULL: nothing is shown. */
ics_task_progress ics_task_progress_begin(FILE *out);
/* Begins a part of the task, whose rates and remaining time are shown from now on. */
void ics_task_progress_next(ics_task_progress *task, const char *name);
/* Shows the line, if the last one is old enough. May be called often. */
void ics_task_progress_show(ics_task_progress *task, const ics_progress_state *state);
/* Removes the line, before other text is printed. */
void ics_task_progress_end(ics_task_progress *task);

#endif
