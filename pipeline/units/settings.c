#include "pipeline/units/settings.h"

#include "base/error.h"

#include <string.h>

/* One comparison of two metadata objects. */
typedef struct comparison {
    const char *path;
    const json_t *found, *expected;
    icestream_error *error;
    size_t lines;
} comparison;

static const char *text_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text != NULL ? text : "nothing";
}

static void add_line(comparison *at, const char *key, const char *found, const char *expected)
{
    ics_error_add(at->error, ICESTREAM_E_OUTPUT, "%s: %s: found %s, expected %s", at->path, key,
                  found, expected);
    ++at->lines;
}

/* Compares one part of the settings, "values" or "models". */
static void compare_part(comparison *at, const char *part)
{
    const json_t *found = json_object_get(json_object_get(at->found, "settings"), part);
    json_t *expected = json_object_get(json_object_get(at->expected, "settings"), part);
    const char *key;
    json_t *value;
    json_object_foreach(expected, key, value)
    {
        const json_t *other = json_object_get(found, key);
        /* The light is one of the models: its keys explain it better than its digest. */
        if (!json_equal(other, value) && strcmp(key, "light") != 0) {
            add_line(at, key, text_of(other), text_of(value));
        }
    }
    json_object_foreach((json_t *)(uintptr_t)found, key, value)
    {
        if (json_object_get(expected, key) == NULL && strcmp(key, "light") != 0) {
            add_line(at, key, text_of(value), "nothing");
        }
    }
}

static const json_t *digest_of(const json_t *metadata, const char *name)
{
    return json_object_get(json_object_get(metadata, "digests"), name);
}

static const json_t *light_of(const json_t *metadata)
{
    return json_object_get(json_object_get(json_object_get(metadata, "settings"), "values"),
                           "light");
}

static bool models_differ(const comparison *at)
{
    return !json_equal(digest_of(at->found, "ice"), digest_of(at->expected, "ice")) ||
           !json_equal(digest_of(at->found, "detector"), digest_of(at->expected, "detector")) ||
           !json_equal(light_of(at->found), light_of(at->expected));
}

/* Names the digests that differ; the content of files differs then, and no key does. */
static void name_digests(comparison *at)
{
    static const char *const names[] = {"configuration", "ice", "detector"};
    char key[64], left[24], right[24];
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const json_t *found = digest_of(at->found, names[i]);
        const json_t *expected = digest_of(at->expected, names[i]);
        if (!json_equal(found, expected)) {
            snprintf(key, sizeof key, "digest of %s", names[i]);
            snprintf(left, sizeof left, "%.16s", text_of(found));
            snprintf(right, sizeof right, "%.16s", text_of(expected));
            add_line(at, key, left, right);
        }
    }
}

size_t ics_settings_explain(const char *path, const json_t *found, const json_t *expected,
                            icestream_error *error)
{
    comparison at = {.path = path, .found = found, .expected = expected, .error = error};
    const bool lists = json_is_object(json_object_get(found, "settings"));
    if (lists) {
        compare_part(&at, "values");
    } else if (!json_equal(json_object_get(found, "seed"), json_object_get(expected, "seed"))) {
        add_line(&at, "run.seed", text_of(json_object_get(found, "seed")),
                 text_of(json_object_get(expected, "seed")));
    }
    if (lists && models_differ(&at)) {
        compare_part(&at, "models");
    }
    if (at.lines == 0 || !lists) {
        name_digests(&at);
    }
    return at.lines;
}
