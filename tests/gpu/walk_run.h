/* Runs the walk of walk_gpu.h in a world of tests/support/stage_world.h. */
#ifndef WALK_RUN_H
#define WALK_RUN_H

#include "graphs/gpu.h"
#include "tests/gpu/walk_gpu.h"
#include "tests/support/stage_world.h"

/* What a view has added up, see walk_gpu.h for the order. */
typedef struct walk_seen {
    walk_sum *sums;
    double *bins;
} walk_seen;

/* The world's tables must be built, without the reach cull; job.tables is filled in here. Fails the
 * test on errors. */
walk_seen walk_run_on_gpu(const stage_world *world, ics_math math, walk_view view, walk_job job);
void walk_seen_free(walk_seen *seen);

#endif
