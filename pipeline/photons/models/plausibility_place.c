/* Writes a warning with the place of its value. Models do not keep the places of their values, so
 * the file is read again; this happens only for a warning. */
#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/detector/layout.h"
#include "pipeline/photons/models/file.h"
#include "pipeline/photons/models/plausibility_parts.h"
#include "pipeline/photons/models/text/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The line of the number with this position in a file; 0: there is none. */
static size_t find_line(const char *path, size_t position)
{
    icestream_error unused = {.status = ICESTREAM_OK};
    ics_text text;
    ics_text_line line;
    size_t count = 0, found = 0;
    double number;
    if (position == 0 || ics_text_read(path, &text, &unused) != ICESTREAM_OK) {
        return 0;
    }
    ics_text_reader reader = ics_text_open(&text, ' ', &unused);
    while (found == 0 && ics_text_next(&reader, &line)) {
        if (ics_text_field_number(&line.fields[0], &number) && ++count == position) {
            found = line.number;
        }
    }
    ics_text_free(&text);
    return found;
}

/* The numbers of icemodel.par that have keys in other ice files. */
static const struct {
    const char *key;
    size_t position;
} parameters[] = {{"alpha", 1}, {"kappa", 2}, {"absorption_a", 3}, {"absorption_b", 4}};

static const char *place_in_folder(const char *folder, const char *key, size_t position,
                                   char *buffer, size_t size)
{
    const char *name = position > 0 ? "cfg.txt" : "icemodel.dat";
    char path[1024];
    if (strcmp(key, "tilt") == 0) {
        name = "tilt.par";
    }
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; ++i) {
        if (strcmp(key, parameters[i].key) == 0) {
            name = "icemodel.par";
            position = parameters[i].position;
        }
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const size_t line = find_line(path, position);
    if (line > 0) {
        snprintf(buffer, size, "%s:%zu", path, line);
    } else {
        snprintf(buffer, size, "%s", path);
    }
    return buffer;
}

static const char *place_in_file(const char *path, const char *key, char *buffer, size_t size)
{
    icestream_error unused = {.status = ICESTREAM_OK};
    ics_yaml *document = NULL;
    char part[64];
    snprintf(buffer, size, "%s", path);
    if (ics_yaml_read_file(path, &document, &unused) != ICESTREAM_OK) {
        return buffer;
    }
    const ics_yaml_node *node = ics_yaml_root(document);
    for (const char *next = key; node != NULL && *next != '\0';) {
        const size_t length = strcspn(next, ".");
        snprintf(part, sizeof part, "%.*s", (int)length, next);
        next += length + (next[length] == '.');
        node = node->kind == ICS_YAML_MAPPING ? ics_yaml_find(node, part) : NULL;
        if (node != NULL) {
            ics_yaml_place(node, buffer, size);
        }
    }
    ics_yaml_destroy(document);
    return buffer;
}

/* The place of a value of the ice: "FILE:LINE:COLUMN" of a key of ice.file, "FILE:LINE" of a number
 * in a folder of ppc, or the place of ice.model. */
static const char *place_in_ice(const icestream_config *config, const char *key, size_t setting,
                                char *buffer, size_t size)
{
    if (config->ice.file != NULL) {
        return place_in_file(config->ice.file, key, buffer, size);
    }
    return config->ice.directory != NULL
               ? place_in_folder(config->ice.directory, key, setting, buffer, size)
               : ics_config_place(config, "ice.model", buffer, size);
}

static const char *place_of(const ics_inspection *self, ics_value_place at, char *buffer,
                            size_t size)
{
    if (at.key != NULL) {
        return ics_config_place(self->config, at.key, buffer, size);
    }
    if (at.ice != NULL) {
        return place_in_ice(self->config, at.ice, at.setting, buffer, size);
    }
    if (at.file != NULL) {
        return at.file;
    }
    const size_t line = ics_detector_layout_line(self->detector, at.module);
    if (line == 0) {
        return self->detector->name; /* the built-in detector */
    }
    snprintf(buffer, size, "%s:%zu", self->detector->name, line);
    return buffer;
}

void ics_plausibility_expect(const ics_inspection *self, bool is_usual, ics_value_place at,
                             const char *format, ...)
{
    char place[1200];
    if (is_usual) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    ics_warnings_add_at(self->warnings, place_of(self, at, place, sizeof place), format, arguments);
    va_end(arguments);
}

bool ics_plausibility_is_given(const ics_inspection *self, const char *key)
{
    char place[1200];
    return strcmp(ics_config_place(self->config, key, place, sizeof place), "default") != 0;
}

char *ics_plausibility_find_file(const ics_inspection *self, const char *value, const char *name)
{
    char *path = NULL;
    if (ics_model_file_find(self->config, value, name, &path, NULL) != ICESTREAM_OK) {
        self->warnings->status = ICESTREAM_E_MEMORY;
    }
    return path;
}
