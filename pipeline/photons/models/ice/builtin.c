/* The built-in ice: physics.md 13.1 and 13.2. */
#include "base/error.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/ice/sources.h"

#include <math.h>
#include <string.h>

/* Effective scattering at 400 nm, 1/m, at a depth in m (physics.md 13.1). */
static double south_pole_scattering(double depth)
{
    static const struct {
        double centre, width, height;
    } bands[] = {{1550, 22, 0.95}, {1740, 22, 0.60}, {1870, 28, 0.45}, {2035, 32, 2.05},
                 {2185, 14, 0.80}, {2360, 16, 1.00}, {2530, 18, 0.55}};
    double logarithm = log(0.0120) + 1.10 * (2450 - depth) / 1000 /* clearer with depth */
                       + 1.15 / (1 + exp((depth - 1410) / 25))    /* bubbly, dusty top */
                       + 2.40 / (1 + exp(-(depth - 2740) / 8));   /* dirty basal ice */
    for (size_t k = 0; k < sizeof bands / sizeof *bands; ++k) {
        double distance = (depth - bands[k].centre) / bands[k].width;
        logarithm += bands[k].height * exp(-0.5 * distance * distance);
    }
    logarithm += 0.12 * sin(2 * M_PI * depth / 47) + 0.07 * sin(2 * M_PI * depth / 29 + 1);
    return exp(logarithm);
}

static void set_properties(ice_medium *medium)
{
    medium->alpha = 0.8986;
    medium->kappa = 1.0841;
    medium->absorption_a = 6954.1;
    medium->absorption_b = 6617.75;
    medium->mean_cosine = 0.9;
    medium->liu_fraction = 0.35;
}

int ics_ice_from_model(const char *place, const char *model, ice_medium **out,
                       icestream_error *error)
{
    enum { SOUTH_POLE_LAYERS = 171 };
    bool south_pole = strcmp(model, "south-pole-like") == 0;
    if (!south_pole && strcmp(model, "uniform") != 0) {
        return ics_error_add(
            error, ICESTREAM_E_CONFIG,
            "%s: error: ice.model: found '%s', expected south-pole-like or uniform", place, model);
    }

    ice_medium *medium;
    ICS_TRY(ics_ice_allocate(model, south_pole ? SOUTH_POLE_LAYERS : 1, &medium, error));
    set_properties(medium);
    if (south_pole) {
        medium->bottom = -855;
        medium->thickness = 10;
        for (size_t j = 0; j < SOUTH_POLE_LAYERS; ++j) {
            double depth = ICE_DETECTOR_DEPTH - (-850 + 10 * (double)j);
            double scattering = south_pole_scattering(depth);
            medium->layers[j] = (ice_layer){.effective_scattering = scattering,
                                            .dust_absorption = 0.28 * scattering,
                                            .delta_tau = ics_ice_delta_tau(depth)};
        }
    } else {
        /* Case U of physics.md 12: absorption length 100 m at 400 nm. */
        medium->bottom = -50;
        medium->thickness = 100;
        medium->layers[0] =
            (ice_layer){.effective_scattering = 0.04, .dust_absorption = 0.009545943};
    }
    *out = medium;
    return ICESTREAM_OK;
}
