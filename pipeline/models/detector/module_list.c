#include "pipeline/models/detector/module_list.h"

#include "pipeline/models/types/direction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int ics_module_list_add(ics_module_list *list, const ice_module *module, size_t line)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 256;
        if (capacity > SIZE_MAX / sizeof *list->items) {
            return ICESTREAM_E_MEMORY;
        }
        ics_listed_module *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            return ICESTREAM_E_MEMORY;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = (ics_listed_module){.module = *module, .line = line};
    return ICESTREAM_OK;
}

void ics_module_list_free(ics_module_list *list)
{
    free(list->items);
    *list = (ics_module_list){0};
}

/* ---- hex86 ----------------------------------------------------------------------------------- */

static bool is_corner(int q, int r)
{
    return (q == 0 && r == 5) || (q == -5 && r == 5) || (q == -5 && r == 0) ||
           (q == 0 && r == -5) || (q == 5 && r == -5);
}

int ics_module_list_hex86(bool jitter, bool dense, ics_module_list *out)
{
    enum { EDGE = 5, MODULES = 60, FIRST_DENSE = 79 };
    const double spacing = 125, vertical = 17, top = 501.5, high_efficiency = 1.35;
    uint16_t string = 0;
    *out = (ics_module_list){0};
    for (int r = -EDGE; r <= EDGE; ++r) {
        for (int q = -EDGE; q <= EDGE; ++q) {
            if (abs(q + r) > EDGE || is_corner(q, r)) {
                continue;
            }
            ++string;
            double golden = 0.6180339887 * string;
            double shift = jitter ? 4 * (golden - floor(golden)) - 2 : 0;
            for (int m = 1; m <= MODULES; ++m) {
                ice_module module = {
                    .x = spacing * (q + 0.5 * r),
                    .y = spacing * (sqrt(3) / 2) * r,
                    .z = top - vertical * (m - 1) + shift,
                    .string = string,
                    .module = (uint16_t)m,
                    .efficiency = dense && string >= FIRST_DENSE ? high_efficiency : 1,
                };
                if (ics_module_list_add(out, &module, 0) != ICESTREAM_OK) {
                    ics_module_list_free(out);
                    return ICESTREAM_E_MEMORY;
                }
            }
        }
    }
    return ICESTREAM_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool check_identity(ics_text_reader *reader, size_t line, const char *what, double value,
                           uint16_t *out)
{
    if (!(value >= 0 && value <= UINT16_MAX) || value != floor(value)) {
        ics_text_fault(reader, line, 0, "%s: found %.10g, expected a whole number 0 .. %d", what,
                       value, UINT16_MAX);
        return false;
    }
    *out = (uint16_t)value;
    return true;
}

static bool check_coordinate(ics_text_reader *reader, size_t line, const char *what, double value)
{
    if (value >= -10000 && value <= 10000) {
        return true;
    }
    ics_text_fault(reader, line, 0, "%s: found %.10g m, expected -10000 .. 10000 m", what, value);
    return false;
}

int ics_module_list_add_row(ics_text_reader *reader, size_t line, double string, double number,
                            const ice_module *given, ics_module_list *list)
{
    ice_module module = *given;
    bool good = check_identity(reader, line, "string", string, &module.string);
    good &= check_identity(reader, line, "module", number, &module.module);
    good &= check_coordinate(reader, line, "x", module.x);
    good &= check_coordinate(reader, line, "y", module.y);
    good &= check_coordinate(reader, line, "z", module.z);
    if (!(module.efficiency > 0 && module.efficiency <= 100)) {
        ics_text_fault(reader, line, 0,
                       "efficiency: found %.10g, expected more than 0, at most 100",
                       module.efficiency);
        good = false;
    }
    if (good && list->count == ICE_MODULES_MAX) {
        ics_text_fault(reader, line, 0, "found more modules, expected at most %d", ICE_MODULES_MAX);
        return ICESTREAM_E_CONFIG;
    }
    return good ? ics_module_list_add(list, &module, line) : ICESTREAM_OK;
}

int ics_module_list_finish(ics_text_reader *reader, int status, ics_module_list *list)
{
    if (status == ICESTREAM_E_MEMORY) {
        ics_error_add(reader->error, ICESTREAM_E_MEMORY, "%s: error: out of memory", reader->name);
    }
    if (status == ICESTREAM_OK && reader->faults > 0) {
        status = ICESTREAM_E_CONFIG;
    }
    if (status != ICESTREAM_OK) {
        ics_module_list_free(list);
    }
    return status;
}

int ics_module_list_geo(const ics_text *text, ics_module_list *out, icestream_error *error)
{
    enum { NAME, ID, X, Y, HEIGHT, STRING, MODULE, FIELDS };
    static const char *const names[FIELDS] = {"name", "id", "x", "y", "z", "string", "module"};
    /* As in ppc (ini.cxx): strings above 86 have no modules at the surface. */
    enum { LAST_IN_ICE = 60, LAST_WITH_SURFACE = 86 };
    const double deep =
        -500; /* m: modules above 60 of other strings stand in tanks at the surface */
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ics_text_line line;
    int status = ICESTREAM_OK;
    *out = (ics_module_list){0};
    while (status == ICESTREAM_OK && ics_text_next(&reader, &line)) {
        double numbers[FIELDS] = {0};
        bool good = true;
        if (ics_text_wrong_separator(&reader, &line,
                                     "name, id, x, y, z, string, module; a CSV file needs a name "
                                     "that does not end in geo-f2k")) {
            break;
        }
        if (line.count != FIELDS) {
            ics_text_fault(&reader, line.number, 0,
                           "found %zu fields, expected 7: name, id, x, y, z, string, module",
                           line.count);
            continue;
        }
        for (size_t i = X; i < FIELDS; ++i) {
            good &= ics_text_number(&reader, &line, i, names[i], &numbers[i]);
        }
        const bool is_new = numbers[STRING] > LAST_WITH_SURFACE;
        if (!good || !(is_new || (numbers[STRING] > 0 && numbers[MODULE] >= 1))) {
            continue;
        }
        if (!is_new && numbers[MODULE] > LAST_IN_ICE) {
            if (numbers[HEIGHT] < deep && out->deep_count++ == 0) {
                out->deep_line = line.number;
            }
            continue;
        }
        ice_module given = {.x = numbers[X],
                            .y = numbers[Y],
                            .z = numbers[HEIGHT] + ICE_DETECTOR_DEPTH,
                            .efficiency = 1};
        status = ics_module_list_add_row(&reader, line.number, numbers[STRING], numbers[MODULE],
                                         &given, out);
    }
    return ics_module_list_finish(&reader, status, out);
}

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
    COLUMNS
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
};

int ics_module_list_csv(const ics_text *text, const ics_types *types, ics_module_list *out,
                        icestream_error *error)
{
    char expected[512], names[256];
    if (types != NULL && types->count > 0) {
        snprintf(expected, sizeof expected, "a type of the configuration: %s",
                 ics_types_names(types, names, sizeof names));
    } else {
        snprintf(expected, sizeof expected, "no column type, because there are no detector.types");
    }
    ics_csv_column columns[sizeof list_columns / sizeof *list_columns];
    memcpy(columns, list_columns, sizeof list_columns);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; ++k) {
        columns[k].user = types;
        columns[k].expected = expected;
    }
    ics_text_table table;
    *out = (ics_module_list){0};
    if (is_geo(text, error)) {
        return ICESTREAM_E_CONFIG;
    }
    int status = ics_text_csv_read(text, columns, sizeof columns / sizeof *columns, ICE_MODULES_MAX,
                                   "string,module,x,y,z[,efficiency]", &table, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    ics_text_reader reader = ics_text_open(text, ',', error);
    for (size_t i = 0; i < table.rows && status == ICESTREAM_OK; ++i) {
        const double *row = ics_text_table_row(&table, i);
        ice_module given = {.x = row[X],
                            .y = row[Y],
                            .z = row[Z],
                            .efficiency = row[EFFICIENCY],
                            .type = row[TYPE] > 0 ? (uint32_t)row[TYPE] : 0};
        const size_t before = out->count;
        status =
            ics_module_list_add_row(&reader, table.lines[i], row[STRING], row[MODULE], &given, out);
        if (out->count > before) {
            out->items[before].has_type = row[TYPE] >= 0;
            read_turn(&reader, table.lines[i], row, &out->items[before].turn);
        }
    }
    ics_text_table_free(&table);
    return ics_module_list_finish(&reader, status, out);
}
