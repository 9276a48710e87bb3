/* The counters of a GPU that the roofline asks for.
 *
 * The names are those of NVIDIA's Nsight Compute, "Metrics Reference". `smsp` is one of the four
 * partitions of a multiprocessor (`sm`), each with one scheduler; `l1tex` is the first level cache,
 * `lts` the second one, and `dram` the memory of the GPU (HBM).
 */
#ifndef ICS_BENCH_LAB_ROOFLINE_COUNTERS_H
#define ICS_BENCH_LAB_ROOFLINE_COUNTERS_H

#include "pipeline/icestream.h"

typedef enum ics_counter {
    ICS_COUNTER_THREAD_INSTRUCTIONS, /* executed instructions, each counted once per active thread
                                      */
    ICS_COUNTER_INSTRUCTIONS,        /* executed instructions of warps */
    ICS_COUNTER_ISSUE,            /* share of the active cycles in which a scheduler issues (%) */
    ICS_COUNTER_L1_BYTES,         /* bytes that threads ask the first level cache for */
    ICS_COUNTER_L2_BYTES,         /* bytes that the second level cache is asked for */
    ICS_COUNTER_HBM_BYTES,        /* bytes that the memory reads and writes */
    ICS_COUNTER_SECONDS,          /* how long the kernel ran (s) */
    ICS_COUNTER_SM_CYCLES,        /* cycles in which a multiprocessor has a warp, mean of all */
    ICS_COUNTER_PARTITION_CYCLES, /* the same for partitions */
    ICS_COUNTER_SM_CLOCK,         /* (Hz) */
    ICS_COUNTER_L1_CLOCK,         /* (Hz) */
    ICS_COUNTER_L2_CLOCK,         /* (Hz) */
    ICS_COUNTER_HBM_CLOCK,        /* (Hz) */
    ICS_COUNTER_INSTRUCTION_PEAK, /* instructions of warps per cycle of all multiprocessors */
    ICS_COUNTER_L1_PEAK,          /* bytes per cycle of all first level caches */
    ICS_COUNTER_L2_PEAK,          /* bytes per cycle of the second level cache */
    ICS_COUNTER_HBM_PEAK,         /* bytes per cycle of the memory */
    ICS_COUNTERS
} ics_counter;

/* Returns the name that ncu has for the counter: "smsp__inst_executed.sum". */
const char *ics_counters_metric(ics_counter counter);

/* Writes all names into list[size], separated by commas, as ncu takes them. ICS_COUNTER_LIST bytes
 * are enough. */
enum { ICS_COUNTER_LIST = 1024 };
void ics_counters_list(char *list, size_t size);

/* Reads a value as ncu writes it in the locale C: "1,234.5" or "1.5e-05". Stores the value in the
 * unit of ics_counter. `unit` is what ncu's row of units has: "nsecond", "Gbyte". Returns false if
 * the text is not a finite number of at least 0, or if the unit does not suit the counter. */
bool ics_counters_read(ics_counter counter, const char *text, const char *unit, double *out);

#endif
