/* Where the value of a key was given, and whether the files are there that values name. */
#include "base/disk.h"
#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/config/schema/value.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

const char *ics_config_place(const icestream_config *config, const char *key_path, char *buffer,
                             size_t size)
{
    size_t i = ics_config_find(key_path);
    const ics_yaml_node *node =
        i < ICS_CONFIG_KEYS && config->origin != NULL ? config->origin->given[i] : NULL;
    if (node == NULL) {
        snprintf(buffer, size, "default");
    } else if (node->line) {
        ics_yaml_place(node, buffer, size);
    } else {
        const char *name = node->source->name; /* "--set run.seed=2" */
        snprintf(buffer, size, "%.*s %s", (int)strcspn(name, " "), name, key_path);
    }
    return buffer;
}

int ics_config_error(const icestream_config *config, const char *key_path, icestream_error *error,
                     const char *format, ...)
{
    char place[1024], text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ics_error_add(error, ICESTREAM_E_CONFIG, "%s: error: %s: %s",
                         ics_config_place(config, key_path, place, sizeof place), key_path, text);
}

int ics_config_blame(const icestream_config *config, const char *key_path, icestream_error *error)
{
    if (error == NULL) {
        return ICESTREAM_OK;
    }
    if (error->status == ICESTREAM_E_CONFIG) {
        char place[1024], text[sizeof error->text];
        snprintf(text, sizeof text, "%s", error->text);
        ics_error_set(error, ICESTREAM_E_CONFIG, "%s: error: %.7000s",
                      ics_config_place(config, key_path, place, sizeof place), text);
    }
    return error->status;
}

/* ---- files ---------------------------------------------------------------------------------- */

/* The file or folder that a key names; NULL: none, or one of the words that stand for a file. */
static const char *named_file(const icestream_config *config, const ics_schema_field *field)
{
    const bool is_source = field->type == ICS_SCHEMA_VARIANT;
    const char *path;
    if (!is_source && field->type != ICS_SCHEMA_PATH) {
        return NULL;
    }
    memcpy(&path, (const char *)config + (is_source ? field->source_offset : field->offset),
           sizeof path);
    const char *word = NULL;
    for (size_t i = 0; !is_source && path != NULL && (word = ics_schema_choice(field, i)) != NULL;
         ++i) {
        if (strcmp(path, word) == 0) {
            return NULL;
        }
    }
    return path;
}

int ics_config_check_files(const icestream_config *config, const char *section,
                           icestream_error *error)
{
    const size_t length = strlen(section);
    char place[1024], expected[512];
    struct stat found;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        const ics_schema_field *field = &ics_config_keys[i];
        const bool is_asked = strncmp(field->path, section, length) == 0;
        const char *path = is_asked ? named_file(config, field) : NULL;
        if (path == NULL || stat(path, &found) == 0) {
            continue;
        }
        const int cause = errno;
        /* A mistyped word is taken for the name of a file. */
        const bool has_words =
            field->type == ICS_SCHEMA_PATH && ics_schema_choice(field, 0) != NULL;
        status = ics_error_add(
            error, ICESTREAM_E_CONFIG, "%s: error: %s: %s: %s%s%s%s",
            ics_config_place(config, field->path, place, sizeof place), field->path, path,
            strerror(cause), has_words ? "; expected " : "",
            has_words ? ics_schema_value_expected(field, expected, sizeof expected) : "",
            strchr(path, '$') != NULL
                ? "; variables such as $HOME are not replaced in a configuration"
                : "");
    }
    return status;
}

int ics_config_check_output(const icestream_config *config, const char *what, const char *path,
                            icestream_error *error)
{
    const char *key = NULL;
    for (size_t i = 0; i < ICS_CONFIG_KEYS && key == NULL; ++i) {
        const char *named = named_file(config, &ics_config_keys[i]);
        if (named != NULL && ics_disk_is_same_file(named, path)) {
            key = ics_config_keys[i].path;
        }
    }
    if (key == NULL && config->path != NULL && ics_disk_is_same_file(config->path, path)) {
        key = "the run file";
    }
    return key == NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "%s: found %s, which is an input (%s), expected another name", what,
                               path, key);
}
