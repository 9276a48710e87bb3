#include "pipeline/photons/replay/targets.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/provenance/origin.h"

#include <stdlib.h>
#include <string.h>

#define WEIGHTED(KEY)                                                                              \
    {                                                                                              \
        KEY, ICS_TARGET_WEIGHTED, NULL                                                             \
    }
#define IGNORED(KEY)                                                                               \
    {                                                                                              \
        KEY, ICS_TARGET_IGNORED, NULL                                                              \
    }
#define REFUSED(KEY, WHY)                                                                          \
    {                                                                                              \
        KEY, ICS_TARGET_REFUSED, WHY                                                               \
    }

#define MODULES "modules decide which photons are hits"

/* A row for every key on which hits depend; test_targets compares the rows with the schema. */
static const ics_target_key keys[] = {
    REFUSED("run.seed", "another seed has other photons"),
    REFUSED("run.bounce_limit", "it ends other paths, which no hit stands for"),
    REFUSED("sink.hits", "it decides what the rows are"),
    IGNORED("sink.waveform_bin"),
    IGNORED("sink.waveform_range"),
    IGNORED("device.math"),
    WEIGHTED("ice.model"),
    WEIGHTED("ice.directory"),
    WEIGHTED("ice.file"),
    WEIGHTED("ice.scattering_factor"),
    WEIGHTED("ice.absorption_factor"),
    WEIGHTED("ice.tilt"),
    WEIGHTED("ice.tilt_origin"),
    WEIGHTED("ice.tilt_outside"),
    WEIGHTED("ice.anisotropy"),
    REFUSED("ice.birefringence", "the probability of a deflection by crystals is not known"),
    WEIGHTED("ice.birefringence_subtraction"),
    WEIGHTED("ice.hole_ice"),
    REFUSED("ice.absorb_above", "it is a boundary of the world"),
    REFUSED("ice.absorb_below", "it is a boundary of the world"),
    REFUSED("detector.layout", MODULES),
    REFUSED("detector.file", MODULES),
    REFUSED("detector.radius", MODULES),
    REFUSED("detector.types", MODULES),
    REFUSED("detector.om_conf", MODULES),
    REFUSED("detector.om_map", MODULES),
    REFUSED("detector.om_tables", MODULES),
    REFUSED("detector.oversize", MODULES),
    REFUSED("detector.crossing", MODULES),
    REFUSED("detector.keep_hit_photons", "it decides which photons go on after a hit"),
    REFUSED("detector.jitter", MODULES),
    REFUSED("detector.dense", MODULES),
    REFUSED("detector.excluded", MODULES),
    WEIGHTED("detector.angular_acceptance"),
    WEIGHTED("detector.angular_polynomial"),
    WEIGHTED("detector.efficiencies"),
    WEIGHTED("detector.axes"),
    WEIGHTED("detector.cables"),
    WEIGHTED("detector.voltages"),
    WEIGHTED("detector.cable_radius"),
    WEIGHTED("detector.cable_length"),
    REFUSED("detector.string_cables", MODULES),
    REFUSED("detector.string_cable_azimuth", MODULES),
    WEIGHTED("light.acceptance"),
    WEIGHTED("light.high_efficiency"),
    WEIGHTED("light.spectra"),
    REFUSED("stages.create", "it decides where and how photons start"),
    REFUSED("stages.propagate", "its paths have another probability that is not known"),
    REFUSED("stages.collide", MODULES),
    WEIGHTED("stages.scatter"),
    REFUSED("stages.detect", "it decides which hits are photo-electrons"),
};

const ics_target_key *ics_targets_key_at(size_t k)
{
    return k < sizeof keys / sizeof *keys ? &keys[k] : NULL;
}

/* Whether a text begins with the path of a key and an equals sign. */
static bool is_setting(const char *text)
{
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.");
    return text[length] == '=' && memchr(text, '.', length) != NULL;
}

int ics_targets_config(const icestream_config *own, const char *text, icestream_config **out,
                       icestream_error *error)
{
    const char *const set[] = {text};
    return is_setting(text) ? ics_config_derive(own, "--to", set, 1, out, error)
                            : ics_config_overlay(own, text, out, error);
}

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for comparing configurations");
}

/* Compares one key. `why`: NULL if it may differ. */
static int compare(const icestream_config *own, const icestream_config *target, const char *key,
                   const char *why, json_t *list, icestream_error *found)
{
    ICS_FREES char *mine = ics_config_value_text(own, key);
    ICS_FREES char *other = ics_config_value_text(target, key);
    if (mine == NULL || other == NULL) {
        return no_memory(found);
    }
    if (strcmp(mine, other) == 0) {
        return ICESTREAM_OK;
    }
    if (why != NULL) {
        ics_config_error(target, key, found, "found %s, expected %s as in the hits, because %s",
                         other[0] != '\0' ? other : "nothing", mine[0] != '\0' ? mine : "nothing",
                         why);
    }
    ics_origin_drop_folders(mine);
    ics_origin_drop_folders(other);
    json_t *item =
        json_pack("{s:s, s:s, s:s}", "key", key, "own", mine[0] != '\0' ? mine : "nothing",
                  "target", other[0] != '\0' ? other : "nothing");
    return json_array_append_new(list, item) == 0 ? ICESTREAM_OK : no_memory(found);
}

int ics_targets_check_keys(const icestream_config *own, const icestream_config *target,
                           json_t **out, icestream_error *error)
{
    icestream_error found = {.status = ICESTREAM_OK};
    json_auto_t *list = json_array();
    const char *key;
    if (list == NULL) {
        return no_memory(error);
    }
    for (size_t k = 0; k < sizeof keys / sizeof *keys; ++k) {
        if (keys[k].rule != ICS_TARGET_IGNORED &&
            compare(own, target, keys[k].key, keys[k].why, list, &found) == ICESTREAM_E_MEMORY) {
            return no_memory(error);
        }
    }
    for (size_t k = 0; (key = ics_config_light_key(own, k)) != NULL; ++k) {
        if (compare(own, target, key, "the hits are those of this light", list, &found) ==
            ICESTREAM_E_MEMORY) {
            return no_memory(error);
        }
    }
    for (int i = 0; i < ICS_STAGES; ++i) {
        if (target->stages.custom[i] != NULL) {
            ics_error_add(&found, ICESTREAM_E_CONFIG,
                          "stages.%s: found the header %s, expected a variant of icestream, "
                          "because the probability of what a header does is not known",
                          ics_stage_name((ics_stage)i), target->stages.custom[i]);
        }
    }
    if (found.status != ICESTREAM_OK) {
        return ics_error_copy(error, &found);
    }
    *out = json_incref(list);
    return ICESTREAM_OK;
}

/* Whether both detectors have the same modules at the same positions. */
static bool has_same_modules(const ice_detector *a, const ice_detector *b)
{
    for (size_t i = 0; i < a->module_count && a->module_count == b->module_count; ++i) {
        const ice_module *one = &a->modules[i], *other = &b->modules[i];
        if (one->string != other->string || one->module != other->module || one->x != other->x ||
            one->y != other->y || one->z != other->z) {
            return false;
        }
    }
    return a->module_count == b->module_count;
}

int ics_targets_check_models(const icestream_config *target, const ics_models *own,
                             const ics_models *other, const char *name, icestream_error *error)
{
    if (!has_same_modules(own->detector, other->detector)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found the detector %s, expected that of the hits, %s, "
                             "because " MODULES "%s%s",
                             name, other->detector->name, own->detector->name,
                             target->ice.directory != NULL
                                 ? "; keys of the detector that are `auto` take files of "
                                 : "",
                             target->ice.directory != NULL ? target->ice.directory : "");
    }
    const double own_density = own->medium->density, density = other->medium->density;
    if (own_density != density) {
        return ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "%s: density: found %.6g g/cm3, expected %.6g g/cm3 as in the hits (0: "
            "ice), because particles make other light in another medium",
            name, density, own_density);
    }
    return ICESTREAM_OK;
}
