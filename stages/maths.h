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

/* Returns a * b + c, rounded once and cut to [0, 1]; 0 for NaN. */
ICE_FN float ice_fma_saturated(float a, float b, float c)
{
#if defined(__CUDACC__)
    /* One instruction; the compiler makes two of __saturatef(fmaf(a, b, c)). */
    float sum;
#if defined(ICE_MATH_FAST)
    asm("fma.rn.ftz.sat.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
#else
    asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(a), "f"(b), "f"(c));
#endif
    return sum;
#else
    return ice_min(ice_max(fmaf(a, b, c), 0.0f), 1.0f);
#endif
}

/* Returns x * factor + rest for a finite x, where `factor` may be a constant of compiled kernels.
 * Of a product with 0 a compiler would keep the instructions. */
ICE_FN float ice_fma_constant(float x, float factor, float rest)
{
#if defined(GPU_SPECIAL_FEATURES)
    if (factor == 0.0f) {
        return rest;
    }
#endif
    return fmaf(x, factor, rest);
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

/* Returns y, or -y if x is negative or -0. */
ICE_FN float ice_times_sign_of(float y, float x)
{
    return ice_from_bits(ice_bits(y) ^ (ice_bits(x) & (int32_t)0x80000000));
}

/* Returns y >= 0 with the sign of x. */
ICE_FN float ice_with_sign_of(float y, float x)
{
    return ice_from_bits(ice_bits(y) | (ice_bits(x) & (int32_t)0x80000000));
}

#if defined(__CUDACC__) && defined(ICE_MATH_FAST)
#include "stages/maths_fast.h"
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

/* 1 / b, quotient, square root and inverse square root of numbers of ordinary size. They give the
 * results of ice_div(), ice_sqrt() and ice_inverse_sqrt(), to the bit in the portable forms, if
 * every argument that is not 0 is from 2^-100 to 2^100 in size, and every result as well. A divisor
 * and the argument of the inverse square root are not 0. Outside this range a result has no
 * meaning, and CPU and GPU may differ.
 *
 * The range saves a GPU the check for other numbers and the branch behind this check, which are
 * half of the instructions. The steps that remain are those of the CUDA compiler: Newton's method
 * from an approximation, with residuals that fma makes exact (tests/gpu/test_gpu_maths.c compares
 * the results with correctly rounded ones). */
#if defined(__CUDACC__)
ICE_FN float ice_inverse(float b)
{
    float near;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(b));
    return fmaf(near, fmaf(-b, near, 1.0f), near);
}

ICE_FN float ice_ratio(float a, float b)
{
    const float inverse = ice_inverse(b);
    const float quotient = a * inverse;
    return fmaf(inverse, fmaf(-b, quotient, a), quotient);
}

ICE_FN float ice_root(float x)
{
    float inverse;
    /* 2^-100 instead of 0, so that the product with x is not 0 times infinity. */
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(ice_max(x, 7.8886091e-31f)));
    const float root = x * inverse;
    return fmaf(fmaf(-root, root, x), 0.5f * inverse, root);
}

ICE_FN float ice_inverse_root(float x)
{
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    const float root = x * inverse;
    return ice_inverse(fmaf(fmaf(-root, root, x), 0.5f * inverse, root));
}
#else
ICE_FN float ice_inverse(float b)
{
    return 1.0f / b;
}

ICE_FN float ice_ratio(float a, float b)
{
    return ice_div(a, b);
}

ICE_FN float ice_root(float x)
{
    return ice_sqrt(x);
}

ICE_FN float ice_inverse_root(float x)
{
    return ice_inverse_sqrt(x);
}
#endif

/* ln(x) for positive normal x; error below 1.1 ulp, exact at 1. */
ICE_FN float ice_log(float x)
{
    /* x = 2^e m with m in [2/3, 4/3). Near x = 1, e is 0, so ln m and e ln 2 cannot cancel. */
    const int32_t bits = ice_bits(x);
    const int32_t exponent = (int32_t)((uint32_t)(bits - 0x3f2aaaab) & 0xff800000u); /* 2^23 e */
    const float f = ice_from_bits(bits - exponent) - 1.0f;                           /* m - 1 */
    float p = 0.140629321f;
    p = fmaf(p, f, -0.153257385f);
    p = fmaf(p, f, 0.139965042f);
    p = fmaf(p, f, -0.164288327f);
    p = fmaf(p, f, 0.200104743f);
    p = fmaf(p, f, -0.250070453f);
    p = fmaf(p, f, 0.333332211f);
    p = fmaf(p, f, -0.499999493f);
    return fmaf((float)exponent, 8.26295829e-8f, fmaf(f * f, p, f)); /* 2^-23 ln 2 */
}

/* sqrt(-scale ln u) for u in (0, 1) and a constant scale > 0. */
ICE_FN float ice_root_of_log(float u, float scale)
{
    return ice_root(-scale * ice_log(u));
}

/* The integer nearest to x (ties to even) as a float, |x| < 2^22. */
ICE_FN float ice_round(float x)
{
    const float shift = 12582912.0f; /* 1.5 * 2^23: leaves no bits for a fraction */
    return (x + shift) - shift;
}

/* Splits x, in [-87, 88], into n ln 2 + r with |r| <= ln(2)/2. Returns exp(r) - 1 and sets *scale
 * to 2^n; exp(x) is then 2^n exp(r). */
ICE_FN float ice_expm1_reduced(float x, float *scale)
{
    const float shift = 12582912.0f; /* 1.5 * 2^23: leaves no bits for a fraction */
    const float shifted = fmaf(x, 1.44269504f, shift);
    const float n = shifted - shift;
    float r = fmaf(n, -0.693145751953125f, x);
    r = fmaf(n, -1.42860682e-6f, r);
    float q = 0.0013946454647870243f;
    q = fmaf(q, r, 0.008366589179761932f);
    q = fmaf(q, r, 0.04166628209397285f);
    q = fmaf(q, r, 0.16666542990089966f);
    q = fmaf(q, r, 0.5000000061834504f);
    /* The lowest bits of `shifted` are n. */
    *scale = ice_from_bits((int32_t)(((uint32_t)ice_bits(shifted) << 23) + 0x3f800000u));
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

/* 2 (1 - u^e) for u in (0, 1] and e in (0, 1]; small results keep their digits. */
ICE_FN float ice_twice_one_minus_power(float u, float e)
{
    return -2.0f * ice_expm1(e * ice_log(u));
}

/* Sine and cosine of 2 pi (quarters / 4 + r) for |r| <= 1/8; absolute error below 1e-7. Only the
 * two lowest bits of `quarters` count. */
ICE_FN void ice_sincos_of_quarters(uint32_t quarters, float r, float *sine, float *cosine)
{
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
    /* A quarter of a turn makes (c, -s) of (s, c); half a turn changes both signs. */
    const int32_t odd = quarters & 1u ? 1 : 0;
    const uint32_t half = quarters << 30 & 0x80000000u;
    *sine = ice_from_bits(ice_bits(odd ? c : s) ^ (int32_t)half);
    *cosine = ice_from_bits(ice_bits(odd ? -s : c) ^ (int32_t)half);
}

/* Sine and cosine of 2 pi u for u in [0, 1]; absolute error below 1e-7. */
ICE_FN void ice_sincos2pi(float u, float *sine, float *cosine)
{
    /* Whole quarters of a turn are subtracted exactly; the rest is at most an eighth of a turn. The
     * shift leaves no bits for a fraction, so the lowest bits of the sum count the quarters. */
    const float shift = 12582912.0f; /* 1.5 * 2^23 */
    const float shifted = fmaf(u, 4.0f, shift);
    ice_sincos_of_quarters((uint32_t)ice_bits(shifted), fmaf(shifted - shift, -0.25f, u), sine,
                           cosine);
}

/* As above, of an angle whose unit is a turn. */
#define ICE_TURN 1.0f
ICE_FN void ice_sincos_of(float angle, float *sine, float *cosine)
{
    ice_sincos2pi(angle, sine, cosine);
}

/* Sine and cosine of (b + 1/2) / 4096 turns for b in [0, 4096). */
ICE_FN void ice_sincos4096(uint32_t b, float *sine, float *cosine)
{
    /* An eighth of a turn more makes the upper two bits of 12 count the quarters; the ten lower
     * bits become the fraction of a number from 1 to 2. All steps are exact. */
    const uint32_t more = b + 512u;
    const float fraction = ice_from_bits((int32_t)((more << 13 & 0x007fe000u) | 0x3f800000u));
    ice_sincos_of_quarters(more >> 10, fmaf(fraction, 0.25f, -0.3748779296875f), sine, cosine);
}

#endif

/* x^y for positive normal x. */
ICE_FN float ice_pow(float x, float y)
{
    return ice_exp(y * ice_log(x));
}

#endif
