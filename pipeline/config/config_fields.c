/* Keys that need their own code: how they are read and printed. */
#include "pipeline/config/config_fields.h"

#include "physics/model.h"
#include "pipeline/config/config.h"
#include "pipeline/config/schema/number.h"

#include <stdlib.h>
#include <string.h>

static int unexpected(const ics_yaml_node *node, const char *key, const ics_schema_custom *custom,
                      icestream_error *error)
{
    char found[128];
    return ics_yaml_error(error, node, "%s: found %s, expected %s", key,
                          ics_yaml_describe(node, found, sizeof found), custom->expected);
}

/* ---- device.index --------------------------------------------------------------------------- */

/* Reads the number of a GPU and appends it to the list. */
static int read_gpu(const ics_yaml_node *node, uint32_t *list, uint32_t *count,
                    icestream_error *error)
{
    uint64_t value = 0;
    int status = ics_schema_unsigned(node, "device.index", 0, ICS_CONFIG_GPUS - 1, &value, error);
    for (uint32_t i = 0; status == ICESTREAM_OK && i < *count; ++i) {
        if (list[i] == value) {
            status = ics_yaml_error(error, node, "device.index: found %u twice", list[i]);
        }
    }
    if (status == ICESTREAM_OK) {
        list[(*count)++] = (uint32_t)value;
    }
    return status;
}

static int read_index(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    uint32_t list[ICS_CONFIG_GPUS] = {0}, count = 0;
    uint64_t value = 0;
    int status = ICESTREAM_OK;
    if (node->kind == ICS_YAML_LIST && node->count > 0 && node->count <= ICS_CONFIG_GPUS) {
        for (size_t i = 0; i < node->count; ++i) {
            int result = read_gpu(node->items[i], list, &count, error);
            status = status ? status : result;
        }
    } else if (node->kind == ICS_YAML_SCALAR && !node->quoted &&
               ics_number_unsigned(node->text, &value) == ICS_NUMBER_OK &&
               value < ICS_CONFIG_GPUS) {
        list[count++] = (uint32_t)value;
    } else if (node->kind != ICS_YAML_SCALAR || strcmp(node->text, "all") != 0) {
        return unexpected(node, "device.index", &ics_config_index, error);
    }
    if (status == ICESTREAM_OK) {
        memcpy(config->device.index, list, sizeof list);
        config->device.index_count = count;
    }
    return status;
}

static void print_index(const void *target, FILE *out)
{
    const icestream_config *config = target;
    const uint32_t count = config->device.index_count;
    if (count == 0) {
        fputs("all", out);
    }
    for (uint32_t i = 0; i < count; ++i) {
        fprintf(out, "%s%u%s",
                i > 0       ? ", "
                : count > 1 ? "["
                            : "",
                config->device.index[i], i + 1 == count && count > 1 ? "]" : "");
    }
}

const ics_schema_custom ics_config_index = {
    .expected = "a whole number from 0 to 63, a list of them, or all",
    .example = "[1, 0]",
    .json_shape =
        "{\"anyOf\": [{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 63}, {\"const\": "
        "\"all\"}, {\"type\": \"array\", \"minItems\": 1, \"maxItems\": 64, \"uniqueItems\": true, "
        "\"items\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 63}}]}",
    .read = read_index,
    .print = print_index};

/* ---- detector.excluded ---------------------------------------------------------------------- */

static int read_excluded(const ics_yaml_node *node, void *item, icestream_error *error)
{
    uint64_t string = 0, module = 0;
    if (node->kind != ICS_YAML_LIST || node->count != 2) {
        char found[128];
        return ics_yaml_error(error, node, "detector.excluded: found %s, expected [string, module]",
                              ics_yaml_describe(node, found, sizeof found));
    }
    int status = ics_schema_unsigned(node->items[0], "detector.excluded: string", 0, UINT16_MAX,
                                     &string, error);
    int second = ics_schema_unsigned(node->items[1], "detector.excluded: module", 0, UINT16_MAX,
                                     &module, error);
    *(ics_module_identity *)item =
        (ics_module_identity){.string = (uint16_t)string, .module = (uint16_t)module};
    return status ? status : second;
}

static void print_excluded(const void *item, FILE *out)
{
    const ics_module_identity *identity = item;
    fprintf(out, "[%u, %u]", identity->string, identity->module);
}

const ics_schema_list ics_config_excluded = {
    .expected = "a list of [string, module]",
    .example = "[[1, 1]]",
    .json_shape =
        "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2, "
        "\"items\": {\"type\": \"integer\", \"minimum\": 0, \"maximum\": 65535}}}",
    .item_size = sizeof(ics_module_identity),
    .read = read_excluded,
    .print = print_excluded};

/* ---- detector.angular_polynomial ------------------------------------------------------------- */

static int read_angular(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    double numbers[ICS_CONFIG_ANGULAR] = {0};
    if (node->kind != ICS_YAML_LIST || node->count == 1 || node->count > ICS_CONFIG_ANGULAR) {
        return unexpected(node, "detector.angular_polynomial", &ics_config_angular, error);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        int result = ics_schema_number(node->items[i], "detector.angular_polynomial", -1e6, 1e6,
                                       &numbers[i], error);
        status = status ? status : result;
    }
    if (status == ICESTREAM_OK) {
        memcpy(config->detector.angular_polynomial, numbers, sizeof numbers);
        config->detector.angular_count = node->count;
    }
    return status;
}

static void print_angular(const void *target, FILE *out)
{
    const icestream_config *config = target;
    fputc('[', out);
    for (size_t i = 0; i < config->detector.angular_count; ++i) {
        fputs(i ? ", " : "", out);
        ics_schema_print_number(config->detector.angular_polynomial[i], out);
    }
    fputc(']', out);
}

const ics_schema_custom ics_config_angular = {
    .expected = "a list of the maximum and 1 to 16 coefficients, or []",
    .example = "[1, 0.5, 0.25]",
    .json_shape =
        "{\"type\": \"array\", \"maxItems\": 17, \"not\": {\"minItems\": 1, \"maxItems\": 1}, "
        "\"items\": {\"type\": \"number\", \"minimum\": -1e6, \"maximum\": 1e6}}",
    .read = read_angular,
    .print = print_angular};

/* ---- light.spectra -------------------------------------------------------------------------- */

static const ics_schema_field spectrum_fields[] = {
    {.path = "line",
     .type = ICS_SCHEMA_NUMBER,
     ICS_SCHEMA_AT(ics_spectrum_config, line),
     .low = ICE_WAVELENGTH_MIN,
     .high = ICE_WAVELENGTH_MAX,
     .group = "light",
     .required = true},
    {.path = "file",
     .type = ICS_SCHEMA_PATH,
     ICS_SCHEMA_AT(ics_spectrum_config, file),
     .group = "light"},
};
enum { SPECTRUM_FIELDS = sizeof spectrum_fields / sizeof *spectrum_fields };

static int read_spectrum(const ics_yaml_node *node, void *item, icestream_error *error)
{
    return ics_schema_read(node, spectrum_fields, SPECTRUM_FIELDS, item, NULL, error);
}

static void print_spectrum(const void *item, FILE *out)
{
    const ics_spectrum_config *spectrum = item;
    if (spectrum->file != NULL) {
        fputs("{file: ", out);
        ics_schema_print_path(spectrum->file, out);
    } else {
        fputs("{line: ", out);
        ics_schema_print_number(spectrum->line, out);
    }
    fputc('}', out);
}

static void clear_spectrum(void *item)
{
    ics_schema_clear(spectrum_fields, SPECTRUM_FIELDS, item);
}

const ics_schema_list ics_config_spectra = {
    .expected = "a list of at most 249 of {line: 250 to 700 nm} or {file: path}",
    .example = "[{line: 400}]",
    .json_shape = "{\"type\": \"array\", \"maxItems\": 249, \"items\": {\"type\": \"object\", "
                  "\"additionalProperties\": false, \"minProperties\": 1, \"maxProperties\": 1, "
                  "\"properties\": {\"line\": {\"type\": \"number\", \"minimum\": 250, "
                  "\"maximum\": 700}, \"file\": {\"type\": [\"string\", \"number\"]}}}}",
    .item_size = sizeof(ics_spectrum_config),
    .most = ICS_CONFIG_SPECTRA_MAX,
    .read = read_spectrum,
    .print = print_spectrum,
    .clear = clear_spectrum};

/* ---- workload.direction --------------------------------------------------------------------- */

static int read_direction(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    if (node->kind == ICS_YAML_SCALAR && strcmp(node->text, "isotropic") == 0) {
        config->workload.isotropic = true;
        memset(config->workload.direction, 0, sizeof config->workload.direction);
        return ICESTREAM_OK;
    }
    if (node->kind != ICS_YAML_LIST || node->count != 3) {
        return unexpected(node, "workload.direction", &ics_config_direction, error);
    }
    /* Components beyond these bounds would make the computed length overflow or underflow. */
    const double most = 1e100;
    double direction[3] = {0}, largest = 0;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < 3; ++i) {
        int result = ics_schema_number(node->items[i], "workload.direction", -most, most,
                                       &direction[i], error);
        status = status ? status : result;
        double size = direction[i] < 0 ? -direction[i] : direction[i];
        largest = size > largest ? size : largest;
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    if (largest < 1 / most) {
        return ics_yaml_error(
            error, node, "workload.direction: found a vector of length 0, expected a direction");
    }
    config->workload.isotropic = false;
    memcpy(config->workload.direction, direction, sizeof direction);
    return ICESTREAM_OK;
}

static void print_direction(const void *target, FILE *out)
{
    const icestream_config *config = target;
    if (config->workload.isotropic) {
        fputs("isotropic", out);
        return;
    }
    for (size_t i = 0; i < 3; ++i) {
        fputs(i ? ", " : "[", out);
        ics_schema_print_number(config->workload.direction[i], out);
    }
    fputc(']', out);
}

const ics_schema_custom ics_config_direction = {
    .expected = "isotropic, or [dx, dy, dz]",
    .example = "[0, 0, 1]",
    .json_shape = "{\"anyOf\": [{\"const\": \"isotropic\"}, {\"type\": \"array\", \"minItems\": 3, "
                  "\"maxItems\": 3, \"items\": {\"type\": \"number\", \"minimum\": -1e100, "
                  "\"maximum\": 1e100}}]}",
    .read = read_direction,
    .print = print_direction};

/* ---- sink.command --------------------------------------------------------------------------- */

static bool are_words(const ics_yaml_node *list)
{
    for (size_t i = 0; i < list->count; ++i) {
        if (list->items[i]->kind != ICS_YAML_SCALAR) {
            return false;
        }
    }
    return list->count == 0 || *list->items[0]->text != 0; /* the name of a program is not empty */
}

static int read_word(const ics_yaml_node *node, void *item, icestream_error *error)
{
    char *copy = strdup(node->text);
    memcpy(item, &copy, sizeof copy);
    return copy != NULL ? ICESTREAM_OK : ics_yaml_no_memory(error, node);
}

static void print_word(const void *item, FILE *out)
{
    ics_yaml_print_text(*(char *const *)item, out);
}

static void clear_word(void *item)
{
    free(*(char **)item);
}

const ics_schema_list ics_config_command = {.expected = "a list of a program and its arguments",
                                            .example = "[echo, done]",
                                            .json_shape =
                                                "{\"type\": \"array\", \"items\": {\"type\": "
                                                "[\"string\", \"number\", \"boolean\", \"null\"]}}",
                                            .item_size = sizeof(char *),
                                            .fits = are_words,
                                            .read = read_word,
                                            .print = print_word,
                                            .clear = clear_word};

/* ---- graph.join ----------------------------------------------------------------------------- */

static int read_join(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    static const char *const stages[] = {"scatter", "propagate"};
    const size_t count = node->kind == ICS_YAML_LIST ? node->count : 1;
    bool fits = node->kind == ICS_YAML_LIST && (count == 0 || count == 2);
    for (size_t i = 0; fits && i < count; ++i) {
        const ics_yaml_node *item = node->items[i];
        fits = item->kind == ICS_YAML_SCALAR && strcmp(item->text, stages[i]) == 0;
    }
    if (!fits) {
        return unexpected(node, "graph.join", &ics_config_join, error);
    }
    config->graph.join = count > 0;
    return ICESTREAM_OK;
}

static void print_join(const void *target, FILE *out)
{
    const icestream_config *config = target;
    fputs(config->graph.join ? "[scatter, propagate]" : "[]", out);
}

const ics_schema_custom ics_config_join = {.expected = "[scatter, propagate], or []",
                                           .example = "[scatter, propagate]",
                                           .json_shape =
                                               "{\"enum\": [[], [\"scatter\", \"propagate\"]]}",
                                           .read = read_join,
                                           .print = print_join};

/* ---- graph.compact.when --------------------------------------------------------------------- */

static int read_when(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    static const char every[] = "every-";
    const char *text = node->kind == ICS_YAML_SCALAR ? node->text : "";
    uint64_t waves = 0;
    if (strncmp(text, every, strlen(every)) == 0) {
        if (ics_number_unsigned(text + strlen(every), &waves) != ICS_NUMBER_OK || waves < 1 ||
            waves > 1000000) {
            return unexpected(node, "graph.compact.when", &ics_config_when, error);
        }
        config->graph.compact.when = ICS_COMPACT_EVERY;
    } else if (strcmp(text, "always") == 0) {
        config->graph.compact.when = ICS_COMPACT_ALWAYS;
    } else if (strcmp(text, "tail") == 0) {
        config->graph.compact.when = ICS_COMPACT_TAIL;
    } else {
        return unexpected(node, "graph.compact.when", &ics_config_when, error);
    }
    config->graph.compact.every = (uint32_t)waves;
    return ICESTREAM_OK;
}

static void print_when(const void *target, FILE *out)
{
    const icestream_config *config = target;
    if (config->graph.compact.when == ICS_COMPACT_EVERY) {
        fprintf(out, "every-%u", config->graph.compact.every);
    } else {
        fputs(config->graph.compact.when == ICS_COMPACT_ALWAYS ? "always" : "tail", out);
    }
}

const ics_schema_custom ics_config_when = {
    .expected = "tail, always, or every-N with N from 1 to 1000000",
    .example = "every-3",
    .json_shape =
        "{\"type\": \"string\", \"pattern\": \"^(tail|always|every-[0-9.eE+xa-fA-F]+)$\"}",
    .read = read_when,
    .print = print_when};

/* ---- particles.list ------------------------------------------------------------------------- */

static int read_particles(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    char found[128];
    if (node->kind != ICS_YAML_LIST) {
        return ics_yaml_error(error, node, "found %s, expected a list of particles",
                              ics_yaml_describe(node, found, sizeof found));
    }
    config->particles.list = node->count > 0 ? node : NULL;
    config->particles.count = node->count;
    return ICESTREAM_OK;
}

static void print_particles(const void *target, FILE *out)
{
    const icestream_config *config = target;
    if (config->particles.list != NULL) {
        ics_yaml_print(config->particles.list, out);
    } else {
        fputs("[]", out);
    }
}

static bool has_no_file(const void *target)
{
    const icestream_config *config = target;
    return config->particles.file == NULL;
}

static void clear_particles(void *target)
{
    icestream_config *config = target;
    config->particles.list = NULL;
    config->particles.count = 0;
}

const ics_schema_custom ics_config_particles = {
    .expected = "a list of particles",
    .example = "[{type: sc1, photons: 1}]",
    .json_shape = "{\"type\": \"array\", \"items\": {\"type\": \"object\"}}",
    .read = read_particles,
    .print = print_particles,
    .is_there = has_no_file,
    .clear = clear_particles};
