/* Tables of cables: absorbing cylinders, which belong to the strings of the tables
 * (physics.md 8.10). */
#include "base/cleanup.h"
#include "base/error.h"
#include "tables/geometry.h"

#include <stdlib.h>

/* No part of a cable is farther from the modules of its string than this, m, seen from above. The
 * clearance map has a margin of as much around the modules. */
#define CABLE_AWAY_MAX 100.0

/* Returns the number of the string, as in hit files, of a string of the tables. */
static uint16_t number_of(const ice_tables *tables, const ice_detector *detector, uint32_t string)
{
    return detector->modules[tables->string_modules[tables->strings[string].first]].string;
}

/* Returns the first string of the tables whose number is not below `number`. They ascend. */
static uint32_t first_string(const ice_tables *tables, const ice_detector *detector,
                             uint16_t number)
{
    uint32_t low = 0, high = tables->string_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (number_of(tables, detector, middle) < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Returns the distance (m), seen from above, from a position to a point of a cable. */
static double away(double x, double y, const double *point)
{
    return hypot(point[0] - x, point[1] - y);
}

/* Returns the string of the tables whose axis is nearest to a cable, and the radius (m) of the
 * cylinder around that axis that contains the cable; string_count: the cable's string has no
 * module. */
static uint32_t string_of(const ice_tables *tables, const ice_detector *detector,
                          const ice_cable *cable, double *radius)
{
    uint32_t best = tables->string_count;
    *radius = INFINITY;
    for (uint32_t s = first_string(tables, detector, cable->string);
         s < tables->string_count && number_of(tables, detector, s) == cable->string; ++s) {
        const double x = (double)tables->strings[s].x, y = (double)tables->strings[s].y;
        const double needed = fmax(away(x, y, cable->from), away(x, y, cable->to)) + cable->radius;
        if (needed < *radius) {
            *radius = needed;
            best = s;
        }
    }
    return best;
}

/* ---- the distance to the modules ------------------------------------------------------------- */

/* Returns the module of a string that is nearest in height to z (m). */
static const ice_module *module_near(const ice_tables *tables, const ice_detector *detector,
                                     const ice_string *string, double z)
{
    uint32_t best = string->first;
    for (uint32_t k = string->first; k < string->first + string->count; ++k) {
        if (fabs((double)tables->string_spheres[k].z - z) <
            fabs((double)tables->string_spheres[best].z - z)) {
            best = k;
        }
    }
    return &detector->modules[tables->string_modules[best]];
}

/* Returns how far (m) the half of a cable from `end` to its middle is from the module that is
 * nearest in height to `end`. A distance to a point is largest at an end of a straight line. */
static double half_away(const ice_tables *tables, const ice_detector *detector,
                        const ice_string *string, const double *end, const double *middle)
{
    const ice_module *module = module_near(tables, detector, string, end[2]);
    return fmax(away(module->x, module->y, end), away(module->x, module->y, middle));
}

/* Returns the largest distance (m), seen from above, from the surface of a cable to a module. */
static double cable_away(const ice_tables *tables, const ice_detector *detector,
                         const ice_cable *cable)
{
    double radius;
    const uint32_t s = string_of(tables, detector, cable, &radius);
    if (s == tables->string_count) {
        return INFINITY;
    }
    const ice_string *string = &tables->strings[s];
    double middle[3];
    for (int axis = 0; axis < 3; ++axis) {
        middle[axis] = 0.5 * (cable->from[axis] + cable->to[axis]);
    }
    return fmax(half_away(tables, detector, string, cable->from, middle),
                half_away(tables, detector, string, cable->to, middle)) +
           cable->radius;
}

double ics_tables_cable_reach(const ice_tables *tables, const ice_detector *detector)
{
    double reach = 0.0;
    for (size_t i = 0; i < detector->cable_count; ++i) {
        reach = fmax(reach, cable_away(tables, detector, &detector->cables[i]));
    }
    return reach;
}

/* ---- the tables ------------------------------------------------------------------------------ */

typedef struct sorted_cable {
    uint32_t string; /* of the tables */
    size_t index;
    double low; /* height of the lower end, m */
} sorted_cable;

static int compare_cables(const void *a, const void *b)
{
    const sorted_cable *p = a, *q = b;
    if (p->string != q->string) {
        return p->string < q->string ? -1 : 1;
    }
    if (p->low != q->low) {
        return p->low < q->low ? -1 : 1;
    }
    return (p->index > q->index) - (p->index < q->index);
}

static double length_of(const ice_cable *cable)
{
    return hypot(hypot(cable->to[0] - cable->from[0], cable->to[1] - cable->from[1]),
                 cable->to[2] - cable->from[2]);
}

/* Returns the row of a cable: from its lower end to its upper one. */
static ice_cable_row row_of(const ice_cable *cable)
{
    const bool up = cable->to[2] >= cable->from[2];
    const double *low = up ? cable->from : cable->to, *high = up ? cable->to : cable->from;
    const double length = length_of(cable);
    const ice_cable_row row = {.x = (float)low[0],
                               .y = (float)low[1],
                               .z = (float)low[2],
                               .radius = (float)cable->radius,
                               .ux = (float)((high[0] - low[0]) / length),
                               .uy = (float)((high[1] - low[1]) / length),
                               .uz = (float)((high[2] - low[2]) / length),
                               .length = (float)length};
    return row;
}

static int check_cable(ics_table_builder *builder, const ice_detector *detector,
                       const ice_cable *cable)
{
    const double distance = cable_away(builder->tables, detector, cable);
    if (length_of(cable) > 0.0 && distance <= CABLE_AWAY_MAX) {
        return ICESTREAM_OK;
    }
    return ics_error_set(
        builder->error, ICESTREAM_E_CONFIG,
        "cable of string %u: found a length of %g m, %g m away from the modules of "
        "the string; expected a length above 0 and at most %g m",
        cable->string, length_of(cable), distance, CABLE_AWAY_MAX);
}

/* Sorts the cables by their strings, and widens the strings. */
static int sort_cables(ics_table_builder *builder, const ice_detector *detector,
                       ice_string *strings, sorted_cable *order)
{
    for (size_t i = 0; i < detector->cable_count; ++i) {
        const ice_cable *cable = &detector->cables[i];
        ICS_TRY(check_cable(builder, detector, cable));
        double radius;
        const uint32_t s = string_of(builder->tables, detector, cable, &radius);
        order[i] = (sorted_cable){s, i, fmin(cable->from[2], cable->to[2])};
        const float reach = (float)(radius + ICS_GRID_MARGIN);
        strings[s].radius = fmaxf(strings[s].radius, reach);
        builder->tables->cable_reach = fmaxf(builder->tables->cable_reach, reach);
    }
    qsort(order, detector->cable_count, sizeof *order, compare_cables);
    return ICESTREAM_OK;
}

int ics_tables_fill_cables(ics_table_builder *builder, const ice_detector *detector,
                           ice_string *strings, ice_cable_list *lists, ice_cable_row *rows)
{
    ICS_FREES sorted_cable *order = malloc(detector->cable_count * sizeof *order);
    if (order == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY, "out of memory for %zu cables",
                             detector->cable_count);
    }
    ICS_TRY(sort_cables(builder, detector, strings, order));
    for (size_t i = 0; i < detector->cable_count; ++i) {
        const ice_cable *cable = &detector->cables[order[i].index];
        ice_cable_list *list = &lists[order[i].string];
        const double height = fabs(cable->to[2] - cable->from[2]);
        list->first = list->count == 0 ? (uint32_t)i : list->first;
        ++list->count;
        list->tallest = fmaxf(list->tallest, (float)(height + cable->radius + ICS_GRID_MARGIN));
        list->widest = fmaxf(list->widest, (float)(cable->radius + ICS_GRID_MARGIN));
        rows[i] = row_of(cable);
    }
    builder->tables->features |= ICE_HAS_CABLES;
    return ICESTREAM_OK;
}
