/* What is noticed in the steps of an input: which of them cannot make light, and which events and
 * steps it has, in bounded memory, so that two inputs with the same events are noticed: photons
 * with equal event_id, step_id and photon_id have the same random numbers. */
#ifndef ICS_PHOTONS_ENGINE_STEP_WATCH_H
#define ICS_PHOTONS_ENGINE_STEP_WATCH_H

#include "pipeline/icestream.h"

/* Largest number of spans of an input (12 KiB). A file whose events follow each other without gaps
 * has one span. Events after the last span are not recorded. */
enum { ICS_EVENT_SPANS = 512 };

/* Consecutive events, and the range of step_ids that at least one of them has. */
typedef struct ics_event_span {
    uint64_t first_event, last_event;
    uint32_t first_step, last_step;
} ics_event_span;

/* Zero-initialise. */
typedef struct ics_event_spans {
    ics_event_span items[ICS_EVENT_SPANS]; /* [count] */
    size_t count;
} ics_event_spans;

/* Returns whether two lists of spans have an event with overlapping ranges of steps; *out is such a
 * span. */
bool ics_step_watch_overlap(const ics_event_span *a, size_t a_count, const ics_event_span *b,
                            size_t b_count, ics_event_span *out);

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
