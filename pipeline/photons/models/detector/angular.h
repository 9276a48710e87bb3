/* Angular acceptance: the acceptance of a module by direction (physics.md 8.5). */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_ANGULAR_H
#define ICS_PHOTONS_MODELS_DETECTOR_ANGULAR_H

#include "physics/model.h"
#include "pipeline/photons/models/text/text.h"
#include "pipeline/photons/models/warnings.h"

/* The standard curve: maximum 0.68, 0.34 + 0.51 x - 0.17 x^3. */
ice_angular ics_angular_standard(void);
/* The same acceptance in every direction: maximum 1, 1. */
ice_angular ics_angular_none(void);

/* Makes the acceptance from numbers: its maximum and then its coefficients, or 0 and then the edge.
 * `place` names the origin of the numbers in messages. A polynomial that exceeds its maximum
 * somewhere in [-1, 1] by 1e-4 to 0.1 of it raises the maximum, with a warning; `warnings` NULL: it
 * is an error. ICESTREAM_E_CONFIG: a number is out of range, or the polynomial exceeds its maximum
 * by more, or it is nowhere above 0. ICESTREAM_E_MEMORY. */
int ics_angular_from_numbers(const char *place, const double *numbers, size_t count,
                             ice_angular *out, ics_warnings *warnings, icestream_error *error);

/* Reads a file like as.dat: the same numbers, on any lines; one number alone is the acceptance in
 * every direction. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_angular_read(const ics_text *text, ice_angular *out, ics_warnings *warnings,
                     icestream_error *error);

/* Returns the acceptance at x in [-1, 1]. With an edge, x is the cosine of the position of the
 * impact. */
double ics_angular_at(const ice_angular *angular, double x);
/* Returns the mean of the acceptance over all directions, or over all positions of the impact. */
double ics_angular_mean(const ice_angular *angular);

#endif
