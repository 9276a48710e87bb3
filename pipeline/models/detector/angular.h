/* Angular acceptance: the acceptance of a module by direction (physics.md 8.5). */
#ifndef ICS_MODELS_DETECTOR_ANGULAR_H
#define ICS_MODELS_DETECTOR_ANGULAR_H

#include "physics/model.h"
#include "pipeline/models/text/text.h"

/* The standard curve: maximum 0.68, 0.34 + 0.51 x - 0.17 x^3. */
ice_angular ics_angular_standard(void);
/* The same acceptance in every direction: maximum 1, 1. */
ice_angular ics_angular_none(void);

/* Makes the acceptance from numbers: its maximum and then its coefficients, or 0 and then the edge.
 * `place` names the origin of the numbers in messages. ICESTREAM_E_CONFIG: a number is out of
 * range, or the polynomial exceeds its maximum by more than 1e-4 of it somewhere in [-1, 1], or it
 * is nowhere above 0. */
int ics_angular_from_numbers(const char *place, const double *numbers, size_t count,
                             ice_angular *out, icestream_error *error);

/* Reads a file like as.dat: the same numbers, on any lines. ICESTREAM_E_CONFIG. */
int ics_angular_read(const ics_text *text, ice_angular *out, icestream_error *error);

/* Returns the acceptance at x in [-1, 1]. With an edge, x is the cosine of the position of the
 * impact. */
double ics_angular_at(const ice_angular *angular, double x);
/* Returns the mean of the acceptance over all directions, or over all positions of the impact. */
double ics_angular_mean(const ice_angular *angular);

#endif
