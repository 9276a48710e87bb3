/* Files of a ppc ice folder that most likely do not mean what the configuration makes of them. */
#include "pipeline/models/plausibility_folder.h"

#include "base/error.h"
#include "pipeline/models/detector/sensors.h"
#include "pipeline/models/ice/ice_known.h"
#include "tables/tables.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE = 1200 };

/* The place of a key, or of ice.directory if the key is not given. */
static const char *place_of(const icestream_config *config, const char *key, char *buffer)
{
    ics_config_place(config, key, buffer, PLACE);
    return strcmp(buffer, "default") == 0 ? ics_config_place(config, "ice.directory", buffer, PLACE)
                                          : buffer;
}

/* Birefringence that is subtracted in another way than a public model needs it. */
static int check_subtraction(const icestream_config *config, ics_models *models)
{
    static const char *const words[] = {[ICE_TAKEN_NOTHING] = "none",
                                        [ICE_TAKEN_CONSTANT] = "constant",
                                        [ICE_TAKEN_SCALED] = "scaled"};
    const ice_medium *medium = models->medium;
    const ics_ice_known *known = NULL;
    icestream_error unused = {0};
    char place[PLACE];
    if (config->ice.directory == NULL ||
        !(ics_tables_find_features(medium) & ICE_HAS_BIREFRINGENCE)) {
        return ICESTREAM_OK;
    }
    /* The file was read before, so that only lack of memory can be an error. */
    const int status = ics_ice_known_find(config->ice.directory, &known, &unused);
    if (status != ICESTREAM_OK || known == NULL || medium->taken == known->taken) {
        return status == ICESTREAM_E_MEMORY ? status : ICESTREAM_OK;
    }
    return ics_warnings_add(
        &models->warnings,
        "%s: ice.birefringence_subtraction: found %s, and icemodel.dat of %s is that of %s (by its "
        "numbers), whose scattering needs %s; scattering lengths are wrong otherwise",
        place_of(config, "ice.birefringence_subtraction", place), words[medium->taken],
        config->ice.directory, known->name, known->subtraction);
}

static bool is_flat(const ice_angular *angular)
{
    for (size_t i = 1; i < angular->count; ++i) {
        if (angular->coefficients[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Columns of hole ice and a curve of acceptance that usually contains the effect of such columns.
 */
static int check_hole(const icestream_config *config, ics_models *models)
{
    const char *value = config->detector.angular_acceptance;
    const ice_angular *angular = &models->detector->angular;
    char *path, place[PLACE];
    if (!ics_sensors_detecting(config) || config->detector.angular_count > 0 ||
        strcmp(value, "standard") == 0 || strcmp(value, "none") == 0 || angular->has_edge ||
        is_flat(angular) || !(ics_tables_find_features(models->medium) & ICE_HAS_HOLES)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_sensors_model_file(config, value, "as.dat", &path, NULL));
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    const int status =
        ics_warnings_add(&models->warnings,
                         "%s: detector.angular_acceptance: found the polynomial of %s, and ice "
                         "with columns around the "
                         "strings; such curves usually contain the effect of these columns "
                         "already, which then counts "
                         "twice; expected ice.hole_ice: false, or a curve of the module alone, "
                         "such as 0 and the edge "
                         "of the photocathode",
                         place_of(config, "detector.angular_acceptance", place), path);
    free(path);
    return status;
}

/* A curve of the folder that a key with the value auto does not find. ppc ends without it. */
static int check_curve(const icestream_config *config, ics_models *models, const char *key,
                       const char *value, const char *name)
{
    char *path, place[PLACE];
    if (config->ice.directory == NULL || strcmp(value, "auto") != 0 ||
        models->detector->acceptance_count > 0) { /* the types of modules give it */
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_sensors_model_file(config, value, name, &path, NULL));
    const bool is_there = path != NULL;
    free(path);
    return is_there ? ICESTREAM_OK
                    : ics_warnings_add(&models->warnings,
                                       "%s: %s: found no %s in %s, used the built-in curve; usual: "
                                       "the file, without which ppc ends, or %s: standard",
                                       place_of(config, key, place), key, name,
                                       config->ice.directory, key);
}

int ics_plausibility_check_folder(const icestream_config *config, ics_models *models)
{
    ICS_TRY(check_subtraction(config, models));
    ICS_TRY(check_curve(config, models, "light.acceptance", config->light.acceptance, "wv.dat"));
    if (config->detector.angular_count == 0) {
        ICS_TRY(check_curve(config, models, "detector.angular_acceptance",
                            config->detector.angular_acceptance, "as.dat"));
    }
    return check_hole(config, models);
}
