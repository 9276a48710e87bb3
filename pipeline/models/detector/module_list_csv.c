/* Lists of modules as CSV.
 *
 * A file without a fault is read in parts, one for each thread. The parts report nothing: after a
 * fault in any of them the file is read again from its begin to its end, with messages. So the
 * messages and their order do not depend on parts. */
#include "base/memory.h"
#include "base/parts.h"
#include "pipeline/models/detector/module_list.h"
#include "pipeline/models/types/direction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part of a file has at least this many bytes, because a thread costs as much as some thousand
 * lines. */
#define PART_BYTES_LEAST (1 << 18)

/* Reports a text in the format of geo-f2k under another name. Returns whether it did. */
static bool is_geo(const ics_text *text, icestream_error *error)
{
    enum { FIELDS = 7 };
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ics_text_line line;
    double number;
    if (!ics_text_next(&reader, &line) || line.count != FIELDS ||
        !ics_text_field_number(&line.fields[FIELDS - 1], &number)) {
        return false;
    }
    ics_text_fault(&reader, line.number, 0,
                   "found 7 fields with blanks between them, as in geo-f2k, expected CSV with "
                   "columns string,module,x,y,z[,efficiency]; a geo-f2k needs a name that ends in "
                   "geo-f2k");
    return true;
}

enum {
    STRING,
    MODULE,
    X,
    Y,
    Z,
    EFFICIENCY,
    TYPE,
    QUATERNION,
    ZENITH = QUATERNION + 4,
    AZIMUTH,
    ROLL,
    IGNORED /* and those behind it */
};

static double number_of_type(const void *user, const char *word, size_t length)
{
    const ics_types *types = user;
    if (types == NULL) {
        return 0;
    }
    const size_t i = ics_types_find(types, word, length);
    return i < types->count ? (double)i : -1;
}

/* Reads how a module hangs. */
static void read_turn(ics_text_reader *reader, size_t line, const double *row, ice_orientation *out)
{
    static const char *const names[] = {"zenith", "azimuth", "roll"};
    const double *q = row + QUATERNION;
    const bool has_quaternion = !isnan(q[0]) || !isnan(q[1]) || !isnan(q[2]) || !isnan(q[3]);
    const bool has_angles = !isnan(row[ZENITH]) || !isnan(row[AZIMUTH]) || !isnan(row[ROLL]);
    if (has_quaternion && has_angles) {
        ics_text_fault(reader, line, 0,
                       "found a quaternion and angles, expected the orientation "
                       "once: qw,qx,qy,qz or zenith,azimuth,roll");
        return;
    }
    if (has_quaternion) {
        *out = (ice_orientation){q[0], q[1], q[2], q[3]};
        if (!ics_orientation_normalise(out)) {
            ics_text_fault(
                reader, line, 0,
                "orientation: found the quaternion %g, %g, %g, %g, expected one of length "
                "1 in the columns qw,qx,qy,qz",
                q[0], q[1], q[2], q[3]);
        }
        return;
    }
    double angles[3] = {0};
    for (int i = 0; has_angles && i < 3; ++i) {
        angles[i] = isnan(row[ZENITH + i]) ? 0 : row[ZENITH + i];
        if (!(fabs(angles[i]) <= 360)) {
            ics_text_fault(reader, line, 0, "%s: found %.10g, expected -360 .. 360 degrees",
                           names[i], angles[i]);
            return;
        }
    }
    *out = has_angles ? ics_orientation_of(angles[0], angles[1], angles[2]) : (ice_orientation){0};
}

/* The columns of a list. */
static const ics_csv_column list_columns[] = {
    {.name = "string", .index = STRING, .required = true},
    {.name = "module", .index = MODULE, .required = true},
    {.name = "x", .index = X, .required = true},
    {.name = "y", .index = Y, .required = true},
    {.name = "z", .index = Z, .required = true},
    {.name = "efficiency", .index = EFFICIENCY, .missing = 1},
    {.name = "type", .index = TYPE, .missing = -1, .number_of = number_of_type},
    {.name = "qw", .index = QUATERNION, .missing = NAN},
    {.name = "qx", .index = QUATERNION + 1, .missing = NAN},
    {.name = "qy", .index = QUATERNION + 2, .missing = NAN},
    {.name = "qz", .index = QUATERNION + 3, .missing = NAN},
    {.name = "zenith", .index = ZENITH, .missing = NAN},
    {.name = "azimuth", .index = AZIMUTH, .missing = NAN},
    {.name = "roll", .index = ROLL, .missing = NAN},
    /* Tables of the CUDA port of clsim count from 0, strings and modules count from 1. */
    {.name = "string_index", .index = STRING, .offset = 1},
    {.name = "dom_index", .index = MODULE, .offset = 1},
    {.name = "x_m", .index = X},
    {.name = "y_m", .index = Y},
    {.name = "z_m", .index = Z},
    /* Tables of GraphNeT, of Prometheus' detectors and of IceCube. */
    {.name = "sensor_string_id", .index = STRING},
    {.name = "sensor_id", .index = MODULE},
    {.name = "sensor_pos_x", .index = X},
    {.name = "sensor_pos_y", .index = Y},
    {.name = "sensor_pos_z", .index = Z},
    {.name = "dom_number", .index = MODULE},
    {.name = "dom_x", .index = X},
    {.name = "dom_y", .index = Y},
    {.name = "dom_z", .index = Z},
    {.name = "rde", .index = EFFICIENCY, .missing = 1},
    {.name = "t", .index = IGNORED},
    {.name = "pmt_area", .index = IGNORED + 1},
    {.name = "dom_type", .index = IGNORED + 2},
    {.name = "pmt_number", .index = IGNORED + 8},
    {.name = "pmt_dir_x", .index = IGNORED + 9},
    {.name = "pmt_dir_y", .index = IGNORED + 10},
    {.name = "pmt_dir_z", .index = IGNORED + 11},
    {.name = "dom_time", .index = IGNORED + 12},
    {.name = "charge", .index = IGNORED + 13},
    {.name = "hlc", .index = IGNORED + 14},
};

/* GraphNeT's tables have an index of x, y and z, which repeats the positions of the sensors. Those
 * of IceCube number the rows as sensor_id. */
static void ignore_index(const ics_text *text, ics_csv_column *columns, size_t count)
{
    ics_text_reader reader = ics_text_open(text, ICS_TEXT_CSV, NULL);
    ics_text_line line;
    bool has_index = false, has_number = false;
    if (!ics_text_next(&reader, &line)) {
        return;
    }
    for (size_t i = 0; i < line.count && i < ICS_TEXT_FIELDS_MAX; ++i) {
        has_index |= ics_text_field_equals(&line.fields[i], "sensor_pos_x") ||
                     ics_text_field_equals(&line.fields[i], "dom_x");
        has_number |= ics_text_field_equals(&line.fields[i], "dom_number");
    }
    for (size_t k = 0; k < count && has_index; ++k) {
        const char *name = columns[k].name;
        if (strlen(name) == 1 && name[0] >= 'x' && name[0] <= 'z') {
            columns[k] = (ics_csv_column){.name = name, .index = IGNORED + 3 + columns[k].index};
        } else if (has_number && strcmp(name, "sensor_id") == 0) {
            columns[k] = (ics_csv_column){.name = name, .index = IGNORED + 15};
        }
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Makes a module of the numbers of a row. Returns false after a fault. */
static bool make_module(ics_text_reader *reader, size_t line, const double *row,
                        ics_listed_module *out)
{
    const size_t faults = reader->faults;
    *out = (ics_listed_module){
        .module = {.x = row[X],
                   .y = row[Y],
                   .z = row[Z],
                   .efficiency = row[EFFICIENCY],
                   .type = row[TYPE] > 0 ? (uint32_t)row[TYPE] : 0},
        .line = line,
        .has_type = row[TYPE] >= 0,
    };
    if (!ics_module_list_check_row(reader, line, row[STRING], row[MODULE], &out->module)) {
        return false;
    }
    read_turn(reader, line, row, &out->turn);
    return reader->faults == faults;
}

/* ---- parts ----------------------------------------------------------------------------------- */

typedef struct list_part {
    ics_text text;
    size_t lines;             /* lines of this part */
    size_t line;              /* number of the line before this part */
    ics_listed_module *items; /* room for `lines` modules */
    size_t count;
    bool has_fault;
} list_part;

typedef struct list_parts {
    const ics_csv_plan *plan;
    list_part parts[ICS_PARTS_MAX];
    size_t count;
} list_parts;

/* Cuts the text behind the first line into parts that end with whole lines. */
static void cut_parts(const ics_text_reader *reader, list_parts *all)
{
    const char *begin = reader->next;
    all->count = ics_parts_count((size_t)(reader->end - begin), PART_BYTES_LEAST);
    for (size_t i = 0; i < all->count; ++i) {
        const size_t rest = (size_t)(reader->end - begin);
        const char *end = begin + rest / (all->count - i);
        const char *newline =
            end < reader->end ? memchr(end, '\n', (size_t)(reader->end - end)) : NULL;
        end = newline != NULL ? newline + 1 : reader->end;
        all->parts[i] = (list_part){
            .text = {.name = reader->name, .data = (char *)begin, .size = (size_t)(end - begin)}};
        begin = end;
    }
}

static void count_lines(void *user, size_t index)
{
    list_part *part = &((list_parts *)user)->parts[index];
    const char *data = part->text.data;
    size_t lines = 0;
    for (size_t i = 0; i < part->text.size; ++i) {
        lines += data[i] == '\n';
    }
    part->lines = lines + (part->text.size > 0 && data[part->text.size - 1] != '\n');
}

static void read_part(void *user, size_t index)
{
    const ics_csv_plan *plan = ((const list_parts *)user)->plan;
    list_part *part = &((list_parts *)user)->parts[index];
    ics_text_reader reader = ics_text_open(&part->text, plan->separator, NULL);
    reader.line = part->line;
    ics_text_line line;
    double row[ICS_TEXT_FIELDS_MAX];
    while (!part->has_fault && ics_text_next(&reader, &line)) {
        part->has_fault = !ics_text_csv_row(&reader, &line, plan, row) ||
                          !make_module(&reader, line.number, row, &part->items[part->count]);
        part->count += !part->has_fault;
    }
}

/* Reads the lines after the first one. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY; *done is false
 * if the list has a fault or no module. */
static int read_parts(const ics_text_reader *reader, const ics_csv_plan *plan, ics_module_list *out,
                      bool *done)
{
    list_parts all = {.plan = plan};
    size_t lines = 0;
    cut_parts(reader, &all);
    ics_parts_run(all.count, count_lines, &all);
    ics_listed_module *items = NULL;
    for (size_t i = 0; i < all.count; ++i) {
        all.parts[i].line = reader->line + lines;
        lines += all.parts[i].lines;
    }
    if (lines == 0 || (items = ics_memory_zeros(lines, sizeof *items)) == NULL) {
        return lines == 0 ? ICESTREAM_OK : ICESTREAM_E_MEMORY;
    }
    for (size_t i = 0; i < all.count; ++i) {
        all.parts[i].items = items + (all.parts[i].line - reader->line);
    }
    ics_parts_run(all.count, read_part, &all);
    *out = (ics_module_list){.items = items, .capacity = lines};
    *done = true;
    for (size_t i = 0; i < all.count; ++i) {
        const list_part *part = &all.parts[i];
        if (part->items != items + out->count) { /* lines without modules are before the part */
            memmove(items + out->count, part->items, part->count * sizeof *items);
        }
        out->count += part->count;
        *done = *done && !part->has_fault;
    }
    *done = *done && out->count > 0 && out->count <= ICE_MODULES_MAX;
    if (!*done) {
        ics_module_list_free(out);
    }
    return ICESTREAM_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

static const char list_names[] = "string,module,x,y,z[,efficiency]";

/* Reads the whole list from its begin to its end, with messages. */
static int read_with_messages(const ics_text *text, const ics_csv_column *columns,
                              size_t column_count, ics_module_list *out, icestream_error *error)
{
    ics_text_table table;
    int status =
        ics_text_csv_read(text, columns, column_count, ICE_MODULES_MAX, list_names, &table, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_text_reader reader = ics_text_open(text, ICS_TEXT_CSV, error);
    for (size_t i = 0; i < table.rows && status == ICESTREAM_OK; ++i) {
        ics_listed_module item;
        if (!make_module(&reader, table.lines[i], ics_text_table_row(&table, i), &item)) {
            continue;
        }
        status = ics_module_list_add(out, &item.module, item.line);
        if (status == ICESTREAM_OK) {
            out->items[out->count - 1] = item; /* with its type and how it hangs */
        }
    }
    ics_text_table_free(&table);
    return ics_module_list_finish(&reader, status, out);
}

int ics_module_list_csv(const ics_text *text, const ics_types *types, ics_module_list *out,
                        icestream_error *error)
{
    char expected[512], names[256];
    if (types != NULL && types->count > 0) {
        snprintf(expected, sizeof expected, "a type of the configuration: %s",
                 ics_types_names(types, names, sizeof names));
    } else {
        snprintf(expected, sizeof expected,
                 "no column type, because there are no detector.types; give those of "
                 "the run that the list was made for");
    }
    ics_csv_column columns[sizeof list_columns / sizeof *list_columns];
    memcpy(columns, list_columns, sizeof list_columns);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; ++k) {
        columns[k].user = types;
        columns[k].expected = expected;
    }
    ignore_index(text, columns, sizeof columns / sizeof *columns);
    const size_t column_count = sizeof columns / sizeof *columns;
    *out = (ics_module_list){0};
    if (is_geo(text, error)) {
        return ICESTREAM_E_CONFIG;
    }
    ics_text_reader reader = ics_text_open(text, ICS_TEXT_CSV, NULL);
    ics_csv_plan plan;
    bool done = false;
    int status = ICESTREAM_OK;
    if (ics_text_csv_begin(&reader, columns, column_count, list_names, &plan)) {
        status = read_parts(&reader, &plan, out, &done);
    }
    if (status != ICESTREAM_OK) {
        return ics_error_add(error, status, "%s: error: out of memory", text->name);
    }
    return done ? ICESTREAM_OK : read_with_messages(text, columns, column_count, out, error);
}
