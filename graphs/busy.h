/* The time in which at least one of several lanes was at work. */
#ifndef IS_GRAPHS_BUSY_H
#define IS_GRAPHS_BUSY_H

#include <stdint.h>

/* Stretches that lie apart from each other by themselves; more are folded into a sum. */
enum { IS_BUSY_STRETCHES = 64 };

/* Zeroed: never busy. */
typedef struct is_busy {
    struct {
        double begin, end;          /* s */
    } stretches[IS_BUSY_STRETCHES]; /* disjoint, ascending */
    uint32_t count;
    double settled; /* s, of stretches that are no longer here */
    double until;   /* s, where the last of those ended: what is added later begins there at the
                       earliest */
} is_busy;

/* Adds the time from `begin` to `end`, s; nothing where end <= begin. Lanes report late and in any
 * order, so a stretch may lie before others that are known already, and between them. */
void is_busy_add(is_busy *busy, double begin, double end);

/* s, every moment counted once. */
double is_busy_seconds(const is_busy *busy);

#endif
