/* The log of a run: what it tells while it lasts, as lines for people (--log text) or one JSON
 * object per event (--log json), with a status line on a terminal.
 *
 * Events are those of the journal and some more (event.h). In lines for people the daily work
 * (start, claimed, skipped, done, stop) is told only where the event has a reason. One thread.
 */
#ifndef IS_EVENTS_H
#define IS_EVENTS_H

#include "pipeline/host/progress.h"
#include "pipeline/telemetry/event.h"

typedef enum is_log_format { IS_LOG_TEXT, IS_LOG_JSON } is_log_format;

typedef struct is_events {
    is_log_format format;
    const char *worker; /* the caller keeps it */
    is_progress progress;
} is_events;

/* `out` may be NULL: silent. It is not closed. */
is_events is_events_begin(FILE *out, is_log_format format, const char *worker);
/* Removes the status line from a terminal. */
void is_events_end(is_events *events);

/* Tells an event. That it cannot be told is no error of the run. */
void is_events_tell(is_events *events, const is_event *event);
/* Tells a message or a warning (IS_EVENT_MESSAGE, IS_EVENT_WARNING; "warning: " is put before it in
 * lines for people). */
void is_events_say(is_events *events, is_event_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Shows how far the run is. */
void is_events_progress(is_events *events, const is_progress_state *state);
/* Milliseconds between updates of that. */
uint32_t is_events_period(const is_events *events);

/* The line for people of an event, without its end. False: it is not told. */
enum { IS_EVENT_TEXT = 8192 };
bool is_event_text(const is_event *event, char text[IS_EVENT_TEXT]);

#endif
