/* ppc's files of module types: om.conf and om.map (the documentation of ppc, doc/index.rst). */
#include "base/cleanup.h"
#include "base/error.h"
#include "physics/body.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/types/direction.h"
#include "pipeline/photons/models/types/types.h"
#include "tables/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- om.conf --------------------------------------------------------------------------------- */

enum { NAME, NUMBER, AREA, BETA, ACROSS, UP, COUNT, ZENITH, AZIMUTH, CABLE, FIELDS };

/* Reads the direction of a PMT and puts the PMT onto the surface of its type. */
static bool read_pmt(ics_text_reader *reader, const ics_text_line *line, size_t first,
                     double efficiency, ice_module_type *type)
{
    static const char *const names[] = {"zenith", "azimuth"};
    double angles[2] = {0};
    if (!ics_text_numbers(reader, line, first, names, 2, angles)) {
        return false;
    }
    if (!(angles[0] >= 0 && angles[0] <= 180 && fabs(angles[1]) <= 360)) {
        ics_text_fault(reader, line->number, line->fields[first].column,
                       "found zenith %.10g, azimuth %.10g, expected 0 .. 180 and -360 .. 360 "
                       "degrees",
                       angles[0], angles[1]);
        return false;
    }
    ice_pmt *pmt = &type->pmts[type->pmt_count++];
    *pmt = (ice_pmt){.efficiency = efficiency};
    ics_direction_of(angles[0], angles[1], pmt->axis);
    ice_body_point(type->shape, type->radius, type->half_height, pmt->axis, pmt->centre);
    return true;
}

/* Checks the numbers of the first row of a type. */
static bool check_numbers(ics_text_reader *reader, const ics_text_line *line,
                          const double values[FIELDS])
{
    static const struct {
        int field;
        const char *name;
        double low, high;
        const char *expected;
    } ranges[] = {
        {NUMBER, "module", -1000000, 1000000, "a whole number from -1000000 to 1000000"},
        {AREA, "area", 1e-6, 1e6, "1e-6 .. 1e6"},
        {BETA, "beta", -1000, 1,
         "0 .. 1, the cosine of half the angle that the window covers, or less than -1 for a "
         "cylindrical window"},
        {ACROSS, "Rr", 1e-3, 10, "0.001 .. 10 m"},
        {UP, "Rz", -10, 10, "0.001 .. 10 m, or less than 0 for a cylinder"},
        {COUNT, "num", 1, ICE_PMTS_MAX, "a whole number from 1 to 1023"},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
        const double value = values[ranges[i].field];
        const bool is_whole = ranges[i].field == NUMBER || ranges[i].field == COUNT;
        if (!(value >= ranges[i].low && value <= ranges[i].high) ||
            (is_whole && value != floor(value)) || (ranges[i].field == UP && fabs(value) < 1e-3) ||
            (ranges[i].field == BETA && value >= -1 && value < 0)) {
            ics_text_fault(reader, line->number, line->fields[ranges[i].field].column,
                           "%s: found %.10g, expected %s", ranges[i].name, value,
                           ranges[i].expected);
            good = false;
        }
    }
    return good;
}

/* Reads the first row of a type. *pmts: how many PMTs it has. Returns false after a fault. */
static bool read_head(ics_text_reader *reader, const ics_text_line *line, double oversize,
                      ics_types *types, size_t *pmts)
{
    static const char *const names[FIELDS] = {"name", "module", "area",   "beta",    "Rr",
                                              "Rz",   "num",    "zenith", "azimuth", "cable"};
    double values[FIELDS] = {0};
    if (!ics_text_numbers(reader, line, NUMBER, names + NUMBER, COUNT, values + NUMBER) ||
        !check_numbers(reader, line, values)) {
        return false;
    }
    ice_module_type *type = &types->items[types->count];
    const bool is_cylinder = values[UP] < 0, is_sphere = values[UP] == values[ACROSS];
    *type = (ice_module_type){.name = strndup(line->fields[NAME].start, line->fields[NAME].length),
                              .shape = is_cylinder ? ICE_SHAPE_CYLINDER
                                       : is_sphere ? ICE_SHAPE_SPHERE
                                                   : ICE_SHAPE_SPHEROID,
                              .open_ends = is_cylinder,
                              .radius = values[ACROSS],
                              .half_height = fabs(values[UP]),
                              .oversize = oversize,
                              .beta = values[BETA],
                              .is_of_ppc = true,
                              .om_number = (int32_t)values[NUMBER],
                              .pmts = calloc((size_t)values[COUNT], sizeof(ice_pmt))};
    type->reach = ics_tables_type_reach(type);
    types->turns[types->count] = ics_upright;
    ++types->count;
    *pmts = (size_t)values[COUNT];
    return type->name != NULL && type->pmts != NULL &&
           read_pmt(reader, line, ZENITH, values[AREA], type);
}

/* Reads the rows of one type. Returns false after a fault. */
static bool read_type(ics_text_reader *reader, ics_text_line *line, double oversize,
                      ics_types *types)
{
    const size_t first = line->number;
    size_t pmts = 0;
    char shown[48];
    if (line->count < CABLE || line->count > FIELDS) {
        ics_text_fault(reader, first, 0,
                       "found %zu fields, expected 9 or 10: name, module, area, beta, Rr, Rz, num, "
                       "zenith, azimuth [, cable]",
                       line->count);
        return false;
    }
    if (types->count == ICE_TYPES_MAX) {
        ics_text_fault(reader, first, 0, "found more types, expected at most %d", ICE_TYPES_MAX);
        return false;
    }
    if (ics_types_find(types, line->fields[NAME].start, line->fields[NAME].length) < types->count) {
        ics_text_fault(reader, first, 1, "found the type %s again, expected every name once",
                       ics_text_field_show(&line->fields[NAME], shown));
        return false;
    }
    if (!read_head(reader, line, oversize, types, &pmts)) {
        return false;
    }
    ice_module_type *type = &types->items[types->count - 1];
    const double efficiency = type->pmts[0].efficiency;
    while (type->pmt_count < pmts) {
        if (!ics_text_next(reader, line) || line->count < 2 || line->count > 3) {
            ics_text_fault(reader, first, 0,
                           "found %zu directions of PMTs, expected %zu, as num says, in a row of "
                           "zenith and azimuth each",
                           type->pmt_count, pmts);
            return false;
        }
        if (!read_pmt(reader, line, 0, efficiency, type)) {
            return false;
        }
    }
    for (size_t i = 0; i + 1 < types->count; ++i) {
        if (types->items[i].om_number == type->om_number) {
            ics_text_fault(reader, first, 0, "module: found %d again, expected every number once",
                           type->om_number);
            return false;
        }
    }
    return true;
}

int ics_types_read_om_conf(const ics_text *text, double oversize, ics_types *out,
                           icestream_error *error)
{
    ics_text_reader reader = ics_text_open(text, ' ', error);
    static _Thread_local ics_text_line line;
    bool good = true;
    *out = (ics_types){0};
    while (good && ics_text_next(&reader, &line)) {
        good = read_type(&reader, &line, oversize, out);
    }
    if (good && out->count == 0) {
        ics_text_fault(&reader, 0, 0,
                       "found no type, expected rows of name, module, area, beta, "
                       "Rr, Rz, num, zenith, azimuth");
        good = false;
    }
    if (!good) {
        ics_types_free(out);
        return reader.faults > 0 ? ICESTREAM_E_CONFIG : ics_error_no_memory(error, text->name);
    }
    return ICESTREAM_OK;
}

/* ---- om.map ---------------------------------------------------------------------------------- */

static size_t find_number(const ics_types *types, double number)
{
    size_t i = 0;
    while (i < types->count && types->items[i].om_number != number) {
        ++i;
    }
    return i;
}

/* The module with this identity, or NULL. */
static ice_module *find_module(const ice_detector *detector, double string, double number)
{
    if (!(string >= 0 && string <= UINT16_MAX && number >= 0 && number <= UINT16_MAX) ||
        string != floor(string) || number != floor(number)) {
        return NULL;
    }
    return ics_sensors_find_module(detector,
                                   (ics_module_identity){(uint16_t)string, (uint16_t)number});
}

/* Reports the modules without a type. */
static int check_all(ics_text_reader *reader, const ice_detector *detector)
{
    size_t missing = 0, first = 0;
    for (size_t i = 0; i < detector->module_count; ++i) {
        if (detector->modules[i].type == ICE_TYPES_MAX && missing++ == 0) {
            first = i;
        }
    }
    return missing == 0
               ? ICESTREAM_OK
               : ics_text_fault(reader, 0, 0,
                                "found no row of %zu modules (first: string %u, module %u), "
                                "expected a row for each, or a type with the number -1 in om.conf",
                                missing, detector->modules[first].string,
                                detector->modules[first].module);
}

int ics_types_read_om_map(const ics_text *text, const ics_types *types, ice_detector *detector,
                          icestream_error *error)
{
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    ICS_TRY(
        ics_text_table_read(text, 3, 3, ICE_MODULES_MAX, "3: string, module, type", &table, error));
    ics_text_reader reader = ics_text_open(text, ' ', error);
    const size_t standard = find_number(types, -1);
    for (size_t i = 0; i < detector->module_count; ++i) {
        detector->modules[i].type =
            standard < types->count ? (uint32_t)standard : (uint32_t)ICE_TYPES_MAX;
    }
    for (size_t i = 0; i < table.rows; ++i) {
        const double *row = ics_text_table_row(&table, i);
        const size_t type = find_number(types, row[2]);
        ice_module *module = find_module(detector, row[0], row[1]);
        if (type == types->count) {
            ics_text_fault(&reader, table.lines[i], 0,
                           "type: found %.10g, expected the number of a type in om.conf", row[2]);
        } else if (module != NULL) {
            module->type = (uint32_t)type;
        }
    }
    ICS_TRY(ics_text_status(&reader));
    return check_all(&reader, detector);
}
