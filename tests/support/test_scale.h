/* Sample sizes of tests, and random numbers for tests. */
#ifndef TEST_SCALE_H
#define TEST_SCALE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Returns a sample size: `count` multiplied by the environment variable ICESTREAM_TEST_SCALE
 * (default 1; builds with sanitizers set 0.05), but at least 1000, or `count` if that is less.
 * Tests must compute their tolerances from the returned size. */
static inline size_t test_scaled(size_t count)
{
    const char *text = getenv("ICESTREAM_TEST_SCALE");
    const double scale = text != NULL ? strtod(text, NULL) : 1.0;
    const double scaled = scale > 0.0 ? (double)count * scale : (double)count;
    const double least = count < 1000 ? (double)count : 1000.0;
    return (size_t)fmax(scaled, least);
}

/* Returns test_scaled(count), but at least `count`. For comparisons that say too little with a
 * smaller sample. */
static inline size_t test_scaled_up(size_t count)
{
    const size_t scaled = test_scaled(count);
    return scaled > count ? scaled : count;
}

/* xorshift64*: independent of the generator under test. The state must not be zero. */
static inline uint64_t test_word(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* A number in [0, 1). */
static inline double test_uniform(uint64_t *state)
{
    return (double)(test_word(state) >> 11) * 0x1p-53;
}

/* A number in [low, high). */
static inline double test_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * test_uniform(state);
}

/* An exponentially distributed number with mean 1. */
static inline double test_exponential(uint64_t *state)
{
    return -log1p(-test_uniform(state));
}

/* An isotropic unit vector. */
static inline void test_direction(uint64_t *state, double direction[3])
{
    const double z = test_between(state, -1.0, 1.0);
    const double azimuth = test_between(state, 0.0, 6.283185307179586);
    const double across = sqrt(1.0 - z * z);
    direction[0] = across * cos(azimuth);
    direction[1] = across * sin(azimuth);
    direction[2] = z;
}

#endif
