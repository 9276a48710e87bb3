/* The history of the runs that a folder's journals record: rates, queues and files over time.
 * Memory does not depend on the length of the journals. */
#ifndef ICS_TOOLS_REPORT_HISTORY_H
#define ICS_TOOLS_REPORT_HISTORY_H

#include "pipeline/devices/light_levels.h"
#include "pipeline/telemetry/journal_summary.h"

enum {
    ICS_HISTORY_BINS = 120,  /* of the time from the first event to the last one */
    ICS_HISTORY_DEVICES = 8, /* that are shown one by one */
    ICS_HISTORY_FILES = 200, /* newest files, quarantined files and troubles that are listed */
};

/* Sums over one bin of time. */
typedef struct ics_history_bin {
    double photons, hits;
    double devices[ICS_HISTORY_DEVICES]; /* photons */
    uint64_t files;                      /* done */
    double latency, latency_max;         /* s: sum over the files, and the longest */
    uint64_t samples;                    /* lines with the state of the queue */
    double queue, queue_max, open;       /* batches: sum and largest; files in work: sum */
} ics_history_bin;

/* The newest objects of one kind, as the lines of the journal. */
typedef struct ics_history_list {
    json_t *items; /* [<= ICS_HISTORY_FILES], oldest first */
    uint64_t count;
} ics_history_list;

typedef struct ics_history {
    double first, last; /* s since 1970 */
    double width;       /* s, of a bin */
    ics_history_bin bins[ICS_HISTORY_BINS];
    char devices[ICS_HISTORY_DEVICES][32]; /* names; empty: not used */
    bool has_samples;                      /* otherwise rates are those of whole files */
    double queue_room;                     /* batches, the largest */
    bool has_light;                        /* a run has recorded its light when it ended */
    ics_light_levels light;                /* sum over the runs */
    ics_history_list done, quarantined, troubles, starts;
    json_t *last_start; /* of the newest run; NULL: there is none */
    json_t *workers;    /* private */
} ics_history;

/* Creates an empty history of the time that `summary` covers. ICESTREAM_E_MEMORY. */
int ics_history_create(const ics_journal_summary *summary, ics_history **out,
                       icestream_error *error);
/* Accepts NULL. */
void ics_history_destroy(ics_history *history);
/* Adds a journal, from the oldest to the newest. ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_history_read(ics_history *history, const char *path, icestream_error *error);

#endif
