/* Files of a ppc ice folder that most likely do not mean what the configuration makes of them. */
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/plausibility_parts.h"
#include "tables/tables.h"

#include <stdlib.h>
#include <string.h>

/* A key, or ice.directory if the key is not given. */
static ics_value_place at_key(const ics_inspection *self, const char *key)
{
    return (ics_value_place){.key = ics_plausibility_is_given(self, key) ? key : "ice.directory"};
}

/* Birefringence that is subtracted in another way than a public model needs it. */
static void check_subtraction(const ics_inspection *self)
{
    static const char *const words[] = {[ICE_TAKEN_NOTHING] = "none",
                                        [ICE_TAKEN_CONSTANT] = "constant",
                                        [ICE_TAKEN_SCALED] = "scaled"};
    const char *folder = self->config->ice.directory;
    const ics_ice_known *known = NULL;
    icestream_error unused = {0};
    if (folder == NULL || !(ics_tables_find_features(self->medium) & ICE_HAS_BIREFRINGENCE)) {
        return;
    }
    /* The file was read before, so that only lack of memory can be an error. */
    if (ics_ice_known_find(folder, &known, &unused) == ICESTREAM_E_MEMORY) {
        self->warnings->status = ICESTREAM_E_MEMORY;
    }
    if (known != NULL) {
        ics_plausibility_expect(
            self, self->medium->taken == known->taken,
            at_key(self, "ice.birefringence_subtraction"),
            "ice.birefringence_subtraction: found %s, and icemodel.dat of %s is that of %s (by its "
            "numbers), whose scattering needs %s; scattering lengths are wrong otherwise",
            words[self->medium->taken], folder, known->name, known->subtraction);
    }
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
static void check_hole(const ics_inspection *self)
{
    const char *value = self->config->detector.angular_acceptance;
    const ice_angular *angular = &self->detector->angular;
    if (!ics_sensors_detecting(self->config) || self->config->detector.angular_count > 0 ||
        strcmp(value, "standard") == 0 || strcmp(value, "none") == 0 || angular->has_edge ||
        is_flat(angular) || !(ics_tables_find_features(self->medium) & ICE_HAS_HOLES)) {
        return;
    }
    char *path = ics_plausibility_find_file(self, value, "as.dat");
    ics_plausibility_expect(
        self, path == NULL, at_key(self, "detector.angular_acceptance"),
        "detector.angular_acceptance: found the polynomial of %s, and ice with columns around the "
        "strings; such curves usually contain the effect of these columns already, which then "
        "counts twice; expected ice.hole_ice: false, or a curve of the module alone, such as 0 and "
        "the edge of the photocathode",
        path);
    free(path);
}

/* A curve of the folder that a key with the value auto does not find. ppc ends without it. */
static void check_curve(const ics_inspection *self, const char *key, const char *value,
                        const char *name)
{
    const char *folder = self->config->ice.directory;
    if (folder == NULL || strcmp(value, "auto") != 0 ||
        self->detector->acceptance_count > 0) { /* the types of modules give it */
        return;
    }
    char *path = ics_plausibility_find_file(self, value, name);
    ics_plausibility_expect(self, path != NULL, at_key(self, key),
                            "%s: found no %s in %s, used the built-in curve; usual: the file, "
                            "without which ppc ends, or %s: standard",
                            key, name, folder, key);
    free(path);
}

void ics_plausibility_check_folder(const ics_inspection *self)
{
    const icestream_config *config = self->config;
    check_subtraction(self);
    check_curve(self, "light.acceptance", config->light.acceptance, "wv.dat");
    if (config->detector.angular_count == 0) {
        check_curve(self, "detector.angular_acceptance", config->detector.angular_acceptance,
                    "as.dat");
    }
    check_hole(self);
}
