/* Log events: each thing that happens in a run is one line of JSON, for run.journal and --log json.
 *
 * Every line has time (RFC 3339, UTC, milliseconds), event and worker. The other fields depend on
 * the event (docs/telemetry.md lists them).
 *
 * The files of pipeline/production/telemetry:
 *   event, json_text         one event as a line of JSON
 *   journal, run_journal     the file run.journal; run_journal is for all threads of a run
 *   events, progress         the log on standard error, and the status line
 *   latency, metrics         percentiles, and numbers for Prometheus
 *   metrics_listener         serves them by HTTP (metrics_http), with a page for
 *                            people: live_page has its files, live_history the numbers
 *   report_file              the name of a file that no other run writes at the same time
 *   service_notify           systemd
 *   journal_reader, journal_summary, sink_folder    read journals and folders for `status`
 */
#ifndef ICS_PRODUCTION_TELEMETRY_EVENT_H
#define ICS_PRODUCTION_TELEMETRY_EVENT_H

#include "pipeline/icestream.h"

#include <limits.h>

/* The numbers that a kind of event has. Texts are written if they are not NULL. */
enum {
    ICS_EVENT_INPUT_BYTES = 1 << 0,
    ICS_EVENT_OUTPUT_BYTES = 1 << 1,
    ICS_EVENT_PHOTONS = 1 << 2,
    ICS_EVENT_HITS = 1 << 3,
    ICS_EVENT_FILES = 1 << 4,
    ICS_EVENT_SECONDS = 1 << 5,
    ICS_EVENT_ATTEMPT = 1 << 6,
    ICS_EVENT_EXIT_STATUS = 1 << 7
};

/* What a kind of event is. */
enum {
    ICS_EVENT_JOURNAL = 1 << 0, /* it goes to the journal, otherwise only to the log */
    ICS_EVENT_TROUBLE = 1 << 1, /* something went wrong */
    ICS_EVENT_ENDING = 1 << 2   /* the worker does not have the file any more */
};

/* Name, text in files, numbers, and properties. */
#define ICS_EVENT_LIST(X)                                                                          \
    X(START, "start", ICS_EVENT_FILES, ICS_EVENT_JOURNAL)                                          \
    X(CLAIMED, "claimed", ICS_EVENT_INPUT_BYTES | ICS_EVENT_ATTEMPT, ICS_EVENT_JOURNAL)            \
    X(CONTINUED, "continued", ICS_EVENT_PHOTONS | ICS_EVENT_HITS, ICS_EVENT_JOURNAL)               \
    X(SKIPPED, "skipped", 0, ICS_EVENT_JOURNAL | ICS_EVENT_ENDING)                                 \
    X(DONE, "done",                                                                                \
      ICS_EVENT_OUTPUT_BYTES | ICS_EVENT_PHOTONS | ICS_EVENT_HITS | ICS_EVENT_SECONDS,             \
      ICS_EVENT_JOURNAL | ICS_EVENT_ENDING)                                                        \
    X(QUARANTINED, "quarantined", 0, ICS_EVENT_JOURNAL | ICS_EVENT_TROUBLE | ICS_EVENT_ENDING)     \
    X(REFUSED, "refused", 0, ICS_EVENT_JOURNAL | ICS_EVENT_TROUBLE | ICS_EVENT_ENDING)             \
    X(HITS_QUARANTINED, "hits_quarantined", 0, ICS_EVENT_JOURNAL | ICS_EVENT_TROUBLE)              \
    X(GIVEN_BACK, "given_back", 0, ICS_EVENT_JOURNAL | ICS_EVENT_ENDING)                           \
    X(FAILED, "failed", ICS_EVENT_ATTEMPT,                                                         \
      ICS_EVENT_JOURNAL | ICS_EVENT_TROUBLE | ICS_EVENT_ENDING)                                    \
    X(COMMAND_FAILED, "command_failed", ICS_EVENT_ATTEMPT, ICS_EVENT_JOURNAL | ICS_EVENT_TROUBLE)  \
    X(FETCHED, "fetched", ICS_EVENT_INPUT_BYTES | ICS_EVENT_SECONDS | ICS_EVENT_ATTEMPT,           \
      ICS_EVENT_JOURNAL)                                                                           \
    X(SHIPPED, "shipped", ICS_EVENT_SECONDS | ICS_EVENT_ATTEMPT, ICS_EVENT_JOURNAL)                \
    X(RETRIED, "retried", ICS_EVENT_ATTEMPT | ICS_EVENT_SECONDS,                                   \
      ICS_EVENT_JOURNAL | ICS_EVENT_TROUBLE)                                                       \
    X(PAUSED, "paused", 0, ICS_EVENT_JOURNAL | ICS_EVENT_TROUBLE)                                  \
    X(RESUMED, "resumed", ICS_EVENT_SECONDS, ICS_EVENT_JOURNAL)                                    \
    X(DEVICE_LOST, "device_lost", 0, ICS_EVENT_JOURNAL | ICS_EVENT_TROUBLE)                        \
    X(SAMPLE, "sample", ICS_EVENT_FILES | ICS_EVENT_PHOTONS | ICS_EVENT_HITS | ICS_EVENT_SECONDS,  \
      ICS_EVENT_JOURNAL)                                                                           \
    X(SIGNAL, "signal", 0, ICS_EVENT_JOURNAL)                                                      \
    X(STOP, "stop",                                                                                \
      ICS_EVENT_FILES | ICS_EVENT_PHOTONS | ICS_EVENT_HITS | ICS_EVENT_SECONDS |                   \
          ICS_EVENT_EXIT_STATUS,                                                                   \
      ICS_EVENT_JOURNAL)                                                                           \
    X(PROGRESS, "progress", 0, 0)                                                                  \
    X(WARNING, "warning", 0, ICS_EVENT_TROUBLE)                                                    \
    X(ERROR, "error", 0, 0)                                                                        \
    X(MESSAGE, "message", 0, 0)

typedef enum ics_event_kind {
#define X(name, text, numbers, properties) ICS_EVENT_##name,
    ICS_EVENT_LIST(X)
#undef X
        ICS_EVENT_KINDS
} ics_event_kind;

struct json_t;

/* An event. All texts belong to the caller; NULL: there is none. Numbers that the kind does not
 * have are ignored. */
typedef struct ics_event {
    ics_event_kind kind;
    const char *file; /* the step file of the event */
    const char
        *output; /* done, skipped: the hit file; quarantined, hits_quarantined: the new path */
    const char *input_digest;  /* SHA-256 of the step file, hexadecimal */
    const char *output_digest; /* of the hit file */
    const char *url;           /* shipped: where to, without secrets */
    const char *device;
    const char *reason;        /* for people; the text of a message or warning */
    const char *configuration; /* start: file of the configuration */
    const char *source, *spool, *sink, *quarantine; /* start: folders */
    uint64_t input_bytes, output_bytes;
    uint64_t photons, hits;
    uint64_t files; /* start: number found so far; sample, stop: number finished */
    double seconds; /* done: from arrival to commit; retried: until the next try; resumed: length of
                       the pause; fetched, shipped: length of the transfer; sample, stop: since the
                       run began */
    uint32_t attempt;    /* from 1 */
    int signal;          /* signal: its number */
    int exit_status;     /* stop: of the process */
    struct json_t *more; /* sample: further fields of the journal's line; NULL: none */
} ics_event;

/* Bytes of the longest line with its newline. A line of this length with one byte before it is
 * written in one piece if several processes append to one file. */
enum { ICS_EVENT_LINE = PIPE_BUF - 1 };

/* Writes an event as a line with its newline and the present time. Texts that do not fit are cut
 * and marked, the reason first. `more`: further fields, which stay the caller's; NULL: none. Any
 * thread. ICESTREAM_E_FAILED: `more` does not fit into a line. */
int ics_event_line(const ics_event *event, const char *worker, struct json_t *more,
                   char line[ICS_EVENT_LINE + 1], size_t *length, icestream_error *error);

/* The name of an event in files, such as "done"; never NULL. */
const char *ics_event_name(ics_event_kind kind);
/* The event with this name; ICS_EVENT_KINDS: there is none. */
ics_event_kind ics_event_of_name(const char *name);
/* Whether the kind has this property. */
bool ics_event_is(ics_event_kind kind, unsigned property);

enum { ICS_EVENT_TIME = 32 };
/* Writes a time (s since 1970) as 2026-11-21T22:48:53.123Z. Returns `text`. */
const char *ics_event_time_text(double time, char text[ICS_EVENT_TIME]);
/* Reads such a text. Returns false if it has another form. */
bool ics_event_time_of_text(const char *text, double *time);

enum { ICS_EVENT_AGE = 32 };
/* Writes for people how long `time` was before `now`, in whole seconds, minutes, hours or days;
 * both are times of ics_event_time_text(). Returns `text`, or "-" if one of them is no such time.
 */
const char *ics_event_age_text(const char *now, const char *time, char text[ICS_EVENT_AGE]);
#endif
