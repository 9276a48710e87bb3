/* The metrics of a run for Prometheus: a snapshot as text (format 0.0.4), or as a file for the
 * textfile collector of node-exporter. metrics_listener.h serves the same text by HTTP. */
#ifndef ICS_PRODUCTION_TELEMETRY_METRICS_H
#define ICS_PRODUCTION_TELEMETRY_METRICS_H

#include "pipeline/icestream.h"

enum {
    ICS_METRICS_DEVICES = 64,
    ICS_METRICS_QUEUES = 8,
    ICS_METRICS_NAME = 128,
    ICS_METRICS_WARNINGS = 16,
    ICS_METRICS_WARNING = 400 /* bytes of one */
};

typedef struct ics_metrics_device {
    char id[32];                 /* "cuda:0", "cpu"; unique */
    char name[ICS_METRICS_NAME]; /* "NVIDIA H200" */
    char schedule[32];           /* "monolithic"; "": not known */
    uint64_t photons;            /* propagated to their end */
    double seconds_busy;
    bool alive;
} ics_metrics_device;

typedef struct ics_metrics_queue {
    char name[32];
    uint64_t used, limit; /* entries */
} ics_metrics_queue;

/* Warnings, and files and devices that failed. Zero-initialise. */
typedef struct ics_metrics_warnings {
    uint64_t total; /* of the run */
    /* The last ones: warning number n (from 0) is at n % ICS_METRICS_WARNINGS. */
    struct {
        double time; /* s since 1970 */
        char text[ICS_METRICS_WARNING];
    } last[ICS_METRICS_WARNINGS];
} ics_metrics_warnings;

/* The state of a run at one time; totals are since its start. It can be copied. All zero: a run
 * that has done nothing. */
typedef struct ics_metrics {
    char worker[200];  /* the label `worker` of all samples; "": there is none */
    double start_time; /* s since 1970 */
    bool paused;       /* the run waits for room on the disk */
    bool stopping;     /* what is being computed is finished, and nothing more is read */
    bool ended;        /* the loop of the run has ended; for the live page */
    int exit_status;   /* of the process, if `ended` */
    uint64_t photons, hits, bounces;
    uint64_t photons_expected;                  /* an estimate for the whole run; 0: unknown */
    uint64_t absorbed, detected, left, stopped; /* how the photons ended */
    uint64_t bytes_read, bytes_written;
    uint64_t retries; /* of file operations */
    /* Numbers of files: accepted so far; by result; in each state now. */
    uint64_t files_taken;
    uint64_t files_done, files_skipped, files_quarantined, files_failed;
    uint64_t files_waiting, files_claimed;
    uint64_t files_expected; /* of the whole run; 0: unknown */
    struct {
        uint64_t count;
        double sum, p50, p90, p99, max; /* s; undefined if count is 0 */
    } latency;                          /* from the arrival of a file to the commit of its hits */
    size_t device_count, queue_count;
    ics_metrics_device devices[ICS_METRICS_DEVICES];
    ics_metrics_queue queues[ICS_METRICS_QUEUES];
    ics_metrics_warnings warnings;
} ics_metrics;

struct ics_latency;
struct ics_event;

/* Sets the latency of the metrics from a latency.h. */
void ics_metrics_set_latency(ics_metrics *metrics, const struct ics_latency *latency);

/* Adds a queue; without room for it, it is left out. */
void ics_metrics_add_queue(ics_metrics *metrics, const char *name, uint64_t used, uint64_t limit);

/* Notes a warning with the present time, in a form that changes nothing but the text on a page. */
void ics_metrics_warn(ics_metrics_warnings *warnings, const char *text);

/* Returns the text, which the caller frees; *size does not count the final 0. Any thread. */
char *ics_metrics_text(const ics_metrics *metrics, size_t *size);

/* Writes the text to a file, which gets its final name when it is complete (output.h), so that
 * readers see the old or the new file. Any thread; waits for the disk. Two calls at a time for the
 * same file are an error. ICESTREAM_E_OUTPUT. */
int ics_metrics_write(const ics_metrics *metrics, const char *path, icestream_error *error);

/* Samples of a run in the journal: sums and queues, from which `icestream report` draws rates.
 * Their number is bounded: the longer a run lasts, the rarer they become. */

/* Whether it is time for a sample: 1/60 of the time of the run, and at least a second, has passed
 * since the last one. These are 60 in the first minute, 500 in a day, 860 in a year. `seconds`:
 * since the run began; *last: of the last sample, 0 before the first one; is updated. */
bool ics_metrics_sample_is_due(double *last, double seconds);
/* Makes a sample. The caller releases out->more (json_decref). */
void ics_metrics_sample(const ics_metrics *metrics, double seconds, struct ics_event *out);

#endif
