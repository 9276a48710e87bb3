/* Depths of tables in equal steps, as ppc takes them: from the first depth and the last. Files
 * round their depths. */
#ifndef ICS_MODELS_ICE_ICE_STEPS_H
#define ICS_MODELS_ICE_ICE_STEPS_H

#include <stddef.h>

/* How far equal steps may move the ice (m). Layers are 10 m thick, and their tilt is known to
 * metres. */
#define ICS_UNEVEN_MOST 0.1
/* Less than this (m) is not worth a warning. */
#define ICS_UNEVEN_LEAST 1e-3

typedef struct ics_ice_steps {
    double step;     /* m: the mean step */
    double uneven;   /* m: the largest distance of a depth from equal steps */
    size_t row;      /* the row whose step differs most from the others */
    double usual;    /* m: the step of the others */
    double expected; /* the depth of this row if its step were the usual one */
} ics_ice_steps;

/* Looks at `count` >= 2 depths, which increase; the next depth is `stride` bytes behind a depth. */
ics_ice_steps ics_ice_steps_of(const double *depths, size_t stride, size_t count);
/* The distance (m) of depth i from equal steps. */
double ics_ice_steps_off(const ics_ice_steps *steps, const double *depths, size_t stride, size_t i);

#endif
