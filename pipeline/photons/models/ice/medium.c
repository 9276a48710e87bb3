#include "pipeline/photons/models/ice/medium.h"

#include "pipeline/photons/models/ice/tilt.h"
#include "stages/optics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

int ics_ice_allocate(const char *name, size_t count, ice_medium **out, icestream_error *error)
{
    ice_medium *medium = calloc(1, sizeof *medium);
    if (medium != NULL) {
        medium->name = strdup(name);
        medium->layers = calloc(count, sizeof *medium->layers);
        medium->layer_count = count;
        medium->absorb_above = INFINITY;
        medium->absorb_below = -INFINITY;
    }
    if (medium == NULL || medium->name == NULL || medium->layers == NULL) {
        ics_ice_destroy(medium);
        return ics_error_no_memory(error, name);
    }
    *out = medium;
    return ICESTREAM_OK;
}

void ics_ice_destroy(ice_medium *medium)
{
    if (medium == NULL) {
        return;
    }
    free(medium->name);
    free(medium->layers);
    free(medium->spectral);
    ics_ice_tilt_free(&medium->tilt);
    free(medium);
}

/* ---- optics ---------------------------------------------------------------------------------- */

/* Between the rows of a medium given by tables, as stages do it. */
static ice_spectral_optics spectral_at(const ice_medium *medium, double wavelength)
{
    const double most = ICE_WAVELENGTH_MAX - ICE_WAVELENGTH_MIN - 1;
    const double position = wavelength - ICE_WAVELENGTH_MIN;
    const double row = fmin(fmax(floor(position), 0), most), t = position - row;
    const ice_spectral_optics *low = &medium->spectral[(size_t)row], *high = low + 1;
    return (ice_spectral_optics){
        .phase_index = low->phase_index + t * (high->phase_index - low->phase_index),
        .group_index = low->group_index + t * (high->group_index - low->group_index),
        .scattering = low->scattering + t * (high->scattering - low->scattering),
        .absorption = low->absorption + t * (high->absorption - low->absorption)};
}

double ics_ice_scattering(const ice_medium *medium, size_t layer, double wavelength)
{
    const ice_layer *ice = &medium->layers[layer];
    if (medium->spectral != NULL) {
        /* The layer's effective_scattering contains the factor 1 - g of particles. The factor of
         * particles and molecules together is 1 - (1 - f) g, because molecules have a mean cosine
         * of 0. */
        const double f = medium->rayleigh_fraction, g = medium->mean_cosine;
        return ice->effective_scattering * (1 - (1 - f) * g) / (1 - g) *
               spectral_at(medium, wavelength).scattering;
    }
    return ice->effective_scattering * pow(wavelength / 400, -medium->alpha) + ice->bubbles;
}

double ics_ice_absorption(const ice_medium *medium, size_t layer, double wavelength)
{
    const ice_layer *ice = &medium->layers[layer];
    if (medium->spectral != NULL) {
        return ice->dust_absorption * spectral_at(medium, wavelength).absorption;
    }
    return ice->dust_absorption * pow(wavelength / 400, -medium->kappa) +
           medium->absorption_a * exp(-medium->absorption_b / wavelength) *
               (1 + 0.01 * ice->delta_tau);
}

double ics_ice_phase_index(const ice_medium *medium, double wavelength)
{
    return medium->spectral != NULL ? spectral_at(medium, wavelength).phase_index
                                    : ice_phase_index_double(wavelength);
}

double ics_ice_group_index(const ice_medium *medium, double wavelength)
{
    return medium->spectral != NULL ? spectral_at(medium, wavelength).group_index
                                    : ice_group_index_double(wavelength);
}

static double temperature(double depth)
{
    return 221.5 - 0.00045319 * depth + 5.822e-6 * depth * depth;
}

double ics_ice_delta_tau(double depth)
{
    return temperature(depth) - temperature(1730);
}
