/* The image of a tilt along a line (ice_tilt_image of stages/tables.h). */
#ifndef ICS_TABLES_TILT_IMAGE_H
#define ICS_TABLES_TILT_IMAGE_H

#include "physics/model.h"
#include "stages/tables.h"

/* The most nodes of an image: 64 MiB. */
#define ICS_TILT_IMAGE_NODES (1u << 24)

/* Chooses the columns of the image of a tilt along a line; everything else of tables->tilt is set.
 * A tilt gets no image if the image would have more than ICS_TILT_IMAGE_NODES nodes, or could be
 * wrong by more than ICE_TILT_IMAGE_ERROR. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_tables_image_plan(ice_tables *tables, const ice_tilt *tilt);

/* The size of an image; 0 columns: there is none. */
typedef struct ics_tables_image_size {
    uint32_t columns, rows;
} ics_tables_image_size;

ics_tables_image_size ics_tables_image_size_of(const ice_tables *tables);

/* Writes the shift at all nodes, in units of tilt.image.unit, into nodes[rows][columns]. The tables
 * must be those of the host. */
void ics_tables_image_fill(const ice_tables *tables, float *nodes);

#endif
