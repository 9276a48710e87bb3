/* What happens in a run, as one line of JSON: for run.journal, and for --log json.
 *
 * Every line has time (RFC 3339, UTC, milliseconds), event and worker; which other fields it has
 * depends on the event (docs/telemetry.md lists them).
 */
#ifndef IS_EVENT_H
#define IS_EVENT_H

#include "pipeline/icestream.h"

#include <limits.h>

/* The numbers that an event has; its texts are written when they are there. */
enum {
    IS_EVENT_INPUT_BYTES = 1 << 0,
    IS_EVENT_OUTPUT_BYTES = 1 << 1,
    IS_EVENT_PHOTONS = 1 << 2,
    IS_EVENT_HITS = 1 << 3,
    IS_EVENT_FILES = 1 << 4,
    IS_EVENT_SECONDS = 1 << 5,
    IS_EVENT_ATTEMPT = 1 << 6,
    IS_EVENT_EXIT_STATUS = 1 << 7
};

/* Name, text in files, numbers, and whether it is an event of the journal (else of the log only).
 */
#define IS_EVENT_LIST(X)                                                                           \
    X(START, "start", IS_EVENT_FILES, true)                                                        \
    X(CLAIMED, "claimed", IS_EVENT_INPUT_BYTES | IS_EVENT_ATTEMPT, true)                           \
    X(SKIPPED, "skipped", 0, true)                                                                 \
    X(DONE, "done", IS_EVENT_OUTPUT_BYTES | IS_EVENT_PHOTONS | IS_EVENT_HITS | IS_EVENT_SECONDS,   \
      true)                                                                                        \
    X(QUARANTINED, "quarantined", 0, true)                                                         \
    X(FAILED, "failed", IS_EVENT_ATTEMPT, true)                                                    \
    X(RETRIED, "retried", IS_EVENT_ATTEMPT | IS_EVENT_SECONDS, true)                               \
    X(PAUSED, "paused", 0, true)                                                                   \
    X(RESUMED, "resumed", IS_EVENT_SECONDS, true)                                                  \
    X(DEVICE_LOST, "device_lost", 0, true)                                                         \
    X(SIGNAL, "signal", 0, true)                                                                   \
    X(STOP, "stop",                                                                                \
      IS_EVENT_FILES | IS_EVENT_PHOTONS | IS_EVENT_HITS | IS_EVENT_SECONDS | IS_EVENT_EXIT_STATUS, \
      true)                                                                                        \
    X(PROGRESS, "progress", 0, false)                                                              \
    X(WARNING, "warning", 0, false)                                                                \
    X(MESSAGE, "message", 0, false)

typedef enum is_event_kind {
#define X(name, text, numbers, journal) IS_EVENT_##name,
    IS_EVENT_LIST(X)
#undef X
        IS_EVENT_KINDS
} is_event_kind;

/* The caller keeps all texts; NULL: there is none. Numbers that the kind does not have are not
 * looked at. */
typedef struct is_event {
    is_event_kind kind;
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
} is_event;

/* A line with its newline is at most this long, so that with one byte before it, it is written
 * whole where several processes append to one file. */
enum { IS_EVENT_LINE = PIPE_BUF - 1 };

struct json_t;

/* An event as a line with a newline at its end, stamped with the system's time; texts that do not
 * fit are cut with a mark, the reason first. `more`: further fields, or NULL; borrowed. Any thread.
 * IS_E_MEMORY; IS_E_FAILED: `more` does not fit into a line. */
int is_event_line(const is_event *event, const char *worker, struct json_t *more,
                  char line[IS_EVENT_LINE + 1], size_t *length, is_error *error);

/* "done"; never NULL. */
const char *is_event_name(is_event_kind kind);
/* IS_EVENT_KINDS: no such event. */
is_event_kind is_event_of_name(const char *name);
bool is_event_in_journal(is_event_kind kind);

enum { IS_EVENT_TIME = 32 };
/* Seconds since 1970 as 2026-11-21T22:48:53.123Z. Returns text. */
const char *is_event_time_text(double time, char text[IS_EVENT_TIME]);
/* The reverse. False: it is no such time. */
bool is_event_time_of_text(const char *text, double *time);
/* Seconds since 1970 of the system's clock. */
double is_event_now(void);

#endif
