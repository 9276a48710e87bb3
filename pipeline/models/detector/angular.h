/* Angular acceptance: how well a module sees light by its direction (physics.md 8.5). */
#ifndef ICS_MODELS_DETECTOR_ANGULAR_H
#define ICS_MODELS_DETECTOR_ANGULAR_H

#include "physics/model.h"
#include "pipeline/models/text/text.h"

/* The standard curve: maximum 0.68, 0.34 + 0.51 x - 0.17 x^3. */
ice_angular ics_angular_standard(void);
/* Every direction alike: maximum 1, 1. */
ice_angular ics_angular_none(void);

/* The acceptance from its maximum and then its coefficients, or 0 and then the edge. `place` names
 * their origin in messages. ICESTREAM_E_CONFIG: numbers out of range, or a polynomial that exceeds
 * its maximum by more than 1e-4 of it somewhere in [-1, 1], or is nowhere above 0. */
int ics_angular_from_numbers(const char *place, const double *numbers, size_t count,
                             ice_angular *out, icestream_error *error);

/* Reads a file like as.dat: the same numbers, on any lines. ICESTREAM_E_CONFIG. */
int ics_angular_read(const ics_text *text, ice_angular *out, icestream_error *error);

/* The acceptance at x in [-1, 1]; with an edge, x is the place of the impact. */
double ics_angular_at(const ice_angular *angular, double x);
/* Its mean over all directions, or places. */
double ics_angular_mean(const ice_angular *angular);

#endif
