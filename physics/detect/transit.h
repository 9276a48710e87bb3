/* The time that a signal takes through a PMT, drawn from a table (physics.md 8.18). */
#ifndef ICS_PHYSICS_DETECT_TRANSIT_H
#define ICS_PHYSICS_DETECT_TRANSIT_H

#include "stages/maths.h"

#include <math.h>

/* A part of a distribution (20 bytes): its times are between `from` and `to`, and their density is
 * linear. */
typedef struct ice_transit_part {
    uint32_t begin;  /* the probability of all parts before this one, in units of 2^-32; ascends */
    float from, to;  /* ns */
    float low, high; /* densities at `from` and at `to`, divided by the larger one of both */
} ice_transit_part;

/* The parts of a distribution in ice_pmt_tables.transit_parts. */
typedef struct ice_transit_parts {
    uint32_t first, count; /* count 0: there is no distribution */
} ice_transit_parts;

/* Returns a time (ns) by the inverse of the cumulative distribution. count > 0. Word c finds the
 * part, and both words together the time within it, so the times of narrow parts have all digits
 * of single precision. */
ICE_FN float ice_transit_drawn(const ice_transit_part *parts, uint32_t count, uint32_t c,
                               uint32_t d)
{
    uint32_t first = 0, last = count;
    while (last - first > 1) {
        const uint32_t middle = first + (last - first) / 2;
        if (parts[middle].begin <= c) {
            first = middle;
        } else {
            last = middle;
        }
    }
    const ice_transit_part *part = &parts[first];
    const double end = last < count ? (double)parts[last].begin : 4294967296.0;
    const double share =
        ((double)(c - part->begin) + (double)d / 4294967296.0) / (end - (double)part->begin);
    const double low = (double)part->low, high = (double)part->high;
    /* The root of low s + (high - low) s^2 / 2 = share (low + high) / 2, without a difference of
     * nearly equal numbers. */
    const double root = low + sqrt(low * low + share * (high * high - low * low));
    const double s = root > 0 ? share * (low + high) / root : 0;
    const double from = (double)part->from, to = (double)part->to;
    return (float)(from + fmin(s, 1) * (to - from));
}

#endif
