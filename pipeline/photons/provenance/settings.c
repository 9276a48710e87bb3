#include "pipeline/photons/provenance/settings.h"

#include "base/error.h"
#include "pipeline/photons/config/changes.h"
#include "pipeline/photons/files/metadata.h"
#include "pipeline/photons/models/light_record.h"

#include <string.h>

/* One comparison of two metadata objects. */
typedef struct comparison {
    const json_t *found, *expected;
    json_t *list;
    bool failed; /* out of memory */
} comparison;

static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL ? text : "nothing";
}

/* A value that was the default says so: its user may have changed nothing. */
static void add(comparison *at, const char *key, const char *found, const char *expected)
{
    char note[64];
    json_t *item =
        json_pack("{s:s, s:o, s:s}", "key", key, "found",
                  json_sprintf("%s%s", found,
                               ics_config_change_note(key, found, expected, note, sizeof note)),
                  "expected", expected);
    at->failed |= json_array_append_new(at->list, item) != 0;
}

/* Two values that are missing are the same. */
static bool is_same(const json_t *left, const json_t *right)
{
    return (left == NULL && right == NULL) || json_equal(left, right);
}

static const json_t *part_of(const json_t *metadata, const char *part)
{
    return json_object_get(json_object_get(metadata, "settings"), part);
}

/* A file of an older icestream has other photons with the same settings. Another seed is shown by
 * the settings. */
static void compare_random_numbers(comparison *at)
{
    const json_int_t found = ics_metadata_random_version(at->found);
    const json_int_t expected = ics_metadata_random_version(at->expected);
    char left[80], right[80];
    if (found != expected &&
        is_same(json_object_get(at->found, "seed"), json_object_get(at->expected, "seed"))) {
        snprintf(left, sizeof left, "version %" JSON_INTEGER_FORMAT, found);
        snprintf(right, sizeof right, "version %" JSON_INTEGER_FORMAT " (made by another version)",
                 expected);
        add(at, "random numbers", left, right);
    }
}

/* Whether a key has a better explanation than the two texts: the light is one of the models, and
 * random numbers have a version. */
static bool is_explained_elsewhere(const char *key)
{
    return strcmp(key, "light") == 0 || strcmp(key, "random numbers") == 0;
}

static void add_values(comparison *at, const char *key, const json_t *found, const json_t *expected)
{
    char left[2048], right[2048];
    if (!is_explained_elsewhere(key) && !ics_light_record_value_same(found, expected)) {
        add(at, key, ics_light_record_value_text(found, left, sizeof left),
            ics_light_record_value_text(expected, right, sizeof right));
    }
}

/* Compares one part of the settings: "values", "models" or "light". */
static void compare_part(comparison *at, const char *part)
{
    const json_t *found = part_of(at->found, part), *expected = part_of(at->expected, part);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)expected, key, value)
    {
        add_values(at, key, json_object_get(found, key), value);
    }
    json_object_foreach((json_t *)(uintptr_t)found, key, value)
    {
        if (json_object_get(expected, key) == NULL) {
            add_values(at, key, value, NULL);
        }
    }
}

static const json_t *digest_of(const json_t *metadata, const char *name)
{
    return json_object_get(json_object_get(metadata, "digests"), name);
}

static bool has_other_digest(const comparison *at, const char *name)
{
    return !is_same(digest_of(at->found, name), digest_of(at->expected, name));
}

static bool models_differ(const comparison *at)
{
    return has_other_digest(at, "ice") || has_other_digest(at, "detector") ||
           !is_same(json_object_get(part_of(at->found, "values"), "light"),
                    json_object_get(part_of(at->expected, "values"), "light"));
}

static void name_digest(comparison *at, const char *name, const char *covers)
{
    char key[96], left[24], right[24];
    if (has_other_digest(at, name)) {
        snprintf(key, sizeof key, "digest of %s", covers);
        snprintf(left, sizeof left, "%.16s", text_of(digest_of(at->found, name)));
        snprintf(right, sizeof right, "%.16s", text_of(digest_of(at->expected, name)));
        add(at, key, left, right);
    }
}

/* The key that stands for the light of a run. */
static const char *light_key(const json_t *light)
{
    return json_object_get(light, "particles.file") != NULL   ? "particles.file"
           : json_object_get(light, "particles.list") != NULL ? "particles.list"
                                                              : "workload";
}

static void compare_light(comparison *at)
{
    const json_t *expected = part_of(at->expected, "light");
    if (expected != NULL && part_of(at->found, "light") == NULL) {
        name_digest(at, "input", light_key(expected));
    } else if (expected != NULL && has_other_digest(at, "input")) {
        compare_part(at, "light");
    }
}

static void compare_seeds(comparison *at)
{
    const json_t *found = json_object_get(at->found, "seed");
    const json_t *expected = json_object_get(at->expected, "seed");
    if (!is_same(found, expected)) {
        add(at, "run.seed", text_of(found), text_of(expected));
    }
}

static void compare_all(comparison *at)
{
    const bool lists = json_is_object(json_object_get(at->found, "settings"));
    compare_random_numbers(at);
    if (!lists) {
        compare_seeds(at);
    } else {
        compare_part(at, "values");
        if (models_differ(at)) {
            compare_part(at, "models");
        }
    }
    compare_light(at);
    if (json_array_size(at->list) == 0 || !lists) {
        /* The content of files differs then, and no key does. */
        name_digest(at, "configuration", "configuration");
        name_digest(at, "ice", "ice");
        name_digest(at, "detector", "detector");
    }
    if (json_array_size(at->list) == 0 && ics_settings_has_light(at->expected)) {
        name_digest(at, "input", "the light of these particles");
    }
}

bool ics_settings_has_light(const json_t *metadata)
{
    return part_of(metadata, "light") != NULL;
}

int ics_settings_compare(const json_t *found, const json_t *expected, json_t **out,
                         icestream_error *error)
{
    comparison at = {.found = found, .expected = expected, .list = json_array()};
    compare_all(&at);
    *out = at.list;
    if (!at.failed && at.list != NULL) {
        return ICESTREAM_OK;
    }
    json_decref(at.list);
    *out = NULL;
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for comparing settings");
}

/* A member of an item of the list. */
static const char *member(const json_t *item, const char *name)
{
    return text_of(json_object_get(item, name));
}

bool ics_settings_explain(const char *path, const json_t *found, const json_t *expected,
                          icestream_error *error)
{
    json_auto_t *list = NULL;
    const json_t *item;
    icestream_error why = {.status = ICESTREAM_OK};
    size_t i;
    if (ics_settings_compare(found, expected, &list, &why) != ICESTREAM_OK) {
        ics_error_add(error, ICESTREAM_E_OUTPUT, "%s: %s", path, why.text);
        return true;
    }
    json_array_foreach(list, i, item)
    {
        ics_error_add(error, ICESTREAM_E_OUTPUT, "%s: %s: found %s, expected %s", path,
                      member(item, "key"), member(item, "found"), member(item, "expected"));
    }
    return json_array_size(list) > 0;
}

int ics_settings_list(const json_t *found, const json_t *expected, char *text, size_t size,
                      icestream_error *error)
{
    json_auto_t *list = NULL;
    const json_t *item;
    size_t i, used = 0;
    text[0] = '\0';
    ICS_TRY(ics_settings_compare(found, expected, &list, error));
    json_array_foreach(list, i, item)
    {
        if (used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s%s (%s, %s)", i > 0 ? ", " : "",
                                     member(item, "key"), member(item, "found"),
                                     member(item, "expected"));
        }
    }
    return ICESTREAM_OK;
}
