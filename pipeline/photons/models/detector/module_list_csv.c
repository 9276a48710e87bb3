/* Lists of modules as CSV. */
#include "pipeline/photons/models/detector/module_list.h"
#include "pipeline/photons/models/types/direction.h"

#include <math.h>
#include <string.h>

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
    PMT_NUMBER,
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
    {.name = "efficiency", .index = EFFICIENCY, .missing = NAN, .may_be_empty = true},
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
    /* IceCube's OMKey. */
    {.name = "om", .index = MODULE},
    {.name = "pmt", .index = PMT_NUMBER, .missing = NAN},
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
    {.name = "rde", .index = EFFICIENCY, .missing = NAN, .may_be_empty = true},
    {.name = "t", .index = IGNORED},
    {.name = "pmt_area", .index = IGNORED + 1},
    {.name = "dom_type", .index = IGNORED + 2},
    {.name = "pmt_number", .index = PMT_NUMBER, .missing = NAN},
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

/* ---- all together ---------------------------------------------------------------------------- */

/* The rows of the PMTs of one module. */
typedef struct pmt_rows {
    ics_listed_module item;
    double string, number;
    double first[3]; /* m, of the first PMT */
    size_t count;
} pmt_rows;

/* PMTs of a module are at most this far apart along each axis (m). */
#define SAME_MODULE 1.0

/* Appends the module of the rows so far. ICESTREAM_OK, also after a fault. */
static int end_module(ics_text_reader *reader, pmt_rows *rows, ics_module_list *out)
{
    if (rows->count == 0) {
        return ICESTREAM_OK;
    }
    if (rows->count > 1) {
        ics_listed_oddity_add(&out->parts, rows->item.line);
    }
    ice_module *module = &rows->item.module;
    module->x /= (double)rows->count;
    module->y /= (double)rows->count;
    module->z /= (double)rows->count;
    rows->count = 0;
    return ics_module_list_add_row(reader, rows->string, rows->number, &rows->item, out);
}

static bool is_next_pmt(const pmt_rows *rows, const double *row)
{
    return rows->count > 0 && !isnan(row[PMT_NUMBER]) && row[STRING] == rows->string &&
           row[MODULE] == rows->number && fabs(row[X] - rows->first[0]) < SAME_MODULE &&
           fabs(row[Y] - rows->first[1]) < SAME_MODULE &&
           fabs(row[Z] - rows->first[2]) < SAME_MODULE;
}

/* Begins a module with the numbers of a row, or goes on with the next PMT of one. ICESTREAM_OK,
 * also after a fault. */
static int add_row(ics_text_reader *reader, size_t line, const double *row, pmt_rows *rows,
                   ics_module_list *out)
{
    const size_t faults = reader->faults;
    if (is_next_pmt(rows, row)) {
        rows->item.module.x += row[X];
        rows->item.module.y += row[Y];
        rows->item.module.z += row[Z];
        ++rows->count;
        return ICESTREAM_OK;
    }
    ICS_TRY(end_module(reader, rows, out));
    ics_listed_module item = {
        .module = {.x = row[X],
                   .y = row[Y],
                   .z = row[Z],
                   .efficiency = isnan(row[EFFICIENCY]) ? 1 : row[EFFICIENCY],
                   .type = row[TYPE] > 0 ? (uint32_t)row[TYPE] : 0},
        .line = line,
        .has_type = row[TYPE] >= 0,
    };
    read_turn(reader, line, row, &item.turn);
    if (reader->faults == faults) {
        *rows = (pmt_rows){.item = item,
                           .string = row[STRING],
                           .number = row[MODULE],
                           .first = {row[X], row[Y], row[Z]},
                           .count = 1};
    }
    return ICESTREAM_OK;
}

static bool has_column(const ics_csv_plan *plan, size_t index)
{
    bool found = false;
    for (size_t i = 0; i < plan->width; ++i) {
        found |= plan->meaning[i] != NULL && plan->meaning[i]->index == index;
    }
    return found;
}

static int read_list(const ics_text *text, const ics_csv_column *columns, size_t column_count,
                     ics_module_list *out, icestream_error *error)
{
    static const char names[] = "string,module,x,y,z[,efficiency]";
    ics_text_reader reader = ics_text_open(text, ICS_TEXT_CSV, error);
    ics_text_line line;
    ics_csv_plan plan;
    pmt_rows rows = {.count = 0};
    int status = ICESTREAM_OK;
    const bool has_header = ics_text_csv_begin(&reader, columns, column_count, names, &plan);
    const bool has_efficiency = has_header && has_column(&plan, EFFICIENCY);
    while (has_header && status == ICESTREAM_OK && ics_text_next(&reader, &line)) {
        double row[ICS_TEXT_FIELDS_MAX];
        if (ics_text_csv_row(&reader, &line, &plan, row)) {
            if (has_efficiency && isnan(row[EFFICIENCY])) {
                ics_listed_oddity_add(&out->plain, line.number);
            }
            status = add_row(&reader, line.number, row, &rows, out);
        }
    }
    if (status == ICESTREAM_OK) {
        status = end_module(&reader, &rows, out);
    }
    if (reader.faults == 0 && status == ICESTREAM_OK && out->count == 0) {
        ics_text_fault(&reader, 0, 0, "found no rows of numbers, expected columns %s", names);
    }
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
    return is_geo(text, error) ? ICESTREAM_E_CONFIG
                               : read_list(text, columns, column_count, out, error);
}
