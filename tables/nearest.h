/* The nearest owner of points, and the second nearest, for the cells of a map seen from above. */
#ifndef ICS_TABLES_NEAREST_H
#define ICS_TABLES_NEAREST_H

#include <stddef.h>
#include <stdint.h>

/* A position, m. Several points may have one owner: a string or a column. */
typedef struct ics_owned_point {
    double x, y;
    uint32_t owner;
} ics_owned_point;

/* The owner nearest to any point of a cell, and squared distances (m2). INFINITY: there is none. */
typedef struct ics_nearest_owner {
    double least;  /* distance to that owner */
    double second; /* distance to the nearest of all other owners */
    uint32_t owner;
} ics_nearest_owner;

/* A square cell: its lower corner and its edge, m. */
typedef struct ics_map_cell {
    double x, y, side;
} ics_map_cell;

/* Points, sorted into squares. */
typedef struct ics_nearest_search {
    const ics_owned_point *points; /* borrowed */
    double x, y, side;             /* lower corner of the first square, and the edge of all, m */
    int32_t nx, ny;
    size_t *first; /* [nx * ny + 1], owned: where the items of a square begin */
    size_t *items; /* [count], owned: indices of points */
    size_t tried;  /* number of points that ics_tables_nearest_find() has computed a distance for */
} ics_nearest_search;

/* Sorts `count` >= 1 points, which must outlive the search. Returns ICESTREAM_OK, or
 * ICESTREAM_E_MEMORY without a message; the caller destroys the search in both cases. */
int ics_tables_nearest_create(const ics_owned_point *points, size_t count,
                              ics_nearest_search *search);

/* Returns the nearest owner of a cell. If two are equally near, the result is one of them. */
ics_nearest_owner ics_tables_nearest_find(ics_nearest_search *search, ics_map_cell cell);

/* Also for a search that is all zero. */
void ics_tables_nearest_destroy(ics_nearest_search *search);

#endif
