/* How long multiprocessors had a warp of the kernels of a loop, for profiles (device/busy.h): what
 * kernels and the host share, in the common subset of C11 and CUDA C. */
#ifndef ICS_KERNELS_CUDA_DEVICE_BUSY_TIMES_H
#define ICS_KERNELS_CUDA_DEVICE_BUSY_TIMES_H

#include "stages/platform.h"

enum {
    ICS_BUSY_PROCESSORS = 1024, /* numbers of multiprocessors, at most */
    ICS_BUSY_BIN_SHIFT = 15,    /* a bin of time has 2^15 ns */
    ICS_BUSY_BINS = 1 << 16,    /* these are 2.1 s, and what comes later is in no bin */
};

/* A time in which something runs: how many run now, since when (ns), and how long at least one ran
 * until it was 0 for the last time (ns). */
typedef struct ics_busy_time {
    unsigned long long since, sum;
    uint32_t running, begins; /* `begins`: how often it was 0 before */
} ics_busy_time;

typedef struct ics_busy_times {
    unsigned long long origin; /* when the first warp began (ns); 0: there was none */
    ics_busy_time any;         /* of the multiprocessors that have a warp */
    ics_busy_time processors[ICS_BUSY_PROCESSORS]; /* of their warps */
    /* By the time since the origin: in which any multiprocessor had a warp, and the sum over all
     * multiprocessors (ns). */
    unsigned long long any_bins[ICS_BUSY_BINS], sum_bins[ICS_BUSY_BINS];
} ics_busy_times;

#endif
