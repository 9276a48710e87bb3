/* The instruction roofline of a kernel or of a schedule.
 *
 * After N. Ding, S. Williams, "An Instruction Roofline Model for GPUs", PMBS 2019, and "Instruction
 * Roofline: An insightful visual performance model for GPUs", doi:10.1002/cpe.6591. A transaction
 * has 32 bytes. For the levels L1, L2 and HBM of the memory,
 *
 *     intensity of a level = instructions of warps / transactions of the level
 *     GIPS <= min(peak GIPS, peak transactions per ns of a level * intensity of the level)
 *
 * GIPS are instructions of warps per ns. Peaks are those that the profiler reports for the GPU, at
 * the clocks at which the kernel ran. A level of 64 % means that the kernel moves 64 % of the bytes
 * that the level can move in the time of the kernel; the largest of the four shares is the part of
 * the roof that the kernel reaches. Bytes of L1 are those of global and local memory; shared memory
 * is not in them.
 */
#ifndef ICS_BENCH_LAB_ROOFLINE_ROOFLINE_H
#define ICS_BENCH_LAB_ROOFLINE_ROOFLINE_H

#include "bench/lab/roofline/ncu_csv.h"

enum { ICS_ROOFLINE_LEVELS = 3, ICS_ROOFLINE_TRANSACTION = 32 /* bytes */ };

typedef enum ics_roofline_bound {
    ICS_ROOFLINE_L1, /* the levels have their index in arrays of levels */
    ICS_ROOFLINE_L2,
    ICS_ROOFLINE_HBM,
    ICS_ROOFLINE_INSTRUCTIONS, /* the schedulers issue nearly all the time */
    ICS_ROOFLINE_LATENCY,      /* warps wait: all shares are below ICS_ROOFLINE_HIGH */
    ICS_ROOFLINE_IDLE,         /* the same, and multiprocessors have no warps for that long */
    ICS_ROOFLINE_BOUNDS
} ics_roofline_bound;

/* A share from which a limit counts as reached: the rule of ncu's section "Speed Of Light". */
#define ICS_ROOFLINE_HIGH 0.6

/* Sums over launches. A capacity is what the GPU could have done in the time of the launches. */
typedef struct ics_roofline_sums {
    uint64_t launches;
    double seconds;
    double thread_instructions, instructions, instruction_capacity;
    double bytes[ICS_ROOFLINE_LEVELS], byte_capacity[ICS_ROOFLINE_LEVELS];
    double issued_cycles, partition_cycles; /* cycles of partitions, mean of all */
    double active_cycles, elapsed_cycles;   /* cycles of multiprocessors, mean of all */
} ics_roofline_sums;

typedef struct ics_roofline_kernel {
    char name[sizeof((ics_ncu_launch *)NULL)->kernel];
    ics_roofline_sums sums;
} ics_roofline_kernel;

/* All launches of one run of a schedule. */
typedef struct ics_roofline {
    char name[64]; /* the schedule, or "table" */
    uint64_t bounces;
    uint64_t samples; /* samples of a table; 0: hits were recorded */
    ics_roofline_sums all;
    ics_roofline_kernel *kernels; /* [count], in the order of their first launch */
    size_t count;
} ics_roofline;

/* What counts are divided by: samples of a table, otherwise bounces. */
static inline uint64_t ics_roofline_divisor(const ics_roofline *roofline)
{
    return roofline->samples > 0 ? roofline->samples : roofline->bounces;
}

/* Adds a launch to an ics_roofline, the `user`. ICESTREAM_E_MEMORY. */
int ics_roofline_add(const ics_ncu_launch *launch, void *user, icestream_error *error);
/* Frees the kernels. Accepts zeros. */
void ics_roofline_free(ics_roofline *roofline);

/* What follows from sums. Ratios whose divisor is 0 are 0. For a table `bounce` means a sample. */
typedef struct ics_roofline_figures {
    double instructions_per_bounce; /* instructions of threads */
    double threads;                 /* active threads of an instruction, at most 32 */
    double issue;                   /* share of its active cycles in which a scheduler issues */
    double busy;                    /* share of the time in which a multiprocessor has a warp */
    double bytes_per_bounce[ICS_ROOFLINE_LEVELS];
    double gips, peak_gips, roof_gips;       /* instructions of warps (1/ns); the roof at the
                                                intensities of the kernel */
    double intensity[ICS_ROOFLINE_LEVELS];   /* instructions of warps per transaction */
    double level_share[ICS_ROOFLINE_LEVELS]; /* shares of the peak of each level */
    double instruction_share;                /* share of the peak of instructions */
    ics_roofline_bound bound;
} ics_roofline_figures;

ics_roofline_figures ics_roofline_compute(const ics_roofline_sums *sums, uint64_t divisor);

/* "instructions", "L1", "L2", "HBM", "latency", "idle". */
const char *ics_roofline_bound_name(ics_roofline_bound bound);

#endif
