/* The definitions in front of the embedded sources, which specialise the kernels for one run: stage
 * variants, features of the ice, sizes of tables, and numbers of the schedule. */
#ifndef ICS_KERNELS_CUDA_SPECIALISE_H
#define ICS_KERNELS_CUDA_SPECIALISE_H

#include "stages/bounce_histogram.h"
#include "stages/variants.h"
#include "tables/tables.h"

#include <stddef.h>

/* The choices and numbers that do not come from the tables. */
typedef struct ics_special_options {
    ice_variants variants;
    uint32_t block;                /* threads of a block */
    uint32_t blocks_per_processor; /* >= 1; the compiler limits registers so that they fit */
    uint32_t bounces_per_wave;
    uint32_t refill;
    bool light_profiles;     /* photons of steps with a profile can be made */
    bool check;              /* define ICE_CHECK, too (stages/check.h) */
    ice_bounce_axis bounces; /* of the histogram of bounces; bins 0: there is none */
    uint32_t start_shift;    /* the emissions of a batch begin at multiples of 1 << start_shift */
} ics_special_options;

/* Writes a definition for every row of kernels/cuda/device/special.h. Returns 0, or -1 if `size` is
 * too small. */
int ics_specialise(const ice_tables *tables, const ics_special_options *options, char *text,
                   size_t size);

#endif
