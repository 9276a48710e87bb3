/* The log and the journal of a run. */
#ifndef ICS_RUN_LOG_H
#define ICS_RUN_LOG_H

#include "pipeline/run/state.h"

/* Writes an event to the log, and to the journal if it is one of the journal's. The texts are
 * copied. */
void ics_run_log_event(ics_run_state *run, const ics_event *event);
/* Writes a message or a warning to the log. */
void ics_run_log_text(ics_run_state *run, ics_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs the messages of the device, and how many lines of the journal were lost. */
void ics_run_log_device(ics_run_state *run);
/* Logs that the run begins, before the loop does. */
void ics_run_log_start(ics_run_state *run, const ics_event *event);
/* Logs how the run ended, after the loop has ended. */
void ics_run_log_stop(ics_run_state *run, const icestream_error *result);
/* Opens the file of the journal again, on the I/O thread. */
void ics_run_log_reopen(ics_run_state *run);

#endif
