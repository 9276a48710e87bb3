/* The elementary functions of the stages in fast maths, on a GPU. Only stages/maths.h includes
 * this.
 */
#ifndef ICS_STAGES_MATHS_FAST_H
#define ICS_STAGES_MATHS_FAST_H

#include "stages/platform.h"

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

/* The same and 1 / b for numbers of ordinary size; what this means is said at the portable forms.
 */
ICE_FN float ice_inverse(float b)
{
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(b));
    return inverse;
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

/* Sine and cosine of (b + 1/2) / 4096 - 1/2 turns for the number b in [0, 4096) of bits 8 to 19 of
 * a word. This is half a turn away from the angle of ice_sincos4096(), which changes nothing for a
 * random word. */
ICE_FN void ice_sincos4096_of(uint32_t word, float *sine, float *cosine)
{
    /* 2^23 + 256 b, without a shift and a conversion. */
    const float number = ice_from_bits((int32_t)((word & 0xfff00u) | 0x4b000000u));
    const float angle = fmaf(number, 5.9921125e-6f, -50.265482f - 3.1408256f);
    *sine = __sinf(angle);
    *cosine = __cosf(angle);
}

/* Returns the number at (x, y) of a texture that interpolates. The middle of texel (i, j) is at
 * (i + 1/2, j + 1/2). Outside the texture the numbers of its edge hold. The texture unit rounds the
 * fractions of the way between texels to 1/256 (CUDA C++ Programming Guide, "Linear Filtering"). */
#define ICE_HAS_TEXTURES
ICE_FN float ice_texture(uint64_t texture, float x, float y)
{
    float texel[4];
    /* The level 0 is said, because the instruction without a level takes a register for one. */
    asm("tex.level.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], 0f00000000;"
        : "=f"(texel[0]), "=f"(texel[1]), "=f"(texel[2]), "=f"(texel[3])
        : "l"(texture), "f"(x), "f"(y));
    return texel[0];
}

/* The numbers of a texel. */
typedef struct ice_texel {
    float a, b, c;
} ice_texel;

/* Returns the texel at (x, y) of a texture that does not interpolate: texel (i, j) is for x in
 * [i, i + 1) and y in [j, j + 1). The texture unit rounds x and y to 1/256, so close to the edge of
 * a texel the numbers may be those of its neighbour. */
ICE_FN ice_texel ice_texel_at(uint64_t texture, float x, float y)
{
    float number[4];
    asm("tex.level.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}], 0f00000000;"
        : "=f"(number[0]), "=f"(number[1]), "=f"(number[2]), "=f"(number[3])
        : "l"(texture), "f"(x), "f"(y));
    const ice_texel texel = {number[0], number[1], number[2]};
    return texel;
}

/* Returns the numbers at x of a texture with one dimension that interpolates. The middle of texel i
 * is at i + 1/2. The fraction of the way between texels is rounded to 1/256. */
ICE_FN ice_texel ice_texel_on_line(uint64_t texture, float x)
{
    float number[4];
    asm("tex.level.1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5}], 0f00000000;"
        : "=f"(number[0]), "=f"(number[1]), "=f"(number[2]), "=f"(number[3])
        : "l"(texture), "f"(x));
    const ice_texel texel = {number[0], number[1], number[2]};
    return texel;
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

/* 2 (1 - u^e) for u in (0, 1] and e in (0, 1]; absolute error 5e-7. */
ICE_FN float ice_twice_one_minus_power(float u, float e)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(e * __log2f(u)));
    return fmaf(-2.0f, power, 2.0f);
}

/* A full turn, in the unit of the angles of ice_azimuth_at(). */
#define ICE_TURN 6.2831853f

/* Returns the sine and the cosine of an angle from 0 to ICE_TURN; absolute error 2^-20. */
ICE_FN ice_azimuth ice_azimuth_at(float angle)
{
    const ice_azimuth at = {__sinf(angle), __cosf(angle), 0};
    return at;
}

/* Sine and cosine of 2 pi u for u in [0, 1]. */
ICE_FN void ice_sincos2pi(float u, float *sine, float *cosine)
{
    const ice_azimuth at = ice_azimuth_at(u * ICE_TURN);
    *sine = at.sine;
    *cosine = at.cosine;
}

/* Returns the sine and the cosine of the random angle of a word: of word / 2^32 turns. */
ICE_FN ice_azimuth ice_azimuth_of(uint32_t word)
{
    return ice_azimuth_at((float)word * (ICE_TURN * 2.3283064365386963e-10f));
}

#endif

#endif
