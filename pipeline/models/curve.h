/* A function of wavelength given by points: linear between them, zero outside. */
#ifndef IS_CURVE_H
#define IS_CURVE_H

#include "pipeline/models/text.h"

typedef struct is_curve {
    double *x, *y; /* [count], x ascending */
    size_t count, capacity;
} is_curve;

/* Appends a point; x must be larger than the last. IS_OK or IS_E_MEMORY. */
int is_curve_add(is_curve *curve, double x, double y);
void is_curve_free(is_curve *curve);

double is_curve_at(const is_curve *curve, double x);
/* The same with the first and the last value outside. */
double is_curve_at_or_end(const is_curve *curve, double x);
/* The area under it. */
double is_curve_integral(const is_curve *curve);
void is_curve_scale(is_curve *curve, double factor);

/* Reads two columns, wavelength in nm and density: ascending within ICE_WAVELENGTH_MIN .. MAX, >=
 * 0, not all zero. IS_E_CONFIG, IS_E_MEMORY. */
int is_curve_read_density(const is_text *text, is_curve *out, is_error *error);

/* Reads two columns like those of ppc's wv.rde, wavelength in nm and a ratio: ascending within
 * ICE_WAVELENGTH_MIN .. MAX, more than 0, at most 100. IS_E_CONFIG, IS_E_MEMORY. */
int is_curve_read_ratio(const is_text *text, is_curve *out, is_error *error);

/* Reads a file like ppc's wv.dat, the cumulative share of light (0 .. 1) and the upper edge of its
 * bin in nm: the curve is increment / width at the bin centres and falls to zero one bin width
 * beyond the outer ones. Bins without light are cut off at both ends and an error between.
 * IS_E_CONFIG, IS_E_MEMORY. */
int is_curve_read_cumulative(const is_text *text, is_curve *out, is_error *error);

#endif
