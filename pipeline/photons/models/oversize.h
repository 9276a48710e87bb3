/* What oversized modules (detector.oversize above 1) do to the light of modules: estimates for the
 * ice and the detector of a run, against modules of true size (docs/oversize.md has their range and
 * what they were compared with). */
#ifndef ICS_PHOTONS_MODELS_OVERSIZE_H
#define ICS_PHOTONS_MODELS_OVERSIZE_H

#include "physics/light/light_cascade.h"
#include "physics/model.h"
#include "pipeline/photons/models/light/region.h"

#include <stdbool.h>
#include <stddef.h>

/* The mean over the modules and the worst module. */
typedef struct ics_oversize_pair {
    double mean, worst;
} ics_oversize_pair;

enum { ICS_OVERSIZE_NEAR = 3 };

typedef struct ics_oversize_effects {
    double wide; /* m, largest reach of an oversized module */
    ics_oversize_pair
        length; /* m, effective scattering length at 400 nm in the layers of the modules */
    ics_oversize_pair sum;      /* bias of sums of weights, relative */
    ics_oversize_pair bunching; /* variance over mean of counts */
    ics_oversize_pair
        late;        /* ns, how much later the 10 % quantile of times is, 10 m from the light */
    double earliest; /* ns, how much a hit can come before light that goes straight to its impact */
    double near[ICS_OVERSIZE_NEAR]; /* further bias of sums if the light begins 1, 2 and 5 m from
                                       the module; -1: no hit */
} ics_oversize_effects;

/* The bias above which sums get a warning. */
#define ICS_OVERSIZE_WARNING 0.01

/* Returns false if no module is oversized; *out has no content then. */
bool ics_oversize_effects_of(const ice_medium *medium, const ice_detector *detector,
                             ics_oversize_effects *out);

enum { ICS_OVERSIZE_TEXT = 800 };
/* Writes the numbers as one line without a line end. Returns text. */
const char *ics_oversize_text(const ics_oversize_effects *effects, char text[ICS_OVERSIZE_TEXT]);

/* Whether light along the line from `from` to `to` (m) begins so near to an oversized module that
 * the sums of its hits are wrong by more than ICS_OVERSIZE_WARNING, or at `from` inside a module of
 * true size. `text` then says so. `depth`: the light is that of a cascade, along its axis; NULL: it
 * is not. */
bool ics_oversize_near_text(const ics_light_blocks *modules, const double from[3],
                            const double to[3], const ice_cascade_profile *depth, char *text,
                            size_t size);
/* How far the light of a cascade reaches along its axis, m: a share below 1e-5 begins behind it. */
double ics_oversize_cascade_end(const ice_cascade_profile *depth);

#endif
