/* The command `icestream table`. */
#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_text.h"
#include "pipeline/table/table_about.h"
#include "pipeline/table/table_export.h"
#include "pipeline/table/table_file.h"
#include "pipeline/table/table_shape.h"
#include "pipeline/tools/command.h"
#include "pipeline/tools/table/table_tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_OUTPUT, OPTION_FORCE, OPTION_JSON, OPTION_AGAINST, OPTION_LEVEL, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_OUTPUT] = {.name = "output",
                       .letter = 'o',
                       .type = ICS_OPTION_TEXT,
                       .value = "FILE",
                       .help = "what to write: .npy, .h5 or .fits; of plot .svg or .png"},
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_JSON] = {.name = "json",
                     .letter = 'j',
                     .help = "with info: write JSON instead of text"},
    [OPTION_AGAINST] = {.name = "against",
                        .type = ICS_OPTION_LIST,
                        .value = "FILE...",
                        .help = "with compare: the second group of tables, behind the first one"},
    [OPTION_LEVEL] = {.name = "level",
                      .type = ICS_OPTION_TEXT,
                      .value = "P",
                      .help = "with compare: exit with 1 if the probability is below P"},
};

/* ---- output ---------------------------------------------------------------------------------- */

static bool ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), size = strlen(ending);
    return length >= size && strcmp(path + length - size, ending) == 0;
}

/* The ending of the name decides the format. `name` is the table that was read. */
static int write_table(const ics_table *table, const char *name, const char *path, bool force,
                       icestream_error *error)
{
    if (ends_with(path, ".h5") || ends_with(path, ".hdf5")) {
        return ics_table_export_hdf5(table, path, force, error);
    }
    if (ends_with(path, ".fits")) {
        return ics_table_export_fits(table, name, path, force, error);
    }
    if (!ends_with(path, ".npy")) {
        return ics_error_set(
            error, ICESTREAM_E_USAGE,
            "found the output %s, expected a name that ends in .npy, .h5, .hdf5 or "
            ".fits",
            path);
    }
    return ics_table_write(table, path, force, error);
}

static int write_output(const ics_arguments *given, const ics_table *table, icestream_error *error)
{
    return write_table(table, given->operands[1], given->options[OPTION_OUTPUT].text,
                       given->options[OPTION_FORCE].given, error);
}

static int need_output(const ics_arguments *given, icestream_error *error)
{
    return given->options[OPTION_OUTPUT].text != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE, "table %s: expected --output FILE",
                               given->operands[0]);
}

/* ---- actions --------------------------------------------------------------------------------- */

/* Prints one object in one line: the metadata, and next to them the name and the sums. */
static int show_json(const ics_table *table, const char *name, icestream_error *error)
{
    json_t *about = NULL;
    ICS_TRY(ics_table_about_json(table, &about, error));
    json_t *object = json_incref(json_object_get(about, "metadata"));
    json_object_del(about, "metadata");
    const int failed = json_object_set_new(object, "file", ics_json_text(name)) |
                       json_object_update(object, about);
    char *text = failed ? NULL : ics_json_dump(object, JSON_COMPACT);
    json_decref(object);
    json_decref(about);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", name);
    }
    printf("%s\n", text);
    free(text);
    return ICESTREAM_OK;
}

static int show(const ics_arguments *given, icestream_error *error)
{
    for (int i = 1; i < given->operand_count; ++i) {
        ics_table *table = NULL;
        ICS_TRY(ics_table_read(given->operands[i], &table, error));
        int status = ICESTREAM_OK;
        if (given->options[OPTION_JSON].given) {
            status = show_json(table, given->operands[i], error);
        } else {
            ics_table_about_print(table, given->operands[i], stdout);
        }
        ics_table_destroy(table);
        ICS_TRY(status);
    }
    return ICESTREAM_OK;
}

static int merge(const ics_arguments *given, icestream_error *error)
{
    ics_table *into = NULL;
    ICS_TRY(need_output(given, error));
    int status = ics_table_read(given->operands[1], &into, error);
    for (int i = 2; i < given->operand_count && status == ICESTREAM_OK; ++i) {
        ics_table *from = NULL;
        status = ics_table_read(given->operands[i], &from, error);
        if (status == ICESTREAM_OK) {
            status = ics_table_add(into, given->operands[1], from, given->operands[i], error);
        }
        ics_table_destroy(from);
    }
    if (status == ICESTREAM_OK) {
        status = write_output(given, into, error);
    }
    ics_table_destroy(into);
    return status;
}

/* Replaces the table by its slices, one after the other. */
static int cut(const ics_arguments *given, ics_table **table, icestream_error *error)
{
    for (int i = 2; i < given->operand_count; ++i) {
        ics_table *smaller = NULL;
        ICS_TRY(ics_table_slice(*table, given->operands[1], given->operands[i], &smaller, error));
        ics_table_destroy(*table);
        *table = smaller;
    }
    return ICESTREAM_OK;
}

/* Replaces the table by its sum over the axes that are not named; without names nothing happens. */
static int project(const ics_arguments *given, ics_table **table, icestream_error *error)
{
    ics_table *smaller = NULL;
    if (given->operand_count == 2) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_table_project(*table, given->operands[1], given->operands + 2,
                              (size_t)given->operand_count - 2, &smaller, error));
    ics_table_destroy(*table);
    *table = smaller;
    return ICESTREAM_OK;
}

static int keep(const ics_arguments *given, ics_table **table, icestream_error *error)
{
    (void)given;
    (void)table;
    (void)error;
    return ICESTREAM_OK;
}

/* Reads one table, changes it, and writes it. */
static int transform(const ics_arguments *given,
                     int (*change)(const ics_arguments *, ics_table **, icestream_error *),
                     icestream_error *error)
{
    ics_table *table = NULL;
    ICS_TRY(need_output(given, error));
    int status = ics_table_read(given->operands[1], &table, error);
    if (status == ICESTREAM_OK) {
        status = change(given, &table, error);
    }
    if (status == ICESTREAM_OK) {
        status = write_output(given, table, error);
    }
    ics_table_destroy(table);
    return status;
}

static int slice_table(const ics_arguments *given, icestream_error *error)
{
    return transform(given, cut, error);
}

static int project_table(const ics_arguments *given, icestream_error *error)
{
    return transform(given, project, error);
}

static int convert_table(const ics_arguments *given, icestream_error *error)
{
    if (given->operand_count == 2) {
        return transform(given, keep, error);
    }
    if (given->options[OPTION_OUTPUT].text != NULL) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "table convert: found two files and --output, expected one of them");
    }
    ics_table *table = NULL;
    ICS_TRY(ics_table_read(given->operands[1], &table, error));
    const int status = write_table(table, given->operands[1], given->operands[2],
                                   given->options[OPTION_FORCE].given, error);
    ics_table_destroy(table);
    return status;
}

static int plot(const ics_arguments *given, icestream_error *error)
{
    ics_table *table = NULL;
    ICS_TRY(need_output(given, error));
    int status = ics_table_read(given->operands[1], &table, error);
    if (status == ICESTREAM_OK) {
        status = project(given, &table, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_table_tool_plot(table, given->options[OPTION_OUTPUT].text,
                                     given->options[OPTION_FORCE].given, error);
    }
    ics_table_destroy(table);
    return status;
}

static int read_level(const char *text, double *out, icestream_error *error)
{
    char *end = NULL;
    *out = text != NULL ? strtod(text, &end) : 0.0;
    if (text != NULL && (end == text || *end != '\0' || !(*out >= 0.0 && *out <= 1.0))) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "--level: found '%.40s', expected a number from 0 to 1", text);
    }
    return ICESTREAM_OK;
}

static int compare(const ics_arguments *given, icestream_error *error)
{
    const ics_option_value *against = &given->options[OPTION_AGAINST];
    const char *const *files = (const char *const *)given->operands + 1;
    double level = 0.0;
    ICS_TRY(read_level(given->options[OPTION_LEVEL].text, &level, error));
    if (against->given) {
        return ics_table_tool_compare_group_files(files, (size_t)given->operand_count - 1,
                                                  against->texts, against->count, level, stdout,
                                                  error);
    }
    if (given->operand_count != 3) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "table compare: found %d operands, expected two FILEs, or FILEs "
                             "--against FILEs",
                             given->operand_count - 1);
    }
    return ics_table_tool_compare_files(files[0], files[1], level, stdout, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int least, most; /* operands behind the name */
    const char *expected;
    int (*execute)(const ics_arguments *given, icestream_error *error);
} actions[] = {
    {"info", 1, 10000, "FILE...", show},
    {"merge", 2, 10000, "two or more FILEs", merge},
    {"slice", 2, 16, "FILE NAME=VALUE|NAME=FROM:TO...", slice_table},
    {"project", 2, ICS_TABLE_AXES_MAX + 1, "FILE NAME...", project_table},
    {"compare", 1, 10000, "two FILEs, or FILEs --against FILEs", compare},
    {"plot", 1, ICS_TABLE_AXES_MAX + 1, "FILE [NAME [NAME]]", plot},
    {"convert", 1, 2, "FILE [TO]", convert_table},
};

/* Options that belong to one action. */
static int check_options(const ics_arguments *given, icestream_error *error)
{
    static const struct {
        int option;
        const char *action;
    } rows[] = {{OPTION_JSON, "info"}, {OPTION_AGAINST, "compare"}, {OPTION_LEVEL, "compare"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (given->options[rows[i].option].given &&
            strcmp(given->operands[0], rows[i].action) != 0) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "table %.40s: found --%s, which is for table %s",
                                 given->operands[0], options[rows[i].option].name, rows[i].action);
        }
    }
    return ICESTREAM_OK;
}

static int execute(const ics_arguments *given, icestream_error *error)
{
    const int count = given->operand_count - 1;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; ++i) {
        if (strcmp(given->operands[0], actions[i].name) != 0) {
            continue;
        }
        if (count < actions[i].least || count > actions[i].most) {
            return ics_error_set(error, ICESTREAM_E_USAGE,
                                 "table %s: found %d operands, expected %s", actions[i].name, count,
                                 actions[i].expected);
        }
        ICS_TRY(check_options(given, error));
        return actions[i].execute(given, error);
    }
    return ics_error_set(
        error, ICESTREAM_E_USAGE,
        "table: found '%.40s', expected info, merge, slice, project, compare, plot "
        "or convert",
        given->operands[0]);
}

const ics_command ics_command_table = {
    .name = "table",
    .operands = "info|merge|slice|project|compare|plot|convert FILE...",
    .summary = "shows, adds up, cuts, compares, draws and converts photon tables",
    .details = "info FILE...                      what a table is\n"
               "merge FILE FILE... -o FILE        the sum of parts; no part may be there twice\n"
               "slice FILE NAME=VALUE|NAME=FROM:TO... -o FILE\n"
               "                                  one bin, or some bins, of an axis\n"
               "project FILE NAME... -o FILE      the sum over all other axes\n"
               "compare FILE FILE                 chi-square of two tables\n"
               "compare FILE... --against FILE... a permutation test of two groups of tables\n"
               "plot FILE [NAME [NAME]] -o FILE   a picture of one or two axes, by gnuplot\n"
               "convert FILE TO                   HDF5 (.h5), clsim's FITS (.fits)",
    .operands_min = 2,
    .operands_max = 10001,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
