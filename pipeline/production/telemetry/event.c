#include "pipeline/production/telemetry/event.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/new.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned numbers;
    unsigned properties;
} kinds[ICS_EVENT_KINDS] = {
#define X(name, text, numbers, properties) {text, numbers, properties},
    ICS_EVENT_LIST(X)
#undef X
};

const char *ics_event_name(ics_event_kind kind)
{
    return (unsigned)kind < ICS_EVENT_KINDS ? kinds[kind].name : "unknown";
}

ics_event_kind ics_event_of_name(const char *name)
{
    int kind = 0;
    while (kind < ICS_EVENT_KINDS && strcmp(kinds[kind].name, name) != 0) {
        ++kind;
    }
    return (ics_event_kind)kind;
}

bool ics_event_is(ics_event_kind kind, unsigned property)
{
    return (unsigned)kind < ICS_EVENT_KINDS && (kinds[kind].properties & property) != 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

const char *ics_event_time_text(double time, char text[ICS_EVENT_TIME])
{
    /* Rounds down, so that the text is not later than the time. The 0.01 ms make up for the
     * rounding of a number of seconds that was read from such a text. */
    double thousandths = floor(1000.0 * time + 0.01);
    double whole = floor(thousandths / 1000.0);
    time_t seconds = (time_t)whole;
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL) {
        memset(&parts, 0, sizeof parts);
    }
    size_t length = strftime(text, ICS_EVENT_TIME, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + length, ICS_EVENT_TIME - length, ".%03dZ", (int)(thousandths - 1000.0 * whole));
    return text;
}

bool ics_event_time_of_text(const char *text, double *time)
{
    struct tm parts = {.tm_isdst = 0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
    int thousandths = 0, used = 0;
    if (rest == NULL || sscanf(rest, ".%3dZ%n", &thousandths, &used) != 1 || used != 5 ||
        rest[used] != '\0') {
        return false;
    }
    *time = (double)timegm(&parts) + 1e-3 * thousandths;
    return true;
}

/* "32 s", "5 min", "7.2 h", "3 days". */
static const char *seconds_text(double seconds, char text[ICS_EVENT_AGE])
{
    if (seconds < 90.0) {
        snprintf(text, ICS_EVENT_AGE, "%.3g s", seconds);
    } else if (seconds < 5400.0) {
        snprintf(text, ICS_EVENT_AGE, "%.0f min", seconds / 60.0);
    } else if (seconds < 172800.0) {
        snprintf(text, ICS_EVENT_AGE, "%.1f h", seconds / 3600.0);
    } else {
        snprintf(text, ICS_EVENT_AGE, "%.0f days", seconds / 86400.0);
    }
    return text;
}

const char *ics_event_age_text(const char *now, const char *time, char text[ICS_EVENT_AGE])
{
    double then = 0.0, here = 0.0;
    if (!ics_event_time_of_text(time, &then) || !ics_event_time_of_text(now, &here)) {
        return "-";
    }
    return seconds_text(here > then ? floor(here - then) : 0.0, text);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

enum { TEXTS = 16, HOST = 256 };

/* A text of an event that is written as JSON. */
typedef struct event_text {
    const char *key, *text;
    size_t length; /* bytes of it that are written */
} event_text;

/* What an event `start` says about the process. */
typedef struct process_texts {
    char host[HOST], folder[PATH_MAX], signal[32];
} process_texts;

static const char *signal_text(int number, char text[32])
{
    /* glibc 2.31 has no sigabbrev_np(). */
    if (number == SIGINT || number == SIGTERM) {
        snprintf(text, 32, "%s", number == SIGINT ? "SIGINT" : "SIGTERM");
    } else {
        snprintf(text, 32, "%d", number);
    }
    return text;
}

static size_t collect_texts(const ics_event *event, process_texts *process, event_text texts[TEXTS])
{
    bool start = event->kind == ICS_EVENT_START, signal = event->kind == ICS_EVENT_SIGNAL;
    if (start) {
        /* A name that was cut may have no final 0. */
        process->host[HOST - 1] = '\0';
        if (gethostname(process->host, HOST - 1) != 0) {
            snprintf(process->host, HOST, "unknown");
        }
        if (getcwd(process->folder, sizeof process->folder) == NULL) {
            process->folder[0] = '\0'; /* the folder was removed */
        }
    }
    const event_text all[] = {
        {"version", start ? ICESTREAM_VERSION : NULL, 0},
        {"host", start ? process->host : NULL, 0},
        {"folder", start && process->folder[0] != '\0' ? process->folder : NULL, 0},
        {"configuration", event->configuration, 0},
        {"source", event->source, 0},
        {"spool", event->spool, 0},
        {"sink", event->sink, 0},
        {"quarantine", event->quarantine, 0},
        {"file", event->file, 0},
        {"output", event->output, 0},
        {"input_digest", event->input_digest, 0},
        {"output_digest", event->output_digest, 0},
        {"url", event->url, 0},
        {"device", event->device, 0},
        {"signal", signal ? signal_text(event->signal, process->signal) : NULL, 0},
        {"reason", event->reason, 0},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (all[i].text != NULL) {
            texts[count] = all[i];
            texts[count++].length = strlen(all[i].text);
        }
    }
    return count;
}

static void set(json_t *line, const char *key, json_t *value)
{
    if (json_object_set_new(line, key, value) != 0) {
        ics_new_made(NULL);
    }
}

static void set_numbers(json_t *line, const ics_event *event)
{
    unsigned numbers = kinds[event->kind].numbers;
    if (event->kind == ICS_EVENT_START) {
        set(line, "pid", json_integer(getpid()));
    }
    const struct {
        unsigned number;
        const char *key;
        uint64_t value;
    } wholes[] = {{ICS_EVENT_INPUT_BYTES, "input_bytes", event->input_bytes},
                  {ICS_EVENT_OUTPUT_BYTES, "output_bytes", event->output_bytes},
                  {ICS_EVENT_PHOTONS, "photons", event->photons},
                  {ICS_EVENT_HITS, "hits", event->hits},
                  {ICS_EVENT_FILES, "files", event->files},
                  {ICS_EVENT_ATTEMPT, "attempt", event->attempt}};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; ++i) {
        if ((numbers & wholes[i].number) != 0) {
            set(line, wholes[i].key, json_integer((json_int_t)wholes[i].value));
        }
    }
    if ((numbers & ICS_EVENT_SECONDS) != 0) {
        set(line, "seconds", isfinite(event->seconds) ? json_real(event->seconds) : json_null());
    }
    if ((numbers & ICS_EVENT_EXIT_STATUS) != 0) {
        set(line, "exit_status", json_integer(event->exit_status));
    }
}

static json_t *event_json(const ics_event *event, const char *worker, json_t *more,
                          const event_text *texts, size_t count, const char *time)
{
    json_t *line = json_object();
    set(line, "time", json_string(time));
    set(line, "event", json_string(kinds[event->kind].name));
    set(line, "worker", ics_json_text_cut(worker != NULL ? worker : "", NAME_MAX));
    for (size_t i = 0; i < count; ++i) {
        set(line, texts[i].key, ics_json_text_cut(texts[i].text, texts[i].length));
    }
    set_numbers(line, event);
    if (more != NULL) {
        json_object_update(line, more);
    }
    return line;
}

/* Shortens texts by `excess` bytes: first the reason, of which the beginning is enough for people,
 * then names. Returns false if nothing is left to shorten. */
static bool shorten(event_text *texts, size_t count, size_t excess)
{
    enum { REASON_KEPT = 512 };
    event_text *longest = NULL;
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(texts[i].key, "reason") == 0 && texts[i].length > REASON_KEPT) {
            longest = &texts[i];
            break;
        }
        if (longest == NULL || texts[i].length > longest->length) {
            longest = &texts[i];
        }
    }
    if (longest == NULL || longest->length == 0) {
        return false;
    }
    /* A character may take several bytes of JSON, so at most half of a text is removed at a time.
     */
    size_t half = (longest->length + 1) / 2;
    size_t taken = excess + sizeof ICS_JSON_TEXT_CUT;
    longest->length -= taken < half ? taken : half;
    return true;
}

int ics_event_line(const ics_event *event, const char *worker, json_t *more,
                   char line[ICS_EVENT_LINE + 1], size_t *length, icestream_error *error)
{
    process_texts process;
    event_text texts[TEXTS];
    char time[ICS_EVENT_TIME];
    size_t count = collect_texts(event, &process, texts);
    ics_event_time_text(ics_clock_unix(), time);
    for (;;) {
        json_auto_t *json = event_json(event, worker, more, texts, count, time);
        const size_t size =
            json_dumpb(json, line, ICS_EVENT_LINE - 1, JSON_COMPACT | JSON_REAL_PRECISION(9));
        if (size <= ICS_EVENT_LINE - 1) {
            line[size] = '\n';
            line[size + 1] = '\0';
            *length = size + 1;
            return ICESTREAM_OK;
        }
        if (!shorten(texts, count, size - (ICS_EVENT_LINE - 1))) {
            return ics_error_set(error, ICESTREAM_E_FAILED,
                                 "a line of events does not fit into %d bytes",
                                 (int)ICS_EVENT_LINE);
        }
    }
}
