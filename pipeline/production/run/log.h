/* The log and the journal of a run. */
#ifndef ICS_PRODUCTION_RUN_LOG_H
#define ICS_PRODUCTION_RUN_LOG_H

#include "pipeline/production/run/state.h"

/* Writes an event to the log, and to the journal if its kind is ICS_EVENT_JOURNAL.
 * The texts are copied; `more` gets another owner. */
void ics_run_log_event(ics_run_state *run, const ics_event *event);
/* Writes a message or a warning to the log. */
void ics_run_log_text(ics_run_state *run, ics_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs the notice of a unit, if a thread has left one. */
void ics_run_log_notice(ics_run_state *run, ics_unit *unit);
/* Logs the messages of the device, and how many lines of the journal were lost. */
void ics_run_log_device(ics_run_state *run);
/* Logs that the run begins. The caller's thread writes the line of the journal, because the loop
 * does not run yet. */
void ics_run_log_start(ics_run_state *run, const ics_event *event);
/* Logs how the run ended. The caller's thread writes the line of the journal, because the loop has
 * ended. */
void ics_run_log_stop(ics_run_state *run, const icestream_error *result);
/* Makes the I/O thread open the file of the journal again. */
void ics_run_log_reopen(ics_run_state *run);
/* Returns the exit status that the process will have if the run ends with `status`. */
int ics_run_exit_status(const ics_run_state *run, int status);

#endif
