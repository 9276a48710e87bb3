/* A lane of a GPU schedule on the CPU: the pool of photons, the queue of batches, and the host's
 * part of a launch, as short as possible. Its kernels run on the emulated grid (grid.h). */
#ifndef EMULATED_LANE_H
#define EMULATED_LANE_H

#include "graphs/graph.h"
#include "tests/kernels/emulated/grid.h"

enum { GRID_BATCH = 1 << GRID_START_SHIFT }; /* most emissions of a batch */
#if defined(GPU_SPECIAL_PHOTON_CELLS)
enum { GRID_PHOTON_CELLS = GPU_SPECIAL_PHOTON_CELLS };
enum { GRID_LARGE_CELLS = GPU_SPECIAL_LARGE_CELLS };
#else
enum { GRID_PHOTON_CELLS = 1, GRID_LARGE_CELLS = 1 };
#endif
/* Counts of a batch in front of those of histograms with many bins, and all of its counts. */
enum {
    GRID_LARGE_FIRST = ICS_SHARES * GRID_PHOTON_CELLS,
    GRID_BATCH_COUNTS = GRID_LARGE_FIRST + GRID_LARGE_CELLS
};

typedef struct grid_setting {
    ics_schedule schedule;
    uint32_t hits;   /* room in the hit buffer, at least 1 */
    uint32_t batch;  /* emissions of a batch, 1 to GRID_BATCH */
    uint32_t chains; /* 1 or 2; a schedule without a loop has 1 */
    bool stream;     /* photons stay in the pool between launches while more batches will come */
    bool join;       /* scatter and propagate are one kernel */
    bool late;       /* parallel kernels run as late as the graph allows, otherwise as early */
    bool profile;    /* of a loop with one chain and without `late`: with stamps (profile.h) */
} grid_setting;

typedef struct grid_lane {
    ics_lane_memory memory;
    ics_launch launch;
    ics_launch_progress progress;
    ics_share shares[ICS_SHARES];
    const ice_emission *emissions; /* [emission_count], not owned */
    uint32_t emission_count;
    uint32_t origins[ICS_LANE_BATCHES]; /* the first emission of the batch in a place */
    uint64_t created[ICS_LANE_BATCHES]; /* photons of the batch in a place; 0: the place is free */
    uint32_t next_emission, launches;
    uint64_t queue_end;
    ics_stage_clock clock; /* of a profile */
    ics_arrivals arrivals;
    ice_account account; /* of the batches that are complete */
    /* Of kernels that are compiled with histograms of photons: the sum of the batches that are
     * complete, of few and of many bins. */
    uint64_t cells[GRID_PHOTON_CELLS], large_cells[GRID_LARGE_CELLS];
} grid_lane;

/* The words of the histograms with many bins for which the kernels are compiled; count 0: none. */
typedef struct grid_words {
    const uint32_t *items; /* [count] */
    size_t count;
} grid_words;
extern grid_words grid_large_words;

/* Makes a lane that will compute emissions[emission_count], which must outlive the lane. The tables
 * are grid_tables, and the words grid_large_words. */
void grid_lane_make(grid_lane *self, const grid_setting *with, const ice_emission *emissions,
                    uint32_t emission_count);

/* Adds one batch if there is room, and runs one launch. Returns whether there is more to do. Fails
 * the test if the counts of photons do not fit together. */
bool grid_lane_launch(grid_lane *self, const grid_setting *with);

void grid_lane_free(grid_lane *self);

#endif
