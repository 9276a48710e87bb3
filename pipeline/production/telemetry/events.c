#include "pipeline/production/telemetry/events.h"

#include "base/clock.h"
#include "base/json_text.h"
#include "base/new.h"
#include "base/visible_text.h"

#include <stdarg.h>
#include <string.h>

ics_events ics_events_begin(FILE *out, ics_log_format format, const char *worker)
{
    ics_events events = {.format = format, .worker = worker, .progress = ics_progress_begin(out)};
    /* Programs read JSON, so no line is rewritten in place. */
    events.progress.terminal = events.progress.terminal && format == ICS_LOG_TEXT;
    return events;
}

void ics_events_hush(ics_events *events, bool files)
{
    events->quiet = true;
    events->quiet_files = files;
    events->progress.terminal = false; /* there is no status line to rewrite */
}

void ics_events_end(ics_events *events)
{
    ics_progress_end(&events->progress);
}

uint32_t ics_events_period(const ics_events *events)
{
    return ics_progress_period(&events->progress);
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Appends "FILE: REASON", or only the reason if it begins with the name of the file. */
static void put_subject(const char *subject, const char *reason, const char *rest, char *text)
{
    bool named = subject == NULL || (reason != NULL && strstr(reason, subject) == reason);
    snprintf(text, ICS_EVENT_TEXT, "%s%s%s%s", named ? "" : subject,
             named || reason == NULL ? "" : ": ", reason != NULL ? reason : "", rest);
}

/* Writes the line for people, without its newline. Returns false if the event is left out there. */
static bool text_of(const ics_event *event, char text[ICS_EVENT_TEXT])
{
    char rest[64] = "";
    switch (event->kind) {
    case ICS_EVENT_QUARANTINED:
        put_subject(event->file, event->reason, " (quarantined)", text);
        return true;
    case ICS_EVENT_REFUSED:
    case ICS_EVENT_FAILED:
    case ICS_EVENT_CONTINUED:
        put_subject(event->file, event->reason, "", text);
        return true;
    case ICS_EVENT_RETRIED:
        snprintf(rest, sizeof rest, " (attempt %u; the next one in %.3g s)", event->attempt,
                 event->seconds);
        put_subject(event->file, event->reason, rest, text);
        return true;
    case ICS_EVENT_DEVICE_LOST:
        put_subject(event->device, event->reason, " (lost; its work is done elsewhere)", text);
        return true;
    case ICS_EVENT_PAUSED:
        snprintf(text, ICS_EVENT_TEXT, "paused: %s",
                 event->reason != NULL ? event->reason : "cannot write");
        return true;
    case ICS_EVENT_RESUMED:
        snprintf(text, ICS_EVENT_TEXT, "resumed after %.3g s", event->seconds);
        return true;
    case ICS_EVENT_SIGNAL:
        snprintf(text, ICS_EVENT_TEXT, "%s",
                 event->reason != NULL ? event->reason : strsignal(event->signal));
        return true;
    case ICS_EVENT_WARNING:
        snprintf(text, ICS_EVENT_TEXT, "warning: %s", event->reason != NULL ? event->reason : "");
        return true;
    default:
        if (event->reason != NULL) {
            snprintf(text, ICS_EVENT_TEXT, "%s", event->reason);
        }
        return event->reason != NULL;
    }
}

/* ---- for programs ---------------------------------------------------------------------------- */

static void put_json(ics_events *events, const ics_event *event, json_t *more)
{
    char line[ICS_EVENT_LINE + 1];
    size_t length = 0;
    if (ics_event_line(event, events->worker, more, line, &length, NULL) != ICESTREAM_OK) {
        snprintf(line, sizeof line, "{\"event\":\"warning\",\"reason\":\"an event is lost\"}\n");
    }
    fputs(line, events->progress.out);
    fflush(events->progress.out);
}

static json_t *real_or_null(double value)
{
    return value >= 0.0 ? json_real(value) : json_null();
}

static json_t *devices_json(const ics_progress_state *state, const ics_progress_figures *figures)
{
    enum { NAME = 32 };
    json_t *list = json_array();
    for (size_t i = 0; i < state->device_count && i < ICS_PROGRESS_DEVICES; ++i) {
        json_array_append_new(list, json_pack("{s:o, s:I, s:f, s:b}", "device",
                                              ics_json_text_cut(state->devices[i].name, NAME),
                                              "photons", (json_int_t)state->devices[i].photons,
                                              "photons_per_second", figures->devices[i], "alive",
                                              (int)state->devices[i].alive));
    }
    return list;
}

static json_t *progress_json(const ics_progress_state *state, const ics_progress_figures *figures)
{
    enum { REASON = 400 };
    return json_pack(
        "{s:I, s:o, s:f, s:f, s:I, s:I, s:o?, s:I, s:I, s:I, s:I, s:I, s:o, s:b, s:o?, s:o}",
        "photons", (json_int_t)state->photons, "photons_total",
        real_or_null(state->photons_total > 0.0 ? state->photons_total : -1.0),
        "photons_per_second", figures->rate, "photons_per_second_average", figures->average, "hits",
        (json_int_t)state->hits, "files", (json_int_t)state->files, "files_total",
        state->files_total > 0 ? json_integer((json_int_t)state->files_total) : NULL, "files_taken",
        (json_int_t)state->files_taken, "files_quarantined", (json_int_t)state->files_quarantined,
        "files_undelivered", (json_int_t)state->files_undelivered, "queue",
        (json_int_t)state->queue, "queue_room", (json_int_t)state->queue_room, "seconds_left",
        real_or_null(figures->seconds_left), "stopping", (int)state->stopping, "paused",
        ics_json_text_cut(state->paused, REASON), "devices", devices_json(state, figures));
}

/* A reason may have several lines; messages and warnings are one line. */
static void print_text(ics_events *events, const ics_event *event, char text[ICS_EVENT_TEXT])
{
    char visible[ICS_EVENT_TEXT];
    const bool is_line = event->kind == ICS_EVENT_MESSAGE || event->kind == ICS_EVENT_WARNING;
    if (event->file != NULL) {
        ics_visible_hide_newlines(event->file, text);
    }
    ics_progress_line(&events->progress, "%s",
                      ics_visible_text(text, !is_line, visible, sizeof visible));
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool is_hidden(const ics_events *events, ics_event_kind kind)
{
    const bool is_file =
        kind == ICS_EVENT_QUARANTINED || kind == ICS_EVENT_REFUSED || kind == ICS_EVENT_FAILED;
    return events->quiet && kind != ICS_EVENT_WARNING && kind != ICS_EVENT_DEVICE_LOST &&
           !(events->quiet_files && is_file);
}

void ics_events_report(ics_events *events, const ics_event *event)
{
    static const char marked[] = "warning: ";
    char text[ICS_EVENT_TEXT];
    if (ics_event_is(event->kind, ICS_EVENT_TROUBLE) && text_of(event, text)) {
        const bool is_marked = strncmp(text, marked, sizeof marked - 1) == 0;
        ics_metrics_warn(&events->warnings, text + (is_marked ? sizeof marked - 1 : 0));
    }
    if (events->progress.out == NULL || is_hidden(events, event->kind)) {
        return;
    }
    if (events->format == ICS_LOG_JSON) {
        put_json(events, event, NULL);
    } else if (text_of(event, text)) {
        print_text(events, event, text);
    }
}

void ics_events_note(ics_events *events, ics_event_kind kind, const char *format, ...)
{
    char text[ICS_EVENT_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ics_events_report(events, &(ics_event){.kind = kind, .reason = text});
}

void ics_events_progress(ics_events *events, const ics_progress_state *state)
{
    if (events->progress.out == NULL || events->quiet) {
        return;
    }
    if (events->format == ICS_LOG_TEXT) {
        ics_progress_update(&events->progress, state);
        return;
    }
    ics_progress_figures figures;
    ics_progress_measure(&events->progress, state, ics_clock_seconds(), &figures);
    json_auto_t *more = ics_new_made(progress_json(state, &figures));
    put_json(events, &(ics_event){.kind = ICS_EVENT_PROGRESS}, more);
}

void ics_events_put_error(FILE *out, const char *lines)
{
    ics_events events = {.format = ICS_LOG_JSON, .progress = {.out = out}};
    char line[ICS_EVENT_TEXT];
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, lines);
        put_json(&events, &(ics_event){.kind = ICS_EVENT_ERROR, .reason = line}, NULL);
        lines += length + (lines[length] == '\n');
    }
}
