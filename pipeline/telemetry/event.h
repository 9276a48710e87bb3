/* What happens in a run, as one line of JSON: for run.journal, and for --log json.
 *
 * Every line has time (RFC 3339, UTC, milliseconds), event and worker; which other fields it has
 * depends on the event (docs/telemetry.md lists them).
 */
#ifndef ICS_TELEMETRY_EVENT_H
#define ICS_TELEMETRY_EVENT_H

#include "base/clock.h"
#include "pipeline/icestream.h"

#include <limits.h>

/* The numbers that an event has; its texts are written when they are there. */
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

/* Name, text in files, numbers, and whether it is an event of the journal (else of the log only).
 */
#define ICS_EVENT_LIST(X)                                                                          \
    X(START, "start", ICS_EVENT_FILES, true)                                                       \
    X(CLAIMED, "claimed", ICS_EVENT_INPUT_BYTES | ICS_EVENT_ATTEMPT, true)                         \
    X(SKIPPED, "skipped", 0, true)                                                                 \
    X(DONE, "done",                                                                                \
      ICS_EVENT_OUTPUT_BYTES | ICS_EVENT_PHOTONS | ICS_EVENT_HITS | ICS_EVENT_SECONDS, true)       \
    X(QUARANTINED, "quarantined", 0, true)                                                         \
    X(FAILED, "failed", ICS_EVENT_ATTEMPT, true)                                                   \
    X(RETRIED, "retried", ICS_EVENT_ATTEMPT | ICS_EVENT_SECONDS, true)                             \
    X(PAUSED, "paused", 0, true)                                                                   \
    X(RESUMED, "resumed", ICS_EVENT_SECONDS, true)                                                 \
    X(DEVICE_LOST, "device_lost", 0, true)                                                         \
    X(SIGNAL, "signal", 0, true)                                                                   \
    X(STOP, "stop",                                                                                \
      ICS_EVENT_FILES | ICS_EVENT_PHOTONS | ICS_EVENT_HITS | ICS_EVENT_SECONDS |                   \
          ICS_EVENT_EXIT_STATUS,                                                                   \
      true)                                                                                        \
    X(PROGRESS, "progress", 0, false)                                                              \
    X(WARNING, "warning", 0, false)                                                                \
    X(MESSAGE, "message", 0, false)

typedef enum ics_event_kind {
#define X(name, text, numbers, journal) ICS_EVENT_##name,
    ICS_EVENT_LIST(X)
#undef X
        ICS_EVENT_KINDS
} ics_event_kind;

/* The caller keeps all texts; NULL: there is none. Numbers that the kind does not have are not
 * looked at. */
typedef struct ics_event {
    ics_event_kind kind;
    const char *file;          /* the step file that it is about */
    const char *output;        /* done, skipped: the hit file; quarantined: where the file is now */
    const char *input_digest;  /* SHA-256 of the step file, hexadecimal */
    const char *output_digest; /* of the hit file */
    const char *device;
    const char *reason;        /* for people; of a message or warning the text */
    const char *configuration; /* start: file of the configuration */
    const char *source, *spool, *sink, *quarantine; /* start: folders */
    uint64_t input_bytes, output_bytes;
    uint64_t photons, hits;
    uint64_t files;   /* start: found so far; stop: finished */
    double seconds;   /* done: arrival to commit; retried: until the next try; resumed: paused for;
                         stop: the whole run */
    uint32_t attempt; /* from 1 */
    int signal;       /* signal: its number */
    int exit_status;  /* stop: of the program */
} ics_event;

/* A line with its newline is at most this long, so that with one byte before it, it is written
 * whole where several processes append to one file. */
enum { ICS_EVENT_LINE = PIPE_BUF - 1 };

struct json_t;

/* An event as a line with a newline at its end, stamped with the system's time; texts that do not
 * fit are cut with a mark, the reason first. `more`: further fields, or NULL; borrowed. Any thread.
 * ICESTREAM_E_MEMORY; ICESTREAM_E_FAILED: `more` does not fit into a line. */
int ics_event_line(const ics_event *event, const char *worker, struct json_t *more,
                   char line[ICS_EVENT_LINE + 1], size_t *length, icestream_error *error);

/* "done"; never NULL. */
const char *ics_event_name(ics_event_kind kind);
/* ICS_EVENT_KINDS: no such event. */
ics_event_kind ics_event_of_name(const char *name);
bool ics_event_in_journal(ics_event_kind kind);

enum { ICS_EVENT_TIME = 32 };
/* Seconds since 1970 as 2026-11-21T22:48:53.123Z. Returns text. */
const char *ics_event_time_text(double time, char text[ICS_EVENT_TIME]);
/* The reverse. False: it is no such time. */
bool ics_event_time_of_text(const char *text, double *time);
#define ics_event_now ics_clock_unix /* until all callers have the new name */

#endif
