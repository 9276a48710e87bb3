/* The journal of a run, for all of its threads. A journal that cannot be written does not end a
 * run: the lines that are lost are counted, and the loop logs the count from time to time. */
#ifndef ICS_PRODUCTION_TELEMETRY_RUN_JOURNAL_H
#define ICS_PRODUCTION_TELEMETRY_RUN_JOURNAL_H

#include "pipeline/production/telemetry/journal.h"

#include <pthread.h>

typedef struct ics_run_journal {
    ics_journal *journal;
    pthread_mutex_t lock;  /* for the members below */
    uint64_t lost;         /* lost lines that were not logged yet */
    icestream_error error; /* why the last of these lines was lost */
} ics_run_journal;

/* Appends an event. `journal` may be NULL. Any thread; waits for the disk. */
void ics_run_journal_append(ics_run_journal *journal, const ics_event *event);
/* Counts a line as lost. Any thread. */
void ics_run_journal_lose(ics_run_journal *journal, const icestream_error *why);
/* Returns how many lines were lost since the last call, and why the last one was lost. Any thread.
 */
uint64_t ics_run_journal_lost_lines(ics_run_journal *journal, icestream_error *error);

#endif
