/* How busy the multiprocessors of a GPU are, from the begins and ends of blocks, or from the times
 * in which they had a warp. This part needs no CUDA. */
#ifndef ICS_KERNELS_LOAD_H
#define ICS_KERNELS_LOAD_H

#include "kernels/cuda/device/block_spans.h"
#include "kernels/cuda/device/busy_times.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    ICS_LOAD_INTERVALS = 20,                   /* parts of equal length of a launch, or of a run */
    ICS_LOAD_PROCESSORS = ICS_BUSY_PROCESSORS, /* numbers of multiprocessors, at most */
};

/* The load of the multiprocessors while launches ran. All shares are from 0 to 1. */
typedef struct ics_load {
    uint32_t processors; /* of the GPU; 0: nothing was measured */
    uint32_t launches;   /* that were evaluated */
    double seconds;      /* of these launches, from the begin of the first block to the end of the
                            last one (s) */
    /* Share of this time in which a multiprocessor has a block: the mean of all multiprocessors,
     * and the lowest and the highest one with their numbers. */
    double mean, least, most;
    uint32_t least_at, most_at;
    /* In each part of a launch, weighted by the lengths of the launches: the share of the
     * multiprocessors that have a block, and the share of the blocks of the launch that run. */
    double busy[ICS_LOAD_INTERVALS], blocks[ICS_LOAD_INTERVALS];
    /* The parts are those of a whole run of many launches: busy[i] is the share in the time in
     * which launches ran in this part (0: none ran), and `blocks` are 0. */
    bool of_run;
} ics_load;

/* Evaluates blocks, whose order is changed. A launch is a group of blocks that overlap in time, so
 * launches that overlap count as one. `is_cut`: earlier blocks are missing, so the first launch may
 * be incomplete and is left out. Without a complete launch out->launches is 0. */
void ics_load_of(ics_block_span *spans, size_t count, bool is_cut, uint32_t processors,
                 ics_load *out);

/* Evaluates the times of a schedule that loops. Launches that overlap count as one. The parts are
 * those of the time from the first begin to the last end that is in a bin. */
void ics_load_of_times(const ics_busy_times *times, uint32_t processors, ics_load *out);

#endif
