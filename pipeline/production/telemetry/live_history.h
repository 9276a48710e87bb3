/* The history of a run, from its beginning until now, and the object of /status.json. */
#ifndef ICS_PRODUCTION_TELEMETRY_LIVE_HISTORY_H
#define ICS_PRODUCTION_TELEMETRY_LIVE_HISTORY_H

#include "pipeline/production/telemetry/metrics.h"
#include "pipeline/production/telemetry/progress.h"

enum { ICS_LIVE_POINTS = 300 };

typedef struct ics_live_point {
    double seconds; /* since the beginning */
    uint64_t photons, hits;
} ics_live_point;

/* Points of the history at equal distances. If there are too many, every other one is dropped. */
typedef struct ics_live_history {
    ics_progress progress; /* measures rates */
    ics_progress_figures figures;
    uint64_t snapshots; /* so far */
    uint64_t distance;  /* snapshots from one point to the next */
    double seconds;     /* from the beginning to the last snapshot */
    size_t count;
    ics_live_point points[ICS_LIVE_POINTS];
} ics_live_history;

/* The history begins now. */
void ics_live_history_begin(ics_live_history *history);
/* Adds a snapshot. `now`: s of ics_clock_seconds(). */
void ics_live_history_add(ics_live_history *history, const ics_metrics *metrics, double now);

/* What does not change while a run lasts. Texts belong to the caller; NULL: there is none. */
typedef struct ics_live_about {
    const char *worker;
    const char *configuration; /* file of the configuration */
} ics_live_about;

/* Returns the object of /status.json (docs/telemetry.md) as a text that the caller frees. `metrics`
 * is the snapshot that was added last; NULL: the run has only started. */
char *ics_live_history_text(const ics_live_history *history, const ics_metrics *metrics,
                            const ics_live_about *about);

#endif
