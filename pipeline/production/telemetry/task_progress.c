#include "pipeline/production/telemetry/task_progress.h"

#include "base/clock.h"

ics_task_progress ics_task_progress_begin(FILE *out)
{
    ics_task_progress task = {.line = ics_progress_begin(out)};
    if (!task.line.terminal) {
        task.line.out = NULL;
    }
    return task;
}

void ics_task_progress_next(ics_task_progress *task, const char *name)
{
    const bool shown = task->line.shown;
    task->line = ics_progress_begin(task->line.out);
    task->line.shown = shown;
    task->due = 0;
    snprintf(task->name, sizeof task->name, "%s", name);
}

void ics_task_progress_show(ics_task_progress *task, const ics_progress_state *state)
{
    if (task->line.out == NULL || ics_clock_seconds() < task->due) {
        return;
    }
    ics_progress_state named = *state;
    named.task = task->name[0] != '\0' ? task->name : NULL;
    ics_progress_update(&task->line, &named);
    task->due = ics_clock_seconds() + 1e-3 * ics_progress_period(&task->line);
}

void ics_task_progress_end(ics_task_progress *task)
{
    ics_progress_end(&task->line);
}
