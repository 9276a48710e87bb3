/* A kernel that only counts segments in the histograms of grid.h, for counts that no run of the
 * emulated grid reaches. Only with GRID_COUNTS_PHOTONS. */
#ifndef EMULATED_COUNT_SEGMENTS_H
#define EMULATED_COUNT_SEGMENTS_H

#include "tests/kernels/emulated/grid.h"

/* The lowest bounce limit with which each addition looks for the overflow of its count. */
enum { GRID_HIGH_BOUNCE_LIMIT = (1 << 19) + 1 };

/* The cells of segments in two layers and of segments with two candidates. */
enum { GRID_CELL_LAYERS = 14, GRID_CELL_CANDIDATES = 19 };

/* What the kernel shall do. */
typedef struct grid_counting {
    const ics_lane_memory *lane;
    uint32_t batch;
    uint32_t begin;    /* the counts of both cells in the block when its threads begin */
    uint32_t segments; /* that each thread counts, in both cells */
    uint32_t moved; /* the block moves its counts when each thread has counted this many; 0: no */
} grid_counting;

/* The thread function; `counting`: a grid_counting. One block of any size. */
void grid_count_segments(void *counting);

#endif
