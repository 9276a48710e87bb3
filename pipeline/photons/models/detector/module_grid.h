/* Finds neighbouring modules without a comparison of all pairs: a hash of cubic cells. Modules in
 * the grid should not be much closer to each other than the reach, half the edge of a cell, so that
 * a cell never fills up. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_MODULE_GRID_H
#define ICS_PHOTONS_MODELS_DETECTOR_MODULE_GRID_H

#include "base/icestream_error.h"
#include "physics/model.h"

typedef struct ics_module_grid ics_module_grid;

/* Makes an empty grid for these modules, with a reach > 0 (m). The modules must outlive it. NULL:
 * out of memory. */
ics_module_grid *ics_module_grid_create(const ice_module *modules, size_t count, double reach);
/* Accepts NULL. */
void ics_module_grid_destroy(ics_module_grid *grid);

/* Adds modules[index] to the grid. Each module can be added once. */
void ics_module_grid_insert(ics_module_grid *grid, size_t index);

/* Returns the module in the grid that is nearest to modules[index] and less than the reach away,
 * or SIZE_MAX if there is none. `distance` becomes the distance of the centres, m. */
size_t ics_module_grid_nearest(const ics_module_grid *grid, size_t index, double *distance);

/* Sets *distance to the distance (m) of the two closest centres; +INFINITY for fewer than two
 * modules. The coordinates are within 1e5 m. ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_module_grid_closest(const ice_module *modules, size_t count, double *distance,
                            icestream_error *error);

#endif
