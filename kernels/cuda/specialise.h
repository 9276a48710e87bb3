/* What makes a run's kernels its own: variants, switched-off features and sizes of tables, as
 * definitions in front of the embedded sources. */
#ifndef ICS_KERNELS_CUDA_SPECIALISE_H
#define ICS_KERNELS_CUDA_SPECIALISE_H

#include "stages/variants.h"
#include "tables/tables.h"

#include <stddef.h>

/* What a schedule adds. */
typedef struct ics_special_options {
    ice_variants variants;
    uint32_t block;                /* threads of a block */
    uint32_t blocks_per_processor; /* that must fit, >= 1: limits registers */
    uint32_t bounces_per_wave;
    uint32_t refill;
    uint32_t start_shift; /* a batch's emissions begin at multiples of 1 << start_shift */
} ics_special_options;

/* Lines of definitions. Values of the ice and of the seed are no part of it, so that a cached
 * program serves every run with the same features and sizes. Returns 0, or -1: too small. */
int ics_specialise(const ice_tables *tables, const ics_special_options *options, char *text,
                   size_t size);

#endif
