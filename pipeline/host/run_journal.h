/* The journal of a run, for all of its threads. A journal that cannot be written does not end a
 * run: the loop is told once in a while. */
#ifndef IS_RUN_JOURNAL_H
#define IS_RUN_JOURNAL_H

#include "pipeline/telemetry/journal.h"

#include <pthread.h>

typedef struct is_run_journal {
    is_journal *journal;
    pthread_mutex_t lock; /* of what follows */
    uint64_t lost;        /* lines, not told of yet */
    is_error error;       /* of the last of them */
} is_run_journal;

/* Appends an event. `journal` may be NULL. Any thread; waits for the disk. */
void is_run_journal_append(is_run_journal *journal, const is_event *event);
/* A line is lost. */
void is_run_journal_lose(is_run_journal *journal, const is_error *why);
/* Takes what was lost since the last call; 0: nothing. Any thread. */
uint64_t is_run_journal_take_lost(is_run_journal *journal, is_error *error);

#endif
