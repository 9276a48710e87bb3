/* The numbers of a run for Prometheus: a snapshot as text (format 0.0.4), or as a file for
 * node-exporter's textfile collector. metrics_listener.h serves the same by HTTP. */
#ifndef ICS_TELEMETRY_METRICS_H
#define ICS_TELEMETRY_METRICS_H

#include "pipeline/icestream.h"

enum { ICS_METRICS_DEVICES = 64, ICS_METRICS_QUEUES = 8, ICS_METRICS_NAME = 128 };

typedef struct ics_metrics_device {
    char id[32];                 /* "cuda:0", "cpu"; each once */
    char name[ICS_METRICS_NAME]; /* "NVIDIA H200" */
    uint64_t photons;            /* carried to their end */
    double seconds_busy;
    bool alive;
} ics_metrics_device;

typedef struct ics_metrics_queue {
    char name[32];
    uint64_t used, limit; /* entries */
} ics_metrics_queue;

/* One moment of a run; totals are since its start. A plain value: copy it as you like. All zero is
 * a run that has done nothing yet. */
typedef struct ics_metrics {
    double start_time; /* s since 1970 */
    bool paused;       /* waits for room on the disk */
    uint64_t photons, hits, bounces;
    uint64_t bytes_read, bytes_written;
    uint64_t retries; /* of file operations */
    /* Files: taken in so far; how they ended; and now. */
    uint64_t files_taken;
    uint64_t files_done, files_skipped, files_quarantined, files_failed;
    uint64_t files_waiting, files_claimed;
    struct {
        uint64_t count;
        double sum, p50, p90, p99, max; /* s; of no meaning while count is 0 */
    } latency;                          /* from a file's arrival to the commit of its hits */
    size_t device_count, queue_count;
    ics_metrics_device devices[ICS_METRICS_DEVICES];
    ics_metrics_queue queues[ICS_METRICS_QUEUES];
} ics_metrics;

struct ics_latency;

/* Takes percentiles over from a latency (latency.h). */
void ics_metrics_set_latency(ics_metrics *metrics, const struct ics_latency *latency);

/* Writes the text format into memory that the caller frees; *size is without the NUL at its end.
 * Any thread. ICESTREAM_E_MEMORY. */
int ics_metrics_text(const ics_metrics *metrics, char **text, size_t *size, icestream_error *error);

/* Writes the same as a file, which has its name only when it is whole (as NAME.part until then, and
 * on the medium): readers see the old one or the new one. Any thread; it waits for the disk; two at
 * once for one file are an error. ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_metrics_write(const ics_metrics *metrics, const char *path, icestream_error *error);

#endif
