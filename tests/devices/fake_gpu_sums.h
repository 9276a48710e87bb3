/* The sums of hits of a fake GPU (tests/devices/fake_gpu.h), which makes them of every second hit:
 * a GPU sends both, too. */
#ifndef FAKE_GPU_SUMS_H
#define FAKE_GPU_SUMS_H

#include "graphs/gpu.h"
#include "kernels/cuda/hit_sum_of.h"

#include <check.h>
#include <stdlib.h>

/* Replaces arrivals of a result by their sums. Returns their number. */
static inline int fake_sums_make(const ics_tables *tables, const ics_hit_sum_rule *rule,
                                 const ice_emission *emissions, const ics_hit_sum_step *steps,
                                 ics_gpu_result *result)
{
    ics_arrivals *arrivals = &result->arrivals;
    ics_hit_sums *sums = &result->sums;
    size_t kept = 0;
    sums->items = malloc((arrivals->count + 1) * sizeof *sums->items);
    ck_assert_ptr_nonnull(sums->items);
    for (size_t i = 0; i < arrivals->count; ++i) {
        const ice_arrival arrival = arrivals->items[i];
        const uint32_t at = arrival.emission;
        if (i % 2 == 0 && ics_hit_sum_of(&tables->device, rule, &steps[at], &emissions[at],
                                         &arrival, &sums->items[sums->count])) {
            ++sums->count;
        } else {
            arrivals->items[kept++] = arrival;
        }
    }
    arrivals->count = kept;
    return (int)sums->count;
}

#endif
