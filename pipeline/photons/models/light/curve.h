/* A function of wavelength given by points: linear between them, zero outside. */
#ifndef ICS_PHOTONS_MODELS_LIGHT_CURVE_H
#define ICS_PHOTONS_MODELS_LIGHT_CURVE_H

#include "pipeline/photons/models/text/text.h"

typedef struct ics_curve {
    double *x, *y; /* [count], x ascending */
    size_t count, capacity;
} ics_curve;

/* Appends a point; x must be larger than the last. ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_curve_add(ics_curve *curve, double x, double y, icestream_error *error);
void ics_curve_free(ics_curve *curve);

double ics_curve_at(const ics_curve *curve, double x);
/* Returns the value at x; outside the points it is the first or the last value. */
double ics_curve_at_or_end(const ics_curve *curve, double x);
/* Returns the area under the curve. */
double ics_curve_integral(const ics_curve *curve);
void ics_curve_scale(ics_curve *curve, double factor);

/* Reads two columns, wavelength in nm and density: ascending within ICE_WAVELENGTH_MIN .. MAX, >=
 * 0, not all zero. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_curve_read_density(const ics_text *text, ics_curve *out, icestream_error *error);

/* Reads two columns like those of ppc's wv.rde, wavelength in nm and a ratio: ascending within
 * ICE_WAVELENGTH_MIN .. MAX, more than 0, at most 100. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_curve_read_ratio(const ics_text *text, ics_curve *out, icestream_error *error);

/* Reads a file like ppc's wv.dat: rows with the cumulative share of light (0 .. 1) and the upper
 * edge of a bin (nm). The curve is increment / width at the centres of the bins, and falls to zero
 * one bin width beyond the outer centres. Bins without light are removed at both ends; between bins
 * with light they are an error. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_curve_read_cumulative(const ics_text *text, ics_curve *out, icestream_error *error);

#endif
