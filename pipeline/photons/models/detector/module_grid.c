#include "pipeline/photons/models/detector/module_grid.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

#define NOBODY UINT32_MAX

struct ics_module_grid {
    const ice_module *modules;
    double reach;    /* (m), half the edge of a cell */
    uint32_t *first; /* [slots], the module that entered a slot last, or NOBODY */
    uint32_t *next;  /* [count], the module that entered the same slot before */
    uint64_t mask;   /* slots - 1 */
};

typedef struct cell_position {
    int64_t x, y, z;
} cell_position;

ics_module_grid *ics_module_grid_create(const ice_module *modules, size_t count, double reach)
{
    size_t slots = 16;
    while (slots < 2 * count) {
        slots *= 2;
    }
    ics_module_grid *grid = calloc(1, sizeof *grid);
    if (grid == NULL) {
        return NULL;
    }
    grid->modules = modules;
    grid->reach = reach;
    grid->mask = slots - 1;
    grid->first = malloc(slots * sizeof *grid->first);
    grid->next = malloc((count + 1) * sizeof *grid->next);
    if (grid->first == NULL || grid->next == NULL) {
        ics_module_grid_destroy(grid);
        return NULL;
    }
    for (size_t i = 0; i < slots; ++i) {
        grid->first[i] = NOBODY;
    }
    return grid;
}

void ics_module_grid_destroy(ics_module_grid *grid)
{
    if (grid == NULL) {
        return;
    }
    free(grid->first);
    free(grid->next);
    free(grid);
}

/* The cell of a place that is `shift` (m) farther than the module along every axis. */
static cell_position cell_of(const ics_module_grid *grid, const ice_module *module, double shift)
{
    const double edge = 2 * grid->reach;
    return (cell_position){(int64_t)floor((module->x + shift) / edge),
                           (int64_t)floor((module->y + shift) / edge),
                           (int64_t)floor((module->z + shift) / edge)};
}

/* Mixes the three numbers (the finaliser of splitmix64): regular lattices must not collide. */
static uint64_t slot_of(const ics_module_grid *grid, cell_position cell)
{
    uint64_t h = (uint64_t)cell.x * 0x9E3779B97F4A7C15u + (uint64_t)cell.y * 0xC2B2AE3D27D4EB4Fu +
                 (uint64_t)cell.z * 0x165667B19E3779F9u;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return (h ^ (h >> 31)) & grid->mask;
}

void ics_module_grid_insert(ics_module_grid *grid, size_t index)
{
    uint64_t slot = slot_of(grid, cell_of(grid, &grid->modules[index], 0));
    grid->next[index] = grid->first[slot];
    grid->first[slot] = (uint32_t)index;
}

static double distance_of(const ice_module *a, const ice_module *b)
{
    double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
    return sqrt(dx * dx + dy * dy + dz * dz);
}

/* Returns the module of a cell that is closer than *distance, and sets this; else `nearest`. */
static size_t nearest_in(const ics_module_grid *grid, size_t index, cell_position cell,
                         size_t nearest, double *distance)
{
    /* A slot may also contain modules of other cells, which only cost time. */
    for (uint32_t i = grid->first[slot_of(grid, cell)]; i != NOBODY; i = grid->next[i]) {
        double d = distance_of(&grid->modules[index], &grid->modules[i]);
        if (i != index && d < *distance) {
            *distance = d;
            nearest = i;
        }
    }
    return nearest;
}

size_t ics_module_grid_nearest(const ics_module_grid *grid, size_t index, double *distance)
{
    const ice_module *module = &grid->modules[index];
    const cell_position low = cell_of(grid, module, -grid->reach);
    const cell_position high = cell_of(grid, module, grid->reach);
    size_t nearest = SIZE_MAX;
    *distance = grid->reach;
    cell_position cell;
    for (cell.x = low.x; cell.x <= high.x; ++cell.x) {
        for (cell.y = low.y; cell.y <= high.y; ++cell.y) {
            for (cell.z = low.z; cell.z <= high.z; ++cell.z) {
                nearest = nearest_in(grid, index, cell, nearest, distance);
            }
        }
    }
    return nearest;
}

/* The shortest reach (m). Numbers of cells then stay small enough for whole numbers. */
#define REACH_MIN 1e-4

/* Compares neighbours until two of them are so much closer than the reach that the grid
 * has to be made again with smaller cells. Returns whether all were compared. */
static bool compare_neighbours(ics_module_grid *grid, size_t count, double *least)
{
    for (size_t i = 0; i < count; ++i) {
        double distance;
        if (ics_module_grid_nearest(grid, i, &distance) != SIZE_MAX) {
            *least = fmin(*least, distance);
        }
        if (*least < grid->reach / 2 && grid->reach > REACH_MIN) {
            return false;
        }
        ics_module_grid_insert(grid, i);
    }
    return true;
}

int ics_module_grid_closest(const ice_module *modules, size_t count, double *distance,
                            icestream_error *error)
{
    *distance = INFINITY;
    for (size_t i = 1; i < count; ++i) {
        *distance = fmin(*distance, distance_of(&modules[i - 1], &modules[i]));
    }
    bool is_known = count < 2 || *distance <= 0;
    while (!is_known) {
        /* A little more than the distance, because of the rounding of a quotient. */
        ics_module_grid *grid =
            ics_module_grid_create(modules, count, fmax(1.001 * *distance, REACH_MIN));
        if (grid == NULL) {
            return ics_error_no_memory(error, "detector");
        }
        is_known = compare_neighbours(grid, count, distance);
        ics_module_grid_destroy(grid);
    }
    return ICESTREAM_OK;
}
