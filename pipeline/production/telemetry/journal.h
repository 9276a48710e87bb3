/* run.journal: what a run claimed, finished and quarantined, one JSON object per line.
 *
 * The journal is for people and scripts. Which files are done is decided by the hit files alone, so
 * a run continues if its journal cannot be written. Several processes may append to one journal,
 * because a line is one write(2) at the end of the file. If a killed process or a full disk left an
 * incomplete line, a newline is written before the next line, so that only one line is lost.
 */
#ifndef ICS_PRODUCTION_TELEMETRY_JOURNAL_H
#define ICS_PRODUCTION_TELEMETRY_JOURNAL_H

#include "pipeline/production/telemetry/event.h"

typedef struct ics_journal ics_journal;

/* Opens or creates a journal in an existing folder. `worker` names this process in all lines.
 * ICESTREAM_E_OUTPUT. */
int ics_journal_create(const char *path, const char *worker, ics_journal **out,
                       icestream_error *error);
/* Accepts NULL. */
void ics_journal_destroy(ics_journal *journal);

/* Appends an event with the present time. Events that are only for the log are not written. Any
 * thread; waits for the disk. ICESTREAM_E_OUTPUT: the line was not written; the next one may be. */
int ics_journal_append(ics_journal *journal, const ics_event *event, icestream_error *error);

/* Continues in the file that has the journal's name now, after a log rotation. Any thread. After an
 * error (those of ics_journal_create) it continues in the old file. */
int ics_journal_reopen(ics_journal *journal, icestream_error *error);

#endif
