/* Loads and prints configurations, and tells where a value was given. */
#include "pipeline/config/config.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/config/config_keys.h"

static int out_of_memory(is_error *error)
{
    is_error_set(error, IS_E_MEMORY, "configuration: out of memory");
    return IS_E_MEMORY;
}

static int create(const char *path, size_t set_count, is_config **out, is_error *error)
{
    is_config *config = calloc(1, sizeof *config);
    is_config_origin *origin = calloc(1, sizeof *origin);
    is_yaml **documents = calloc(set_count + 1, sizeof(void *));
    const is_yaml_node **given = calloc(is_config_key_count, sizeof(void *));
    bool *refused = calloc(is_config_key_count, sizeof *refused);
    char *copy = path ? strdup(path) : NULL;
    if (!config || !origin || !documents || !given || !refused || (path && !copy)) {
        free(config);
        free(origin);
        free(documents);
        free(given);
        free(refused);
        free(copy);
        return out_of_memory(error);
    }
    *origin = (is_config_origin){.documents = documents, .given = given, .refused = refused};
    config->origin = origin;
    config->path = copy;
    int status = is_schema_defaults(is_config_keys, is_config_key_count, config, error);
    if (status != IS_OK) {
        is_config_destroy(config);
        return status;
    }
    *out = config;
    return IS_OK;
}

void is_config_destroy(is_config *config)
{
    if (!config)
        return;
    is_schema_clear(is_config_keys, is_config_key_count, config);
    for (size_t i = 0; i < config->origin->count; ++i)
        is_yaml_destroy(config->origin->documents[i]);
    free(config->origin->documents);
    free(config->origin->given);
    free(config->origin->refused);
    free(config->origin);
    free(config->path);
    free(config);
}

/* Applies "path=value". The document is kept for its places. */
static int apply_set(is_config *config, const char *set, is_error *error)
{
    const char *equals = strchr(set, '=');
    if (!equals || equals == set)
        return is_error_add(error, IS_E_CONFIG,
                            "--set %s: error: expected path=value, as in graph.schedule=fused",
                            set);
    char *name = NULL, *key = strndup(set, (size_t)(equals - set));
    if (!key || asprintf(&name, "--set %s", set) < 0) {
        free(key);
        return out_of_memory(error);
    }
    is_config_origin *origin = config->origin;
    is_yaml *document = NULL;
    int status = is_yaml_read_value(name, equals + 1, &document, error);
    if (status == IS_OK) {
        origin->documents[origin->count++] = document;
        status = is_schema_set(key, is_yaml_root(document), is_config_keys, is_config_key_count,
                               config, origin->given, error);
    }
    size_t i = is_schema_find(key, is_config_keys, is_config_key_count);
    if (i < is_config_key_count)
        origin->refused[i] = status != IS_OK;
    free(name);
    free(key);
    return status;
}

/* The value of a path in a document, or NULL. */
static const is_yaml_node *value_at(const is_yaml_node *node, const char *path)
{
    while (node && *path) {
        char key[64];
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        node = is_yaml_find(node, key);
        path += length + (path[length] == '.');
    }
    return node;
}

/* Reads a document that belongs to the configuration from now on, then the overrides. */
static int fill(is_config *config, is_yaml *document, const char *const *sets, size_t set_count,
                is_error *error)
{
    int status = IS_OK;
    is_config_origin *origin = config->origin;
    if (document) {
        origin->documents[origin->count++] = document;
        status = is_schema_read(is_yaml_root(document), is_config_keys, is_config_key_count, config,
                                origin->given, error);
    }
    for (size_t i = 0; i < is_config_key_count && document; ++i)
        origin->refused[i] =
            !origin->given[i] && value_at(is_yaml_root(document), is_config_keys[i].path);
    for (size_t i = 0; i < set_count; ++i) {
        int result = apply_set(config, sets[i], error);
        status = status ? status : result;
    }
    int result = is_config_check(config, error);
    return status ? status : result;
}

/* Takes over the document, which may be NULL. */
static int load(const char *path, is_yaml *document, const char *const *sets, size_t set_count,
                is_config **out, is_error *error)
{
    is_config *config = NULL;
    int status = create(path, set_count, &config, error);
    if (status != IS_OK) {
        is_yaml_destroy(document);
        return status;
    }
    status = fill(config, document, sets, set_count, error);
    if (status != IS_OK)
        is_config_destroy(config);
    else
        *out = config;
    return status;
}

/* Errors are added one by one, to nothing at first. */
static void clear_error(is_error *error)
{
    if (error) {
        error->status = IS_OK;
        error->text[0] = 0;
    }
}

int is_config_load(const char *path, const char *const *sets, size_t set_count, is_config **out,
                   is_error *error)
{
    is_yaml *document = NULL;
    *out = NULL;
    clear_error(error);
    int status = path ? is_yaml_read_file(path, &document, error) : IS_OK;
    return status == IS_OK ? load(path, document, sets, set_count, out, error) : status;
}

int is_config_load_text(const char *name, const char *text, size_t length, const char *const *sets,
                        size_t set_count, is_config **out, is_error *error)
{
    is_yaml *document = NULL;
    *out = NULL;
    clear_error(error);
    int status = is_yaml_read_text(name, text, length, &document, error);
    return status == IS_OK ? load(name, document, sets, set_count, out, error) : status;
}
/* ---- what others ask ------------------------------------------------------------------------ */

const char *is_config_place(const is_config *config, const char *key_path, char *buffer,
                            size_t size)
{
    size_t i = is_schema_find(key_path, is_config_keys, is_config_key_count);
    const is_yaml_node *node = i < is_config_key_count ? config->origin->given[i] : NULL;
    if (!node)
        snprintf(buffer, size, "default");
    else if (node->line)
        is_yaml_place(node, buffer, size);
    else
        snprintf(buffer, size, "--set %s", key_path);
    return buffer;
}

int is_config_blame(const is_config *config, const char *key_path, is_error *error)
{
    if (!error)
        return IS_OK;
    if (error->status == IS_E_CONFIG) {
        char place[1024], text[sizeof error->text];
        snprintf(text, sizeof text, "%s", error->text);
        is_error_set(error, IS_E_CONFIG, "%s: error: %.7000s",
                     is_config_place(config, key_path, place, sizeof place), text);
    }
    return error->status;
}
const char *is_content_name(is_hit_content content)
{
    return is_config_choice("sink.hits", content);
}

is_hit_content is_config_content(const is_config *config)
{
    if (config->sink.hits != IS_CONTENT_AUTO)
        return config->sink.hits;
    return strcmp(config->stages.detect, "none") == 0 ? IS_CONTENT_PHOTONS : IS_CONTENT_PE;
}

int is_config_print(const is_config *config, FILE *out, is_error *error)
{
    is_schema_print(is_config_keys, is_config_key_count, config, out);
    if (fflush(out) != 0 || ferror(out))
        return is_error_set(error, IS_E_OUTPUT, "cannot write the configuration");
    return IS_OK;
}
