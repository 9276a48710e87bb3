/* The bin of time and the class of weights that a hit of a waveform belongs to (files.md 9). The
 * host and the GPU make sums with these functions.
 *
 * All functions use only IEEE 754 operations that are rounded in one way. So they give the same
 * bits everywhere, if the compiler does not contract products and sums.
 */
#ifndef ICS_PHYSICS_DETECT_TIME_BINS_H
#define ICS_PHYSICS_DETECT_TIME_BINS_H

#include "stages/maths.h"

/* How times become bins. */
typedef struct ice_time_bins {
    double width; /* width of a bin (ns), 1e-6 .. 1e12; 0: hits are not summed in bins */
    bool has_range;
    double low, high; /* only hits with low <= t < high count (ns); bin 0 begins at low */
} ice_time_bins;

/* The largest number of a bin; the smallest one is its negative. */
#define ICE_TIME_BIN_MOST 2147483647.0

/* A class has the weights with one exponent in single precision: class 0 has those below the
 * smallest normal number. The classes of finite weights are 0 to 254. */
#define ICE_WEIGHT_CLASSES 255u
/* Bits of a mantissa that are stored in single precision. */
#define ICE_WEIGHT_STORED_BITS 23u

/* Returns the time (ns) at which bin 0 begins. */
ICE_FN double ice_time_bins_origin(const ice_time_bins *bins)
{
    return bins->has_range ? bins->low : 0.0;
}

/* Whether a hit at a time (ns) counts. */
ICE_FN bool ice_time_bins_contain(const ice_time_bins *bins, double t)
{
    return !bins->has_range || (t >= bins->low && t < bins->high);
}

/* Returns the number of the bin of a time (ns) that the bins contain. It is whole, and never -0.
 * Without a range it may be above ICE_TIME_BIN_MOST, which is no bin, or NaN. */
ICE_FN double ice_time_bin_of(const ice_time_bins *bins, double t)
{
    double bin = floor((t - ice_time_bins_origin(bins)) / bins->width);
    if (bins->has_range) { /* rounding must not give a bin outside the range */
        const double last = ceil((bins->high - bins->low) / bins->width * (1 - 1e-12)) - 1;
        bin = fmin(fmax(bin, 0.0), last);
    }
    return bin + 0.0;
}

/* Whether a number of ice_time_bin_of() is a bin. */
ICE_FN bool ice_time_bin_exists(double bin)
{
    return fabs(bin) <= ICE_TIME_BIN_MOST;
}

/* Returns the class of a weight, which is finite and >= 0. */
ICE_FN uint32_t ice_weight_class(float weight)
{
    return (uint32_t)ice_bits(weight) >> ICE_WEIGHT_STORED_BITS & 255u;
}

/* Returns the 24 bits of a weight. The unit of classes 0 and 1 is 2^-149, and each further class
 * has twice the unit of the one before. */
ICE_FN uint32_t ice_weight_mantissa(float weight)
{
    const uint32_t stored = (uint32_t)ice_bits(weight) & ((1u << ICE_WEIGHT_STORED_BITS) - 1u);
    return ice_weight_class(weight) > 0 ? stored | 1u << ICE_WEIGHT_STORED_BITS : stored;
}

#endif
