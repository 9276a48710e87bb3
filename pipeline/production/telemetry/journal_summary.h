/* A summary of journals: workers, files, photons, latencies, and the last troubles. */
#ifndef ICS_PRODUCTION_TELEMETRY_JOURNAL_SUMMARY_H
#define ICS_PRODUCTION_TELEMETRY_JOURNAL_SUMMARY_H

#include "base/cleanup.h"
#include "pipeline/production/telemetry/journal_reader.h"
#include "pipeline/production/telemetry/latency.h"

enum {
    ICS_JOURNAL_TROUBLES = 10,
    ICS_JOURNAL_RECENT = 600, /* s */
    ICS_JOURNAL_BINS = 60     /* of the histogram of recent photons */
};

/* The values of JSON are those of the report of `icestream status` (docs/telemetry.md). */
typedef struct ics_journal_summary {
    ics_journal_lines lines;
    double first, last; /* s since 1970; 0 without events */
    /* Numbers of events, not of files: a file that was claimed twice counts twice. And the photons
     * and hits of the events `done`. */
    json_t *counts;
    ics_latency latency; /* of done files */
    /* name -> {"worker", "host", "pid", "state", "exit_status", "starts", "start", "last",
     * "last_event", "last_file", "heartbeat", "devices_lost", "counts"}, in the order of their
     * first events. host is null and pid 0 if the start of the worker is not in the journal. state:
     * "running" (it has started and not stopped; it may have been killed), "paused" or "stopped".
     * heartbeat: null, because journals do not have it. */
    json_t *workers;
    /* The last ICS_JOURNAL_TROUBLES events that say that something went wrong, the newest first:
     * {"time", "event", "worker", "file", "reason"}. */
    json_t *troubles;
    json_t *open; /* files that were claimed and not finished: file -> {"worker", "time"} */
    json_t *spools, *quarantines; /* absolute paths in events `start`, each once */
    /* Private. */
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
