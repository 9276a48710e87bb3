/* The smallest and the largest of some numbers. */
#ifndef ICS_PHOTONS_MODELS_RANGE_H
#define ICS_PHOTONS_MODELS_RANGE_H

#include <math.h>

typedef struct ics_range {
    double low, high;
} ics_range;

/* A range without numbers. */
static const ics_range ics_range_empty = {INFINITY, -INFINITY};

static inline void ics_range_add(ics_range *range, double value)
{
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

#endif
