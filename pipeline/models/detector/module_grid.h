/* Finds neighbouring modules without looking at every pair: a hash of cubic cells. */
#ifndef ICS_MODELS_DETECTOR_MODULE_GRID_H
#define ICS_MODELS_DETECTOR_MODULE_GRID_H

#include "physics/model.h"

typedef struct ics_module_grid ics_module_grid;

/* A grid for these modules with nothing in it yet; cell edge in m, > 0. NULL: out of memory. The
 * modules must outlive it. */
ics_module_grid *ics_module_grid_create(const ice_module *modules, size_t count, double cell);
/* Accepts NULL. */
void ics_module_grid_destroy(ics_module_grid *grid);

/* Puts modules[index] into the grid; each at most once. */
void ics_module_grid_insert(ics_module_grid *grid, size_t index);

/* The module in the grid that is nearest to modules[index], among those less than a cell edge away;
 * SIZE_MAX: there is none. `distance` gets the distance of the centres, m. */
size_t ics_module_grid_nearest(const ics_module_grid *grid, size_t index, double *distance);

/* The distance of the two closest centres, m, where all are at least `least` (> 0) apart; +INFINITY
 * for one module. Returns ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_module_grid_closest(const ice_module *modules, size_t count, double least,
                            double *distance);

#endif
