/* Runs the walk of walk_gpu.h in a world of tests/support/stage_world.h. */
#ifndef WALK_RUN_H
#define WALK_RUN_H

#include "graphs/gpu.h"
#include "tests/gpu/walk_gpu.h"
#include "tests/support/stage_world.h"

/* The sums and bins of a view, in the order of walk_gpu.h. */
typedef struct walk_seen {
    walk_sum *sums;
    double *bins;
} walk_seen;

/* Runs a walk and copies its sums and bins to the host; the caller frees them with
 * walk_seen_free(). The tables of the world must be built with the reach cull off. job.tables is
 * set here. Fails the test on errors. */
walk_seen walk_run_on_gpu(const stage_world *world, ics_math math, walk_view view, walk_job job);
void walk_seen_free(walk_seen *seen);

#endif
