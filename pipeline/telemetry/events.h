/* The log of a run: what it tells while it lasts, as lines for people (--log text) or one JSON
 * object per event (--log json), with a status line on a terminal.
 *
 * Events are those of the journal and some more (event.h). In lines for people the daily work
 * (start, claimed, skipped, done, stop) is told only where the event has a reason. One thread.
 */
#ifndef ICS_TELEMETRY_EVENTS_H
#define ICS_TELEMETRY_EVENTS_H

#include "pipeline/telemetry/event.h"
#include "pipeline/telemetry/progress.h"

typedef enum ics_log_format { ICS_LOG_TEXT, ICS_LOG_JSON } ics_log_format;

typedef struct ics_events {
    ics_log_format format;
    const char *worker; /* the caller keeps it */
    ics_progress progress;
} ics_events;

/* `out` may be NULL: silent. It is not closed. */
ics_events ics_events_begin(FILE *out, ics_log_format format, const char *worker);
/* Removes the status line from a terminal. */
void ics_events_end(ics_events *events);

/* Tells an event. That it cannot be told is no error of the run. */
void ics_events_report(ics_events *events, const ics_event *event);
/* Tells a message or a warning (ICS_EVENT_MESSAGE, ICS_EVENT_WARNING; "warning: " is put before it
 * in lines for people). */
void ics_events_note(ics_events *events, ics_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Shows how far the run is. */
void ics_events_progress(ics_events *events, const ics_progress_state *state);
/* Milliseconds between updates of that. */
uint32_t ics_events_period(const ics_events *events);

/* The line for people of an event, without its end. False: it is not told. */
enum { ICS_EVENT_TEXT = 8192 };
bool ics_events_text(const ics_event *event, char text[ICS_EVENT_TEXT]);

#endif
