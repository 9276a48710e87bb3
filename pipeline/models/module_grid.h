/* Finds neighbouring modules without looking at every pair: a hash of cubic cells. */
#ifndef IS_MODULE_GRID_H
#define IS_MODULE_GRID_H

#include "stages/model.h"

typedef struct is_module_grid is_module_grid;

/* A grid for these modules with nothing in it yet; cell edge in m, > 0. NULL: out of memory. The
 * modules must outlive it. */
is_module_grid *is_module_grid_create(const ice_module *modules, size_t count, double cell);
/* Accepts NULL. */
void is_module_grid_destroy(is_module_grid *grid);

/* Puts modules[index] into the grid; each at most once. */
void is_module_grid_insert(is_module_grid *grid, size_t index);

/* The module in the grid that is nearest to modules[index], among those less than a cell edge away;
 * SIZE_MAX: there is none. `distance` gets the distance of the centres, m. */
size_t is_module_grid_nearest(const is_module_grid *grid, size_t index, double *distance);

/* The distance of the two closest centres, m, where all are at least `least` (> 0) apart; +INFINITY
 * for one module. Returns IS_OK or IS_E_MEMORY. */
int is_modules_closest(const ice_module *modules, size_t count, double least, double *distance);

#endif
