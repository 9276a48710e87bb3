/* Random numbers of light sources, which `generate` draws when it makes steps of particles
 * (physics.md 14.3).
 *
 * They come from the same generator as the random numbers of photons (stages/random.h), with the
 * key of the photons of the same event. Their blocks begin at ICE_BLOCK_SOURCE, and photons have no
 * such blocks, so sources and photons never use the same number. A number depends only on the seed,
 * the event, the particle and its purpose.
 *
 * The headers light_*.h are for the host and use double precision. Kernels do not include them. */
#ifndef ICS_PHYSICS_LIGHT_LIGHT_DRAW_H
#define ICS_PHYSICS_LIGHT_LIGHT_DRAW_H

#include "physics/model.h"
#include "stages/random.h"

#include <math.h>
#include <stdbool.h>

/* The bits of a block of sources: 2 that no photon has set together, 4 for the purpose, and 26 that
 * count. */
#define ICE_BLOCK_SOURCE      0xC0000000u
#define ICE_PURPOSE_SHIFT     26
#define ICE_BLOCKS_OF_PURPOSE (1u << ICE_PURPOSE_SHIFT)

/* The purposes of random numbers. `item` of a stream counts within its purpose. The values must
 * never change, because steps would change. */
typedef enum ice_purpose {
    ICE_PURPOSE_NUMBER = 0, /* fluctuations and photons of a part of the light; item: the part */
    ICE_PURPOSE_STEP = 1,   /* position, direction and time of a step; item: step_id */
    ICE_PURPOSE_LOSSES = 2, /* number of losses of a piece of a track; item: the piece */
    ICE_PURPOSE_LOSS = 3,   /* the losses, ICE_BLOCKS_OF_LOSS blocks each; item: the piece */
    ICE_PURPOSE_DECAY = 4   /* distance and decays; item: number of decays before it */
} ice_purpose;

#define ICE_BLOCKS_OF_LOSS 2u

/* A stream of random numbers. */
typedef struct ice_stream {
    uint32_t key_low;             /* ice_key_low() */
    uint32_t key_high;            /* ice_key_high() */
    uint32_t item, source, event; /* counter words 1, 2, 3 */
    uint32_t block;               /* block of the next numbers: counter word 0 */
    uint32_t words[4];
    uint32_t left; /* words of the current block that are not used yet */
} ice_stream;

/* source: number of the particle in its event. */
ICE_FN ice_stream ice_stream_of(uint64_t seed, uint64_t event, uint32_t source, ice_purpose purpose,
                                uint32_t item)
{
    ice_stream stream = {0};
    stream.key_low = ice_key_low(seed);
    stream.key_high = ice_key_high(seed, event);
    stream.item = item;
    stream.source = source;
    stream.event = (uint32_t)event;
    stream.block = ICE_BLOCK_SOURCE + ((uint32_t)purpose << ICE_PURPOSE_SHIFT);
    return stream;
}

/* Moves the stream to `blocks` blocks after the beginning of the purpose. */
ICE_FN void ice_stream_skip_to(ice_stream *stream, uint32_t blocks)
{
    stream->block = (stream->block & ~(ICE_BLOCKS_OF_PURPOSE - 1)) + blocks;
    stream->left = 0;
}

ICE_FN uint32_t ice_stream_word(ice_stream *stream)
{
    if (stream->left == 0) {
        const ice_block block = ice_draw(stream->key_low, stream->key_high, stream->event,
                                         stream->source, stream->item, stream->block++);
        stream->words[3] = block.a;
        stream->words[2] = block.b;
        stream->words[1] = block.c;
        stream->words[0] = block.d;
        stream->left = 4;
    }
    return stream->words[--stream->left];
}

/* Returns a number that is uniform in [0, 1), with 53 bits, from two words. */
ICE_FN double ice_stream_uniform(ice_stream *stream)
{
    const uint32_t high = ice_stream_word(stream) >> 5;
    const uint32_t low = ice_stream_word(stream) >> 6;
    return (67108864.0 * (double)high + (double)low) * (1.0 / 9007199254740992.0);
}

/* Returns a number that is uniform in (0, 1], for logarithms. */
ICE_FN double ice_stream_positive(ice_stream *stream)
{
    return 1.0 - ice_stream_uniform(stream);
}

/* Returns a standard normal number: Box & Muller, Ann. Math. Stat. 29 (1958) 610. The second number
 * of each pair is not used, so that a stream needs no more state. */
ICE_FN double ice_stream_normal(ice_stream *stream)
{
    const double radius = sqrt(-2.0 * log(ice_stream_positive(stream)));
    return radius * cos(2.0 * ICE_PI * ice_stream_uniform(stream));
}

/* Returns a number of the Gamma distribution with scale 1 and shape > 0: Marsaglia & Tsang, ACM
 * TOMS 26 (2000) 363. */
ICE_FN double ice_stream_gamma(ice_stream *stream, double shape)
{
    /* For a shape below 1 the number follows from the distribution with shape + 1 (section 6 of the
     * paper). */
    const double boost = shape < 1.0 ? pow(ice_stream_positive(stream), 1.0 / shape) : 1.0;
    const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0;
    const double c = 1.0 / sqrt(9.0 * d);
    for (;;) {
        const double x = ice_stream_normal(stream);
        const double root = 1.0 + c * x;
        if (root <= 0.0) {
            continue;
        }
        const double v = root * root * root;
        const double u = ice_stream_positive(stream);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x) || log(u) < 0.5 * x * x + d * (1.0 - v + log(v))) {
            return boost * d * v;
        }
    }
}

/* Returns ln k! for a whole k >= 0. From k = 10 on this is Stirling's series, which is accurate to
 * 1e-10. */
ICE_FN double ice_log_factorial(double k)
{
    if (k < 10.0) {
        double product = 1.0;
        for (double i = 2.0; i <= k; i += 1.0) {
            product *= i;
        }
        return log(product);
    }
    const double inverse = 1.0 / k;
    const double square = inverse * inverse;
    return (k + 0.5) * log(k) - k + 0.5 * log(2.0 * ICE_PI) +
           inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0));
}

/* Returns a Poisson number for a mean of at least 10: PTRS, Hoermann, Insurance: Math. and Econ. 12
 * (1993) 39. */
ICE_FN double ice_stream_poisson_large(ice_stream *stream, double mean)
{
    const double b = 0.931 + 2.53 * sqrt(mean);
    const double a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    const double sure = 0.9277 - 3.6224 / (b - 2.0);
    for (;;) {
        const double u = ice_stream_uniform(stream) - 0.5;
        const double v = ice_stream_positive(stream);
        const double edge = 0.5 - fabs(u);
        const double k = floor((2.0 * a / edge + b) * u + mean + 0.43);
        if (edge >= 0.07 && v <= sure) {
            return k;
        }
        if (!(k >= 0.0) || (edge < 0.013 && v > edge)) {
            continue;
        }
        if (log(v * inverse_alpha / (a / (edge * edge) + b)) <=
            k * log(mean) - mean - ice_log_factorial(k)) {
            return k;
        }
    }
}

/* Above this mean the number of photons is drawn from a Gaussian (physics.md 10). */
#define ICE_GAUSSIAN_FROM 1e7

/* Returns a number of photons with this mean >= 0; it is below 2^53 for means below 9e15. */
ICE_FN uint64_t ice_stream_poisson(ice_stream *stream, double mean)
{
    if (!(mean > 0.0)) {
        return 0;
    }
    if (mean > ICE_GAUSSIAN_FROM) {
        double number;
        do {
            number = floor(mean + sqrt(mean) * ice_stream_normal(stream) + 0.5);
        } while (number < 0.0);
        return (uint64_t)number;
    }
    if (mean >= 10.0) {
        return (uint64_t)ice_stream_poisson_large(stream, mean);
    }
    /* Counts arrivals within a time of 1: Knuth, The Art of Computer Programming 2, 3.4.1. */
    const double limit = exp(-mean);
    uint64_t number = 0;
    for (double product = ice_stream_positive(stream); product > limit;
         product *= ice_stream_positive(stream)) {
        ++number;
    }
    return number;
}

/* ---- directions ------------------------------------------------------------------------------ */

typedef struct ice_axis {
    double x, y, z; /* unit vector */
} ice_axis;

/* Returns the axis, turned by a polar angle, given as 1 - cos in [0, 2], and by an azimuth
 * (physics.md 7.4). */
ICE_FN ice_axis ice_axis_turn(ice_axis n, double one_minus_cosine, double azimuth)
{
    const double cosine = 1.0 - one_minus_cosine;
    const double sine = sqrt(one_minus_cosine * (2.0 - one_minus_cosine));
    const double sign = n.z < 0.0 ? -1.0 : 1.0;
    const double a = -1.0 / (sign + n.z);
    const double b = n.x * n.y * a;
    const double u = sine * cos(azimuth);
    const double w = sine * sin(azimuth);
    ice_axis m;
    m.x = cosine * n.x + u * (1.0 + sign * n.x * n.x * a) + w * b;
    m.y = cosine * n.y + u * sign * b + w * (sign + n.y * n.y * a);
    m.z = cosine * n.z - u * sign * n.x - w * n.y;
    return m;
}

/* Returns the direction of travel of a particle that comes from this zenith and azimuth (rad,
 * physics.md 1). */
ICE_FN ice_axis ice_axis_from_origin(double zenith, double azimuth)
{
    const ice_axis axis = {-sin(zenith) * cos(azimuth), -sin(zenith) * sin(azimuth), -cos(zenith)};
    return axis;
}

#endif
