/* The time in which at least one of several lanes computed. */
#ifndef ICS_GRAPHS_CUDA_BUSY_H
#define ICS_GRAPHS_CUDA_BUSY_H

#include <stdint.h>

/* Time spans that are kept one by one. Earlier spans are only kept as a sum. */
enum { ICS_BUSY_SPANS = 64 };

/* Zeroed: never busy. */
typedef struct ics_busy {
    struct {
        double begin, end;   /* s */
    } spans[ICS_BUSY_SPANS]; /* [count], they do not overlap and ascend in time */
    uint32_t count;
    double earlier; /* sum of the spans that were removed (s) */
    double until;   /* end of the last span that was removed (s); time before it is not added */
} ics_busy;

/* Adds the time from `begin` to `end` (s); does nothing if end <= begin. Lanes report late and in
 * any order, so a span may lie before or between spans that were added earlier. */
void ics_busy_add(ics_busy *busy, double begin, double end);

/* Returns the busy time (s). Time in which several lanes computed counts once. */
double ics_busy_seconds(const ics_busy *busy);

#endif
