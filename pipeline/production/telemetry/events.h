/* The log of a run on standard error: lines for people (--log text), or one JSON object per event
 * (--log json), and a status line on a terminal.
 *
 * Events are those of the journal and some more (event.h). Lines for people leave out start,
 * claimed, skipped, done and stop, unless the event has a reason. One thread.
 */
#ifndef ICS_PRODUCTION_TELEMETRY_EVENTS_H
#define ICS_PRODUCTION_TELEMETRY_EVENTS_H

#include "pipeline/production/telemetry/event.h"
#include "pipeline/production/telemetry/metrics.h"
#include "pipeline/production/telemetry/progress.h"

typedef enum ics_log_format { ICS_LOG_TEXT, ICS_LOG_JSON } ics_log_format;

typedef struct ics_events {
    ics_log_format format;
    const char *worker; /* belongs to the caller */
    bool quiet;         /* only warnings and lost devices are logged */
    bool quiet_files;   /* also if quiet: files that are refused or that fail */
    ics_progress progress;
    ics_metrics_warnings warnings; /* for the metrics, also if they are not logged */
} ics_events;

/* `out`: where the log goes, not closed here; NULL: there is no log. */
ics_events ics_events_begin(FILE *out, ics_log_format format, const char *worker);
/* Logs only warnings and faults from now on. `files`: files that are refused or that fail are
 * faults here; otherwise the error of the run names them. */
void ics_events_hush(ics_events *events, bool files);
/* Removes the status line from a terminal. */
void ics_events_end(ics_events *events);

/* Logs an event. If it cannot be written, this is no error of the run. */
void ics_events_report(ics_events *events, const ics_event *event);
/* Logs a message or a warning (ICS_EVENT_MESSAGE, ICS_EVENT_WARNING). Lines for people put
 * "warning: " before a warning. */
void ics_events_note(ics_events *events, ics_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs the progress of the run. */
void ics_events_progress(ics_events *events, const ics_progress_state *state);
/* How often (ms) the progress should be logged. */
uint32_t ics_events_period(const ics_events *events);

/* Writes the lines of an error as events `error`, one JSON object for each, where no run has a log.
 */
void ics_events_put_error(FILE *out, const char *lines);

/* Bytes of the longest line for people. */
enum { ICS_EVENT_TEXT = 8192 };

#endif
