/* What the host and the kernel that fills a table share, in the common subset of C11 and CUDA C. */
#ifndef ICS_KERNELS_CUDA_DEVICE_TABLE_WORK_H
#define ICS_KERNELS_CUDA_DEVICE_TABLE_WORK_H

#include "stages/tabulate/tabulate.h"

/* What the threads of a launch count. The host zeroes all of it before a launch. */
typedef struct ics_table_counts {
    unsigned long long next; /* photons of the launch that threads have taken, or tried to take */
    unsigned long long absorbed, detected, left,
        stopped; /* numbers of photons in the order of ice_fate */
    unsigned long long bounces, samples;
    unsigned long long overflows; /* not 0: a sum is 2^63 units or more */
} ics_table_counts;

/* The order for one launch. All pointers point to memory of the device. */
typedef struct ics_table_work {
    const ice_emission *emissions;      /* [count], without pulses */
    const ice_tabulate_origin *origins; /* [count] */
    const uint32_t *offsets;            /* [count] photons of the batch before each emission */
    ics_table_counts *counts;
    uint32_t count;   /* >= 1 */
    uint32_t first;   /* photon of the batch with which the launch begins */
    uint32_t photons; /* photons of the launch, 1 to 2^31 - 1: counts->next does not wrap */
} ics_table_work;

#endif
