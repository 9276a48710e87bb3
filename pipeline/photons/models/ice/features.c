#include "pipeline/photons/models/ice/features.h"

#include "base/error.h"
#include "tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct feature_row {
    const ics_ice_feature *feature;
    uint32_t bits; /* ICE_HAS_... */
} feature_row;

static const feature_row rows[] = {
#define ROW(name, bits) {&ics_ice_feature_##name, (bits)},
    ICE_FEATURES(ROW)
#undef ROW
};

enum { ROWS = sizeof rows / sizeof *rows };

static bool is_on(const icestream_config *config, const ics_ice_feature *feature)
{
    return feature->is_on == NULL || feature->is_on(config);
}

void ics_ice_features_add_keys(ics_ice_keys *keys)
{
    for (size_t i = 0; i < ROWS; ++i) {
        const ics_ice_feature *feature = rows[i].feature;
        for (size_t k = 0; k < feature->field_count && keys->count < ICS_ICE_KEYS_MAX; ++k) {
            keys->fields[keys->count++] = feature->fields[k];
        }
    }
}

int ics_ice_features_check(const ics_ice_file *file, const ics_ice_keys *keys,
                           icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < ROWS; ++i) {
        if (rows[i].feature->check != NULL) {
            status = ics_error_first(status, rows[i].feature->check(file, keys, error));
        }
    }
    return status;
}

void ics_ice_features_convert(ics_ice_file *file)
{
    for (size_t i = 0; i < ROWS; ++i) {
        if (rows[i].feature->convert != NULL) {
            rows[i].feature->convert(file);
        }
    }
}

int ics_ice_features_load(const icestream_config *config, const ics_ice_file *file,
                          ice_medium *medium, icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < ROWS; ++i) {
        const ics_ice_feature *feature = rows[i].feature;
        if (feature->load != NULL && is_on(config, feature)) {
            status = ics_error_first(status, feature->load(file, medium, error));
        }
    }
    return status;
}

void ics_ice_features_warn(const ice_medium *medium, ics_warnings *warnings)
{
    for (size_t i = 0; i < ROWS; ++i) {
        if (rows[i].feature->warn != NULL) {
            rows[i].feature->warn(medium, warnings);
        }
    }
}

void ics_ice_features_describe(const ice_medium *medium, FILE *out)
{
    const uint32_t found = ics_tables_find_features(medium);
    bool flow_is_shown = false;
    for (size_t i = 0; i < ROWS; ++i) {
        const ics_ice_feature *feature = rows[i].feature;
        if ((found & rows[i].bits) == 0 || feature->describe == NULL) {
            continue;
        }
        if (feature->has_flow && !flow_is_shown) {
            fprintf(out, "  flow     azimuth %.6g\n", medium->flow_azimuth * 180 / M_PI);
            flow_is_shown = true;
        }
        feature->describe(medium, out);
    }
}

void ics_ice_features_switch_off(const icestream_config *config, ice_medium *medium,
                                 ics_layer_list *layers)
{
    for (size_t i = 0; i < ROWS; ++i) {
        const ics_ice_feature *feature = rows[i].feature;
        if (feature->remove != NULL && !is_on(config, feature)) {
            feature->remove(medium, layers);
        }
    }
}

const char *ics_ice_features_text(const ice_medium *medium, char *buffer, size_t size)
{
    const uint32_t found = ics_tables_find_features(medium);
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < ROWS && used < size; ++i) {
        if ((found & rows[i].bits) != 0 && rows[i].feature->name != NULL) {
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : " with ",
                                     rows[i].feature->name);
        }
    }
    return buffer;
}
