#include "pipeline/telemetry/events.h"

#include "pipeline/telemetry/json_text.h"

#include <stdarg.h>
#include <string.h>

is_events is_events_begin(FILE *out, is_log_format format, const char *worker)
{
    is_events events = {.format = format, .worker = worker, .progress = is_progress_begin(out)};
    /* Nothing is rewritten where programs read. */
    events.progress.terminal = events.progress.terminal && format == IS_LOG_TEXT;
    return events;
}

void is_events_end(is_events *events)
{
    is_progress_end(&events->progress);
}

uint32_t is_events_period(const is_events *events)
{
    return is_progress_period(&events->progress);
}

/* ---- for people ------------------------------------------------------------------------------ */

/* "FILE: REASON"; reasons that begin with the file's name already are left as they are. */
static void put_subject(const char *subject, const char *reason, const char *rest, char *text)
{
    bool named = subject == NULL || (reason != NULL && strstr(reason, subject) == reason);
    snprintf(text, IS_EVENT_TEXT, "%s%s%s%s", named ? "" : subject,
             named || reason == NULL ? "" : ": ", reason != NULL ? reason : "", rest);
}

bool is_event_text(const is_event *event, char text[IS_EVENT_TEXT])
{
    char rest[64] = "";
    switch (event->kind) {
    case IS_EVENT_QUARANTINED:
        put_subject(event->file, event->reason, " (set aside)", text);
        return true;
    case IS_EVENT_FAILED:
        put_subject(event->file, event->reason, "", text);
        return true;
    case IS_EVENT_RETRIED:
        snprintf(rest, sizeof rest, " (attempt %u; the next one in %.3g s)", event->attempt,
                 event->seconds);
        put_subject(event->file, event->reason, rest, text);
        return true;
    case IS_EVENT_DEVICE_LOST:
        put_subject(event->device, event->reason, " (lost; its work is done elsewhere)", text);
        return true;
    case IS_EVENT_PAUSED:
        snprintf(text, IS_EVENT_TEXT, "paused: %s",
                 event->reason != NULL ? event->reason : "cannot write");
        return true;
    case IS_EVENT_RESUMED:
        snprintf(text, IS_EVENT_TEXT, "resumed after %.3g s", event->seconds);
        return true;
    case IS_EVENT_SIGNAL:
        snprintf(text, IS_EVENT_TEXT, "%s",
                 event->reason != NULL ? event->reason : strsignal(event->signal));
        return true;
    case IS_EVENT_WARNING:
        snprintf(text, IS_EVENT_TEXT, "warning: %s", event->reason != NULL ? event->reason : "");
        return true;
    default:
        if (event->reason != NULL) {
            snprintf(text, IS_EVENT_TEXT, "%s", event->reason);
        }
        return event->reason != NULL;
    }
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void put_json(is_events *events, const is_event *event, json_t *more)
{
    char line[IS_EVENT_LINE + 1];
    size_t length = 0;
    if (is_event_line(event, events->worker, more, line, &length, NULL) != IS_OK) {
        snprintf(line, sizeof line, "{\"event\":\"warning\",\"reason\":\"an event is lost\"}\n");
    }
    fputs(line, events->progress.out);
    fflush(events->progress.out);
}

static json_t *real_or_null(double value)
{
    return value >= 0.0 ? json_real(value) : json_null();
}

static json_t *devices_json(const is_progress_state *state, const is_progress_figures *figures)
{
    enum { NAME = 32 };
    json_t *list = json_array();
    for (size_t i = 0; i < state->device_count && i < IS_PROGRESS_DEVICES; ++i) {
        json_array_append_new(list, json_pack("{s:o, s:I, s:f, s:b}", "device",
                                              is_json_text_cut(state->devices[i].name, NAME),
                                              "photons", (json_int_t)state->devices[i].photons,
                                              "photons_per_second", figures->devices[i], "alive",
                                              (int)state->devices[i].alive));
    }
    return list;
}

static json_t *progress_json(const is_progress_state *state, const is_progress_figures *figures)
{
    enum { REASON = 400 };
    return json_pack(
        "{s:I, s:o, s:f, s:f, s:I, s:I, s:o?, s:I, s:I, s:I, s:I, s:o, s:b, s:o?, s:o}", "photons",
        (json_int_t)state->photons, "photons_total",
        real_or_null(state->photons_total > 0.0 ? state->photons_total : -1.0),
        "photons_per_second", figures->rate, "photons_per_second_average", figures->average, "hits",
        (json_int_t)state->hits, "files", (json_int_t)state->files, "files_total",
        state->files_total > 0 ? json_integer((json_int_t)state->files_total) : NULL, "files_taken",
        (json_int_t)state->files_taken, "files_quarantined", (json_int_t)state->files_quarantined,
        "queue", (json_int_t)state->queue, "queue_room", (json_int_t)state->queue_room,
        "seconds_left", real_or_null(figures->seconds_left), "stopping", (int)state->stopping,
        "paused", is_json_text_cut(state->paused, REASON), "devices", devices_json(state, figures));
}

/* ---- both ------------------------------------------------------------------------------------ */

void is_events_tell(is_events *events, const is_event *event)
{
    char text[IS_EVENT_TEXT];
    if (events->progress.out == NULL) {
        return;
    }
    if (events->format == IS_LOG_JSON) {
        put_json(events, event, NULL);
    } else if (is_event_text(event, text)) {
        is_progress_line(&events->progress, "%s", text);
    }
}

void is_events_say(is_events *events, is_event_kind kind, const char *format, ...)
{
    char text[IS_EVENT_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    is_events_tell(events, &(is_event){.kind = kind, .reason = text});
}

void is_events_progress(is_events *events, const is_progress_state *state)
{
    if (events->progress.out == NULL) {
        return;
    }
    if (events->format == IS_LOG_TEXT) {
        is_progress_update(&events->progress, state);
        return;
    }
    is_progress_figures figures;
    is_progress_measure(&events->progress, state, is_seconds(), &figures);
    json_t *more = progress_json(state, &figures);
    const is_event event = {.kind = more != NULL ? IS_EVENT_PROGRESS : IS_EVENT_WARNING,
                            .reason = more != NULL ? NULL : "out of memory for the progress"};
    put_json(events, &event, more);
    json_decref(more);
}
