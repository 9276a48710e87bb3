#include "pipeline/photons/models/ice/ice.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "kernels/stage.h"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/scatter.h"
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/ice/tilt.h"
#include "tables/tables.h"

#include <string.h>

/* Sets the origin of the tilt, and which shifts hold outside its table. */
static int set_tilt(const icestream_config *config, ice_tilt *tilt, icestream_error *error)
{
    if (!config->ice.tilt) {
        return ICESTREAM_OK; /* keys of a tilt that --set switches off have no effect */
    }
    if (config->ice.tilt_origin != 0 && tilt->kind != ICE_TILT_LINE) {
        return ics_config_error(
            config, "ice.tilt_origin", error, "found %.10g m, but %s", config->ice.tilt_origin,
            tilt->kind == ICE_TILT_MAP ? "the tilt of this ice is a map, which has "
                                         "no origin"
                                       : "this ice has no tilt");
    }
    if (config->ice.tilt_outside == ICS_TILT_CLAMP && tilt->kind == ICE_TILT_NONE) {
        return ics_config_error(config, "ice.tilt_outside", error,
                                "found clamp, but this ice has no tilt");
    }
    if (tilt->kind == ICE_TILT_NONE) {
        return ICESTREAM_OK;
    }
    tilt->origin = config->ice.tilt_origin;
    tilt->clamp = config->ice.tilt_outside == ICS_TILT_CLAMP;
    return ICESTREAM_OK;
}

/* Multiplies the coefficients of the layers (physics.md 4.2). Those of water are themselves factors
 * on tables. */
static void scale(const icestream_config *config, ice_medium *medium)
{
    const double scattering = config->ice.scattering_factor;
    const double absorption = config->ice.absorption_factor;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        medium->layers[i].effective_scattering *= scattering;
        medium->layers[i].bubbles *= scattering;
        medium->layers[i].dust_absorption *= absorption;
    }
    medium->absorption_a *= absorption;
}

/* Rejects a subtraction of birefringence from ice that has no birefringence. */
static int check_subtraction(const icestream_config *config, const ice_medium *medium,
                             icestream_error *error)
{
    const ics_subtraction subtraction = config->ice.birefringence_subtraction;
    if ((ics_tables_find_features(medium) & ICE_HAS_BIREFRINGENCE) || !config->ice.birefringence ||
        subtraction == ICS_SUBTRACTION_AUTO || subtraction == ICS_SUBTRACTION_NONE) {
        return ICESTREAM_OK;
    }
    return ics_config_error(config, "ice.birefringence_subtraction", error,
                            "found %s, but this ice has no birefringence",
                            subtraction == ICS_SUBTRACTION_CONSTANT ? "constant" : "scaled");
}

/* Checks that the scatter stage simulates molecules if the medium has them. A header of the user is
 * not checked. */
static int check_scatter(const icestream_config *config, const ice_medium *medium,
                         ics_warnings *warnings, icestream_error *error)
{
    const char *scatter = config->stages.scatter;
    const bool molecules = strcmp(scatter, "rayleigh-hg") == 0;
    if (medium->rayleigh_fraction > 0 && !molecules &&
        config->stages.custom[ICS_STAGE_SCATTER] == NULL) {
        return ics_config_error(
            config, "stages.scatter", error,
            "found %s, which does not simulate molecules, but molecules cause %.4g of the "
            "scattering in '%s'; expected rayleigh-hg, or a rayleigh_fraction of 0",
            scatter, medium->rayleigh_fraction, medium->name);
    }
    if (molecules && medium->rayleigh_fraction == 0) {
        ics_warnings_add(
            warnings,
            "stages.scatter is rayleigh-hg, but the rayleigh_fraction of '%s' is 0, so "
            "that all scattering is Henyey-Greenstein",
            medium->name);
    }
    return ICESTREAM_OK;
}

/* Warns of a propagate stage of the user in ice with columns, because the program uses the tables
 * for what a segment uses up before it enters a column (docs/stages.md); of what the file has and
 * the medium has not; and of what its features find. */
static void warn(const icestream_config *config, const ice_medium *medium, ics_warnings *warnings)
{
    const char *propagate = config->stages.custom[ICS_STAGE_PROPAGATE];
    if (propagate != NULL && (ics_tables_find_features(medium) & ICE_HAS_HOLES)) {
        ics_warnings_add(warnings,
                         "stages.propagate is %s, and '%s' has hole ice: what a segment uses up "
                         "before it enters a column comes from the tables of the ice, so the "
                         "header must use their coefficients (docs/stages.md); "
                         "ice.hole_ice: false removes the columns",
                         propagate, medium->name);
    }
    if (medium->uneven > ICS_UNEVEN_LEAST) {
        ics_warnings_add(warnings,
                         "the depths of the layers are up to %.3g m away from equal steps of "
                         "%.6g m, which are used",
                         medium->uneven, medium->thickness);
    }
    ics_ice_features_warn(medium, warnings);
}

/* Makes the medium as its source describes it. */
static int make_medium(const icestream_config *config, ice_medium **out, ics_ice_factors *factors,
                       ics_warnings *warnings, icestream_error *error)
{
    char place[512];
    if (config->ice.file != NULL && config->ice.directory == NULL) {
        return ics_ice_from_yaml(config, out, warnings, error);
    }
    if (config->ice.directory != NULL) {
        ICS_TRY(ics_ice_from_ppc(config, out, factors, warnings, error));
    } else {
        ICS_TRY(ics_ice_from_model(ics_config_place(config, "ice.model", place, sizeof place),
                                   config->ice.model, out, error));
    }
    ics_ice_scatter_choose(config->stages.scatter, NULL, *out);
    return ICESTREAM_OK;
}

static void destroy_at(ice_medium **medium)
{
    ics_ice_destroy(*medium);
}

int ics_ice_create(const icestream_config *config, ice_medium **out, ics_ice_factors *factors,
                   ics_warnings *warnings, icestream_error *error)
{
    ICS_CLEANUP(destroy_at) ice_medium *medium = NULL;
    *out = NULL;
    *factors = (ics_ice_factors){.efficiency = 1};
    ICS_TRY(make_medium(config, &medium, factors, warnings, error));
    scale(config, medium);
    medium->absorb_above = config->ice.absorb_above;
    medium->absorb_below = config->ice.absorb_below;
    ICS_TRY(set_tilt(config, &medium->tilt, error));
    ICS_TRY(check_subtraction(config, medium, error));
    ICS_TRY(check_scatter(config, medium, warnings, error));
    warn(config, medium, warnings);
    ICS_TRY(ics_warnings_status(warnings, error));
    *out = medium;
    medium = NULL;
    return ICESTREAM_OK;
}
