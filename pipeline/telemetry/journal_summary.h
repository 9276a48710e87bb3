/* What journals tell: workers, files, photons, latencies, and what went wrong last. */
#ifndef IS_JOURNAL_SUMMARY_H
#define IS_JOURNAL_SUMMARY_H

#include "pipeline/telemetry/journal_reader.h"
#include "pipeline/telemetry/latency.h"

/* Events, not files: a file that was claimed twice counts twice. */
typedef struct is_journal_counts {
    uint64_t claimed, done, skipped, quarantined, failed, retried;
    uint64_t photons, hits; /* of done */
} is_journal_counts;

typedef enum is_worker_state {
    IS_WORKER_RUNNING, /* started, and has not said that it stopped: it may have been killed */
    IS_WORKER_PAUSED,
    IS_WORKER_STOPPED
} is_worker_state;

typedef struct is_journal_worker {
    char *name, *host;  /* host NULL: its start is not in the journal */
    long pid;           /* 0: as above */
    double start, last; /* of its last start, 0: as above, and of its last event; s since 1970 */
    is_event_kind last_event;
    char *last_file; /* NULL: the last event was not about a file */
    is_worker_state state;
    int exit_status; /* while it is stopped */
    is_journal_counts counts;
    uint64_t starts, devices_lost;
} is_journal_worker;

/* Something that went wrong. */
typedef struct is_journal_trouble {
    double time;
    is_event_kind kind;
    char *worker, *file, *reason; /* file, reason: NULL where there is none */
} is_journal_trouble;

enum {
    IS_JOURNAL_TROUBLES = 10,
    IS_JOURNAL_RECENT = 600, /* s */
    IS_JOURNAL_BINS = 60     /* of the recent photons */
};

typedef struct is_journal_summary {
    is_journal_lines lines;
    double first, last; /* s since 1970; 0 without events */
    is_journal_counts counts;
    is_latency latency;         /* of done files */
    is_journal_worker *workers; /* [worker_count], in the order of their first events */
    size_t worker_count;
    is_journal_trouble troubles[IS_JOURNAL_TROUBLES]; /* a ring: see is_journal_trouble_at() */
    uint64_t trouble_count;                           /* of all times */
    json_t *open; /* files that were claimed and not ended: file -> {"worker", "time"} */
    json_t *spools, *quarantines; /* absolute paths that starts named, each once */
    /* Private. */
    json_t *worker_index; /* name -> index */
    size_t worker_capacity;
    struct {
        long long index; /* of its seconds since 1970 */
        uint64_t photons;
    } bins[IS_JOURNAL_BINS];
} is_journal_summary;

/* An empty one. IS_E_MEMORY. */
int is_journal_summary_create(is_journal_summary **out, is_error *error);
/* Accepts NULL. */
void is_journal_summary_destroy(is_journal_summary *summary);
/* Adds a whole journal; those of a rotation oldest first. IS_E_INPUT, IS_E_MEMORY. */
int is_journal_summary_read(is_journal_summary *summary, const char *path, is_error *error);

/* The index-th last trouble, 0 the newest; NULL: there is none. */
const is_journal_trouble *is_journal_trouble_at(const is_journal_summary *summary, size_t index);
/* Photons per second of files done in the last IS_JOURNAL_RECENT seconds before `now`, or since the
 * first event if that is less. */
double is_journal_recent_rate(const is_journal_summary *summary, double now);
/* Photons per second between the first and the last event. */
double is_journal_rate(const is_journal_summary *summary);

#endif
