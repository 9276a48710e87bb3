#include "pipeline/photons/models/detector/module_list.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Appends a module. ICESTREAM_OK or ICESTREAM_E_MEMORY. */
static int add_module(ics_module_list *list, const ics_listed_module *item, icestream_error *error)
{
    void *items = ics_memory_grow(list->items, list->count, &list->capacity, sizeof *item);
    if (items == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    list->items = items;
    list->items[list->count++] = *item;
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

int ics_module_list_hex86(bool jitter, bool dense, ics_module_list *out, icestream_error *error)
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
                const ics_listed_module item = {
                    .module = {
                        .x = spacing * (q + 0.5 * r),
                        .y = spacing * (sqrt(3) / 2) * r,
                        .z = top - vertical * (m - 1) + shift,
                        .string = string,
                        .module = (uint16_t)m,
                        .efficiency = dense && string >= FIRST_DENSE ? high_efficiency : 1,
                    }};
                ICS_TRY(add_module(out, &item, error));
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

static bool check_row(ics_text_reader *reader, size_t line, double string, double number,
                      ice_module *module)
{
    bool good = check_identity(reader, line, "string", string, &module->string);
    good &= check_identity(reader, line, "module", number, &module->module);
    good &= check_coordinate(reader, line, "x", module->x);
    good &= check_coordinate(reader, line, "y", module->y);
    good &= check_coordinate(reader, line, "z", module->z);
    if (!(module->efficiency > 0 && module->efficiency <= 100)) {
        ics_text_fault(reader, line, 0,
                       "efficiency: found %.10g, expected more than 0, at most 100",
                       module->efficiency);
        good = false;
    }
    return good;
}

int ics_module_list_add_row(ics_text_reader *reader, double string, double number,
                            const ics_listed_module *given, ics_module_list *list)
{
    ics_listed_module item = *given;
    if (!check_row(reader, item.line, string, number, &item.module)) {
        return ICESTREAM_OK;
    }
    if (list->count == ICE_MODULES_MAX) {
        return ics_text_fault(reader, item.line, 0, "found more modules, expected at most %d",
                              ICE_MODULES_MAX);
    }
    return add_module(list, &item, reader->error);
}

int ics_module_list_finish(ics_text_reader *reader, int status, ics_module_list *list)
{
    status = status ? status : ics_text_status(reader);
    if (status != ICESTREAM_OK) {
        ics_module_list_free(list);
    }
    return status;
}

/* As in ppc (ini.cxx): strings above 86 have no modules at the surface. */
enum { LAST_IN_ICE = 60, LAST_WITH_SURFACE = 86 };

/* Returns whether a row of geo-f2k is not of the ice, and counts those that are odd. */
static bool leave_out(ics_module_list *list, size_t line, double string, double number,
                      double height)
{
    const double deep = -500; /* m: modules above 60 stand in tanks at the surface */
    const bool is_low = !(string > 0 && number >= 1), is_high = number > LAST_IN_ICE;
    if (string > LAST_WITH_SURFACE || !(is_low || is_high)) {
        return false;
    }
    /* IceCube's own lists have two channels of AMANDA: string 0, numbers 91 and 92. */
    if (is_low && (!is_high || list->low.count > 0)) {
        ics_listed_oddity_add(&list->low, line);
    } else if (!is_low && height < deep) {
        ics_listed_oddity_add(&list->deep, line);
    }
    return true;
}

int ics_module_list_geo(const ics_text *text, ics_module_list *out, icestream_error *error)
{
    enum { NAME, ID, X, Y, HEIGHT, STRING, MODULE, FIELDS };
    static const char *const names[FIELDS] = {"name", "id", "x", "y", "z", "string", "module"};
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ics_text_line line;
    int status = ICESTREAM_OK;
    *out = (ics_module_list){0};
    while (status == ICESTREAM_OK && ics_text_next(&reader, &line)) {
        double numbers[FIELDS] = {0};
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
        if (!ics_text_numbers(&reader, &line, X, names + X, FIELDS - X, numbers + X) ||
            leave_out(out, line.number, numbers[STRING], numbers[MODULE], numbers[HEIGHT])) {
            continue;
        }
        const ics_listed_module given = {.module = {.x = numbers[X],
                                                    .y = numbers[Y],
                                                    .z = numbers[HEIGHT] + ICE_DETECTOR_DEPTH,
                                                    .efficiency = 1},
                                         .line = line.number};
        status = ics_module_list_add_row(&reader, numbers[STRING], numbers[MODULE], &given, out);
    }
    return ics_module_list_finish(&reader, status, out);
}
