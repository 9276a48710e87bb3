#include "pipeline/photons/generator/light_settings.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_text.h"
#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/files/format/digest.h"
#include "pipeline/photons/generator/light_digest.h"
#include "pipeline/photons/models/light_record.h"
#include "pipeline/photons/particles/list_warnings.h"

#include <stdlib.h>
#include <string.h>

/* A longer list of particles is written as a digest. */
enum { LIST_MOST = 200 };

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the settings of light");
}

static int set(json_t *settings, const char *key, json_t *value, icestream_error *error)
{
    return json_object_set_new(settings, key, value) == 0 ? ICESTREAM_OK : out_of_memory(error);
}

static int set_file(const icestream_config *config, json_t *settings, icestream_error *error)
{
    const char *key = "particles.file", *path = config->particles.file;
    char digest[ICS_DIGEST_TEXT];
    if (ics_particle_list_is_stream(config->particles.file)) {
        return set(settings, key, json_string("a pipe"), error);
    }
    ICS_TRY(ics_light_digest_of_file(path, digest, error));
    const char *slash = strrchr(path, '/');
    return set(settings, key,
               json_pack("{s:o, s:s}", "name", ics_json_text(slash != NULL ? slash + 1 : path),
                         "digest", digest),
               error);
}

static int set_list(const icestream_config *config, json_t *settings, const char *text,
                    icestream_error *error)
{
    char digest[ICS_DIGEST_TEXT], name[48];
    if (strlen(text) <= LIST_MOST) {
        return set(settings, "particles.list", json_string(text), error);
    }
    snprintf(name, sizeof name, "list of %zu", config->particles.list->count);
    ICS_TRY(ics_digest_of(text, strlen(text), digest, error));
    return set(settings, "particles.list", json_pack("{s:s, s:s}", "name", name, "digest", digest),
               error);
}

static int set_key(const icestream_config *config, const char *key, json_t *settings,
                   icestream_error *error)
{
    ICS_FREES char *text = ics_config_value_text(config, key);
    if (text == NULL) {
        return out_of_memory(error);
    }
    return strcmp(key, "particles.list") == 0 ? set_list(config, settings, text, error)
                                              : set(settings, key, json_string(text), error);
}

int ics_light_settings_make(const icestream_config *config, json_t **out, icestream_error *error)
{
    json_auto_t *settings = json_object();
    const char *key;
    *out = NULL;
    if (settings == NULL) {
        return out_of_memory(error);
    }
    for (size_t k = 0; (key = ics_config_light_key(config, k)) != NULL; ++k) {
        ICS_TRY(set_key(config, key, settings, error));
    }
    if (config->particles.file != NULL) {
        ICS_TRY(set_file(config, settings, error));
    }
    *out = json_incref(settings);
    return ICESTREAM_OK;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static int add_difference(json_t *list, const char *key, const json_t *found,
                          const json_t *expected)
{
    char left[512], right[512];
    return json_array_append_new(
        list, json_pack("{s:s, s:s, s:s}", "key", key, "steps",
                        ics_light_record_value_text(found, left, sizeof left), "run",
                        ics_light_record_value_text(expected, right, sizeof right)));
}

int ics_light_settings_compare(const json_t *found, const json_t *expected, json_t **out,
                               icestream_error *error)
{
    json_auto_t *list = json_array();
    json_t *value;
    const char *key;
    int failed = list == NULL;
    *out = NULL;
    json_object_foreach((json_t *)(uintptr_t)expected, key, value)
    {
        const json_t *other = json_object_get(found, key);
        if (!ics_light_record_value_same(other, value)) {
            failed |= add_difference(list, key, other, value);
        }
    }
    json_object_foreach((json_t *)(uintptr_t)found, key, value)
    {
        if (json_object_get(expected, key) == NULL) {
            failed |= add_difference(list, key, value, NULL);
        }
    }
    if (failed) {
        return out_of_memory(error);
    }
    *out = json_incref(list);
    return ICESTREAM_OK;
}

bool ics_light_settings_is_source(const char *key)
{
    static const char *const keys[] = {"particles.list", "particles.file", "particles.events",
                                       "particles.first_event"};
    bool is_source = strncmp(key, "workload.", strlen("workload.")) == 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        is_source = is_source || strcmp(key, keys[i]) == 0;
    }
    return is_source;
}
