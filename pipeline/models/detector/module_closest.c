#include "pipeline/models/detector/module_closest.h"

#include "pipeline/icestream.h"

#include <math.h>
#include <stdlib.h>

/* The centres are sorted into upright columns with a square base, and by height in each column. The
 * edge of the base is a little more than the smallest distance that is known. So a closer pair lies
 * in one column or in two columns that touch, and at heights that differ by less than this
 * distance. Each pair of columns is read from the bottom to the top, in the order of the memory. */

/* The smallest edge (m). Numbers of columns then stay small enough for exact arithmetic. */
#define EDGE_MIN 1e-4
/* If a pair is found this many times closer than the edge, the columns are made again. Otherwise
 * a column could contain many modules between which height makes no difference. */
#define EDGE_RATIO 8.0

typedef struct centre {
    double column, row; /* whole numbers */
    double x, y, z;     /* m */
} centre;

typedef struct sweep {
    centre *centres; /* [count], sorted */
    size_t count;
    double least; /* the smallest distance so far, m */
    double edge;  /* m */
} sweep;

static double distance_of(const ice_module *a, const ice_module *b)
{
    const double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
    return sqrt(dx * dx + dy * dy + dz * dz);
}

/* Returns the smallest distance (m) between modules that follow each other in the list. */
static double closest_neighbours(const ice_module *modules, size_t count)
{
    double least = INFINITY;
    for (size_t i = 1; i < count; ++i) {
        least = fmin(least, distance_of(&modules[i - 1], &modules[i]));
    }
    return least;
}

static int compare_centres(const void *a, const void *b)
{
    const centre *p = a, *q = b;
    if (p->column != q->column) {
        return p->column < q->column ? -1 : 1;
    }
    if (p->row != q->row) {
        return p->row < q->row ? -1 : 1;
    }
    return (p->z > q->z) - (p->z < q->z);
}

static void sort_centres(sweep *self, const ice_module *modules)
{
    self->edge = fmax(1.001 * self->least, EDGE_MIN); /* more than the rounding of a quotient */
    bool sorted = true;
    for (size_t i = 0; i < self->count; ++i) {
        self->centres[i] = (centre){.column = floor(modules[i].x / self->edge),
                                    .row = floor(modules[i].y / self->edge),
                                    .x = modules[i].x,
                                    .y = modules[i].y,
                                    .z = modules[i].z};
        sorted =
            sorted && (i == 0 || compare_centres(&self->centres[i - 1], &self->centres[i]) <= 0);
    }
    if (!sorted) {
        qsort(self->centres, self->count, sizeof *self->centres, compare_centres);
    }
}

/* Returns the index behind the last centre of the column that begins at index `first`. */
static size_t end_of_column(const sweep *self, size_t first)
{
    const centre *begin = &self->centres[first];
    size_t end = first + 1;
    while (end < self->count && self->centres[end].column == begin->column &&
           self->centres[end].row == begin->row) {
        ++end;
    }
    return end;
}

/* Compares a centre with the centres at and above index `from` that end before index `end`. */
static void compare_upwards(sweep *self, const centre *one, size_t from, size_t end)
{
    for (size_t k = from; k < end && self->centres[k].z - one->z < self->least; ++k) {
        const centre *other = &self->centres[k];
        const double dx = other->x - one->x, dy = other->y - one->y, dz = other->z - one->z;
        self->least = fmin(self->least, sqrt(dx * dx + dy * dy + dz * dz));
    }
}

/* Compares the column first .. end - 1 with the column that begins at index `other`. */
static void compare_columns(sweep *self, size_t first, size_t end, size_t other)
{
    const size_t other_end = end_of_column(self, other);
    size_t low = other;
    for (size_t i = first; i < end; ++i) {
        while (low < other_end && self->centres[i].z - self->centres[low].z >= self->least) {
            ++low;
        }
        compare_upwards(self, &self->centres[i], low, other_end);
    }
}

/* Compares all neighbours. Returns false if the columns have to be made again first, because they
 * turned out much too wide. */
static bool compare_all(sweep *self)
{
    size_t ahead = 0; /* the first centre that is not before the columns to the right */
    for (size_t first = 0, end; first < self->count; first = end) {
        const double column = self->centres[first].column, row = self->centres[first].row;
        end = end_of_column(self, first);
        for (size_t i = first; i < end; ++i) {
            compare_upwards(self, &self->centres[i], i + 1, end);
        }
        if (end < self->count && self->centres[end].column == column &&
            self->centres[end].row == row + 1) {
            compare_columns(self, first, end, end);
        }
        const centre right = {.column = column + 1, .row = row - 1, .z = -INFINITY};
        while (ahead < self->count && compare_centres(&self->centres[ahead], &right) < 0) {
            ++ahead;
        }
        for (size_t other = ahead;
             other < self->count && self->centres[other].column == column + 1 &&
             self->centres[other].row <= row + 1;
             other = end_of_column(self, other)) {
            compare_columns(self, first, end, other);
        }
        if (self->least < self->edge / EDGE_RATIO && self->edge > EDGE_MIN) {
            return false;
        }
    }
    return true;
}

int ics_module_closest(const ice_module *modules, size_t count, double *distance)
{
    *distance = closest_neighbours(modules, count);
    if (count < 2 || *distance <= 0) {
        return ICESTREAM_OK;
    }
    sweep self = {
        .centres = malloc(count * sizeof *self.centres), .count = count, .least = *distance};
    if (self.centres == NULL) {
        return ICESTREAM_E_MEMORY;
    }
    do {
        sort_centres(&self, modules);
    } while (!compare_all(&self));
    *distance = self.least;
    free(self.centres);
    return ICESTREAM_OK;
}
