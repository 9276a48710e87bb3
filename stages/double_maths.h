/* Logarithm and exponential in double precision, the same bits on every processor: sums, products
 * and fused ones only. The weights of paths need them (stages/path_weight.h). */
#ifndef ICS_STAGES_DOUBLE_MATHS_H
#define ICS_STAGES_DOUBLE_MATHS_H

#include "stages/platform.h"

#if defined(__CUDACC__)
ICE_FN uint64_t ice_double_bits(double x)
{
    return (uint64_t)__double_as_longlong(x);
}
ICE_FN double ice_double_from_bits(uint64_t bits)
{
    return __longlong_as_double((long long)bits);
}
#else
ICE_FN uint64_t ice_double_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
ICE_FN double ice_double_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif

/* ln 2 in two parts; the first one has 32 bits, so that its product with an exponent is exact. */
#define ICE_LN2_HIGH 0.6931471803691238
#define ICE_LN2_LOW  1.9082149292705877e-10

/* The exponent of x > 0, a normal number: x = m 2^exponent with m in [1, 2). */
ICE_FN int32_t ice_double_exponent(double x)
{
    return (int32_t)(ice_double_bits(x) >> 52) - 1023;
}

/* Returns x 2^-exponent; both are normal numbers. */
ICE_FN double ice_double_scale_down(double x, int32_t exponent)
{
    return ice_double_from_bits(ice_double_bits(x) - ((uint64_t)exponent << 52));
}

/* Returns ln x for a normal number x > 0, within 3e-16 of the larger of 1 and |ln x|.
 * With f = (m - 1) / (m + 1): ln m = 2 (f + f^3/3 + f^5/5 + ...), |f| < 0.1716. */
ICE_FN double ice_double_log(double x)
{
    int32_t exponent = ice_double_exponent(x);
    double m = ice_double_scale_down(x, exponent);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent += 1;
    }
    const double f = (m - 1.0) / (m + 1.0), square = f * f;
    double sum = 1.0 / 23.0;
    for (int32_t odd = 21; odd >= 3; odd -= 2) {
        sum = fma(sum, square, 1.0 / (double)odd);
    }
    const double log_of_m = 2.0 * fma(sum * square, f, f);
    return fma((double)exponent, ICE_LN2_HIGH, fma((double)exponent, ICE_LN2_LOW, log_of_m));
}

/* Returns exp x within 4e-16 of itself; x from -700 to 700. Below, it is that of -700, and above
 * that of 700. The rest of x after whole multiples of ln 2 has a Taylor series. */
ICE_FN double ice_double_exp(double x)
{
    const double most = 700.0;
    x = x < -most ? -most : (x > most ? most : x);
    const int32_t power = (int32_t)(x * 1.4426950408889634 + (x < 0.0 ? -0.5 : 0.5));
    const double rest = fma(-(double)power, ICE_LN2_LOW, fma(-(double)power, ICE_LN2_HIGH, x));
    double sum = 1.0;
    for (int32_t k = 14; k >= 1; --k) {
        sum = fma(sum * rest, 1.0 / (double)k, 1.0);
    }
    return ice_double_scale_down(sum, -power);
}

#endif
