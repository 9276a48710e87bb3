/* Loads and prints configurations. */
#include "pipeline/photons/config/config.h"

#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/config/table.h"

#include <stdlib.h>
#include <string.h>

ICS_CAN_DESTROY(icestream_config, icestream_config_destroy)

static int out_of_memory(icestream_error *error)
{
    ics_error_set(error, ICESTREAM_E_MEMORY, "configuration: out of memory");
    return ICESTREAM_E_MEMORY;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        free(texts[i]);
    }
    free(texts);
}

/* Copies the texts of --set; NULL: out of memory. */
static char **copy_sets(const char *const *sets, size_t count)
{
    char **copies = calloc(count + 1, sizeof *copies);
    for (size_t i = 0; copies != NULL && i < count; ++i) {
        copies[i] = strdup(sets[i]);
        if (copies[i] == NULL) {
            free_texts(copies, i);
            return NULL;
        }
    }
    return copies;
}

/* Frees a configuration that has no owner, and possibly not all of its parts. */
static void free_config(icestream_config *config)
{
    ics_config_origin *origin = config->origin;
    ics_schema_clear(ics_config_keys, ICS_CONFIG_KEYS, config);
    for (size_t i = 0; i < origin->count; ++i) {
        ics_yaml_destroy(origin->documents[i]);
    }
    icestream_config_destroy(origin->base);
    free_texts(origin->sets, origin->set_count);
    free(origin->documents);
    free(origin);
    free(config->path);
    free(config);
}

static bool fill_origin(icestream_config *config, const char *path, const char *const *sets,
                        size_t set_count)
{
    ics_config_origin *origin = config->origin;
    config->path = path != NULL ? strdup(path) : NULL;
    origin->documents = calloc(set_count + 2, sizeof(void *));
    origin->sets = copy_sets(sets, set_count);
    origin->set_count = origin->sets != NULL ? set_count : 0;
    return (path == NULL || config->path != NULL) && origin->documents != NULL &&
           origin->sets != NULL;
}

/* Makes a configuration without values. *out is set also after an error, unless it is NULL. */
static int create(const char *path, const char *const *sets, size_t set_count,
                  icestream_config **out, icestream_error *error)
{
    ICS_FREES icestream_config *config = calloc(1, sizeof *config);
    if (config != NULL) {
        config->origin = calloc(1, sizeof *config->origin);
    }
    if (config == NULL || config->origin == NULL) {
        return out_of_memory(error);
    }
    atomic_init(&config->origin->holders, 1);
    *out = ICS_HAND_OVER(config);
    return fill_origin(*out, path, sets, set_count) ? ICESTREAM_OK : out_of_memory(error);
}

void ics_config_hold(const icestream_config *config)
{
    atomic_fetch_add(&config->origin->holders, 1);
}

void icestream_config_destroy(icestream_config *config)
{
    if (config != NULL && atomic_fetch_sub(&config->origin->holders, 1) == 1) {
        free_config(config);
    }
}

/* Applies "path=value", which `option` gave. The configuration keeps the document, because messages
 * name its places. */
static int apply_set(icestream_config *config, const char *option, const char *set,
                     icestream_error *error)
{
    const char *equals = strchr(set, '=');
    if (equals == NULL || equals == set) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s %s: error: expected path=value, as in graph.schedule=monolithic",
                             option, set);
    }
    ICS_FREES char *name = NULL, *key = strndup(set, (size_t)(equals - set));
    /* Messages have the name. A URL may have a secret. */
    if (key == NULL ||
        asprintf(&name, "%s %s", option, strstr(equals, "://") != NULL ? key : set) < 0) {
        name = NULL;
        return out_of_memory(error);
    }
    ics_config_origin *origin = config->origin;
    ics_yaml *document = NULL;
    int status = ics_yaml_read_value(name, "", equals + 1, &document, error);
    if (status == ICESTREAM_OK) {
        origin->documents[origin->count++] = document;
        status = ics_schema_set(key, ics_yaml_root(document), ics_config_keys, ICS_CONFIG_KEYS,
                                config, origin->given, error);
    }
    const size_t i = ics_config_find(key);
    if (i < ICS_CONFIG_KEYS) {
        origin->refused[i] = status != ICESTREAM_OK;
    }
    return status;
}

/* Finds the value of a path such as "graph.pool" below a node. NULL: there is none. */
static const ics_yaml_node *value_at(const ics_yaml_node *node, const char *path)
{
    while (node != NULL && *path) {
        char key[64];
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        node = ics_yaml_find(node, key);
        path += length + (path[length] == '.');
    }
    return node;
}

/* The paths of defaults are read as if the document (NULL: there is none) named them. */
static int fill_defaults(const ics_yaml *document, icestream_config *config, icestream_error *error)
{
    const char *folder = document != NULL ? ics_yaml_root(document)->source->folder : "";
    return ics_schema_defaults(ics_config_keys, ICS_CONFIG_KEYS, folder, config, error);
}

/* Finds the keys whose values differ from the defaults. A key that is given with its default value
 * does not count. */
static int find_changes(icestream_config *config, icestream_error *error)
{
    icestream_config standard = {.origin = NULL};
    int status = fill_defaults(config->origin->document, &standard, error);
    for (size_t i = 0; status == ICESTREAM_OK && i < ICS_CONFIG_KEYS; ++i) {
        ICS_FREES char *mine = ics_schema_field_text(&ics_config_keys[i], config);
        ICS_FREES char *other = ics_schema_field_text(&ics_config_keys[i], &standard);
        const bool has_both = mine != NULL && other != NULL;
        status = has_both ? ICESTREAM_OK : out_of_memory(error);
        config->origin->changed[i] = has_both && strcmp(mine, other) != 0;
    }
    ics_schema_clear(ics_config_keys, ICS_CONFIG_KEYS, &standard);
    return status;
}

static int check_all(icestream_config *config, icestream_error *error)
{
    ICS_TRY(ics_config_resolve_programs(config, error));
    ICS_TRY(find_changes(config, error));
    return ics_config_check(config, error);
}

/* Reads the document, if there is one, and then the overrides. */
static int fill(icestream_config *config, icestream_error *error)
{
    ics_config_origin *origin = config->origin;
    const ics_yaml *document = origin->document;
    int status = fill_defaults(document, config, error);
    ICS_TRY(status);
    if (document != NULL) {
        status = ics_schema_read(ics_yaml_root(document), ics_config_keys, ICS_CONFIG_KEYS, config,
                                 origin->given, error);
    }
    for (size_t i = 0; i < ICS_CONFIG_KEYS && document != NULL; ++i) {
        origin->refused[i] = origin->given[i] == NULL &&
                             value_at(ics_yaml_root(document), ics_config_keys[i].path) != NULL;
    }
    for (size_t i = 0; i < origin->set_count; ++i) {
        const char *option = i < origin->set_count - origin->later_count ? "--set" : origin->later;
        int result = apply_set(config, option, origin->sets[i], error);
        status = status ? status : result;
    }
    if (origin->overlay != NULL) {
        int result = ics_schema_read(ics_yaml_root(origin->overlay), ics_config_keys,
                                     ICS_CONFIG_KEYS, config, origin->given, error);
        status = status ? status : result;
    }
    if (config->device.backend == ICS_BACKEND_GPU) {
        config->device.backend = ICS_BACKEND_CUDA;
    }
    const int result = check_all(config, error);
    ics_config_table_complete(config);
    if (ics_config_generates(config)) {
        /* There are no step files, so the printed form has none either, and means the same when it
         * is read again. */
        ics_schema_clear(&ics_config_keys[ics_config_find("source.files")], 1, config);
    }
    return status ? status : result;
}

/* Later errors are added to the text, so it has to start empty. */
static void clear_error(icestream_error *error)
{
    if (error != NULL) {
        error->status = ICESTREAM_OK;
        error->text[0] = 0;
    }
}

/* Makes a configuration, which owns the document (it may be NULL) from now on. */
static int load(const char *path, ics_yaml *document, const char *const *sets, size_t set_count,
                icestream_config **out, icestream_error *error)
{
    ICS_DESTROYS(icestream_config_destroy) icestream_config *config = NULL;
    const int status = create(path, sets, set_count, &config, error);
    if (status != ICESTREAM_OK) {
        ics_yaml_destroy(document);
        return status;
    }
    config->origin->document = document;
    if (document != NULL) {
        config->origin->documents[config->origin->count++] = document;
    }
    ICS_TRY(fill(config, error));
    *out = ICS_HAND_OVER(config);
    return ICESTREAM_OK;
}

/* Makes a configuration of the run file and the settings of `base`, more settings of `option` after
 * those, and a document (NULL: none), which it owns from now on. */
static int derive(const icestream_config *base, const char *option, const char *const *sets,
                  size_t set_count, ics_yaml *overlay, icestream_config **out,
                  icestream_error *error)
{
    const ics_config_origin *origin = base->origin;
    const size_t count = origin->set_count + set_count;
    ICS_DESTROYS(icestream_config_destroy) icestream_config *config = NULL;
    ICS_FREES const char **all = calloc(count + 1, sizeof *all);
    if (all == NULL) {
        ics_yaml_destroy(overlay);
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; ++i) {
        all[i] = i < origin->set_count ? origin->sets[i] : sets[i - origin->set_count];
    }
    const int status = create(base->path, all, count, &config, error);
    if (status != ICESTREAM_OK) {
        ics_yaml_destroy(overlay);
        return status;
    }
    ics_config_hold(base);
    config->origin->base = (icestream_config *)base;
    config->origin->document = origin->document;
    config->origin->overlay = overlay;
    config->origin->later = option;
    config->origin->later_count = set_count;
    if (overlay != NULL) {
        config->origin->documents[config->origin->count++] = overlay;
    }
    ICS_TRY(fill(config, error));
    *out = ICS_HAND_OVER(config);
    return ICESTREAM_OK;
}

int ics_config_derive(const icestream_config *base, const char *option, const char *const *sets,
                      size_t set_count, icestream_config **out, icestream_error *error)
{
    *out = NULL;
    clear_error(error);
    return derive(base, option, sets, set_count, NULL, out, error);
}

int ics_config_overlay(const icestream_config *base, const char *path, icestream_config **out,
                       icestream_error *error)
{
    ics_yaml *document = NULL;
    *out = NULL;
    clear_error(error);
    ICS_TRY(ics_yaml_read_file(path, &document, error));
    return derive(base, "--set", NULL, 0, document, out, error);
}

int icestream_config_load(const char *path, const char *const *sets, size_t set_count,
                          icestream_config **out, icestream_error *error)
{
    ics_yaml *document = NULL;
    *out = NULL;
    clear_error(error);
    if (path != NULL) {
        ICS_TRY(ics_yaml_read_file(path, &document, error));
    }
    return load(path, document, sets, set_count, out, error);
}

int ics_config_load_text(const char *name, const char *text, size_t length, const char *const *sets,
                         size_t set_count, icestream_config **out, icestream_error *error)
{
    ics_yaml *document = NULL;
    *out = NULL;
    clear_error(error);
    ICS_TRY(ics_yaml_read_text(name, text, length, &document, error));
    return load(name, document, sets, set_count, out, error);
}

int icestream_config_read(const char *name, const char *text, size_t length,
                          const char *const *sets, size_t set_count, icestream_config **out,
                          icestream_error *error)
{
    if (out == NULL || (text == NULL && length > 0) || (sets == NULL && set_count > 0)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "icestream_config_read: found a NULL "
                             "pointer, expected a configuration");
    }
    return ics_config_load_text(name != NULL ? name : "configuration", text != NULL ? text : "",
                                length, sets, set_count, out, error);
}

const char *ics_config_content_name(ics_hit_content content)
{
    return ics_config_choice("sink.hits", content);
}

ics_hit_content ics_config_content(const icestream_config *config)
{
    if (config->sink.hits != ICS_CONTENT_AUTO && config->sink.hits != ICS_CONTENT_WAVEFORMS) {
        return config->sink.hits;
    }
    return strcmp(config->stages.detect, "none") == 0 ? ICS_CONTENT_PHOTONS : ICS_CONTENT_PE;
}

int icestream_config_print(const icestream_config *config, FILE *out, icestream_error *error)
{
    ics_schema_print(ics_config_keys, ICS_CONFIG_KEYS, config, out);
    if (fflush(out) != 0 || ferror(out)) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT, "cannot write the configuration");
    }
    return ICESTREAM_OK;
}
