/* Samples of a run in the journal: sums and queues, from which `icestream report` draws rates.
 * Their number is bounded: the longer a run lasts, the rarer they become. */
#ifndef ICS_TELEMETRY_METRICS_SAMPLE_H
#define ICS_TELEMETRY_METRICS_SAMPLE_H

#include "pipeline/telemetry/event.h"
#include "pipeline/telemetry/metrics.h"

/* Whether it is time for a sample: 1/60 of the time of the run, and at least a second, has passed
 * since the last one. These are 60 in the first minute, 500 in a day, 860 in a year. `seconds`:
 * since the run began; *last: of the last sample, 0 before the first one; is updated. */
bool ics_metrics_sample_is_due(double *last, double seconds);
/* Makes a sample. The caller releases out->more (json_decref). */
void ics_metrics_sample(const ics_metrics *metrics, double seconds, ics_event *out);

#endif
