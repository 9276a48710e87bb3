#include "base/clock.h"

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double ics_clock_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

double ics_clock_unix(void)
{
    return seconds_of(CLOCK_REALTIME);
}

double ics_clock_thread(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

struct timespec ics_clock_deadline(double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double total = (double)until.tv_nsec + 1e9 * seconds; /* ns */
    const time_t whole = (time_t)(total / 1e9);                 /* s */
    until.tv_sec += whole;
    until.tv_nsec = (long)(total - 1e9 * (double)whole);
    return until;
}
