/* The definitions in front of the embedded sources, which specialise the kernels for one run: stage
 * variants, features of the ice, sizes of tables, and numbers of the schedule. */
#ifndef ICS_KERNELS_CUDA_SPECIALISE_H
#define ICS_KERNELS_CUDA_SPECIALISE_H

#include "stages/histograms/photon_histogram.h"
#include "stages/variants.h"
#include "tables/large_axes.h"
#include "tables/tables.h"

#include <stdio.h>

/* The choices and numbers that do not come from the tables. */
typedef struct ics_special_options {
    ice_variants variants;
    uint32_t block;                /* threads of a block */
    uint32_t blocks_per_processor; /* >= 1; the compiler limits registers so that they fit */
    uint32_t bounces_per_wave;
    uint32_t refill;
    bool light_profiles;     /* photons of steps with a profile can be made */
    uint32_t clocks;         /* every how many-th block measures the time of stages
                                (device/clocks.h); 0: none */
    bool without_random;     /* the plainest generator (stages/random.h) */
    bool without_divergence; /* the threads of a warp have copies of one photon (device/run.h) */
    bool check;              /* define ICE_CHECK, too (stages/check.h) */
    ice_photon_axes photons; /* the histograms of photons, */
    ics_large_axes large;    /* and those with more bins than ICE_PHOTON_BINS */
    uint32_t start_shift;    /* the emissions of a batch begin at multiples of 1 << start_shift */
    uint32_t columns;    /* columns of the pool besides those of every pool: bits ICS_COLUMN_... */
    bool counts_at_once; /* the kernels add every count to those of the lane (device/run.h) */
} ics_special_options;

/* The size of the blocks of one kernel, and what its compilation is limited to. */
typedef struct ics_special_bounds {
    const char *name; /* "PROPAGATE": GPU_THREADS_PROPAGATE and GPU_BOUNDS_PROPAGATE */
    uint32_t threads;
    uint32_t blocks;    /* blocks of a multiprocessor; 0: no limit by blocks */
    uint32_t registers; /* registers of a thread; 0: no other limit. A limit stands in place of the
                           one by blocks, because a kernel can have only one of the two */
} ics_special_bounds;

/* Writes the definitions of a kernel. */
void ics_specialise_kernel(const ics_special_bounds *bounds, FILE *out);

/* Whether a histogram counts candidates, for which kernels need more registers. */
bool ics_specialise_candidates(const ice_photon_axes *axes);

/* Writes a definition for every row of kernels/cuda/device/special.h. */
void ics_specialise(const ice_tables *tables, const ics_special_options *options, FILE *out);

#endif
