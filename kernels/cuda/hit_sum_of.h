/* The sum of one hit, by the functions that make hits on the host (physics/detect). The kernel of
 * hit_sums.cu and tests on a CPU call this. */
#ifndef ICS_KERNELS_CUDA_HIT_SUM_OF_H
#define ICS_KERNELS_CUDA_HIT_SUM_OF_H

#include "kernels/cuda/hit_sums.h"
#include "physics/detect/arrival_time.h"
#include "physics/light/light_curve.h"
#include "stages/shape.h"

#include <float.h>

/* Makes the sum of a hit; out->emission counts from the first emission of the batch. The emission
 * has no pulse. Returns false if the hit has no sum: its module is unknown, its bin does not exist,
 * or no hit can store its weight. */
ICE_FN bool ics_hit_sum_of(const ice_tables *tables, const ics_hit_sum_rule *rule,
                           const ics_hit_sum_step *step, const ice_emission *emission,
                           const ice_arrival *hit, ics_hit_sum *out)
{
    /* As the host does it: to the time of a step it adds the sum of a pulse, which is 0 here, and
     * of the travel. */
    const double delay = 0.0 + ice_arrival_travel_time(tables, emission, hit);
    const double t = step->t + delay;
    const double bias = rule->bias_count > 0
                            ? ice_curve_at_or_end(rule->bias_wavelength, rule->bias,
                                                  rule->bias_count, (double)hit->wavelength)
                            : 1.0;
    const double weight = ice_hit_weight(step->kept, bias, rule->oversize);
    const float stored = (float)weight;
    const bool inside = ice_time_bins_contain(&rule->bins, t);
    const double bin = inside ? ice_time_bin_of(&rule->bins, t) : 0.0;
    const uint32_t module = ice_arrival_module(hit);
    if (module >= rule->modules || !(bias > 0.0) || !(weight <= (double)FLT_MAX) ||
        !ice_time_bin_exists(bin)) {
        return false;
    }
    out->mantissa = inside ? ice_weight_mantissa(stored) : 0u;
    out->hits = 1;
    out->emission = inside ? step->event : 0u;
    out->module = inside ? module : 0u;
    out->bin = (int32_t)bin;
    out->exponent = inside ? ice_weight_class(stored) : ICE_WEIGHT_CLASSES;
    out->unused = 0;
    return true;
}

/* Returns the key of a sum of a batch whose emissions begin at `first` in the ring. */
ICE_FN ics_hit_sum_key ics_hit_sum_key_of(const ics_hit_sum_layout *layout, uint32_t first,
                                          const ics_hit_sum *sum)
{
    const uint32_t below = ICS_HIT_SUM_CLASS_BITS + ICS_HIT_SUM_BIN_BITS;
    const uint64_t upper =
        (uint64_t)(first + sum->emission) << layout->module_bits | (uint64_t)sum->module;
    const uint64_t bin = (uint32_t)sum->bin ^ 0x80000000u;
    ics_hit_sum_key key;
    key.low = upper << below | bin << ICS_HIT_SUM_CLASS_BITS | sum->exponent;
    key.high = upper >> (64 - below);
    return key;
}

/* Returns the key of entries without a hit, which is larger than all others. */
ICE_FN ics_hit_sum_key ics_hit_sum_key_of_nobody(const ics_hit_sum_layout *layout)
{
    ics_hit_sum nobody;
    nobody.emission = 0;
    nobody.module = 0;
    nobody.bin = 0;
    nobody.exponent = 0;
    return ics_hit_sum_key_of(layout, layout->emissions, &nobody);
}

#endif
