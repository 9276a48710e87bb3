#include "pipeline/tools/report/facts_models.h"

#include "base/error.h"
#include "pipeline/tools/report/facts_note.h"

#include <stdlib.h>
#include <string.h>

/* The digest of a model as hit files or the summary have it, or NULL. */
static const char *digest_of(const ics_facts *facts, const char *model)
{
    const json_t *const from[] = {json_object_get(facts->metadata, "digests"),
                                  json_object_get(facts->summary, "digests")};
    for (size_t i = 0; i < sizeof from / sizeof *from; ++i) {
        const char *digest = json_string_value(json_object_get(from[i], model));
        if (digest != NULL) {
            return digest;
        }
    }
    return NULL;
}

/* The path of the configuration of the newest run, which the caller frees; NULL: there is none. */
static char *name_configuration(const ics_facts *facts)
{
    const json_t *start = facts->history->last_start;
    const char *path = json_string_value(json_object_get(start, "configuration"));
    const char *base = json_string_value(json_object_get(start, "folder"));
    char *whole = NULL;
    if (path == NULL) {
        path = json_string_value(json_object_get(facts->summary, "configuration"));
    }
    if (path == NULL) {
        return NULL;
    }
    const int length = path[0] == '/' || base == NULL ? asprintf(&whole, "%s", path)
                                                      : asprintf(&whole, "%s/%s", base, path);
    return length < 0 ? NULL : whole;
}

/* Whether the models are those of the hits. Without digests they cannot be compared, and are not.
 */
static bool are_those_of_hits(const ics_facts *facts, const ics_models *models)
{
    const char *ice = digest_of(facts, "ice"), *detector = digest_of(facts, "detector");
    return ice != NULL && detector != NULL && strcmp(ice, models->ice_digest) == 0 &&
           strcmp(detector, models->detector_digest) == 0;
}

/* Tries one way to load the models. Returns whether they are those of the hits; if not, `why` says
 * it. */
static bool try_models(ics_facts *facts, const char *path, const char *const *sets, size_t count,
                       icestream_error *why)
{
    icestream_config *config = NULL;
    ics_models *models = NULL;
    int status = icestream_config_load(path, sets, count, &config, why);
    if (status == ICESTREAM_OK) {
        status = ics_models_create(config, &models, why);
    }
    if (status == ICESTREAM_OK && !are_those_of_hits(facts, models)) {
        status = ics_error_set(why, ICESTREAM_E_CONFIG,
                               "%s: describes other ice or another detector than those of the "
                               "hits: found the digests %.8s and %.8s, expected %.8s and %.8s",
                               path != NULL ? path : "the settings in the hit file",
                               models->ice_digest, models->detector_digest, digest_of(facts, "ice"),
                               digest_of(facts, "detector"));
    }
    if (status != ICESTREAM_OK) {
        ics_models_destroy(models);
        icestream_config_destroy(config);
        return false;
    }
    facts->config = config;
    facts->models = models;
    return true;
}

/* The settings of the models in a hit file, as KEY=VALUE. The caller frees the texts. */
static size_t list_settings(const ics_facts *facts, char ***out)
{
    json_t *values = json_object_get(json_object_get(facts->metadata, "settings"), "models");
    const char *key;
    json_t *value;
    size_t count = 0;
    *out = calloc(json_object_size(values) + 1, sizeof **out);
    json_object_foreach(values, key, value)
    {
        if (*out != NULL && asprintf(&(*out)[count], "%s=%s", key, json_string_value(value)) >= 0) {
            ++count;
        }
    }
    return count;
}

int ics_facts_load_models(ics_facts *facts, icestream_error *error)
{
    icestream_error why = {.text = ""};
    char **settings = NULL;
    if (digest_of(facts, "ice") == NULL || digest_of(facts, "detector") == NULL) {
        ics_facts_note(facts, "No hit file and no summary has digests of ice and detector, so the "
                              "positions of the modules and the ice are not shown.");
        return ICESTREAM_OK;
    }
    char *path = name_configuration(facts);
    const size_t count = list_settings(facts, &settings);
    if (settings == NULL) {
        free(path);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the report");
    }
    const char *const *sets = (const char *const *)settings;
    if (!(path != NULL && try_models(facts, path, NULL, 0, &why)) &&
        !(path != NULL && count > 0 && try_models(facts, path, sets, count, NULL)) &&
        !(count > 0 && try_models(facts, NULL, sets, count, path != NULL ? NULL : &why))) {
        ics_facts_note(facts,
                       "The positions of the modules and the ice are not shown, because the "
                       "configuration cannot be used: %s",
                       why.text);
    }
    for (size_t i = 0; i < count; ++i) {
        free(settings[i]);
    }
    free(settings);
    free(path);
    return ICESTREAM_OK;
}
