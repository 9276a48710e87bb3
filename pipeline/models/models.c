#include "pipeline/models/models.h"

#include "pipeline/error.h"
#include "pipeline/models/detector.h"
#include "pipeline/models/ice.h"
#include "pipeline/models/light.h"
#include "pipeline/models/sensors.h"

#include <stdlib.h>
#include <string.h>

/* ---- digests --------------------------------------------------------------------------------- */

/* A tag, so that numbers of one feature are not taken for those of another. */
static void add_feature(is_digest *digest, unsigned feature, const double *values, size_t count)
{
    is_digest_add_number(digest, feature);
    is_digest_add_numbers(digest, values, count);
}

static void add_tilt(is_digest *digest, const ice_tilt *tilt)
{
    size_t supports = tilt->station_count;
    const double scalars[] = {tilt->kind,       tilt->clamp,   tilt->first_depth,
                              tilt->depth_step, tilt->azimuth, tilt->origin};
    add_feature(digest, IS_ICE_TILT, scalars, sizeof scalars / sizeof *scalars);
    if (tilt->kind == ICE_TILT_MAP)
        supports = tilt->axes[0].count * tilt->axes[1].count;
    for (int i = 0; i < 2 && tilt->kind == ICE_TILT_MAP; ++i) {
        const ice_tilt_axis *axis = &tilt->axes[i];
        const double numbers[] = {axis->azimuth, axis->first, axis->step, (double)axis->count,
                                  (double)axis->cut};
        is_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    }
    is_digest_add_numbers(digest, tilt->stations, tilt->station_count);
    is_digest_add_numbers(digest, tilt->shifts, tilt->depth_count * supports);
}

static void add_spectral(is_digest *digest, const ice_medium *medium)
{
    enum { ROWS = (int)(ICE_WAVELENGTH_MAX - ICE_WAVELENGTH_MIN) + 1 };
    add_feature(digest, IS_ICE_SPECTRAL, &medium->rayleigh_fraction, 1);
    for (int i = 0; i < ROWS; ++i) {
        const ice_spectral_optics *at = &medium->spectral[i];
        const double numbers[] = {at->phase_index, at->group_index, at->scattering, at->absorption};
        is_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    }
}

/* What the ice does not have leaves no trace: plain ice has the digest that it had before there
 * were features. */
static void add_features(is_digest *digest, const ice_medium *medium)
{
    const unsigned features = is_medium_features(medium);
    const unsigned flowing =
        IS_ICE_SCATTERING_ANISOTROPY | IS_ICE_ABSORPTION_ANISOTROPY | IS_ICE_BIREFRINGENCE;
    const double absorption[] = {medium->absorption_anisotropy[0], medium->absorption_anisotropy[1],
                                 medium->absorption_anisotropy[2], medium->absorption_exponent};
    const ice_birefringence *b = &medium->birefringence;
    const ice_hole *hole = &medium->hole;
    if (features & IS_ICE_TILT)
        add_tilt(digest, &medium->tilt);
    if (features & flowing)
        add_feature(digest, features & flowing, &medium->flow_azimuth, 1);
    if (features & IS_ICE_ABSORPTION_ANISOTROPY)
        is_digest_add_numbers(digest, absorption, 4);
    if (features & IS_ICE_BIREFRINGENCE) {
        is_digest_add_numbers(digest, b->along, 4);
        is_digest_add_numbers(digest, b->across, 4);
        is_digest_add_numbers(digest, b->mean, 4);
    }
    for (size_t i = 0; i < medium->layer_count && features & flowing; ++i) {
        const ice_layer *layer = &medium->layers[i];
        const double numbers[] = {layer->anisotropy_along, layer->anisotropy_across,
                                  layer->birefringence, layer->birefringence_mean};
        is_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    }
    if (features & IS_ICE_SPECTRAL)
        add_spectral(digest, medium);
    if (features & IS_ICE_HOLE) {
        const double numbers[] = {hole->radius, hole->effective_scattering, hole->absorption,
                                  hole->mean_cosine, hole->liu_fraction};
        add_feature(digest, IS_ICE_HOLE, numbers, sizeof numbers / sizeof *numbers);
    }
}

static void add_medium(is_digest *digest, const ice_medium *medium)
{
    const double scalars[] = {
        medium->bottom,       medium->thickness,          medium->alpha,
        medium->kappa,        medium->absorption_a,       medium->absorption_b,
        medium->mean_cosine,  medium->liu_fraction,       medium->absorb_above,
        medium->absorb_below, (double)medium->layer_count};
    is_digest_add_numbers(digest, scalars, sizeof scalars / sizeof *scalars);
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        is_digest_add_number(digest, layer->effective_scattering);
        is_digest_add_number(digest, layer->bubbles);
        is_digest_add_number(digest, layer->dust_absorption);
        is_digest_add_number(digest, layer->delta_tau);
    }
    add_features(digest, medium);
}

static void add_detector(is_digest *digest, const ice_detector *detector)
{
    const double scalars[] = {detector->radius, detector->oversize, detector->keep_hit_photons,
                              (double)detector->module_count};
    is_digest_add_numbers(digest, scalars, sizeof scalars / sizeof *scalars);
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        const double numbers[] = {module->string, module->module,  module->x,         module->y,
                                  module->z,      module->absorbs, module->efficiency};
        is_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    }
}

static void add_light(is_digest *digest, const ice_light *light)
{
    is_digest_add_numbers(digest, light->bias_wavelength, light->bias_count);
    is_digest_add_numbers(digest, light->bias, light->bias_count);
    is_digest_add_number(digest, (double)light->count);
    for (size_t i = 0; i < light->count; ++i) {
        is_digest_add_numbers(digest, light->spectra[i].wavelength, light->spectra[i].count);
        is_digest_add_numbers(digest, light->spectra[i].density, light->spectra[i].count);
    }
}

static int make_digests(is_models *models, is_error *error)
{
    is_digest *digest;
    int status = is_digest_create(&digest, error);
    if (status != IS_OK)
        return status;
    add_medium(digest, models->medium);
    is_digest_text(digest, models->ice_digest);
    is_digest_reset(digest);
    add_detector(digest, models->detector);
    if (models->detection)
        is_detection_digest(digest, models->detector, models->light);
    is_digest_text(digest, models->detector_digest);
    is_digest_reset(digest);
    add_light(digest, models->light);
    is_digest_text(digest, models->light_digest);
    is_digest_destroy(digest);
    if (!models->ice_digest[0] || !models->detector_digest[0] || !models->light_digest[0])
        return is_error_add(error, IS_E_MEMORY, "models: error: out of memory");
    return IS_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

int is_models_create(const is_config *config, is_models **out, is_error *error)
{
    *out = NULL;
    is_models *models = calloc(1, sizeof *models);
    if (!models)
        return is_error_add(error, IS_E_MEMORY, "models: error: out of memory");
    is_ice_factors factors;
    int status = is_config_check_files(config, "ice.", error);
    if (status == IS_OK)
        status = is_medium_create(config, &models->medium, &factors, &models->warnings, error);
    int result = is_config_check_files(config, "detector.", error);
    if (result == IS_OK)
        result = is_detector_create(config, &models->detector, &models->warnings, error);
    status = status ? status : result;
    const char *const others[] = {"light.", "stages."};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        result = is_config_check_files(config, others[i], error);
        status = status ? status : result;
    }
    if (status == IS_OK)
        status = is_light_create(config, models->medium, &factors, models->detector, &models->light,
                                 error);
    if (status == IS_OK && is_detecting(config))
        status = is_detection_create(models->detector, models->light, is_config_content(config),
                                     &models->detection, error);
    if (status == IS_OK)
        status = make_digests(models, error);
    if (status != IS_OK) {
        is_models_destroy(models);
        return status;
    }
    *out = models;
    return IS_OK;
}

void is_models_destroy(is_models *models)
{
    if (!models)
        return;
    is_medium_destroy(models->medium);
    is_detector_destroy(models->detector);
    is_light_destroy(models->light);
    is_detection_destroy(models->detection);
    is_warnings_free(&models->warnings);
    free(models);
}
