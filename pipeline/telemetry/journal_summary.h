/* A summary of journals: workers, files, photons, latencies, and the last troubles. */
#ifndef ICS_TELEMETRY_JOURNAL_SUMMARY_H
#define ICS_TELEMETRY_JOURNAL_SUMMARY_H

#include "base/destroys.h"
#include "pipeline/telemetry/journal_reader.h"
#include "pipeline/telemetry/latency.h"

/* Numbers of events, not of files: a file that was claimed twice counts twice. */
typedef struct ics_journal_counts {
    uint64_t claimed, done, skipped, quarantined, failed, retried, command_failed, fetched, shipped;
    uint64_t photons, hits; /* of the events `done` */
} ics_journal_counts;

typedef enum ics_worker_state {
    ICS_WORKER_RUNNING, /* it has started and not stopped; it may have been killed */
    ICS_WORKER_PAUSED,
    ICS_WORKER_STOPPED
} ics_worker_state;

typedef struct ics_journal_worker {
    char *name, *host;  /* host NULL: the start of the worker is not in the journal */
    long pid;           /* 0: as for host */
    double start, last; /* s since 1970: last start (0: as for host), last event */
    ics_event_kind last_event;
    char *last_file; /* NULL: the last event was not about a file */
    ics_worker_state state;
    int exit_status; /* if it is stopped */
    ics_journal_counts counts;
    uint64_t starts, devices_lost;
} ics_journal_worker;

/* A trouble: an event that says that something went wrong. */
typedef struct ics_journal_trouble {
    double time;
    ics_event_kind kind;
    char *worker, *file, *reason; /* file, reason: may be NULL */
} ics_journal_trouble;

enum {
    ICS_JOURNAL_TROUBLES = 10,
    ICS_JOURNAL_RECENT = 600, /* s */
    ICS_JOURNAL_BINS = 60     /* of the histogram of recent photons */
};

typedef struct ics_journal_summary {
    ics_journal_lines lines;
    double first, last; /* s since 1970; 0 without events */
    ics_journal_counts counts;
    ics_latency latency;         /* of done files */
    ics_journal_worker *workers; /* [worker_count], in the order of their first events */
    size_t worker_count;
    /* A ring buffer: use ics_journal_trouble_at(). */
    ics_journal_trouble troubles[ICS_JOURNAL_TROUBLES];
    uint64_t trouble_count; /* in all journals */
    json_t *open; /* files that were claimed and not finished: file -> {"worker", "time"} */
    json_t *spools, *quarantines; /* absolute paths in events `start`, each once */
    /* Private. */
    json_t *worker_index; /* name -> index */
    size_t worker_capacity;
    struct {
        long long index; /* time of the bin (s since 1970) / length of a bin */
        uint64_t photons;
    } bins[ICS_JOURNAL_BINS];
} ics_journal_summary;

/* Creates an empty summary. ICESTREAM_E_MEMORY. */
int ics_journal_summary_create(ics_journal_summary **out, icestream_error *error);
/* Accepts NULL. */
void ics_journal_summary_destroy(ics_journal_summary *summary);
ICS_CAN_DESTROY(ics_journal_summary, ics_journal_summary_destroy)
/* Adds a journal. Add the files of a log rotation from the oldest to the newest. ICESTREAM_E_INPUT,
 * ICESTREAM_E_MEMORY. */
int ics_journal_summary_read(ics_journal_summary *summary, const char *path,
                             icestream_error *error);

/* The index-th of the last troubles, 0 being the newest; NULL: there is none. */
const ics_journal_trouble *ics_journal_trouble_at(const ics_journal_summary *summary, size_t index);
/* Photons per second of files that were done in the ICS_JOURNAL_RECENT seconds before `now` (s
 * since 1970), or since the first event if that is less. */
double ics_journal_recent_rate(const ics_journal_summary *summary, double now);
/* The photons of files that were done in the ICS_JOURNAL_RECENT seconds before `now`, in equal
 * parts of that time, the oldest first. The last part is not complete. */
void ics_journal_recent_photons(const ics_journal_summary *summary, double now,
                                uint64_t photons[ICS_JOURNAL_BINS]);
/* Photons per second between the first and the last event. */
double ics_journal_rate(const ics_journal_summary *summary);

#endif
