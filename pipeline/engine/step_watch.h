/* What a unit notices in its steps: which events they have, and which of them cannot make light. */
#ifndef ICS_ENGINE_STEP_WATCH_H
#define ICS_ENGINE_STEP_WATCH_H

#include "pipeline/engine/event_spans.h"

/* Zero-initialise. The reader's thread fills it while it cuts the steps into batches. */
typedef struct ics_step_watch {
    uint64_t rows;                   /* rows so far */
    uint64_t slow_steps, first_slow; /* steps below the Cherenkov threshold, row of the first one */
    ics_event_spans spans;
} ics_step_watch;

/* Forgets everything, before the first row is read. */
void ics_step_watch_begin(ics_step_watch *watch);
/* Looks at the next rows. Cherenkov light of steps slower than `least_beta` is below the threshold.
 */
void ics_step_watch_look(ics_step_watch *watch, float least_beta, const icestream_step *steps,
                         size_t count);

#endif
