/* The command `icestream table`. */
#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_text.h"
#include "base/replaced.h"
#include "pipeline/commands/command.h"
#include "pipeline/photons/table/about.h"
#include "pipeline/photons/table/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_OUTPUT, OPTION_FORCE, OPTION_JSON, OPTIONS };

static const ics_option options[OPTIONS] = {
    [OPTION_OUTPUT] = ICS_OPTION_ROW_OUTPUT("FILE", "with merge: the table to write, .npy"),
    [OPTION_FORCE] = ICS_OPTION_ROW_FORCE,
    [OPTION_JSON] = {.name = "json",
                     .letter = 'j',
                     .help = "with info: write JSON instead of text"},
};

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
        ICS_DESTROYS(ics_table_destroy) ics_table *table = NULL;
        ICS_TRY(ics_table_read(given->operands[i], &table, error));
        if (given->options[OPTION_JSON].given) {
            ICS_TRY(show_json(table, given->operands[i], error));
        } else {
            ics_table_about_print(table, given->operands[i], stdout);
        }
    }
    return ICESTREAM_OK;
}

/* Adds up the tables; `name` is the output's. */
static int add_all(const ics_arguments *given, ics_table *into, icestream_error *error)
{
    for (int i = 2; i < given->operand_count; ++i) {
        ICS_DESTROYS(ics_table_destroy) ics_table *from = NULL;
        ICS_TRY(ics_table_read(given->operands[i], &from, error));
        ICS_TRY(ics_table_add(into, given->operands[1], from, given->operands[i], error));
    }
    return ICESTREAM_OK;
}

static int merge(const ics_arguments *given, icestream_error *error)
{
    const char *output = given->options[OPTION_OUTPUT].text;
    const size_t length = output != NULL ? strlen(output) : 0;
    if (length < 4 || strcmp(output + length - 4, ".npy") != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "table merge: found the output %s, expected --output FILE with a name "
                             "that ends in .npy",
                             output != NULL ? output : "nowhere");
    }
    ICS_DESTROYS(ics_table_destroy) ics_table *into = NULL;
    ICS_TRY(ics_table_read(given->operands[1], &into, error));
    ICS_TRY(add_all(given, into, error));
    return ics_table_write(into, output, given->options[OPTION_FORCE].given, error);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int execute(const ics_arguments *given, icestream_error *error)
{
    const char *action = given->operands[0];
    char left[256];
    if (strcmp(action, "info") == 0) {
        return show(given, error);
    }
    if (ics_replaced_say(left, sizeof left, "the action %.40s of table", action)) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "%s", left);
    }
    if (strcmp(action, "merge") != 0) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "table: found '%.40s', expected info or merge", action);
    }
    if (given->operand_count < 3 || given->options[OPTION_JSON].given) {
        return ics_error_set(error, ICESTREAM_E_USAGE, "table merge: found %s, expected %s",
                             given->operand_count < 3 ? "one FILE" : "--json",
                             given->operand_count < 3 ? "two or more" : "it with table info");
    }
    return merge(given, error);
}

const ics_command ics_command_table = {
    .name = "table",
    .operands = "info|merge FILE...",
    .summary = "shows photon tables, and adds them up",
    .details = "info FILE...                what a table is\n"
               "merge FILE FILE... -o FILE  the sum of parts; no part may be there twice\n"
               "icestream.tables in Python cuts, compares, draws and converts tables.",
    .operands_min = 2,
    .operands_max = 10001,
    .options = options,
    .option_count = OPTIONS,
    .execute = execute,
};
