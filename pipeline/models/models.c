#include "pipeline/models/models.h"

#include "base/error.h"
#include "pipeline/models/detector/detector.h"
#include "pipeline/models/detector/sensors.h"
#include "pipeline/models/ice/ice.h"
#include "pipeline/models/light/light.h"
#include "tables/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- digests --------------------------------------------------------------------------------- */

/* The tags of features in digests. They keep their values so that digests stay the same. */
enum {
    TAG_TILT = 1,
    TAG_ANISOTROPY = 2,
    TAG_ABSORPTION = 4,
    TAG_BIREFRINGENCE = 8,
    TAG_HOLE = 16,
    TAG_WATER = 32
};

static unsigned tags_of(const ice_medium *medium)
{
    static const unsigned tags[] = {TAG_WATER,      TAG_TILT,          TAG_ANISOTROPY,
                                    TAG_ABSORPTION, TAG_BIREFRINGENCE, TAG_HOLE};
    static const uint32_t bits[] = {
#define BITS(name, feature_bits) (feature_bits),
        ICE_FEATURES(BITS)
#undef BITS
    };
    const uint32_t found = ics_tables_find_features(medium);
    unsigned result = 0;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; ++i) {
        result |= found & bits[i] ? tags[i] : 0;
    }
    return result;
}

/* A tag, so that numbers of one feature are not taken for those of another. */
static void add_feature(ics_digest *digest, unsigned feature, const double *values, size_t count)
{
    ics_digest_add_number(digest, feature);
    ics_digest_add_numbers(digest, values, count);
}

static void add_tilt(ics_digest *digest, const ice_tilt *tilt)
{
    size_t supports = tilt->station_count;
    const double scalars[] = {tilt->kind,       tilt->clamp,   tilt->first_depth,
                              tilt->depth_step, tilt->azimuth, tilt->origin};
    add_feature(digest, TAG_TILT, scalars, sizeof scalars / sizeof *scalars);
    if (tilt->kind == ICE_TILT_MAP) {
        supports = tilt->axes[0].count * tilt->axes[1].count;
    }
    for (int i = 0; i < 2 && tilt->kind == ICE_TILT_MAP; ++i) {
        const ice_tilt_axis *axis = &tilt->axes[i];
        const double numbers[] = {axis->azimuth, axis->first, axis->step, (double)axis->count,
                                  (double)axis->cut};
        ics_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    }
    ics_digest_add_numbers(digest, tilt->stations, tilt->station_count);
    ics_digest_add_numbers(digest, tilt->shifts, tilt->depth_count * supports);
}

static void add_spectral(ics_digest *digest, const ice_medium *medium)
{
    enum { ROWS = (int)(ICE_WAVELENGTH_MAX - ICE_WAVELENGTH_MIN) + 1 };
    add_feature(digest, TAG_WATER, &medium->rayleigh_fraction, 1);
    for (int i = 0; i < ROWS; ++i) {
        const ice_spectral_optics *at = &medium->spectral[i];
        const double numbers[] = {at->phase_index, at->group_index, at->scattering, at->absorption};
        ics_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    }
}

/* What the ice does not have leaves no trace: plain ice has the digest that it had before there
 * were features. */
static void add_features(ics_digest *digest, const ice_medium *medium)
{
    const unsigned features = tags_of(medium);
    const unsigned flowing = TAG_ANISOTROPY | TAG_ABSORPTION | TAG_BIREFRINGENCE;
    const double absorption[] = {medium->absorption_anisotropy[0], medium->absorption_anisotropy[1],
                                 medium->absorption_anisotropy[2], medium->absorption_exponent};
    const ice_birefringence *b = &medium->birefringence;
    const ice_hole *hole = &medium->hole;
    if (features & TAG_TILT) {
        add_tilt(digest, &medium->tilt);
    }
    if (features & flowing) {
        add_feature(digest, features & flowing, &medium->flow_azimuth, 1);
    }
    if (features & TAG_ABSORPTION) {
        ics_digest_add_numbers(digest, absorption, 4);
    }
    if (features & TAG_BIREFRINGENCE) {
        ics_digest_add_numbers(digest, b->along, 4);
        ics_digest_add_numbers(digest, b->across, 4);
        ics_digest_add_numbers(digest, b->mean, 4);
    }
    for (size_t i = 0; i < medium->layer_count && features & flowing; ++i) {
        const ice_layer *layer = &medium->layers[i];
        const double numbers[] = {layer->anisotropy_along, layer->anisotropy_across,
                                  layer->birefringence, layer->birefringence_mean};
        ics_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    }
    if (features & TAG_WATER) {
        add_spectral(digest, medium);
    }
    if (features & TAG_HOLE) {
        const double numbers[] = {hole->radius, hole->effective_scattering, hole->absorption,
                                  hole->mean_cosine, hole->liu_fraction};
        add_feature(digest, TAG_HOLE, numbers, sizeof numbers / sizeof *numbers);
    }
}

static void add_medium(ics_digest *digest, const ice_medium *medium)
{
    const double scalars[] = {
        medium->bottom,       medium->thickness,          medium->alpha,
        medium->kappa,        medium->absorption_a,       medium->absorption_b,
        medium->mean_cosine,  medium->liu_fraction,       medium->absorb_above,
        medium->absorb_below, (double)medium->layer_count};
    ics_digest_add_numbers(digest, scalars, sizeof scalars / sizeof *scalars);
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        ics_digest_add_number(digest, layer->effective_scattering);
        ics_digest_add_number(digest, layer->bubbles);
        ics_digest_add_number(digest, layer->dust_absorption);
        ics_digest_add_number(digest, layer->delta_tau);
    }
    add_features(digest, medium);
    for (size_t i = 0; i < medium->scatter_count; ++i) {
        ics_digest_add_number(digest, medium->scatter[i].value);
    }
}

static void add_detector(ics_digest *digest, const ice_detector *detector)
{
    const double scalars[] = {detector->radius, detector->oversize, detector->keep_hit_photons,
                              (double)detector->module_count};
    ics_digest_add_numbers(digest, scalars, sizeof scalars / sizeof *scalars);
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        const double numbers[] = {module->string, module->module,  module->x,         module->y,
                                  module->z,      module->absorbs, module->efficiency};
        ics_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    }
}

static void add_light(ics_digest *digest, const ice_light *light)
{
    ics_digest_add_numbers(digest, light->bias_wavelength, light->bias_count);
    ics_digest_add_numbers(digest, light->bias, light->bias_count);
    ics_digest_add_number(digest, (double)light->count);
    for (size_t i = 0; i < light->count; ++i) {
        ics_digest_add_numbers(digest, light->spectra[i].wavelength, light->spectra[i].count);
        ics_digest_add_numbers(digest, light->spectra[i].density, light->spectra[i].count);
    }
}

static int make_digests(ics_models *models, icestream_error *error)
{
    ics_digest *digest;
    int status = ics_digest_create(&digest, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    add_medium(digest, models->medium);
    ics_digest_text(digest, models->ice_digest);
    ics_digest_reset(digest);
    add_detector(digest, models->detector);
    if (models->detection != NULL) {
        ics_detection_digest(digest, models->detector, models->light);
    }
    ics_digest_text(digest, models->detector_digest);
    ics_digest_reset(digest);
    add_light(digest, models->light);
    ics_digest_text(digest, models->light_digest);
    ics_digest_destroy(digest);
    if (!models->ice_digest[0] || !models->detector_digest[0] || !models->light_digest[0]) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "models: error: out of memory");
    }
    return ICESTREAM_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

int ics_models_create(const icestream_config *config, ics_models **out, icestream_error *error)
{
    *out = NULL;
    ics_models *models = calloc(1, sizeof *models);
    if (models == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "models: error: out of memory");
    }
    ics_ice_factors factors;
    int status = ics_config_check_files(config, "ice.", error);
    if (status == ICESTREAM_OK) {
        status = ics_ice_create(config, &models->medium, &factors, &models->warnings, error);
    }
    int result = ics_config_check_files(config, "detector.", error);
    if (result == ICESTREAM_OK) {
        result = ics_detector_create(config, &models->detector, &models->warnings, error);
    }
    status = status ? status : result;
    const char *const others[] = {"light.", "stages."};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        result = ics_config_check_files(config, others[i], error);
        status = status ? status : result;
    }
    if (status == ICESTREAM_OK) {
        status = ics_light_create(config, models->medium, &factors, models->detector,
                                  &models->light, error);
    }
    if (status == ICESTREAM_OK && ics_sensors_detecting(config)) {
        status = ics_detection_create(models->detector, models->light, ics_config_content(config),
                                      &models->detection, error);
    }
    if (status == ICESTREAM_OK) {
        status = make_digests(models, error);
    }
    if (status != ICESTREAM_OK) {
        ics_models_destroy(models);
        return status;
    }
    *out = models;
    return ICESTREAM_OK;
}

void ics_models_destroy(ics_models *models)
{
    if (models == NULL) {
        return;
    }
    ics_ice_destroy(models->medium);
    ics_detector_destroy(models->detector);
    ics_light_destroy(models->light);
    ics_detection_destroy(models->detection);
    ics_warnings_free(&models->warnings);
    free(models);
}
