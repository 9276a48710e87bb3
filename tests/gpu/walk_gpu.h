/* Photons in ice without modules on a GPU, like tests/propagation/walk.h on the CPU. There may be a
 * hundred times as many photons, so the GPU also computes the sums that a test needs.
 *
 * The walk calls the stage functions of a run, in portable or in fast maths. A view sees every
 * segment. Modules and boundaries must be far away, and the reach cull must be off.
 */
#ifndef WALK_GPU_H
#define WALK_GPU_H

#include "stages/photon.h"
#include "stages/tables.h"
#include "stages/variants.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bins of equal probability. A measured value counts in the bin of its distribution function. */
enum { WALK_QUANTILES = 1000 };

/* What a walk measures. */
typedef enum walk_view {
    WALK_ENDS,   /* absorption */
    WALK_PATHS,  /* moments against path length and number of scatters */
    WALK_TURN,   /* the first scatter */
    WALK_SHELLS, /* path length in spherical shells around the origin */
    WALK_FIRST,  /* length of the first segment, through two half-spaces */
    WALK_START,  /* creation */
    WALK_VIEWS
} walk_view;

/* Sums and bins of every view, in the order in which they are stored. */
enum { /* WALK_ENDS; mean path and mean free path: walk_job.lengths[0], [1] */
       WALK_ENDS_PATH,
       WALK_ENDS_SCATTERS,
       WALK_ENDS_Z,
       WALK_ENDS_RADIUS_SQUARED,
       WALK_ENDS_EXCESS,   /* scatters less path / mean free path */
       WALK_ENDS_TOGETHER, /* WALK_ENDS_EXCESS times (path - mean path) */
       WALK_ENDS_SUMS,
       WALK_ENDS_SCATTER_BINS = 2000,
       WALK_ENDS_BINS = WALK_ENDS_SCATTER_BINS + WALK_QUANTILES /* path: exponential */
};
enum { /* WALK_PATHS; path lengths: walk_job.lengths, scatters: walk_job.counts; 0 ends both; the
          last length is the mean free path */
       WALK_PATHS_MOST = 7,
       WALK_PATHS_EACH = 5, /* z, cos, P2(cos), r^2, z^2 */
       WALK_SCATTERS_MOST = 6,
       WALK_SCATTERS_EACH = 2, /* cos, P2(cos) */
       WALK_PATHS_COSINES = WALK_PATHS_MOST * WALK_PATHS_EACH,
       WALK_PATHS_TENTH = WALK_PATHS_COSINES + WALK_SCATTERS_MOST * WALK_SCATTERS_EACH,
       WALK_PATHS_SUMS,
       WALK_PATHS_BINS = WALK_QUANTILES /* tenth free path: exponential */
};
enum { /* WALK_TURN; cosines: walk_job.lengths; the beam has to be (0.48, 0.6, 0.64) */
       WALK_TURN_COSINE,
       WALK_TURN_P2,
       WALK_TURN_SUMS,
       WALK_TURN_CUTS = 6, /* one bin each: photons with a cosine up to it */
       WALK_TURN_BINS = WALK_TURN_CUTS + WALK_QUANTILES /* azimuth */
};
enum { /* WALK_SHELLS; radii: walk_job.lengths, the shells are 1 m thick */
       WALK_SHELLS_MOST = 7,
       WALK_SHELLS_BATCHES = 32,  /* of photons, to see how much results scatter */
       WALK_SHELLS_EXCESS = 1500, /* 1 m of path less radius each */
       WALK_SHELLS_PATH = 0,
       WALK_SHELLS_SUMS,
       WALK_SHELLS_BINS = WALK_SHELLS_MOST * WALK_SHELLS_BATCHES * WALK_SHELLS_EXCESS
};
enum { /* WALK_FIRST; lengths: to the face (m), coefficient before and behind it (1/m) */
       WALK_FIRST_LENGTH,
       WALK_FIRST_SUMS,
       WALK_FIRST_BINS = WALK_QUANTILES
};
enum {                   /* WALK_START; thresholds of wavelength: walk_job.lengths */
       WALK_START_SHIFT, /* along the direction of the step */
       WALK_START_WAVELENGTH,
       WALK_START_ABSORPTION,
       WALK_START_X, /* direction of flight */
       WALK_START_Y,
       WALK_START_Z,
       WALK_START_XX,
       WALK_START_YY,
       WALK_START_ZZ,
       WALK_START_SUMS,
       WALK_START_CUTS = 7, /* one bin each: photons with a wavelength up to it */
       WALK_START_SHIFT_BINS = WALK_START_CUTS,
       WALK_START_AZIMUTH_BINS = WALK_START_SHIFT_BINS + WALK_QUANTILES,
       WALK_START_ABSORPTION_BINS = WALK_START_AZIMUTH_BINS + WALK_QUANTILES,
       WALK_START_BINS = WALK_START_ABSORPTION_BINS + WALK_QUANTILES
};
enum { WALK_LENGTHS = 8 };

typedef struct walk_job {
    ice_tables tables; /* with device pointers */
    ice_emission emission;
    ice_variants variants;
    uint32_t photons;
    float path_limit;       /* a photon stops after the segment that reaches this path, m */
    uint32_t scatter_limit; /* ... or after this number of scatters */
    double lengths[WALK_LENGTHS];
    uint32_t counts[WALK_LENGTHS];
} walk_job;

/* Sums for a mean and a variance. */
typedef struct walk_sum {
    double count, sum, squares;
} walk_sum;

/* Follows all photons of the job and waits for the end. Adds to `sums` and `bins`, which are in
 * device memory and have the sizes of the view (WALK_..._SUMS and WALK_..._BINS). Returns 0 or a
 * cudaError_t. */
int walk_gpu_portable(const walk_job *job, walk_view view, walk_sum *sums, double *bins);
int walk_gpu_fast(const walk_job *job, walk_view view, walk_sum *sums, double *bins);

#ifdef __cplusplus
}
#endif

#endif
