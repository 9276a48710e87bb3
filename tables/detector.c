/* Tables of the detector: modules, strings, and the grids that find them. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parts.h"
#include "tables/geometry.h"

#include <stdlib.h>

/* The largest sizes of the two grids: cells along a side, and cells in all. */
#define STRING_GRID_SIDE_MAX 128
#define CELL_GRID_CELLS_MAX  (1 << 22)
/* A string whose modules are spread wider than this (m) is divided into squares of this size, and
 * each square is a string for the grid. Inclined strings are wide, and so are modules that share a
 * string number without being a string. */
#define STRING_WIDTH_MAX 10.0
/* With fewer modules a second thread would cost more time than it saves. */
#define MODULES_OF_A_THREAD 10000

static const double *position(const ice_module *module)
{
    return &module->x;
}

/* Widens a range so that it contains a number. */
static void widen(double *low, double *high, double value)
{
    *low = value < *low ? value : *low;
    *high = value > *high ? value : *high;
}

static ics_box bounds_of(const ice_detector *detector)
{
    ics_box bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (size_t i = 0; i < detector->module_count; ++i) {
        for (int axis = 0; axis < 3; ++axis) {
            widen(&bounds.low[axis], &bounds.high[axis], position(&detector->modules[i])[axis]);
        }
    }
    return bounds;
}

static void locate_module(const ics_table_builder *builder, size_t index, double *centre,
                          double *reach)
{
    const ice_sphere *module = &builder->tables->modules[index];
    centre[0] = module->x;
    centre[1] = module->y;
    centre[2] = module->z;
    const ice_tables *tables = builder->tables;
    const float radius = tables->features & ICE_HAS_SHAPES
                             ? ice_body_of(tables->shapes, (uint32_t)index).reach
                             : tables->radius;
    *reach = (double)radius * module->oversize + ICS_GRID_MARGIN;
}

static void locate_string(const ics_table_builder *builder, size_t index, double *centre,
                          double *reach)
{
    const ice_string *string = &builder->tables->strings[index];
    centre[0] = string->x;
    centre[1] = string->y;
    centre[2] = 0.0;
    *reach = (double)string->radius + ICS_GRID_MARGIN;
}

static int build_cell_grid(ics_table_builder *builder, const ice_detector *detector, ics_box bounds)
{
    const double reach = ics_tables_widest(detector) + 2.0 * ICS_GRID_MARGIN;
    double volume = 1.0;
    for (int axis = 0; axis < 3; ++axis) {
        bounds.low[axis] -= reach;
        bounds.high[axis] += reach;
        volume *= bounds.high[axis] - bounds.low[axis];
    }
    /* A cell holds about one module and is not smaller than a module. */
    double cell = fmax(cbrt(volume / (double)detector->module_count), 2.0 * reach);
    cell = fmax(cell, cbrt(volume / CELL_GRID_CELLS_MAX));
    return ics_tables_fill_grid(builder, &builder->tables->cell_grid, &bounds, cell, false,
                                detector->module_count, locate_module);
}

/* ---- strings ------------------------------------------------------------------------------ */

typedef struct sorted_module {
    uint32_t string, index;
    int32_t column, row; /* the square of the module, if its string is divided; else 0, 0 */
    double z;            /* m */
} sorted_module;

static bool of_one_string(const sorted_module *a, const sorted_module *b)
{
    return a->string == b->string && a->column == b->column && a->row == b->row;
}

static int compare_modules(const void *a, const void *b)
{
    const sorted_module *p = a, *q = b;
    if (p->string != q->string) {
        return p->string < q->string ? -1 : 1;
    }
    if (p->column != q->column) {
        return p->column < q->column ? -1 : 1;
    }
    if (p->row != q->row) {
        return p->row < q->row ? -1 : 1;
    }
    if (p->z != q->z) {
        return p->z < q->z ? -1 : 1;
    }
    return (p->index > q->index) - (p->index < q->index);
}

/* Finds the squares of the modules first .. end - 1 of the list, which are those of one string, if
 * the string is wide. */
static void divide_wide_string(const ice_detector *detector, sorted_module *order, size_t first,
                               size_t end)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t i = first; i < end; ++i) {
        for (int axis = 0; axis < 2; ++axis) {
            widen(&low[axis], &high[axis], position(&detector->modules[order[i].index])[axis]);
        }
    }
    if (fmax(high[0] - low[0], high[1] - low[1]) <= STRING_WIDTH_MAX) {
        return;
    }
    for (size_t i = first; i < end; ++i) {
        const double *at = position(&detector->modules[order[i].index]);
        order[i].column = (int32_t)((at[0] - low[0]) / STRING_WIDTH_MAX);
        order[i].row = (int32_t)((at[1] - low[1]) / STRING_WIDTH_MAX);
    }
}

/* Sorts a part of the list. Most lists of modules have the modules of a string from the top to the
 * bottom, which only needs to be turned around. */
static void sort_part(sorted_module *part, size_t count)
{
    bool up = true, down = true;
    for (size_t i = 1; i < count && (up || down); ++i) {
        const int order = compare_modules(&part[i - 1], &part[i]);
        up = up && order < 0;
        down = down && order > 0;
    }
    if (down) {
        for (size_t i = 0; i < count / 2; ++i) {
            const sorted_module other = part[i];
            part[i] = part[count - 1 - i];
            part[count - 1 - i] = other;
        }
    } else if (!up) {
        qsort(part, count, sizeof *part, compare_modules);
    }
}

/* Returns the cylinder around modules first .. first + count - 1 of the sorted list. */
static ice_string enclose(const ice_detector *detector, const sorted_module *order, uint32_t first,
                          uint32_t count)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (uint32_t i = first; i < first + count; ++i) {
        for (int axis = 0; axis < 2; ++axis) {
            widen(&low[axis], &high[axis], position(&detector->modules[order[i].index])[axis]);
        }
    }
    const double x = 0.5 * (low[0] + high[0]), y = 0.5 * (low[1] + high[1]);
    double radius = 0.0;
    for (uint32_t i = first; i < first + count; ++i) {
        const ice_module *module = &detector->modules[order[i].index];
        radius =
            fmax(radius, hypot(module->x - x, module->y - y) + ics_tables_reach(detector, module));
    }
    const ice_string string = {.x = (float)x,
                               .y = (float)y,
                               .radius = (float)(radius + ICS_GRID_MARGIN),
                               .low = (float)order[first].z,
                               .high = (float)order[first + count - 1].z,
                               .first = first,
                               .count = count};
    return string;
}

/* Fills the buckets of height of a string. The lower end of each bucket counts as ICS_GRID_MARGIN
 * lower, which covers the rounding when a stage computes the index of a bucket. */
static void fill_buckets(ice_string *string, const ice_sphere *spheres, uint32_t *buckets)
{
    const uint32_t count = ICE_STRING_BUCKETS * string->count;
    const double size = (double)(string->high - string->low) / count;
    string->inverse_bucket = size > 0.0 ? (float)(1.0 / size) : 0.0f;
    uint32_t next = 0;
    for (uint32_t k = 0; k < count; ++k) {
        while (next + 1 < string->count &&
               (double)spheres[string->first + next].z < string->low + k * size - ICS_GRID_MARGIN) {
            ++next;
        }
        buckets[ICE_STRING_BUCKETS * string->first + k] = string->first + next;
    }
}

/* Returns the modules in the order of their strings, and NULL if memory is short. The caller frees
 * the list. */
static sorted_module *sort_modules(const ice_detector *detector)
{
    const size_t count = detector->module_count;
    sorted_module *order = ics_memory_zeros(count, sizeof *order);
    if (order == NULL) {
        return NULL;
    }
    bool grouped = true; /* the modules of a string follow each other */
    for (size_t i = 0; i < count; ++i) {
        order[i] = (sorted_module){.string = detector->modules[i].string,
                                   .index = (uint32_t)i,
                                   .z = detector->modules[i].z};
        grouped = grouped && (i == 0 || order[i - 1].string <= order[i].string);
    }
    if (!grouped) {
        qsort(order, count, sizeof *order, compare_modules);
    }
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && order[end].string == order[first].string;) {
            ++end;
        }
        divide_wide_string(detector, order, first, end);
        sort_part(order + first, end - first);
    }
    return order;
}

/* Fills the tables of strings and of their modules. */
static int fill_strings(ics_table_builder *builder, const ice_detector *detector,
                        const sorted_module *order)
{
    ice_tables *tables = builder->tables;
    const size_t count = detector->module_count;
    uint32_t *modules;
    ICS_TRY(ics_tables_array(builder, &tables->string_modules, count, sizeof *modules, &modules));
    ice_sphere *spheres;
    ICS_TRY(ics_tables_array(builder, &tables->string_spheres, count, sizeof *spheres, &spheres));
    uint32_t string_count = 0;
    for (size_t i = 0; i < count; ++i) {
        modules[i] = order[i].index;
        spheres[i] = tables->modules[order[i].index];
        string_count += i == 0 || !of_one_string(&order[i], &order[i - 1]);
    }
    ice_string *strings;
    ICS_TRY(ics_tables_array(builder, &tables->strings, string_count, sizeof *strings, &strings));
    uint32_t *buckets;
    ICS_TRY(ics_tables_array(builder, &tables->string_buckets, ICE_STRING_BUCKETS * count,
                             sizeof *buckets, &buckets));
    tables->string_count = string_count;
    uint32_t first = 0;
    for (uint32_t s = 0; s < string_count; ++s) {
        uint32_t end = first + 1;
        while (end < count && of_one_string(&order[end], &order[first])) {
            ++end;
        }
        strings[s] = enclose(detector, order, first, end - first);
        fill_buckets(&strings[s], spheres, buckets);
        first = end;
    }
    return ics_tables_build_shapes(builder, detector, strings);
}

static int build_string_grid(ics_table_builder *builder, const ice_detector *detector,
                             ics_box bounds)
{
    ice_tables *tables = builder->tables;
    double reach = 0.0, longer = 0.0;
    for (uint32_t s = 0; s < tables->string_count; ++s) {
        reach = fmax(reach, (double)tables->strings[s].radius);
    }
    for (int axis = 0; axis < 2; ++axis) {
        bounds.low[axis] -= reach + 2.0 * ICS_GRID_MARGIN;
        bounds.high[axis] += reach + 2.0 * ICS_GRID_MARGIN;
        longer = fmax(longer, bounds.high[axis] - bounds.low[axis]);
    }
    const double cell = fmax(longer / STRING_GRID_SIDE_MAX, 2.0 * ics_tables_widest(detector));
    return ics_tables_fill_grid(builder, &tables->string_grid, &bounds, cell, true,
                                tables->string_count, locate_string);
}

static int build_strings(ics_table_builder *builder, const ice_detector *detector, ics_box bounds)
{
    ICS_FREES sorted_module *order = sort_modules(detector);
    if (order == NULL) {
        return ics_error_set(builder->error, ICESTREAM_E_MEMORY, "out of memory for %zu modules",
                             detector->module_count);
    }
    ICS_TRY(fill_strings(builder, detector, order));
    return build_string_grid(builder, detector, bounds);
}

/* Returns the oversize of a module. */
static float oversize_of(const ice_detector *detector, const ice_module *module)
{
    if (module->absorbs) {
        return 1.0f;
    }
    return (float)(detector->type_count ? detector->types[module->type].oversize
                                        : detector->oversize);
}

static bool is_oversized(const ice_sphere *modules, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (modules[i].oversize > 1.0f) {
            return true;
        }
    }
    return false;
}

/* Refuses numbers of types and orientations that do not exist. */
static int check_types(ics_table_builder *builder, const ice_detector *detector)
{
    for (size_t i = 0; detector->type_count > 0 && i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        if (module->type >= detector->type_count ||
            (module->orientation > 0 && module->orientation >= detector->orientation_count)) {
            return ics_error_set(builder->error, ICESTREAM_E_CONFIG,
                                 "string %u, module %u: found type %u and orientation %u, expected "
                                 "numbers below %zu and %zu",
                                 module->string, module->module, module->type, module->orientation,
                                 detector->type_count, detector->orientation_count);
        }
    }
    return ICESTREAM_OK;
}

/* Sets the heights between which all oversized modules and all cables lie. */
static void set_heights(ice_tables *tables, const ice_detector *detector, const ics_box *bounds)
{
    const double widest = ics_tables_widest(detector);
    double low = bounds->low[2], high = bounds->high[2];
    for (size_t i = 0; i < detector->cable_count; ++i) {
        const ice_cable *cable = &detector->cables[i];
        low = fmin(low, fmin(cable->from[2], cable->to[2]) - cable->radius + widest);
        high = fmax(high, fmax(cable->from[2], cable->to[2]) + cable->radius - widest);
    }
    tables->middle = (float)(0.5 * (low + high));
    tables->half_height = (float)(0.5 * (high - low) + widest + ICS_GRID_MARGIN);
}

/* ---- searches ------------------------------------------------------------------------------- */

/* Two tables that need the modules and the strings, and not each other. */
typedef struct searches {
    const ice_detector *detector;
    ics_box bounds;
    struct {
        ics_table_builder builder; /* builder of the arrays of this table */
        icestream_error error;
        int status;
    } parts[2];
} searches;

static void build_search(void *user, size_t part)
{
    searches *self = user;
    ics_table_builder *builder = &self->parts[part].builder;
    self->parts[part].status =
        part == 0 ? ics_tables_build_clearance(builder, self->detector, &self->bounds)
                  : build_cell_grid(builder, self->detector, self->bounds);
}

/* Builds the clearance map and the grid of cells, in two threads for a detector with many modules.
 */
static int build_searches(ics_table_builder *builder, const ice_detector *detector,
                          const ics_box *bounds)
{
    searches both = {.detector = detector, .bounds = *bounds};
    for (size_t i = 0; i < 2; ++i) {
        both.parts[i].builder.tables = builder->tables;
        both.parts[i].builder.error = &both.parts[i].error;
    }
    if (ics_parts_count(detector->module_count, MODULES_OF_A_THREAD) > 1) {
        ics_parts_run(2, build_search, &both);
    } else {
        build_search(&both, 0);
        build_search(&both, 1);
    }
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < 2; ++i) {
        ics_tables_move_arrays(builder, &both.parts[i].builder);
        if (status == ICESTREAM_OK && both.parts[i].status != ICESTREAM_OK) {
            status =
                ics_error_set(builder->error, both.parts[i].status, "%s", both.parts[i].error.text);
        }
    }
    return status;
}

int ics_tables_build_detector(ics_table_builder *builder, const ice_detector *detector)
{
    ice_tables *tables = builder->tables;
    const size_t count = detector->module_count;
    if (count == 0) {
        return ics_error_set(builder->error, ICESTREAM_E_CONFIG, "a detector without modules");
    }
    ICS_TRY(check_types(builder, detector));
    ice_sphere *modules;
    ICS_TRY(ics_tables_array(builder, &tables->modules, count, sizeof *modules, &modules));
    uint8_t *absorbs;
    ICS_TRY(ics_tables_array(builder, &tables->absorbs, count, sizeof *absorbs, &absorbs));
    for (size_t i = 0; i < count; ++i) {
        const ice_module *module = &detector->modules[i];
        modules[i].x = (float)module->x;
        modules[i].y = (float)module->y;
        modules[i].z = (float)module->z;
        modules[i].oversize = oversize_of(detector, module);
        absorbs[i] = module->absorbs;
    }
    tables->module_count = (uint32_t)count;
    tables->radius = (float)detector->radius;
    tables->keep_hit_photons = detector->keep_hit_photons ? ICE_KEEPS_ALL : ICE_KEEPS_NONE;
    if (!detector->keep_hit_photons && detector->ends_at_true_size) {
        tables->keep_hit_photons = ICE_KEEPS_WIDE;
    }
    if (detector->crossing == ICE_CROSSING_ENTRY && is_oversized(modules, count)) {
        tables->features |= ICE_HAS_ENTRIES;
    }
    const ics_box bounds = bounds_of(detector);
    set_heights(tables, detector, &bounds);
    ICS_TRY(build_strings(builder, detector, bounds));
    return build_searches(builder, detector, &bounds);
}
