/* run.journal: what a run claimed, finished and set aside, one JSON object per line.
 *
 * It is for people and scripts; the truth is the set of finished hit files, so a run whose journal
 * cannot be written goes on. Several processes may append to one journal: a line is one write(2) at
 * the end of the file. What a killed process or a full disk left of a line is ended with a newline
 * before the next one, so that one line is lost and no other.
 */
#ifndef ICS_TELEMETRY_JOURNAL_H
#define ICS_TELEMETRY_JOURNAL_H

#include "pipeline/telemetry/event.h"

typedef struct ics_journal ics_journal;

/* Opens a journal or begins one, in an existing folder. `worker` names this process in all lines.
 * `sync`: what ends a file or the run (done, quarantined, failed, stop) is on the medium when
 * ics_journal_append() returns. ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_journal_create(const char *path, const char *worker, bool sync, ics_journal **out,
                       icestream_error *error);
/* Accepts NULL. */
void ics_journal_destroy(ics_journal *journal);

/* Appends an event, stamped with the time; an event of the log only is not written. Any thread; it
 * waits for the disk. ICESTREAM_E_OUTPUT: the line, or with `sync` its way to the medium, was lost,
 * also for reasons that may pass; the next one may succeed. ICESTREAM_E_MEMORY. */
int ics_journal_append(ics_journal *journal, const ics_event *event, icestream_error *error);

/* Goes on in the file that has the journal's name now, after a log rotation. Any thread. On errors
 * (those of ics_journal_create) it goes on in the file that it had. */
int ics_journal_reopen(ics_journal *journal, icestream_error *error);

const char *ics_journal_path(const ics_journal *journal);

#endif
