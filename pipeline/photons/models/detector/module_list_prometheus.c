/* Lists of Prometheus (resources/geofiles/NAME.geo): a part with the medium and the radius of the
 * modules (cm), and after the line "### Modules ###" rows of x, y, z (m), string and module. In ice
 * z counts from the surface, in water it is taken as it stands. */
#include "pipeline/photons/models/detector/module_list.h"

#include <string.h>

static const char modules_title[] = "### Modules ###";

bool ics_module_list_is_prometheus(const ics_text *text)
{
    return text->size > 0 &&
           memmem(text->data, text->size, modules_title, sizeof modules_title - 1) != NULL;
}

/* Reads the radius of a line "DOM Radius [cm]: 30". */
static void read_radius(ics_text_reader *reader, const ics_text_line *line, ics_module_list *out)
{
    static const struct {
        const char *text;
        double metres;
    } units[] = {{"[cm]:", 0.01}, {"[m]:", 1}, {"[mm]:", 0.001}};
    double radius = 0;
    if (!ics_text_number(reader, line, line->count - 1, "DOM Radius", &radius)) {
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        if (line->count == 4 && ics_text_field_equals(&line->fields[2], units[i].text)) {
            out->radius = units[i].metres * radius;
            return;
        }
    }
    ics_text_fault(reader, line->number, 0,
                   "found a radius without a known unit, expected DOM Radius [cm]: NUMBER, or [m] "
                   "or [mm]");
}

/* Reads the lines "Medium: ice", which must be there, and the radius. */
static void read_head(ics_text_reader *reader, ics_module_list *out)
{
    ics_text_line line;
    while (ics_text_next(reader, &line)) {
        const ics_text_field *last = &line.fields[line.count - 1];
        if (ics_text_field_equals(&line.fields[0], "Medium:") && line.count == 2) {
            out->surroundings = ics_text_field_equals(last, "ice")     ? ICE_SURROUNDINGS_ICE
                                : ics_text_field_equals(last, "water") ? ICE_SURROUNDINGS_WATER
                                                                       : ICE_SURROUNDINGS_UNKNOWN;
        } else if (ics_text_field_equals(&line.fields[0], "DOM") && line.count > 2 &&
                   line.fields[1].length >= 6 && memcmp(line.fields[1].start, "Radius", 6) == 0) {
            read_radius(reader, &line, out);
        }
    }
}

int ics_module_list_prometheus(const ics_text *text, ics_module_list *out, icestream_error *error)
{
    enum { X, Y, Z, STRING, MODULE, FIELDS };
    static const char *const names[FIELDS] = {"x", "y", "z", "string", "module"};
    const char *title = memmem(text->data, text->size, modules_title, sizeof modules_title - 1);
    const ics_text head = ics_text_borrow(text->name, text->data, (size_t)(title - text->data));
    ics_text_reader first = ics_text_open(&head, ' ', error);
    ics_text_reader reader = ics_text_open(text, ' ', error);
    ics_text_line line;
    int status = ICESTREAM_OK;
    *out = (ics_module_list){0};
    read_head(&first, out);
    status = ics_text_status(&first);
    const double height = out->surroundings == ICE_SURROUNDINGS_ICE ? ICE_DETECTOR_DEPTH : 0;
    if (out->surroundings == ICE_SURROUNDINGS_UNKNOWN) {
        ics_text_fault(&reader, 0, 0, "found no line 'Medium: ice' or 'Medium: water' before %s",
                       modules_title);
    }
    while (status == ICESTREAM_OK && ics_text_next(&reader, &line)) {
        double numbers[FIELDS] = {0};
        if (line.fields[0].start < title) {
            continue;
        }
        if (line.count != FIELDS && line.count != FIELDS + 1) {
            ics_text_fault(&reader, line.number, 0,
                           "found %zu fields, expected 5 or 6: x, y, z, string, module [, serial "
                           "number]",
                           line.count);
            continue;
        }
        const bool good = ics_text_numbers(&reader, &line, 0, names, FIELDS, numbers);
        const ics_listed_module given = {
            .module = {.x = numbers[X], .y = numbers[Y], .z = numbers[Z] + height, .efficiency = 1},
            .line = line.number};
        if (good) {
            status =
                ics_module_list_add_row(&reader, numbers[STRING], numbers[MODULE], &given, out);
        }
    }
    return ics_module_list_finish(&reader, status, out);
}
