/* Shared by the files that build the tables of the detector: boxes, margins and grids. */
#ifndef ICS_TABLES_TABLES_GEOMETRY_H
#define ICS_TABLES_TABLES_GEOMETRY_H

#include "tables/tables_internal.h"

#include <math.h>

/* A margin (m) that covers the rounding of single-precision coordinates within 10 km. */
#define ICS_GRID_MARGIN 0.05

/* A box with edges along the axes, m. */
typedef struct ics_box {
    double low[3], high[3];
} ics_box;

/* Returns the largest distance (m) between the centre of a module and a photon that hits it. */
static inline double ics_tables_widest(const ice_detector *detector)
{
    return detector->radius * fmax(detector->oversize, 1.0);
}

/* Builds the clearance map. `bounds` contains the centres of all modules. The tables of the strings
 * must be complete. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_tables_build_clearance(ics_table_builder *builder, const ice_detector *detector,
                               const ics_box *bounds);

/* Gives the centre (m) and the reach (m) of object `index` of a grid. The object lies inside a
 * sphere with this radius around its centre. */
typedef void (*ics_table_place)(const ics_table_builder *builder, size_t index, double *centre,
                                double *reach);

/* Builds a grid of cells with edge `cell` (m) over a box and lists every object, 0 .. count - 1, in
 * every cell that it touches. A flat grid has one cell in height. Cells are made larger while the
 * lists are too long. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_tables_fill_grid(ics_table_builder *builder, ice_grid *grid, const ics_box *bounds,
                         double cell, bool flat, size_t count, ics_table_place place);

#endif
