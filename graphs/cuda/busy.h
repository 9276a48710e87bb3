/* The time in which at least one of several lanes was at work. */
#ifndef ICS_GRAPHS_CUDA_BUSY_H
#define ICS_GRAPHS_CUDA_BUSY_H

#include <stdint.h>

/* Stretches that lie apart from each other by themselves; more are folded into a sum. */
enum { ICS_BUSY_STRETCHES = 64 };

/* Zeroed: never busy. */
typedef struct ics_busy {
    struct {
        double begin, end;           /* s */
    } stretches[ICS_BUSY_STRETCHES]; /* disjoint, ascending */
    uint32_t count;
    double settled; /* s, of stretches that are no longer here */
    double until;   /* s, where the last of those ended: what is added later begins there at the
                       earliest */
} ics_busy;

/* Adds the time from `begin` to `end`, s; nothing where end <= begin. Lanes report late and in any
 * order, so a stretch may lie before others that are known already, and between them. */
void ics_busy_add(ics_busy *busy, double begin, double end);

/* s, every moment counted once. */
double ics_busy_seconds(const ics_busy *busy);

#endif
