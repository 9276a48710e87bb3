/* The clocks of this machine. Any thread. */
#ifndef ICS_BASE_CLOCK_H
#define ICS_BASE_CLOCK_H

#include <time.h>

/* Returns the time (s) of the clock that is never set: for durations and for points in time within
 * this process. Where it begins has no meaning. */
double ics_clock_seconds(void);

/* Returns the time (s since 1970) of the system's clock, which may be set while the process runs:
 * for times that people and other programs see. */
double ics_clock_unix(void);

/* Returns the CPU time (s) that the calling thread has used. */
double ics_clock_thread(void);

/* Returns the point in time that is `seconds` (s, >= 0) after now, for waiting functions that use
 * CLOCK_MONOTONIC. */
struct timespec ics_clock_deadline(double seconds);

#endif
