/* The journal of a run, for all of its threads. A journal that cannot be written does not end a
 * run: the loop is told once in a while. */
#ifndef ICS_TELEMETRY_RUN_JOURNAL_H
#define ICS_TELEMETRY_RUN_JOURNAL_H

#include "pipeline/telemetry/journal.h"

#include <pthread.h>

typedef struct ics_run_journal {
    ics_journal *journal;
    pthread_mutex_t lock;  /* of what follows */
    uint64_t lost;         /* lines, not told of yet */
    icestream_error error; /* of the last of them */
} ics_run_journal;

/* Appends an event. `journal` may be NULL. Any thread; waits for the disk. */
void ics_run_journal_append(ics_run_journal *journal, const ics_event *event);
/* A line is lost. */
void ics_run_journal_lose(ics_run_journal *journal, const icestream_error *why);
/* Takes what was lost since the last call; 0: nothing. Any thread. */
uint64_t ics_run_journal_take_lost(ics_run_journal *journal, icestream_error *error);

#endif
