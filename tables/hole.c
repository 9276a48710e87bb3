/* Tables of hole ice: the refrozen columns around the strings. */
#include "base/cleanup.h"
#include "base/error.h"
#include "tables/internal.h"
#include "tables/nearest.h"

#include <math.h>
#include <stdlib.h>

/* Orders modules by string, so that the modules of one string stand together. */
static int by_string(const void *left, const void *right)
{
    const ice_module *a = *(const ice_module *const *)left, *b = *(const ice_module *const *)right;
    return (a->string > b->string) - (a->string < b->string);
}

/* Returns the smallest distance (m) between the centre of a module and a photon that hits it at
 * true size: of the narrowest type. */
static double narrowest(const ice_detector *detector)
{
    double radius = detector->radius;
    for (size_t i = 0; i < detector->type_count; ++i) {
        radius = fmin(radius, ics_tables_type_reach(&detector->types[i]));
    }
    return radius;
}

/* Sets the axis of a string's column to the mean position of its modules (physics.md 8.7). Returns
 * the margin (m) that this string needs, see ice_hole_constants.margin: the distance from the axis
 * to the farthest module, plus the radius of the column, minus the radius of a module. */
static double locate_column(const ice_detector *detector, const ice_module *const *modules,
                            size_t count, double radius, ice_column *column)
{
    double x = 0.0, y = 0.0, farthest = 0.0;
    for (size_t i = 0; i < count; ++i) {
        x += modules[i]->x / (double)count;
        y += modules[i]->y / (double)count;
    }
    for (size_t i = 0; i < count; ++i) {
        farthest = fmax(farthest, hypot(modules[i]->x - x, modules[i]->y - y));
    }
    column->x = (float)x;
    column->y = (float)y;
    return farthest + radius - narrowest(detector);
}

/* Fills the map of the columns: the column nearest to any point of a cell, and a distance within
 * which there is no other column. */
static void fill_near_columns(const ice_tables *tables, ics_nearest_search *search,
                              ice_near_row *near)
{
    const int32_t nx = tables->clearance_nx, ny = tables->clearance_ny;
    const double side = 1.0 / (double)tables->clearance_inverse_cell;
    /* The cell is made a little larger, because rounding decides to which cell a position at an
     * edge belongs. */
    const double more = 1e-4 * side;
    for (int32_t j = 0; j < ny; ++j) {
        for (int32_t i = 0; i < nx; ++i) {
            const ics_map_cell cell = {(i - (double)tables->clearance_of_zero_x) * side - more,
                                       (j - (double)tables->clearance_of_zero_y) * side - more,
                                       side + 2.0 * more};
            const ics_nearest_owner found = ics_tables_nearest_find(search, cell);
            ice_near_row *row = &near[(size_t)j * (size_t)nx + (size_t)i];
            row->string = found.owner;
            /* 0.01 m covers the rounding of positions. */
            row->others = (float)fmax(sqrt(found.second) - (double)tables->hole.radius - 0.01, 0.0);
        }
    }
}

static int no_memory(ics_table_builder *builder)
{
    return ics_error_set(builder->error, ICESTREAM_E_MEMORY,
                         "out of memory for columns of hole ice");
}

static int build_near_columns(ics_table_builder *builder, const ice_column *columns)
{
    ice_tables *tables = builder->tables;
    const size_t count = tables->column_count;
    const size_t cells = (size_t)tables->clearance_nx * (size_t)tables->clearance_ny;
    ice_near_row *near;
    ICS_TRY(ics_tables_array(builder, &tables->near_columns, cells, sizeof *near, &near));
    ICS_FREES ics_owned_point *points = malloc(count * sizeof *points);
    ics_nearest_search search = {0};
    if (points == NULL) {
        return no_memory(builder);
    }
    for (uint32_t i = 0; i < count; ++i) {
        points[i] = (ics_owned_point){columns[i].x, columns[i].y, i};
    }
    int status = ics_tables_nearest_create(points, count, &search);
    if (status == ICESTREAM_OK) {
        fill_near_columns(tables, &search, near);
    } else {
        status = no_memory(builder);
    }
    ics_tables_nearest_destroy(&search);
    return status;
}

uint32_t ics_tables_find_hole(const ice_medium *medium)
{
    return medium->hole.radius > 0.0 ? ICE_HAS_HOLES : 0;
}

int ics_tables_build_hole(ics_table_builder *builder, const ice_medium *medium,
                          const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    const ice_hole *hole = &medium->hole;
    const size_t count = detector->module_count;
    ice_column *columns;
    ICS_TRY(ics_tables_array(builder, &tables->columns, count, sizeof *columns, &columns));
    ICS_FREES const ice_module **order = malloc(count * sizeof *order);
    if (order == NULL) {
        return no_memory(builder);
    }
    for (size_t i = 0; i < count; ++i) {
        order[i] = &detector->modules[i];
    }
    qsort(order, count, sizeof *order, by_string);
    double margin = 0.0;
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && order[next]->string == order[first]->string; ++next)
            ;
        margin = fmax(margin, locate_column(detector, order + first, next - first, hole->radius,
                                            &columns[tables->column_count++]));
    }
    const double g = hole->mean_cosine, f = hole->liu_fraction;
    tables->hole.radius = (float)hole->radius;
    tables->hole.scattering_length = (float)(hole->effective_scattering * (1.0 - g));
    tables->hole.absorption_length = (float)hole->absorption;
    tables->hole.absorption = (float)(1.0 / hole->absorption);
    tables->hole.margin = (float)(margin + 0.01); /* 0.01 m for the rounding of positions */
    tables->hole.scatter = ics_tables_scatter_constants(medium, g, f, 0.0);
    return build_near_columns(builder, columns);
}
