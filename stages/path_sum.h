/* Sums over the path of a photon: the numbers, and how they add up. stages/path_weight.h has the
 * meaning of the probability. */
#ifndef ICS_STAGES_PATH_SUM_H
#define ICS_STAGES_PATH_SUM_H

#include "stages/double_maths.h"
#include "stages/optics.h"

/* ---- probability ----------------------------------------------------------------------------- */

/* The probability density of a path: value 2^exponent exp(-scattering - absorption). The exponent
 * is taken out of the product, so that thousands of scatters neither overflow nor underflow. */
typedef struct ice_path_sum {
    double scattering, absorption; /* depths so far */
    double value;                  /* product of b p J over the scatters so far, in [1, 2) */
    int64_t exponent;
} ice_path_sum;

ICE_FN ice_path_sum ice_path_sum_begin(void)
{
    const ice_path_sum begin = {0.0, 0.0, 1.0, 0};
    return begin;
}

/* Multiplies the product by a number >= 0, from 2^-1000 to 2^1000. 0 makes it 0 for good. */
ICE_FN void ice_path_sum_multiply(ice_path_sum *sum, double factor)
{
    const double product = sum->value * factor;
    if (product > 0.0) {
        const int32_t exponent = ice_double_exponent(product);
        sum->value = ice_double_scale_down(product, exponent);
        sum->exponent += exponent;
    } else {
        sum->value = 0.0;
    }
}

/* Returns ln(probability of the path of `to` / that of `from`). from->value > 0. Sums with equal
 * members give exactly 0. The result is -INFINITY for to->value = 0. */
ICE_FN double ice_path_sum_log_ratio(const ice_path_sum *from, const ice_path_sum *to)
{
    if (!(to->value > 0.0)) {
        return -(double)ICE_INFINITY;
    }
    const double powers = (double)(to->exponent - from->exponent) * 0.6931471805599453;
    return ice_double_log(to->value / from->value) + powers - (to->scattering - from->scattering) -
           (to->absorption - from->absorption);
}

/* The path so far in an ice. */
typedef struct ice_path_state {
    ice_path_sum sum;    /* without the densities of the angles, */
    ice_path_sum angles; /* which are here */
    double limit;      /* the photon's absorption depth is at most this, because it has died before
                          the impact of an entry and lives on (physics.md 8.19); INFINITY: there was
                          none */
    ice_optics optics; /* of this ice at the wavelength of the photon */
} ice_path_state;

/* The path up to a hit in an ice (72 bytes). */
typedef struct ice_path_end {
    ice_path_sum sum, angles;
    double limit;
} ice_path_end;

/* Sums over the scatters of the derivatives of ln p (ice_density): by the mean cosine and by the
 * mixture, in the ice and in columns. */
typedef struct ice_angle_sums {
    double mean_cosine, mixture;
    double column_mean_cosine, column_mixture;
} ice_angle_sums;

/* ---- layers ---------------------------------------------------------------------------------- */

/* Sums over a path in one layer, or in its columns of hole ice (24 bytes). With b and a the
 * coefficients (1/m) of the layer at the photon's wavelength:
 *   d ln w / d ln b = scatters - scattering_depth,   d ln w / d ln a = -absorption_depth */
typedef struct ice_layer_sum {
    uint32_t layer;          /* 0 is the deepest; ICE_LAYER_COLUMNS */
    uint32_t scatters;       /* scatters at the ends of segments in it */
    double scattering_depth; /* integral of b ds, >= 0 */
    double absorption_depth; /* integral of a ds with the factor of the direction, >= 0 */
} ice_layer_sum;
#define ICE_LAYER_COLUMNS 0xffffffffu

/* The sums of all layers, and last those of the columns. Those outside of low .. high - 1 are 0. */
typedef struct ice_layer_sums {
    ice_layer_sum *items; /* [slots] */
    uint32_t slots, low, high;
} ice_layer_sums;

ICE_FN void ice_layer_sums_clear(ice_layer_sums *sums)
{
    const ice_layer_sum zero = {0, 0, 0.0, 0.0};
    for (uint32_t i = sums->low; i < sums->high; ++i) {
        sums->items[i] = zero;
    }
    sums->low = sums->slots;
    sums->high = 0;
}

ICE_FN void ice_layer_sums_copy(ice_layer_sums *to, const ice_layer_sums *from)
{
    ice_layer_sums_clear(to);
    for (uint32_t i = from->low; i < from->high; ++i) {
        to->items[i] = from->items[i];
    }
    to->low = from->low;
    to->high = from->high;
}

ICE_FN ice_layer_sum *ice_layer_sum_of(ice_layer_sums *sums, int32_t layer)
{
    const uint32_t slot = layer < 0 ? sums->slots - 1 : (uint32_t)layer;
    sums->low = slot < sums->low ? slot : sums->low;
    sums->high = slot >= sums->high ? slot + 1 : sums->high;
    return &sums->items[slot];
}

/* Adds the depths of a piece of a segment. `sums`: 0 for an ice whose layers nobody wants. */
ICE_FN void ice_layer_sums_add(ice_layer_sums *sums, int32_t layer, double scattering,
                               double absorption)
{
    if (sums != NULL) {
        ice_layer_sum *sum = ice_layer_sum_of(sums, layer);
        sum->scattering_depth += scattering;
        sum->absorption_depth += absorption;
    }
}

/* Takes the next layer >= *slot of the path, and moves *slot behind it. Returns 0 if
 * there is none. */
ICE_FN int32_t ice_layer_sums_next(const ice_layer_sums *sums, uint32_t *slot, ice_layer_sum *out)
{
    for (; *slot < sums->high; *slot += 1) {
        *out = sums->items[*slot];
        if (out->scatters != 0 || out->scattering_depth != 0.0 || out->absorption_depth != 0.0) {
            out->layer = *slot == sums->slots - 1 ? ICE_LAYER_COLUMNS : *slot;
            *slot += 1;
            return 1;
        }
    }
    return 0;
}

#endif
