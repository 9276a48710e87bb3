#include "pipeline/models/ice/ice.h"

#include "base/error.h"
#include "kernels/stage.h"
#include "pipeline/models/ice/ice_features.h"
#include "pipeline/models/ice/ice_tilt.h"
#include "stages/optics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        /* The layer has 1 - g of the particles in it, molecules scatter to both sides alike. */
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

/* ---- creation -------------------------------------------------------------------------------- */

/* Where the tilt's table lies and what counts outside it. */
static int place_tilt(const icestream_config *config, ice_tilt *tilt, icestream_error *error)
{
    char place[512];
    if (config->ice.tilt_origin != 0 && tilt->kind != ICE_TILT_LINE) {
        return ics_error_add(
            error, ICESTREAM_E_CONFIG, "%s: error: ice.tilt_origin: found %.10g m, but %s",
            ics_config_place(config, "ice.tilt_origin", place, sizeof place),
            config->ice.tilt_origin,
            tilt->kind == ICE_TILT_MAP ? "the tilt of this ice is a map, which has "
                                         "no origin"
                                       : "this ice has no tilt");
    }
    if (config->ice.tilt_outside == ICS_TILT_CLAMP && tilt->kind == ICE_TILT_NONE) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: ice.tilt_outside: found clamp, but this ice has no tilt",
                             ics_config_place(config, "ice.tilt_outside", place, sizeof place));
    }
    if (tilt->kind == ICE_TILT_NONE) {
        return ICESTREAM_OK;
    }
    tilt->origin = config->ice.tilt_origin;
    tilt->clamp = config->ice.tilt_outside == ICS_TILT_CLAMP;
    return ICESTREAM_OK;
}

/* Nothing can be taken out of the scattering for crystals that are not there. */
static int check_subtraction(const icestream_config *config, const ice_medium *medium,
                             icestream_error *error)
{
    char place[512];
    const ics_subtraction subtraction = config->ice.birefringence_subtraction;
    if ((ics_ice_features(medium) & ICS_ICE_BIREFRINGENCE) || subtraction == ICS_SUBTRACTION_AUTO ||
        subtraction == ICS_SUBTRACTION_NONE) {
        return ICESTREAM_OK;
    }
    return ics_error_add(
        error, ICESTREAM_E_CONFIG,
        "%s: error: ice.birefringence_subtraction: found %s, but this ice has no birefringence",
        ics_config_place(config, "ice.birefringence_subtraction", place, sizeof place),
        subtraction == ICS_SUBTRACTION_CONSTANT ? "constant" : "scaled");
}

/* Whether molecules scatter as the scatter stage thinks; a stage of the user's may do as it likes.
 */
static int check_scatter(const icestream_config *config, const ice_medium *medium,
                         ics_warnings *warnings, icestream_error *error)
{
    char place[512];
    const char *scatter = config->stages.scatter;
    const bool molecules = strcmp(scatter, "rayleigh-hg") == 0;
    if (medium->rayleigh_fraction > 0 && !molecules &&
        config->stages.custom[ICS_STAGE_SCATTER] == NULL) {
        return ics_error_add(
            error, ICESTREAM_E_CONFIG,
            "%s: error: stages.scatter: found %s, which has no molecules, but they "
            "do %.4g of the scattering of '%s'; expected rayleigh-hg, or a "
            "rayleigh_fraction of 0",
            ics_config_place(config, "stages.scatter", place, sizeof place), scatter,
            medium->rayleigh_fraction, medium->name);
    }
    if (molecules && medium->rayleigh_fraction == 0 &&
        ics_warnings_add(warnings,
                         "stages.scatter is rayleigh-hg, but '%s' gives molecules no share of its "
                         "scattering (rayleigh_fraction): all of it is Henyey-Greenstein's",
                         medium->name) != ICESTREAM_OK) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "ice: error: out of memory");
    }
    return ICESTREAM_OK;
}

int ics_ice_create(const icestream_config *config, ice_medium **out, ics_ice_factors *factors,
                   ics_warnings *warnings, icestream_error *error)
{
    char place[512];
    int status;
    *out = NULL;
    *factors = (ics_ice_factors){.efficiency = 1};
    if (config->ice.directory != NULL) {
        status = ics_ice_from_ppc(config, out, factors, warnings, error);
    } else if (config->ice.file != NULL) {
        status = ics_ice_from_yaml(config, out, warnings, error);
    } else {
        status = ics_ice_from_model(ics_config_place(config, "ice.model", place, sizeof place),
                                    config->ice.model, out, error);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    (*out)->absorb_above = config->ice.absorb_above;
    (*out)->absorb_below = config->ice.absorb_below;
    status = place_tilt(config, &(*out)->tilt, error);
    if (status == ICESTREAM_OK) {
        status = check_subtraction(config, *out, error);
    }
    if (status == ICESTREAM_OK) {
        status = check_scatter(config, *out, warnings, error);
    }
    if (status == ICESTREAM_OK && ics_ice_warn(*out, warnings) != ICESTREAM_OK) {
        status = ics_error_add(error, ICESTREAM_E_MEMORY, "ice: error: out of memory");
    }
    if (status != ICESTREAM_OK) {
        ics_ice_destroy(*out);
        *out = NULL;
    }
    return status;
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
