/* The elementary functions of the stages. The portable forms give the same bits on every machine.
 *
 * The portable forms use only addition, multiplication, fma, division and square root of IEEE 754,
 * no branches and no tables, so that a compiler can vectorise them without changing a result. Their
 * polynomials are fits of this project that minimise the largest weighted error. The errors stated
 * here are differences from correctly rounded results; tests/stages/test_maths.c checks them over
 * the whole range.
 *
 * With ICE_MATH_FAST, CUDA code uses functions of the GPU instead. They give other bits and the
 * same physics.
 */
#ifndef ICS_STAGES_MATHS_H
#define ICS_STAGES_MATHS_H

#include "stages/platform.h"

#if defined(__CUDACC__)
ICE_FN int32_t ice_bits(float x)
{
    return __float_as_int(x);
}

ICE_FN float ice_from_bits(int32_t bits)
{
    return __int_as_float(bits);
}
#else
ICE_FN int32_t ice_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ICE_FN float ice_from_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#endif

/* The smaller and the larger of two numbers, in one instruction each. With a NaN as an argument,
 * the CPU returns b and a GPU returns the other argument. */
ICE_FN float ice_min(float a, float b)
{
#if defined(__CUDACC__)
    return fminf(a, b);
#else
    return a < b ? a : b;
#endif
}

ICE_FN float ice_max(float a, float b)
{
#if defined(__CUDACC__)
    return fmaxf(a, b);
#else
    return a > b ? a : b;
#endif
}

/* Returns the cell 0 .. last in which a position lies. Positions outside get the first or the last
 * cell, and NaN gets cell 0. */
ICE_FN int32_t ice_cell(float position, int32_t last)
{
#if defined(__CUDACC__)
    /* The conversion turns negative numbers and NaN into 0. */
    return (int32_t)min(__float2uint_rz(position), (uint32_t)last);
#else
    return (int32_t)ice_min(ice_max(position, 0.0f), (float)last);
#endif
}

/* Returns x cut to [0, 1]. A GPU does this in the same instruction as the fma that computes x. */
ICE_FN float ice_saturate(float x)
{
#if defined(__CUDACC__)
    return __saturatef(x);
#else
    return ice_min(ice_max(x, 0.0f), 1.0f);
#endif
}

/* Returns a if the condition is 1, and b if it is 0. Both values are computed before the choice. If
 * a compiler moved one computation behind a branch, the loop around it would not vectorise. */
ICE_FN float ice_select(int32_t condition, float a, float b)
{
#if defined(__CUDACC__)
    return condition ? a : b;
#else
    return ice_from_bits((ice_bits(a) & -condition) | (ice_bits(b) & (condition - 1)));
#endif
}

/* Returns y >= 0 with the sign of x. */
ICE_FN float ice_with_sign_of(float y, float x)
{
    return ice_from_bits(ice_bits(y) | (ice_bits(x) & (int32_t)0x80000000));
}

#if defined(__CUDACC__) && defined(ICE_MATH_FAST)

/* The approximations of the GPU's special function unit. PTX ISA, "Floating Point Instructions",
 * gives relative errors of at most 2^-22, and for ice_log near 1 an absolute error of 2^-21.4. */
ICE_FN float ice_div(float a, float b)
{
    return __fdividef(a, b);
}

ICE_FN float ice_sqrt(float x)
{
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
}

ICE_FN float ice_inverse_sqrt(float x)
{
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    return inverse;
}

ICE_FN float ice_log(float x)
{
    return __logf(x);
}

ICE_FN float ice_exp(float x)
{
    return __expf(x);
}

/* sqrt(-scale ln u) for u in (0, 1) and a constant scale > 0. */
ICE_FN float ice_root_of_log(float u, float scale)
{
    return ice_sqrt(-0.69314718f * scale * __log2f(u));
}

/* Sine and cosine of (b + 1/2) / 4096 - 1/2 turns for b in [0, 4096). This is half a turn away from
 * the angle of the portable form, which changes nothing for a random b. */
ICE_FN void ice_sincos4096(uint32_t b, float *sine, float *cosine)
{
    /* 2^23 + b, without a conversion. */
    const float angle =
        fmaf(ice_from_bits((int32_t)(b | 0x4b000000u)), 1.5339808e-3f, -12867.964f - 3.1408256f);
    *sine = __sinf(angle);
    *cosine = __cosf(angle);
}

/* exp(x) - 1 for x in [-87, 88]. For |x| < 1/4 the difference would lose digits, so a polynomial
 * x + x^2 / 2 + x^3 p(x) replaces it there, with a relative error of 1.8e-7. */
ICE_FN float ice_expm1(float x)
{
    float p = 0.008323938f;
    p = fmaf(p, x, 0.04174214f);
    p = fmaf(p, x, 0.16666767f);
    p = fmaf(p, x, 0.5f);
    p = fmaf(p * x, x, x);
    return fabsf(x) < 0.25f ? p : __expf(x) - 1.0f;
}

/* Sine and cosine of 2 pi u for u in [0, 1]: absolute error 2^-20.9 on [-pi, pi]. */
ICE_FN void ice_sincos2pi(float u, float *sine, float *cosine)
{
    const float angle = fmaf(u, 6.2831853f, -3.14159265f);
    *sine = -__sinf(angle);
    *cosine = -__cosf(angle);
}

#else

ICE_FN float ice_div(float a, float b)
{
    return a / b;
}

ICE_FN float ice_sqrt(float x)
{
    return sqrtf(x);
}

ICE_FN float ice_inverse_sqrt(float x)
{
    return 1.0f / sqrtf(x);
}

/* ln(x) for positive normal x; error below 1.2 ulp, exact at 1. */
ICE_FN float ice_log(float x)
{
    /* x = 2^e m with m in [2/3, 4/3). Near x = 1, e is 0, so ln m and e ln 2 cannot cancel. */
    const int32_t shifted = ice_bits(x) - 0x3f2aaaab;
    const int32_t exponent = shifted >> 23;
    const float m = ice_from_bits((shifted & 0x007fffff) + 0x3f2aaaab);
    const float f = m - 1.0f;
    float p = 0.14226054670235636f;
    p = fmaf(p, f, -0.15123793228745347f);
    p = fmaf(p, f, 0.139583055477089f);
    p = fmaf(p, f, -0.16472047808730617f);
    p = fmaf(p, f, 0.20013066262169127f);
    p = fmaf(p, f, -0.2500424920958618f);
    p = fmaf(p, f, 0.3333318048632774f);
    const float square = f * f;
    const float tail = fmaf(square * f, p, -0.5f * square);
    const float e = (float)exponent;
    /* ln 2 is added in two parts. The first part has so few digits that its product with e is
     * exact. */
    return fmaf(e, 0.693145751953125f, fmaf(e, 1.42860682e-6f, tail) + f);
}

/* sqrt(-scale ln u) for u in (0, 1) and a constant scale > 0. */
ICE_FN float ice_root_of_log(float u, float scale)
{
    return sqrtf(-scale * ice_log(u));
}

/* The integer nearest to x (ties to even) as a float, |x| < 2^22. */
ICE_FN float ice_round(float x)
{
    const float shift = 12582912.0f; /* 1.5 * 2^23: leaves no bits for a fraction */
    return (x + shift) - shift;
}

/* 2^n for an integral float n in [-126, 127]. */
ICE_FN float ice_power_of_two(float n)
{
    return ice_from_bits(((int32_t)n + 127) << 23);
}

/* Splits x into n ln 2 + r with |r| <= ln(2)/2. Returns exp(r) - 1 and sets *scale to 2^n; exp(x)
 * is then 2^n exp(r). */
ICE_FN float ice_expm1_reduced(float x, float *scale)
{
    const float n = ice_round(x * 1.44269504f);
    float r = fmaf(n, -0.693145751953125f, x);
    r = fmaf(n, -1.42860682e-6f, r);
    float q = 0.0013946454647870243f;
    q = fmaf(q, r, 0.008366589179761932f);
    q = fmaf(q, r, 0.04166628209397285f);
    q = fmaf(q, r, 0.16666542990089966f);
    q = fmaf(q, r, 0.5000000061834504f);
    *scale = ice_power_of_two(n);
    return fmaf(r * r, q, r);
}

/* exp(x); x below -87 counts as -87, above 88 as 88; error below 1.1 ulp. */
ICE_FN float ice_exp(float x)
{
    float scale;
    const float p = ice_expm1_reduced(ice_min(ice_max(x, -87.0f), 88.0f), &scale);
    return fmaf(scale, p, scale);
}

/* exp(x) - 1 without cancellation near 0; range as ice_exp; error below 1.6 ulp. */
ICE_FN float ice_expm1(float x)
{
    float scale;
    const float p = ice_expm1_reduced(ice_min(ice_max(x, -87.0f), 88.0f), &scale);
    return fmaf(scale, p, scale - 1.0f);
}

/* Sine and cosine of 2 pi u for u in [0, 1]; absolute error below 1e-7. */
ICE_FN void ice_sincos2pi(float u, float *sine, float *cosine)
{
    /* Whole quarters of a turn are subtracted exactly; the rest is at most an eighth of a turn. */
    const float quarter = ice_round(u * 4.0f);
    const int32_t q = (int32_t)quarter;
    const float r = fmaf(quarter, -0.25f, u);
    const float t = r * r;
    float s = -75.40206781548295f;
    s = fmaf(s, t, 81.59255353844732f);
    s = fmaf(s, t, -41.34166263305558f);
    s = fmaf(s, t, 6.283185287867198f) * r;
    float c = 59.25004081428051f;
    c = fmaf(c, t, -85.44387262138298f);
    c = fmaf(c, t, 64.93932777945095f);
    c = fmaf(c, t, -19.739208697595934f);
    c = fmaf(c, t, 1.0f);
    const float swapped_s = (q & 1) ? c : s;
    const float swapped_c = (q & 1) ? s : c;
    /* Signs: sine is negative in quarters 2 and 3, cosine in 1 and 2. */
    *sine = ice_from_bits(ice_bits(swapped_s) ^ (int32_t)((uint32_t)(q & 2) << 30));
    *cosine = ice_from_bits(ice_bits(swapped_c) ^ (int32_t)((uint32_t)((q + 1) & 2) << 30));
}

/* Sine and cosine of (b + 1/2) / 4096 turns for b in [0, 4096). */
ICE_FN void ice_sincos4096(uint32_t b, float *sine, float *cosine)
{
    ice_sincos2pi(fmaf((float)(int32_t)b, 2.44140625e-4f, 1.220703125e-4f), sine, cosine);
}

#endif

/* x^y for positive normal x. */
ICE_FN float ice_pow(float x, float y)
{
    return ice_exp(y * ice_log(x));
}

#endif
