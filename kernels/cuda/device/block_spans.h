/* When blocks ran and where, for profiles (device/clocks.h): what kernels and the host share, in
 * the common subset of C11 and CUDA C. */
#ifndef ICS_KERNELS_CUDA_DEVICE_BLOCK_SPANS_H
#define ICS_KERNELS_CUDA_DEVICE_BLOCK_SPANS_H

#include "stages/platform.h"

/* One block. */
typedef struct ics_block_span {
    uint64_t begin, end; /* ns, of the timer that all multiprocessors share */
    uint32_t processor;  /* number of the multiprocessor */
    uint32_t unused;
} ics_block_span;

/* The blocks of the last launches, as a ring: block n is at n % ICS_BLOCK_SPANS. */
enum { ICS_BLOCK_SPANS = 1 << 16 };
typedef struct ics_block_spans {
    unsigned long long count; /* of all blocks since the program was loaded */
    ics_block_span spans[ICS_BLOCK_SPANS];
} ics_block_spans;

#endif
