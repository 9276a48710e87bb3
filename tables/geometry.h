/* Shared by the files that build the tables of the detector: boxes, margins and grids. */
#ifndef ICS_TABLES_GEOMETRY_H
#define ICS_TABLES_GEOMETRY_H

#include "tables/internal.h"

#include <math.h>

/* A margin (m) that covers the rounding of single-precision coordinates within 10 km. */
#define ICS_GRID_MARGIN 0.05

/* A box with edges along the axes, m. */
typedef struct ics_box {
    double low[3], high[3];
} ics_box;

/* Returns the largest distance (m) between the centre of this module and a photon that hits it. */
static inline double ics_tables_reach(const ice_detector *detector, const ice_module *module)
{
    if (detector->type_count == 0) {
        return detector->radius * fmax(detector->oversize, 1.0);
    }
    const ice_module_type *type = &detector->types[module->type];
    return ics_tables_type_reach(type) * fmax(type->oversize, 1.0);
}

/* Returns the largest distance (m) between the centre of any module and a photon that hits it. */
static inline double ics_tables_widest(const ice_detector *detector)
{
    double widest = detector->type_count == 0 ? ics_tables_reach(detector, NULL) : 0.0;
    for (uint32_t i = 0; i < detector->type_count; ++i) {
        const ice_module any = {.type = i};
        widest = fmax(widest, ics_tables_reach(detector, &any));
    }
    return widest;
}

/* Fills the tables of cables: `lists` has a row for every string of the tables, `rows` for every
 * cable. Widens the strings so that their cylinders contain their cables. Returns ICESTREAM_OK,
 * ICESTREAM_E_MEMORY, or ICESTREAM_E_CONFIG: a cable has no length or is far from its string. */
int ics_tables_fill_cables(ics_table_builder *builder, const ice_detector *detector,
                           ice_string *strings, ice_cable_list *lists, ice_cable_row *rows);

/* Returns the largest distance (m), seen from above, from the surface of a cable to the nearest
 * module of its string; 0 without cables. The tables of strings must be filled. */
double ics_tables_cable_reach(const ice_tables *tables, const ice_detector *detector);

/* Builds the clearance map. `bounds` contains the centres of all modules. The tables of the strings
 * must be complete. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_tables_build_clearance(ics_table_builder *builder, const ice_detector *detector,
                               const ics_box *bounds);

/* Gives the centre (m) and the reach (m) of object `index` of a grid. The object lies inside a
 * sphere with this radius around its centre. */
typedef void (*ics_table_locate)(const ics_table_builder *builder, size_t index, double *centre,
                                 double *reach);

/* Builds a grid of cells with edge `cell` (m) over a box and lists every object, 0 .. count - 1, in
 * every cell that it touches. A flat grid has one cell in height. Cells are made larger while the
 * lists are too long. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_tables_fill_grid(ics_table_builder *builder, ice_grid *grid, const ics_box *bounds,
                         double cell, bool flat, size_t count, ics_table_locate locate);

#endif
