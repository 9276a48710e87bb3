#include "pipeline/models/detector/module_closest.h"

#include "base/memory.h"
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

static centre centre_of(const sweep *self, const ice_module *module)
{
    return (centre){.column = floor(module->x / self->edge),
                    .row = floor(module->y / self->edge),
                    .x = module->x,
                    .y = module->y,
                    .z = module->z};
}

/* Modules that follow each other in the list, in one column and in the order of their heights. */
typedef struct run_of_modules {
    centre first;
    size_t begin, count; /* position and number in the list */
    bool is_down;        /* the heights descend */
} run_of_modules;

static int compare_runs(const void *a, const void *b)
{
    return compare_centres(&((const run_of_modules *)a)->first,
                           &((const run_of_modules *)b)->first);
}

/* Whether the centre belongs to the run, whose last centre is `last`. */
static bool continues_run(run_of_modules *run, const centre *last, const centre *next)
{
    if (next->column != last->column || next->row != last->row) {
        return false;
    }
    if (run->count == 1) {
        run->is_down = next->z < last->z;
    }
    return run->is_down ? next->z <= last->z : next->z >= last->z;
}

/* Finds the runs of the list. Returns their number, or 0 if there are more than `room`. */
static size_t find_runs(const sweep *self, const ice_module *modules, run_of_modules *runs,
                        size_t room)
{
    size_t found = 0;
    centre last = {0};
    for (size_t i = 0; i < self->count; ++i) {
        const centre next = centre_of(self, &modules[i]);
        if (i > 0 && continues_run(&runs[found - 1], &last, &next)) {
            ++runs[found - 1].count;
        } else if (found == room) {
            return 0;
        } else {
            runs[found++] = (run_of_modules){.first = next, .begin = i, .count = 1};
        }
        last = next;
    }
    return found;
}

/* Sorts the centres where whole strings follow each other in the list, as in most lists: only the
 * runs are sorted, and a column that has several runs. Returns false if there are too many runs. */
static bool sort_by_runs(sweep *self, const ice_module *modules)
{
    const size_t room = self->count / 8 + 1;
    run_of_modules *runs = malloc(room * sizeof *runs);
    const size_t count = runs != NULL ? find_runs(self, modules, runs, room) : 0;
    if (count > 1) {
        qsort(runs, count, sizeof *runs, compare_runs);
    }
    size_t end = 0, column = 0; /* where the centres of the column begin */
    for (size_t r = 0, first = 0; r < count; ++r) {
        const run_of_modules *run = &runs[r];
        for (size_t k = 0; k < run->count; ++k) {
            const size_t from = run->begin + (run->is_down ? run->count - 1 - k : k);
            self->centres[end++] = centre_of(self, &modules[from]);
        }
        const bool is_last = r + 1 == count || run->first.column != run[1].first.column ||
                             run->first.row != run[1].first.row;
        if (is_last && first < r) {
            qsort(self->centres + column, end - column, sizeof *self->centres, compare_centres);
        }
        first = is_last ? r + 1 : first;
        column = is_last ? end : column;
    }
    free(runs);
    return count > 0;
}

static void sort_centres(sweep *self, const ice_module *modules)
{
    self->edge = fmax(1.001 * self->least, EDGE_MIN); /* more than the rounding of a quotient */
    if (sort_by_runs(self, modules)) {
        return;
    }
    for (size_t i = 0; i < self->count; ++i) {
        self->centres[i] = centre_of(self, &modules[i]);
    }
    qsort(self->centres, self->count, sizeof *self->centres, compare_centres);
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
    sweep self = {.centres = ics_memory_zeros(count, sizeof *self.centres),
                  .count = count,
                  .least = *distance};
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
