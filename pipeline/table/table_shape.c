#include "pipeline/table/table_shape.h"

#include "base/error.h"
#include "pipeline/table/table_volume.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the cells of a table go: each axis gives a part of the new cell's number, or says that its
 * cell is dropped. */
typedef struct route {
    uint64_t *steps[ICS_TABLE_AXES_MAX]; /* [bins + 2] */
} route;

static const uint64_t dropped = UINT64_MAX;

static void free_route(route *way)
{
    for (int i = 0; i < ICS_TABLE_AXES_MAX; ++i) {
        free(way->steps[i]);
    }
}

static int create_route(const ics_table *table, route *way, icestream_error *error)
{
    *way = (route){.steps = {NULL}};
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        way->steps[i] = calloc((size_t)table->axes[i].bins + 2, sizeof *way->steps[i]);
        if (way->steps[i] == NULL) {
            free_route(way);
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a photon table");
        }
    }
    return ICESTREAM_OK;
}

static uint64_t target_of(const ics_table *table, const route *way, uint64_t cell)
{
    uint64_t target = 0;
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        const uint64_t at = cell / table->strides[i] % ((uint64_t)table->axes[i].bins + 2);
        if (way->steps[i][at] == dropped) {
            return dropped;
        }
        target += way->steps[i][at];
    }
    return target;
}

static int follow(const ics_table *table, const route *way, ics_table *to, icestream_error *error)
{
    for (uint64_t cell = 0; cell < table->cells; ++cell) {
        const int64_t *square = table->squares != NULL ? &table->squares[cell] : NULL;
        if (table->sums[cell] == 0 && (square == NULL || *square == 0)) {
            continue;
        }
        const uint64_t target = target_of(table, way, cell);
        if (target != dropped) {
            ICS_TRY(ics_table_add_sums(to, target, &table->sums[cell], square, 1, error));
        }
    }
    return ICESTREAM_OK;
}

/* Makes the table with the new axes; it keeps photons, weights and parts. */
static int reshape(const ics_table *table, const route *way, const ics_table_axis *axes,
                   size_t count, ics_table **out, icestream_error *error)
{
    ics_table_facts facts = table->facts;
    /* Volumes need the three axes of position. */
    for (size_t i = 0; i < 3; ++i) {
        if (i >= count || i >= table->axis_count ||
            strcmp(axes[i].name, table->axes[i].name) != 0) {
            facts.geometry = ICS_TABLE_CUSTOM;
        }
    }
    /* A part of a full azimuth must not look like a folded half, whose bins count twice. */
    if (facts.geometry != ICS_TABLE_CUSTOM &&
        ics_table_volume_is_half(facts.geometry, &axes[1]) !=
            ics_table_volume_is_half(facts.geometry, &table->axes[1])) {
        facts.geometry = ICS_TABLE_CUSTOM;
    }
    ICS_TRY(ics_table_create(axes, count, &facts, table->squares != NULL, out, error));
    int status = follow(table, way, *out, error);
    for (size_t i = 0; i < table->part_count && status == ICESTREAM_OK; ++i) {
        status = ics_table_add_part(*out, table->parts[i].digest, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_table_add_photons(*out, table->photons, table->weight, error);
    }
    if (status != ICESTREAM_OK) {
        ics_table_destroy(*out);
        *out = NULL;
    }
    return status;
}

/* Cells from one bin of each new axis to the next one. */
static void find_strides(const ics_table_axis *axes, size_t count, uint64_t *strides)
{
    uint64_t cells = 1;
    for (size_t i = count; i-- > 0;) {
        strides[i] = cells;
        cells *= (uint64_t)axes[i].bins + 2;
    }
}

static int find_axis(const ics_table *table, const char *name, const char *axis, size_t length,
                     uint32_t *out, icestream_error *error)
{
    char names[ICS_TABLE_AXES_MAX * (ICS_TABLE_NAME + 2)] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        if (strlen(table->axes[i].name) == length &&
            memcmp(table->axes[i].name, axis, length) == 0) {
            *out = i;
            return ICESTREAM_OK;
        }
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                 table->axes[i].name);
    }
    return ics_error_set(error, ICESTREAM_E_USAGE, "%s: found the axis '%.*s', expected one of %s",
                         name, (int)(length < 40 ? length : 40), axis, names);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static int read_value(const char *text, const char *begin, size_t length, double *out,
                      icestream_error *error)
{
    char copy[64], *end = copy;
    if (length < sizeof copy) {
        memcpy(copy, begin, length);
        copy[length] = '\0';
        *out = strtod(copy, &end);
    }
    if (end == copy || *end != '\0' || !isfinite(*out)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "found '%.80s', expected NAME=VALUE or NAME=FROM:TO with numbers",
                             text);
    }
    return ICESTREAM_OK;
}

/* The edge that `value` names, up to rounding. */
static int find_edge(const ics_table_axis *axis, double value, uint32_t *out,
                     icestream_error *error)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i <= axis->bins; ++i) {
        if (fabs(ics_table_edge(axis, i) - value) < fabs(ics_table_edge(axis, best) - value)) {
            best = i;
        }
    }
    const double edge = ics_table_edge(axis, best);
    if (fabs(edge - value) > 1e-6 * (axis->to - axis->from) / axis->bins) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "axis %s: found %.9g, expected an edge of its bins; the nearest one "
                             "is %.9g",
                             axis->name, value, edge);
    }
    *out = best;
    return ICESTREAM_OK;
}

static int slice_bin(const ics_table *table, uint32_t which, double value, ics_table **out,
                     icestream_error *error)
{
    const ics_table_axis *axis = &table->axes[which];
    ics_table_axis axes[ICS_TABLE_AXES_MAX];
    uint64_t strides[ICS_TABLE_AXES_MAX];
    uint32_t bin = 0;
    if (!(value >= axis->from && value < axis->to)) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "axis %s: found %.9g, expected a number from %.9g to below %.9g",
                             axis->name, value, axis->from, axis->to);
    }
    if (table->axis_count == 1) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "axis %s: found a single bin of the only axis, expected a range "
                             "FROM:TO",
                             axis->name);
    }
    while (bin + 1 < axis->bins && ics_table_edge(axis, bin + 1) <= value) {
        ++bin;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        if (i != which) {
            axes[count++] = table->axes[i];
        }
    }
    find_strides(axes, count, strides);
    route way;
    ICS_TRY(create_route(table, &way, error));
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        for (uint64_t at = 0; at < (uint64_t)table->axes[i].bins + 2; ++at) {
            way.steps[i][at] = i != which      ? at * strides[i - (i > which)]
                               : at != bin + 1 ? dropped
                                               : 0;
        }
    }
    const int status = reshape(table, &way, axes, count, out, error);
    free_route(&way);
    return status;
}

/* The axis of bins `from` to below `to`; the caller frees its edges. */
static int cut_axis(const ics_table_axis *axis, uint32_t from, uint32_t to, ics_table_axis *out,
                    icestream_error *error)
{
    *out = *axis;
    out->edges = calloc((size_t)(to - from) + 1, sizeof *out->edges);
    if (out->edges == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for edges");
    }
    for (uint32_t i = from; i <= to; ++i) {
        out->edges[i - from] = ics_table_edge(axis, i);
    }
    out->bins = to - from;
    out->from = out->edges[0];
    out->to = out->edges[out->bins];
    out->power = 1;
    return ICESTREAM_OK;
}

static int slice_range(const ics_table *table, uint32_t which, uint32_t from, uint32_t to,
                       ics_table **out, icestream_error *error)
{
    ics_table_axis axes[ICS_TABLE_AXES_MAX];
    uint64_t strides[ICS_TABLE_AXES_MAX];
    route way;
    memcpy(axes, table->axes, sizeof axes);
    ICS_TRY(create_route(table, &way, error));
    int status = cut_axis(&table->axes[which], from, to, &axes[which], error);
    if (status == ICESTREAM_OK) {
        find_strides(axes, table->axis_count, strides);
        for (uint32_t i = 0; i < table->axis_count; ++i) {
            for (uint64_t at = 0; at < (uint64_t)table->axes[i].bins + 2; ++at) {
                const uint64_t new_at = i != which   ? at
                                        : at <= from ? 0
                                        : at > to    ? (uint64_t)(to - from) + 1
                                                     : at - from;
                way.steps[i][at] = new_at * strides[i];
            }
        }
        status = reshape(table, &way, axes, table->axis_count, out, error);
        free(axes[which].edges);
    }
    free_route(&way);
    return status;
}

int ics_table_slice(const ics_table *table, const char *name, const char *text, ics_table **out,
                    icestream_error *error)
{
    const char *equals = strchr(text, '=');
    uint32_t which = 0, from = 0, to = 0;
    double value = 0.0;
    if (equals == NULL) {
        return read_value(text, text, 0, &value, error);
    }
    ICS_TRY(find_axis(table, name, text, (size_t)(equals - text), &which, error));
    const ics_table_axis *axis = &table->axes[which];
    const char *first = equals + 1, *colon = strchr(first, ':');
    if (colon == NULL) {
        ICS_TRY(read_value(text, first, strlen(first), &value, error));
        return slice_bin(table, which, value, out, error);
    }
    to = axis->bins;
    if (colon > first) {
        ICS_TRY(read_value(text, first, (size_t)(colon - first), &value, error));
        ICS_TRY(find_edge(axis, value, &from, error));
    }
    if (colon[1] != '\0') {
        ICS_TRY(read_value(text, colon + 1, strlen(colon + 1), &value, error));
        ICS_TRY(find_edge(axis, value, &to, error));
    }
    if (from >= to) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "found '%.80s', expected a range of at least one bin", text);
    }
    return slice_range(table, which, from, to, out, error);
}

/* ---- projections ----------------------------------------------------------------------------- */

static int choose_axes(const ics_table *table, const char *name, char *const *names, size_t count,
                       uint32_t *chosen, icestream_error *error)
{
    if (count < 1 || count > table->axis_count) {
        return ics_error_set(error, ICESTREAM_E_USAGE,
                             "%s: found %zu names of axes, expected 1 to %" PRIu32, name, count,
                             table->axis_count);
    }
    for (size_t k = 0; k < count; ++k) {
        ICS_TRY(find_axis(table, name, names[k], strlen(names[k]), &chosen[k], error));
        for (size_t j = 0; j < k; ++j) {
            if (chosen[j] == chosen[k]) {
                return ics_error_set(error, ICESTREAM_E_USAGE,
                                     "%s: found the axis '%s' twice, expected it once", name,
                                     names[k]);
            }
        }
    }
    return ICESTREAM_OK;
}

/* Where the axis stands among those that are kept; `count`: it is not kept. */
static size_t find_chosen(const uint32_t *chosen, size_t count, uint32_t axis)
{
    size_t k = 0;
    while (k < count && chosen[k] != axis) {
        ++k;
    }
    return k;
}

int ics_table_project(const ics_table *table, const char *name, char *const *names, size_t count,
                      ics_table **out, icestream_error *error)
{
    uint32_t chosen[ICS_TABLE_AXES_MAX] = {0};
    ics_table_axis axes[ICS_TABLE_AXES_MAX];
    uint64_t strides[ICS_TABLE_AXES_MAX];
    route way;
    ICS_TRY(choose_axes(table, name, names, count, chosen, error));
    for (size_t k = 0; k < count; ++k) {
        axes[k] = table->axes[chosen[k]];
    }
    find_strides(axes, count, strides);
    ICS_TRY(create_route(table, &way, error));
    /* All axes that are not chosen keep steps of 0, which adds their cells up. */
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        const size_t k = find_chosen(chosen, count, i);
        for (uint64_t at = 0; k < count && at < (uint64_t)table->axes[i].bins + 2; ++at) {
            way.steps[i][at] = at * strides[k];
        }
    }
    const int status = reshape(table, &way, axes, count, out, error);
    free_route(&way);
    return status;
}
