/* What the tests of light sources share: a stream of random numbers, and the comparison of a number
 * with its expected value. */
#ifndef LIGHT_STREAMS_H
#define LIGHT_STREAMS_H

#include "physics/light/light_draw.h"

#include <check.h>
#include <math.h>

/* Draws of a test of one distribution, before ICESTREAM_TEST_SCALE. */
enum { LIGHT_SAMPLE = 1000000 };

/* Returns the stream with this number for one fixed seed, event and step. */
static inline ice_stream light_stream(uint32_t item)
{
    return ice_stream_of(20261122, 7, 3, ICE_PURPOSE_STEP, item);
}

/* Fails the test if `value` differs from `expected` by more than `slack`. */
static inline void expect_near(double value, double expected, double slack)
{
    ck_assert_msg(fabs(value - expected) <= slack, "found %.12g, expected %.12g within %g", value,
                  expected, slack);
}

#endif
