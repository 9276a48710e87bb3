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

/* 2^-100: the smallest number above 0 in the range of ice_root(). */
#define ICE_LEAST_SQUARE 7.8886091e-31f

/* The sine and the cosine of an angle. Both have to change their signs if bit 31 of `half` is set;
 * its other bits do not count. */
typedef struct ice_azimuth {
    float sine, cosine;
    uint32_t half;
} ice_azimuth;

/* Returns x, or -x if the signs of the azimuth have to change. */
ICE_FN float ice_with_half_turn(float x, ice_azimuth azimuth)
{
    return ice_from_bits(ice_bits(x) ^ (int32_t)(azimuth.half & 0x80000000u));
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
 * and the arguments of ice_root_above_zero() and of the inverse square root are not 0. Outside this
 * range a result has no meaning, and CPU and GPU may differ.
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
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(ice_max(x, ICE_LEAST_SQUARE)));
    const float root = x * inverse;
    return fmaf(fmaf(-root, root, x), 0.5f * inverse, root);
}

ICE_FN float ice_root_above_zero(float x)
{
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
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

ICE_FN float ice_root_above_zero(float x)
{
    return ice_sqrt(x);
}

ICE_FN float ice_inverse_root(float x)
{
    return ice_inverse_sqrt(x);
}
#endif

/* ln(1 + f) for f in [-1/3, 1/3). */
ICE_FN float ice_log_of_rest(float f)
{
    float p = 0.140629321f;
    p = fmaf(p, f, -0.153257385f);
    p = fmaf(p, f, 0.139965042f);
    p = fmaf(p, f, -0.164288327f);
    p = fmaf(p, f, 0.200104743f);
    p = fmaf(p, f, -0.250070453f);
    p = fmaf(p, f, 0.333332211f);
    p = fmaf(p, f, -0.499999493f);
    return fmaf(f * f, p, f);
}

/* ln(x) for positive normal x; error below 1.1 ulp, exact at 1. */
ICE_FN float ice_log(float x)
{
    /* x = 2^e m with m in [2/3, 4/3). Near x = 1, e is 0, so ln m and e ln 2 cannot cancel. */
    const int32_t bits = ice_bits(x);
    const int32_t exponent = (int32_t)((uint32_t)(bits - 0x3f2aaaab) & 0xff800000u); /* 2^23 e */
    const float f = ice_from_bits(bits - exponent) - 1.0f;                           /* m - 1 */
    return fmaf((float)exponent, 8.26295829e-8f, ice_log_of_rest(f)); /* 2^-23 ln 2 */
}

/* -ln(k / 2^24) for a whole number k from 1 to 2^24: the bits of -ice_log() of the quotient, and +0
 * for k = 2^24. */
ICE_FN float ice_minus_log_of_count(float k)
{
    /* As in ice_log(), with the exponent of 2^24 in the constants. The negative exponent is rounded
     * up where ice_log() rounds the exponent down, and makes the zero positive. */
    const int32_t bits = ice_bits(k), of_scale = 24 * (1 << 23);
    const int32_t minus_exponent =
        (int32_t)((uint32_t)(0x3f2aaaab + 0x007fffff + of_scale - bits) & 0xff800000u);
    const float f = ice_from_bits(bits + minus_exponent - of_scale) - 1.0f;
    return fmaf((float)minus_exponent, 8.26295829e-8f, -ice_log_of_rest(f));
}

/* sqrt(-scale ln u) for u in (0, 1) and a constant scale > 0. */
ICE_FN float ice_root_of_log(float u, float scale)
{
    return ice_root(-scale * ice_log(u));
}

/* Splits x, in [-88, 88], into n ln 2 + r with |r| <= ln(2)/2. Returns exp(r) - 1 and sets *power
 * to 2^23 n, modulo 2^32; exp(x) is then 2^n exp(r). */
ICE_FN float ice_expm1_reduced(float x, uint32_t *power)
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
    *power = (uint32_t)ice_bits(shifted) << 23;
    return fmaf(r * r, q, r);
}

/* exp(x); x below -87 counts as -87, above 88 as 88; error below 1.1 ulp. */
ICE_FN float ice_exp(float x)
{
    uint32_t power;
    const float p = ice_expm1_reduced(ice_min(ice_max(x, -87.0f), 88.0f), &power);
    const float scale = ice_from_bits((int32_t)(power + 0x3f800000u)); /* 2^n */
    return fmaf(scale, p, scale);
}

/* exp(x) - 1 without cancellation near 0; range as ice_exp; error below 1.6 ulp. */
ICE_FN float ice_expm1(float x)
{
    uint32_t power;
    const float p = ice_expm1_reduced(ice_min(ice_max(x, -87.0f), 88.0f), &power);
    const float scale = ice_from_bits((int32_t)(power + 0x3f800000u)); /* 2^n */
    return fmaf(scale, p, scale - 1.0f);
}

/* Returns e ln u, at least -87, for u from 2^-24 to 1. */
ICE_FN float ice_log_of_power(float u, float e)
{
    const float x = e * ice_log(u);
#if defined(GPU_SPECIAL_FEATURES)
    if (e <= 5.0f) {
        return x; /* above -84. Of compiled kernels e is a constant. */
    }
#endif
    return ice_max(x, -87.0f);
}

/* 2 (1 - u^e) for u from 2^-24 to 1 and e > 0; small results keep their digits. This is
 * -2 ice_expm1(e ln u) to the bit, except that 0 is +0. */
ICE_FN float ice_twice_one_minus_power(float u, float e)
{
    uint32_t power;
    const float p = ice_expm1_reduced(ice_log_of_power(u, e), &power);
    const float scale = ice_from_bits((int32_t)(power + 0xc0000000u)); /* -2 2^n */
    return fmaf(scale, p, scale + 2.0f);
}

/* Returns the sine and the cosine of a number of quarters of a turn: the number in the two highest
 * bits of `turn`, whose other bits do not count, and a fraction r from -1/2 to 1/2; absolute error
 * below 1e-7. */
ICE_FN ice_azimuth ice_sincos_of_quarters(uint32_t turn, float r)
{
    /* The polynomials were fitted for turns. Divisors that are powers of 2 change no digit. */
    const float t = r * r;
    float s = -75.40206781548295f / 16384.0f;
    s = fmaf(s, t, 81.59255353844732f / 1024.0f);
    s = fmaf(s, t, -41.34166263305558f / 64.0f);
    s = fmaf(s, t, 6.283185287867198f / 4.0f) * r;
    float c = 59.25004081428051f / 65536.0f;
    c = fmaf(c, t, -85.44387262138298f / 4096.0f);
    c = fmaf(c, t, 64.93932777945095f / 256.0f);
    c = fmaf(c, t, -19.739208697595934f / 16.0f);
    c = fmaf(c, t, 1.0f);
    /* A quarter of a turn makes (c, -s) of (s, c); half a turn changes both signs. */
    ice_azimuth at = {s, c, turn};
#if defined(__CUDACC__)
    /* The compiler would take the bit out of the number before it tests it: two instructions more.
     */
    asm("{.reg .pred odd; .reg .b32 bit; and.b32 bit, %2, 0x40000000; setp.ne.b32 odd, bit, 0;\n"
        "selp.f32 %0, %3, %4, odd; selp.f32 %1, %5, %3, odd;}"
        : "=f"(at.sine), "=f"(at.cosine)
        : "r"(turn), "f"(c), "f"(s), "f"(-s));
#else
    const int32_t odd = turn & 0x40000000u ? 1 : 0;
    at.sine = odd ? c : s;
    at.cosine = odd ? -s : c;
#endif
    return at;
}

/* Returns the sine and the cosine of the random angle of a word: of (word >> 8) / 2^24 turns, to
 * the bit as ice_sincos2pi(). */
ICE_FN ice_azimuth ice_azimuth_of(uint32_t word)
{
    /* An eighth of a turn more makes the highest two bits count the quarters; the 22 bits below
     * become the fraction of a number from 1 to 2. All steps are exact. */
    uint32_t more, number;
#if defined(__CUDACC__)
    /* The same as below, in which the compiler would replace the shifts by two masks. */
    asm("{.reg .u32 low; and.b32 low, %2, 0xffffff00; add.u32 %0, low, 0x20000000;\n"
        "shl.b32 low, %0, 2; shr.u32 low, low, 9; add.u32 %1, low, 0x3f800000;}"
        : "=&r"(more), "=r"(number)
        : "r"(word));
#else
    more = (word & 0xffffff00u) + 0x20000000u;
    number = (more << 2 >> 9) + 0x3f800000u;
#endif
    return ice_sincos_of_quarters(more, ice_from_bits((int32_t)number) - 1.5f);
}

/* An angle of ice_azimuth_at() has this unit: a turn. */
#define ICE_TURN 1.0f

/* Returns the sine and the cosine of an angle from 0 to ICE_TURN; absolute error below 1e-7. */
ICE_FN ice_azimuth ice_azimuth_at(float angle)
{
    /* Whole quarters of a turn are subtracted exactly; the rest is at most half a quarter. The
     * shift leaves no bits for a fraction, so the lowest bits of the sum count the quarters. */
    const float shift = 12582912.0f; /* 1.5 * 2^23 */
    const float shifted = fmaf(angle, 4.0f, shift);
    return ice_sincos_of_quarters((uint32_t)ice_bits(shifted) << 30,
                                  fmaf(angle, 4.0f, shift - shifted));
}

/* Sine and cosine of 2 pi u for u in [0, 1]; absolute error below 1e-7. */
ICE_FN void ice_sincos2pi(float u, float *sine, float *cosine)
{
    const ice_azimuth at = ice_azimuth_at(u);
    *sine = ice_with_half_turn(at.sine, at);
    *cosine = ice_with_half_turn(at.cosine, at);
}

/* Sine and cosine of (b + 1/2) / 4096 turns for b in [0, 4096). */
ICE_FN void ice_sincos4096(uint32_t b, float *sine, float *cosine)
{
    /* An eighth of a turn more makes the upper two bits of 12 count the quarters; the ten lower
     * bits become the fraction of a number from 1 to 2. All steps are exact. */
    const uint32_t more = b + 512u;
    const float fraction = ice_from_bits((int32_t)((more << 13 & 0x007fe000u) | 0x3f800000u));
    const ice_azimuth at = ice_sincos_of_quarters(more << 20, fraction - 1.49951171875f);
    *sine = ice_with_half_turn(at.sine, at);
    *cosine = ice_with_half_turn(at.cosine, at);
}

#endif

/* x^y for positive normal x. */
ICE_FN float ice_pow(float x, float y)
{
    return ice_exp(y * ice_log(x));
}

#endif
