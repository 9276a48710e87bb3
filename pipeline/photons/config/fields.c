/* Keys that need their own code, and lists with the fields of their items. */
#include "pipeline/photons/config/fields.h"

#include "base/url.h"
#include "physics/model.h"
#include "pipeline/photons/config/config.h"
#include "pipeline/photons/config/schema/kinds.def"
#include "pipeline/photons/config/schema/number.h"

#include <math.h>
#include <string.h>

/* ---- device.index --------------------------------------------------------------------------- */

static int read_index(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    uint32_t list[ICS_CONFIG_GPUS] = {0}, count = 0;
    uint64_t value = 0;
    const bool is_list =
        node->kind == ICS_YAML_LIST && node->count > 0 && node->count <= ICS_CONFIG_GPUS;
    const bool is_word = node->kind == ICS_YAML_SCALAR;
    if (is_word && !node->quoted && ics_number_unsigned(node->text, &value) == ICS_NUMBER_OK &&
        value < ICS_CONFIG_GPUS) {
        list[count++] = (uint32_t)value;
    } else if (!is_list && (!is_word || strcmp(node->text, "all") != 0)) {
        return ics_yaml_unexpected(error, node, "device.index", "%s", ics_config_index.expected);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; is_list && i < node->count; ++i) {
        int fault = ics_schema_unsigned(node->items[i], "device.index", 0, ICS_CONFIG_GPUS - 1,
                                        &value, error);
        for (uint32_t k = 0; fault == ICESTREAM_OK && k < count; ++k) {
            if (list[k] == value) {
                fault =
                    ics_yaml_error(error, node->items[i], "device.index: found %u twice", list[k]);
            }
        }
        list[count] = (uint32_t)value;
        count += fault == ICESTREAM_OK;
        status = status ? status : fault;
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
    fputs(count == 0 ? "all" : count > 1 ? "[" : "", out);
    for (uint32_t i = 0; i < count; ++i) {
        fprintf(out, "%s%u", i > 0 ? ", " : "", config->device.index[i]);
    }
    fputs(count > 1 ? "]" : "", out);
}

const ics_schema_custom ics_config_index = {
    .expected = "a whole number from 0 to 63, a list of them, or all",
    .example = "[1, 0]",
    .json_shape =
        "{anyOf: [{type: integer, minimum: 0, maximum: 63}, {const: all}, {type: array, minItems: "
        "1, maxItems: 64, uniqueItems: true, items: {type: integer, minimum: 0, maximum: 63}}]}",
    .read = read_index,
    .print = print_index};

/* ---- detector.excluded ---------------------------------------------------------------------- */

static const ics_schema_field excluded_fields[] = {
    MEMBER(ics_module_identity, "detector.excluded: string", string, WHOLE(0, UINT16_MAX),
           "number of the string"),
    MEMBER(ics_module_identity, "detector.excluded: module", module, WHOLE(0, UINT16_MAX),
           "number of the module")};

const ics_schema_list ics_config_excluded = {.expected = "a list of [string, module]",
                                             .item = "[string, module]",
                                             .example = "[[1, 1]]",
                                             .item_size = sizeof(ics_module_identity),
                                             .fields = excluded_fields,
                                             .field_count = 2,
                                             .is_row = true};

/* ---- detector.angular_polynomial ------------------------------------------------------------- */

static int read_angular(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    double numbers[ICS_CONFIG_ANGULAR] = {0};
    if (node->kind != ICS_YAML_LIST || node->count == 1 || node->count > ICS_CONFIG_ANGULAR) {
        return ics_yaml_unexpected(error, node, "detector.angular_polynomial", "%s",
                                   ics_config_angular.expected);
    }
    ICS_TRY(ics_schema_numbers(node, "detector.angular_polynomial", -1e6, 1e6, numbers, error));
    memcpy(config->detector.angular_polynomial, numbers, sizeof numbers);
    config->detector.angular_count = node->count;
    return ICESTREAM_OK;
}

static void print_angular(const void *target, FILE *out)
{
    const icestream_config *config = target;
    ics_schema_print_numbers(config->detector.angular_polynomial, config->detector.angular_count,
                             out);
}

const ics_schema_custom ics_config_angular = {
    .expected = "a list of the maximum and 1 to 16 coefficients, or []",
    .example = "[1, 0.5, 0.25]",
    .json_shape =
        "{type: array, maxItems: 17, not: {minItems: 1, maxItems: 1}, items: {type: number, "
        "minimum: -1e6, maximum: 1e6}}",
    .read = read_angular,
    .print = print_angular};

/* ---- light.spectra -------------------------------------------------------------------------- */

static const ics_schema_field spectrum_fields[] = {
    MEMBER(ics_spectrum_config, "line", line,
           NUMBER(ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX) REQUIRED ONE_OF("light") UNIT("nm"),
           "wavelength of a line"),
    MEMBER(ics_spectrum_config, "file", file, PATH ONE_OF("light"),
           "file with columns of wavelength (nm) and density")};

const ics_schema_list ics_config_spectra = {
    .expected = "a list of at most 249 of {line: 250 to 700 nm} or {file: path}",
    .example = "[{line: 400}]",
    .item_size = sizeof(ics_spectrum_config),
    .most = ICS_CONFIG_SPECTRA_MAX,
    .fields = spectrum_fields,
    .field_count = sizeof spectrum_fields / sizeof *spectrum_fields};

/* ---- workload.direction --------------------------------------------------------------------- */

static int read_direction(const ics_yaml_node *node, void *target, icestream_error *error)
{
    icestream_config *config = target;
    /* Components beyond these bounds would make the computed length overflow or underflow. */
    const double most = 1e100;
    double d[3] = {0};
    const bool isotropic = node->kind == ICS_YAML_SCALAR && strcmp(node->text, "isotropic") == 0;
    if (!isotropic && (node->kind != ICS_YAML_LIST || node->count != 3)) {
        return ics_yaml_unexpected(error, node, "workload.direction", "%s",
                                   ics_config_direction.expected);
    }
    if (!isotropic) {
        ICS_TRY(ics_schema_numbers(node, "workload.direction", -most, most, d, error));
        if (fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2])) < 1 / most) {
            return ics_yaml_error(error, node,
                                  "workload.direction: found a vector of length 0, "
                                  "expected a direction");
        }
    }
    config->workload.isotropic = isotropic;
    memcpy(config->workload.direction, d, sizeof d);
    return ICESTREAM_OK;
}

static void print_direction(const void *target, FILE *out)
{
    const icestream_config *config = target;
    if (config->workload.isotropic) {
        fputs("isotropic", out);
    } else {
        ics_schema_print_numbers(config->workload.direction, 3, out);
    }
}

const ics_schema_custom ics_config_direction = {
    .expected = "isotropic, or [dx, dy, dz]",
    .example = "[0, 0, 1]",
    .json_shape = "{anyOf: [{const: isotropic}, {type: array, minItems: 3, maxItems: 3, items: "
                  "{type: number, minimum: -1e100, maximum: 1e100}}]}",
    .read = read_direction,
    .print = print_direction};

/* ---- programs and prefixes of URLs ------------------------------------------------------------
 */

static bool are_words(const ics_yaml_node *list)
{
    for (size_t i = 0; i < list->count; ++i) {
        if (list->items[i]->kind != ICS_YAML_SCALAR) {
            return false;
        }
    }
    return list->count == 0 || *list->items[0]->text != 0; /* the name of a program is not empty */
}

const ics_schema_list ics_config_command = {.expected = "a list of a program and its arguments",
                                            .example = "[echo, done]",
                                            .item_size = sizeof(char *),
                                            .fits = are_words};

static int check_prefix(const ics_yaml_node *node, const void *item, icestream_error *error)
{
    const char *fault = ics_url_prefix_fault(node->text);
    char shown[ICS_URL_MOST + 1];
    (void)item;
    return fault == NULL ? ICESTREAM_OK
                         : ics_yaml_error(error, node, "source.allow: found '%.300s', %s",
                                          ics_url_shown(node->text, shown), fault);
}

const ics_schema_list ics_config_prefixes = {.expected = "a list of URL prefixes",
                                             .item = "a prefix of URLs",
                                             .example = "[\"https://data.example.org/steps/\"]",
                                             .item_size = sizeof(char *),
                                             .pattern =
                                                 "^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]+/(.*/)?$",
                                             .check = check_prefix};

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
        return ics_yaml_unexpected(error, node, "graph.join", "%s", ics_config_join.expected);
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
                                           .json_shape = "{enum: [[], [scatter, propagate]]}",
                                           .read = read_join,
                                           .print = print_join};

/* ---- graph.compact.when --------------------------------------------------------------------- */

static int read_when(const ics_yaml_node *node, void *target, icestream_error *error)
{
    static const char every[] = "every-";
    icestream_config *config = target;
    const char *text = node->kind == ICS_YAML_SCALAR ? node->text : "";
    const bool is_every = strncmp(text, every, strlen(every)) == 0;
    const bool is_always = strcmp(text, "always") == 0;
    uint64_t waves = 0;
    if (is_every ? ics_number_unsigned(text + strlen(every), &waves) != ICS_NUMBER_OK ||
                       waves < 1 || waves > 1000000
                 : !is_always && strcmp(text, "tail") != 0) {
        return ics_yaml_unexpected(error, node, "graph.compact.when", "%s",
                                   ics_config_when.expected);
    }
    config->graph.compact.when = is_every    ? ICS_COMPACT_EVERY
                                 : is_always ? ICS_COMPACT_ALWAYS
                                             : ICS_COMPACT_TAIL;
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
    .json_shape = "{type: string, pattern: '^(tail|always|every-[0-9.eE+xa-fA-F]+)$'}",
    .read = read_when,
    .print = print_when};

/* ---- particles.list ------------------------------------------------------------------------- */

static bool has_no_file(const void *target)
{
    const icestream_config *config = target;
    return config->particles.file == NULL;
}

const ics_schema_node ics_config_particles = {.expected = "a list of particles",
                                              .example = "[{type: sc1, photons: 1}]",
                                              .json_shape = "{type: array, items: {type: object}}",
                                              .kind = ICS_YAML_LIST,
                                              .is_there = has_no_file};
