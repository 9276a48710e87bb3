#include "pipeline/photons/table/table.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/visible_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- axes ------------------------------------------------------------------------------------ */

double ics_table_edge(const ics_table_axis *axis, uint32_t i)
{
    if (axis->edges != NULL) {
        return axis->edges[i];
    }
    if (i == 0 || i == axis->bins) {
        return i == 0 ? axis->from : axis->to;
    }
    const double low = pow(axis->from, 1.0 / axis->power);
    const double high = pow(axis->to, 1.0 / axis->power);
    return pow(low + i * ((high - low) / axis->bins), axis->power);
}

static bool is_name(const char *name)
{
    const size_t length = strnlen(name, ICS_TABLE_NAME);
    return length > 0 && length < ICS_TABLE_NAME && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
               length;
}

static int check_name(const char *where, const ics_table_axis *axes, size_t i,
                      icestream_error *error)
{
    if (!is_name(axes[i].name)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: axis %zu: found the name '%.31s', expected a letter a-z, then at "
                             "most 30 letters, digits or '_'",
                             where, i + 1, axes[i].name);
    }
    for (size_t k = 0; k < i; ++k) {
        if (strcmp(axes[k].name, axes[i].name) == 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: axis %zu: found the name '%s', which axis %zu has already",
                                 where, i + 1, axes[i].name, k + 1);
        }
    }
    return ICESTREAM_OK;
}

/* Units go into pictures and reports as they are. */
static int check_unit(const char *where, const ics_table_axis *axis, icestream_error *error)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/^*.%-";
    const size_t length = strnlen(axis->unit, ICS_TABLE_UNIT_NAME);
    char shown[4 * ICS_TABLE_UNIT_NAME];
    if (length > 0 && length < ICS_TABLE_UNIT_NAME && strspn(axis->unit, allowed) == length) {
        return ICESTREAM_OK;
    }
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: axis %s: found the unit '%s', expected 1 to %d letters, digits and "
                         "signs out of / ^ * . %% -",
                         where, axis->name,
                         ics_visible_text(axis->unit, false, shown, sizeof shown),
                         ICS_TABLE_UNIT_NAME - 1);
}

static int check_numbers(const char *where, const ics_table_axis *axis, icestream_error *error)
{
    if (axis->bins < 1 || axis->bins > ICS_TABLE_BINS_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: axis %s: found %" PRIu32 " bins, expected 1 to %d", where,
                             axis->name, axis->bins, ICS_TABLE_BINS_MAX);
    }
    if (axis->power < 1 || axis->power > ICS_TABLE_POWER_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: axis %s: found power %" PRIu32 ", expected 1 to %d", where,
                             axis->name, axis->power, ICS_TABLE_POWER_MAX);
    }
    if (!isfinite(axis->from) || !isfinite(axis->to) || !(axis->from < axis->to) ||
        !isfinite(axis->to - axis->from)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: axis %s: found the range %.9g to %.9g, expected finite numbers, "
                             "the lower one first",
                             where, axis->name, axis->from, axis->to);
    }
    if (axis->power > 1 && axis->from < 0.0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: axis %s: found an axis of power %" PRIu32
                             " that begins at %.9g, expected 0 or more",
                             where, axis->name, axis->power, axis->from);
    }
    return ICESTREAM_OK;
}

/* All edges ascend; this finds an axis whose bins are too narrow for double precision, too. */
static int check_edges(const char *where, const ics_table_axis *axis, icestream_error *error)
{
    double below = ics_table_edge(axis, 0);
    for (uint32_t i = 0; i < axis->bins; ++i) {
        const double above = ics_table_edge(axis, i + 1);
        if (!isfinite(below) || !isfinite(above) || !(below < above)) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: axis %s: found the edges %.17g and %.17g of bin %" PRIu32
                                 ", expected finite numbers in ascending order",
                                 where, axis->name, below, above, i + 1);
        }
        below = above;
    }
    if (axis->edges != NULL &&
        (axis->edges[0] != axis->from || axis->edges[axis->bins] != axis->to)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: axis %s: found edges from %.9g to %.9g, expected %.9g to %.9g",
                             where, axis->name, axis->edges[0], axis->edges[axis->bins], axis->from,
                             axis->to);
    }
    return ICESTREAM_OK;
}

static int count_cells(const char *where, const ics_table_axis *axes, size_t count, uint64_t *cells,
                       icestream_error *error)
{
    *cells = 1;
    for (size_t i = 0; i < count; ++i) {
        *cells *= (uint64_t)axes[i].bins + 2;
        if (*cells > ICS_TABLE_CELLS_MAX) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: axis %s: found more than %" PRIu64
                                 " cells (bins + 2, multiplied over the axes), expected fewer bins",
                                 where, axes[i].name, ICS_TABLE_CELLS_MAX);
        }
    }
    return ICESTREAM_OK;
}

int ics_table_check_axes(const char *where, const ics_table_axis *axes, size_t count,
                         icestream_error *error)
{
    uint64_t cells = 0;
    if (count < 1 || count > ICS_TABLE_AXES_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: found %zu axes, expected 1 to %d",
                             where, count, ICS_TABLE_AXES_MAX);
    }
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(check_name(where, axes, i, error));
        ICS_TRY(check_unit(where, &axes[i], error));
        ICS_TRY(check_numbers(where, &axes[i], error));
    }
    /* Before the edges, because there may be very many of them. */
    ICS_TRY(count_cells(where, axes, count, &cells, error));
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(check_edges(where, &axes[i], error));
    }
    return ICESTREAM_OK;
}

/* ---- creation -------------------------------------------------------------------------------- */

const char *ics_table_geometry_name(ics_table_geometry geometry)
{
    static const char *const names[ICS_TABLE_GEOMETRIES] = {
        [ICS_TABLE_CUSTOM] = "custom",
        [ICS_TABLE_SPHERICAL] = "spherical",
        [ICS_TABLE_CYLINDRICAL] = "cylindrical",
    };
    return names[geometry];
}

static int no_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a photon table");
}

static int copy_edges(ics_table *table, icestream_error *error)
{
    /* First all members are put right, so that ics_table_destroy() frees copies only. */
    const double *from[ICS_TABLE_AXES_MAX];
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        from[i] = table->axes[i].edges;
        table->axes[i].edges = NULL;
    }
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        if (from[i] == NULL) {
            continue;
        }
        const size_t bytes = ((size_t)table->axes[i].bins + 1) * sizeof(double);
        table->axes[i].edges = malloc(bytes);
        if (table->axes[i].edges == NULL) {
            return no_memory(error);
        }
        memcpy(table->axes[i].edges, from[i], bytes);
    }
    return ICESTREAM_OK;
}

static int fill(ics_table *table, bool has_squares, icestream_error *error)
{
    ICS_TRY(copy_edges(table, error));
    table->cells = 1;
    for (uint32_t i = table->axis_count; i-- > 0;) {
        table->strides[i] = table->cells;
        table->cells *= (uint64_t)table->axes[i].bins + 2;
    }
    const double bytes = (has_squares ? 2.0 : 1.0) * sizeof(int64_t) * (double)table->cells;
    ICS_TRY(ics_memory_check("the photon table needs", bytes, 0.0, error));
    table->sums = ics_memory_map(table->cells * sizeof *table->sums);
    table->squares = has_squares ? ics_memory_map(table->cells * sizeof *table->squares) : NULL;
    if (table->sums == NULL || (has_squares && table->squares == NULL)) {
        return no_memory(error);
    }
    return ICESTREAM_OK;
}

int ics_table_create(const ics_table_axis *axes, size_t count, const ics_table_facts *facts,
                     bool has_squares, ics_table **out, icestream_error *error)
{
    *out = NULL;
    ICS_TRY(ics_table_check_axes("photon table", axes, count, error));
    ICS_DESTROYS(ics_table_destroy) ics_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return no_memory(error);
    }
    memcpy(table->axes, axes, count * sizeof *axes);
    table->axis_count = (uint32_t)count;
    table->facts = *facts;
    ICS_TRY(fill(table, has_squares, error));
    *out = ICS_HAND_OVER(table);
    return ICESTREAM_OK;
}

void ics_table_destroy(ics_table *table)
{
    if (table == NULL) {
        return;
    }
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        free(table->axes[i].edges);
    }
    ics_memory_unmap(table->sums, table->cells * sizeof *table->sums);
    ics_memory_unmap(table->squares, table->cells * sizeof *table->squares);
    free(table->parts);
    json_decref(table->checkpoint);
    free(table);
}
