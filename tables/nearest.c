#include "tables/nearest.h"

#include "base/error.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of squares along one side. */
#define SQUARES_MAX 1024

static int32_t square_at(double value, double low, double side, int32_t count)
{
    const double square = floor((value - low) / side);
    return (int32_t)fmin(fmax(square, 0.0), count - 1);
}

static size_t square_of(const ics_nearest_search *search, const ics_owned_point *point)
{
    const int32_t i = square_at(point->x, search->x, search->side, search->nx);
    const int32_t j = square_at(point->y, search->y, search->side, search->ny);
    return (size_t)j * (size_t)search->nx + (size_t)i;
}

/* Chooses squares that hold about one point each. */
static void choose_squares(ics_nearest_search *search, size_t count)
{
    double low_x = INFINITY, low_y = INFINITY, high_x = -INFINITY, high_y = -INFINITY;
    for (size_t k = 0; k < count; ++k) {
        low_x = fmin(low_x, search->points[k].x);
        low_y = fmin(low_y, search->points[k].y);
        high_x = fmax(high_x, search->points[k].x);
        high_y = fmax(high_y, search->points[k].y);
    }
    const double longer = fmax(fmax(high_x - low_x, high_y - low_y), 1.0);
    const double wanted = fmax(sqrt((high_x - low_x) * (high_y - low_y) / (double)count),
                               longer / (double)count); /* points on one line */
    search->x = low_x;
    search->y = low_y;
    search->side = fmax(wanted, longer / SQUARES_MAX);
    search->nx = (int32_t)floor((high_x - low_x) / search->side) + 1;
    search->ny = (int32_t)floor((high_y - low_y) / search->side) + 1;
}

int ics_tables_nearest_create(const ics_owned_point *points, size_t count,
                              ics_nearest_search *search)
{
    *search = (ics_nearest_search){.points = points};
    choose_squares(search, count);
    const size_t squares = (size_t)search->nx * (size_t)search->ny;
    search->first = calloc(squares + 1, sizeof *search->first);
    search->items = malloc(count * sizeof *search->items);
    if (search->first == NULL || search->items == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    for (size_t k = 0; k < count; ++k) {
        ++search->first[square_of(search, &points[k])];
    }
    size_t end = 0;
    for (size_t s = 0; s <= squares; ++s) {
        end += search->first[s];
        search->first[s] = end; /* the end of the square; becomes its begin below */
    }
    for (size_t k = count; k-- > 0;) {
        search->items[--search->first[square_of(search, &points[k])]] = k;
    }
    return ICESTREAM_OK;
}

/* Returns how far a value lies outside [low, high]. */
static double outside(double value, double low, double high)
{
    return value < low ? low - value : (value > high ? value - high : 0.0);
}

static void try_square(ics_nearest_search *search, int32_t i, int32_t j, ics_map_cell cell,
                       ics_nearest_owner *found)
{
    const size_t square = (size_t)j * (size_t)search->nx + (size_t)i;
    for (size_t k = search->first[square]; k < search->first[square + 1]; ++k) {
        const ics_owned_point *point = &search->points[search->items[k]];
        const double dx = outside(point->x, cell.x, cell.x + cell.side);
        const double dy = outside(point->y, cell.y, cell.y + cell.side);
        const double distance = dx * dx + dy * dy;
        if (distance < found->least) {
            found->second = point->owner == found->owner ? found->second : found->least;
            found->owner = point->owner;
            found->least = distance;
        } else if (distance < found->second && point->owner != found->owner) {
            found->second = distance;
        }
    }
    search->tried += search->first[square + 1] - search->first[square];
}

ics_nearest_owner ics_tables_nearest_find(ics_nearest_search *search, ics_map_cell cell)
{
    const double side = search->side;
    const int32_t nx = search->nx, ny = search->ny;
    const int32_t i0 = square_at(cell.x, search->x, side, nx);
    const int32_t i1 = square_at(cell.x + cell.side, search->x, side, nx);
    const int32_t j0 = square_at(cell.y, search->y, side, ny);
    const int32_t j1 = square_at(cell.y + cell.side, search->y, side, ny);
    ics_nearest_owner found = {.least = INFINITY, .second = INFINITY};
    /* Rings of squares around the cell. Squares beyond ring r are at least r edges away, also from
     * a cell outside of all squares. */
    for (int32_t r = 0;; ++r) {
        const int32_t west = i0 - r, east = i1 + r, south = j0 - r, north = j1 + r;
        for (int32_t j = south < 0 ? 0 : south; j <= north && j < ny; ++j) {
            const bool whole = r == 0 || j == south || j == north;
            for (int32_t i = west < 0 ? 0 : west; i <= east && i < nx; ++i) {
                if (whole || i == west || i == east) {
                    try_square(search, i, j, cell, &found);
                } else {
                    i = east < nx ? east - 1 : nx;
                }
            }
        }
        const bool all = west <= 0 && south <= 0 && east >= nx - 1 && north >= ny - 1;
        if (all || found.second <= (double)r * side * ((double)r * side)) {
            return found;
        }
    }
}

void ics_tables_nearest_destroy(ics_nearest_search *search)
{
    free(search->first);
    free(search->items);
    *search = (ics_nearest_search){0};
}
