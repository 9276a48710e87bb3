#include "pipeline/photons/models/models.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/config/table.h"
#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/ice/ice.h"
#include "pipeline/photons/models/light/light.h"
#include "pipeline/photons/models/types/transit_times.h"

#include <stdlib.h>
#include <string.h>

/* Says why a run has its detector. */
static const char *detector_reason(const icestream_config *config, const ice_detector *detector)
{
    const bool is_built_in = strcmp(detector->name, "hex86") == 0;
    if (config->detector.file != NULL) {
        return "detector.file";
    }
    if (strcmp(config->detector.layout, "auto") != 0) {
        return "detector.layout";
    }
    if (!is_built_in) {
        return "geo-f2k of ice.directory, because neither detector.file nor detector.layout is "
               "given";
    }
    return config->ice.directory != NULL
               ? "the built-in layout, because ice.directory has no geo-f2k and neither "
                 "detector.file nor detector.layout is given"
               : "the built-in layout, the default";
}

/* Columns have their true size, so modules that are wider stick out of them, and most of their
 * light has never been in a column (physics.md 8.7). Of tables the oversize is 1. */
static int check_columns(const icestream_config *config, ics_models *models, icestream_error *error)
{
    const double oversize = models->detector->oversize;
    const ice_hole *hole = &models->medium->hole;
    char place[512];
    if (oversize <= 1 || !(ics_tables_find_features(models->medium) & ICE_HAS_HOLES)) {
        return ICESTREAM_OK;
    }
    ics_config_place(config, "detector.oversize", place, sizeof place);
    if (config->ice.hole_ice == ICS_HOLE_ICE_UNSCALED) {
        ics_warnings_add(
            &models->warnings,
            "%s: detector.oversize: found %g, with which modules are %.3g m wide, and "
            "ice.hole_ice: unscaled, with columns of %.3g m: most light misses the columns, "
            "which is wrong except for comparisons with ppc; usual: detector.oversize: 1",
            place, oversize, 2 * models->detector->radius * oversize, 2 * hole->radius);
        return ICESTREAM_OK;
    }
    return ics_error_add(
        error, ICESTREAM_E_CONFIG,
        "%s: error: detector.oversize: found %g in ice with columns of hole ice, which are %.3g m "
        "wide: modules of %.3g m stick out of them, and most light would miss the columns; "
        "expected detector.oversize: 1, or ice.hole_ice: unscaled (ppc's behaviour, for "
        "comparisons) or false (no columns)",
        place, oversize, 2 * hole->radius, 2 * models->detector->radius * oversize);
}

static void destroy_at(ics_models **models)
{
    ics_models_destroy(*models);
}

/* Makes ice and detector. Errors of both are reported together, and those of missing files for the
 * light, too. */
static int make_surroundings(const icestream_config *config, ics_models *models,
                             ics_ice_factors *factors, icestream_error *error)
{
    static const char *const others[] = {"light.", "stages."};
    int status = ics_config_check_files(config, "ice.", error);
    if (status == ICESTREAM_OK) {
        status = ics_ice_create(config, &models->medium, factors, &models->warnings, error);
    }
    int result = ics_config_check_files(config, "detector.", error);
    if (result == ICESTREAM_OK) {
        result = ics_detector_create(config, &models->detector, &models->warnings, error);
    }
    status = ics_error_first(status, result);
    if (status == ICESTREAM_OK) {
        status = check_columns(config, models, error);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        status = ics_error_first(status, ics_config_check_files(config, others[i], error));
    }
    return status;
}

static int read_pulse(const icestream_config *config, ice_transit *out, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    if (config->particles.pulse == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_text_read(config->particles.pulse, &text, error));
    return ics_transit_times_read_csv(&text, out, error);
}

int ics_models_create(const icestream_config *config, ics_models **out, icestream_error *error)
{
    char text[1400];
    ics_ice_factors factors;
    ICS_CLEANUP(destroy_at) ics_models *models = calloc(1, sizeof *models);
    *out = NULL;
    if (models == NULL) {
        return ics_error_no_memory(error, "models");
    }
    ICS_TRY(make_surroundings(config, models, &factors, error));
    models->detector_from = detector_reason(config, models->detector);
    models->scattering_factor = config->ice.scattering_factor;
    models->absorption_factor = config->ice.absorption_factor;
    ICS_TRY(ics_light_create(config, models->medium, &factors, models->detector, &models->light,
                             error));
    ICS_TRY(read_pulse(config, &models->pulse, error));
    const char *unused = ics_config_table_unused(config, text, sizeof text);
    if (unused != NULL) {
        ics_warnings_add(&models->warnings, "%s", unused);
    }
    if (ics_sensors_detecting(config)) {
        ICS_TRY(ics_detection_create(models->detector, models->light, config->stages.detect,
                                     ics_config_content(config), &models->detection, error));
    }
    ICS_TRY(ics_model_digests_make(models, error));
    ICS_TRY(ics_warnings_status(&models->warnings, error));
    *out = models;
    models = NULL;
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
    ics_transit_times_free(&models->pulse);
    ics_detection_destroy(models->detection);
    ics_tables_part_destroy(models->detector_part);
    ics_warnings_free(&models->warnings);
    free(models);
}
