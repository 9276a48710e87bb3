#include "pipeline/models/ice.h"

#include "pipeline/error.h"
#include "pipeline/models/ice_layers.h"

#include <math.h>
#include <stdlib.h>

double is_medium_scattering(const ice_medium *medium, size_t layer, double wavelength)
{
    const ice_layer *ice = &medium->layers[layer];
    return ice->effective_scattering * pow(wavelength / 400, -medium->alpha) + ice->bubbles;
}

double is_medium_absorption(const ice_medium *medium, size_t layer, double wavelength)
{
    const ice_layer *ice = &medium->layers[layer];
    return ice->dust_absorption * pow(wavelength / 400, -medium->kappa) +
           medium->absorption_a * exp(-medium->absorption_b / wavelength) *
               (1 + 0.01 * ice->delta_tau);
}

static double temperature(double depth)
{
    return 221.5 - 0.00045319 * depth + 5.822e-6 * depth * depth;
}

double is_ice_delta_tau(double depth)
{
    return temperature(depth) - temperature(1730);
}

int is_medium_create(const is_config *config, ice_medium **out, is_ice_factors *factors,
                     is_warnings *warnings, is_error *error)
{
    char place[512];
    int status;
    *out = NULL;
    *factors = (is_ice_factors){.efficiency = 1, .angular_maximum = 0.68};
    if (config->ice.directory)
        status = is_medium_from_ppc(config->ice.directory, config->detector.oversize, out, factors,
                                    warnings, error);
    else if (config->ice.file)
        status = is_medium_from_yaml(config->ice.file, out, error);
    else
        status = is_medium_from_model(is_config_place(config, "ice.model", place, sizeof place),
                                      config->ice.model, out, error);
    if (status != IS_OK)
        return status;
    (*out)->absorb_above = config->ice.absorb_above;
    (*out)->absorb_below = config->ice.absorb_below;
    return IS_OK;
}

void is_medium_destroy(ice_medium *medium)
{
    if (!medium)
        return;
    free(medium->name);
    free(medium->layers);
    free(medium->tilt.stations);
    free(medium->tilt.shifts);
    free(medium);
}
