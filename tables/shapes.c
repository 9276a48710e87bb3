/* Tables of types of modules: bodies, orientations, and the word of every module (physics.md 8.9),
 * in one block with the tables of cables. */
#include "base/error.h"
#include "stages/shape_registry.h"
#include "tables/geometry.h"

_Static_assert(ICE_MODULES_MAX <= 1 << ICE_MODULE_BITS, "an arrival has room for every module");
_Static_assert(ICE_PMTS_MAX < 1 << (32 - ICE_MODULE_BITS), "an arrival has room for every PMT");
_Static_assert((int)ICE_HAS_SHAPE_SHIFT + (int)ICE_SHAPE_COUNT <= 31, "every shape has a bit");

/* A body reaches this much further, relatively, than its shape says, which covers rounding. Spheres
 * are exact, so that a type with a sphere has the numbers of a detector without types. */
#define REACH_MARGIN 1e-6f

/* Returns the body of a type. */
static ice_body body_of(const ice_module_type *type)
{
    ice_body body = {.radius = (float)type->radius,
                     .half_height = (float)type->half_height,
                     .reach = (float)type->reach,
                     .shape = (uint32_t)type->shape,
                     .open_ends = type->open_ends};
    switch ((uint32_t)type->shape) {
    default:
        break;
#define REACH_CASE(NAME, name, yaml, sizes, text)                                                  \
    case ICE_SHAPE_##NAME:                                                                         \
        body.reach = ice_reach_##name(&body);                                                      \
        break;
        ICE_SHAPES(REACH_CASE)
#undef REACH_CASE
    }
    if (body.shape != ICE_SHAPE_SPHERE) {
        body.reach += REACH_MARGIN * body.reach;
    }
    return body;
}

double ics_tables_type_reach(const ice_module_type *type)
{
    const ice_body body = body_of(type);
    return body.shape == ICE_SHAPE_SPHERE ? type->radius : (double)body.reach;
}

/* ---- the block ------------------------------------------------------------------------------ */

/* Where the arrays of the block begin. */
typedef struct layout {
    size_t units; /* number of units of 16 bytes, used so far */
} layout;

/* Reserves the next array, and returns where it begins. */
static uint32_t reserve(layout *next, size_t count, size_t size)
{
    const size_t begin = next->units;
    next->units += (count * size + 15) / 16;
    return (uint32_t)begin;
}

static void *array_at(ice_shape_table *table, uint32_t offset)
{
    return (char *)table + 16 * (size_t)offset;
}

static void fill_rotations(const ice_detector *detector, ice_rotation *rotations)
{
    for (size_t i = 0; i < detector->orientation_count; ++i) {
        const ice_orientation *from = &detector->orientations[i];
        rotations[i] = (ice_rotation){
            .w = (float)from->w, .x = (float)from->x, .y = (float)from->y, .z = (float)from->z};
    }
}

static void fill_words(const ice_detector *detector, uint32_t *words)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        words[i] = module->type | module->orientation << ICE_TYPE_BITS;
    }
}

static int fill_bodies(ics_table_builder *builder, const ice_detector *detector,
                       ice_shape_table *table)
{
    ice_tables *tables = builder->tables;
    tables->radius = 0.0f;
    for (size_t i = 0; i < detector->type_count; ++i) {
        const ice_module_type *type = &detector->types[i];
        if ((uint32_t)type->shape >= ICE_SHAPE_COUNT) {
            return ics_error_set(builder->error, ICESTREAM_E_CONFIG,
                                 "type %s: found shape %u, expected a number below %u", type->name,
                                 (uint32_t)type->shape, (uint32_t)ICE_SHAPE_COUNT);
        }
        table->bodies[i] = body_of(type);
        tables->radius = fmaxf(tables->radius, table->bodies[i].reach);
        tables->features |= ICE_HAS_SHAPE((uint32_t)type->shape);
    }
    tables->features |= ICE_HAS_SHAPES;
    return ICESTREAM_OK;
}

/* Fills the parts of types. */
static int fill_types(ics_table_builder *builder, const ice_detector *detector,
                      ice_shape_table *table)
{
    fill_words(detector, array_at(table, table->words));
    fill_rotations(detector, array_at(table, table->rotations));
    return fill_bodies(builder, detector, table);
}

int ics_tables_build_shapes(ics_table_builder *builder, const ice_detector *detector,
                            ice_string *strings)
{
    const bool has_types = detector->type_count > 0, has_cables = detector->cable_count > 0;
    if (!has_types && !has_cables) {
        return ICESTREAM_OK;
    }
    layout next = {(sizeof(ice_shape_table) + 15) / 16};
    ice_shape_table begins = {.words = 0};
    begins.words = reserve(&next, has_types ? detector->module_count : 0, sizeof(uint32_t));
    begins.rotations = reserve(&next, detector->orientation_count, sizeof(ice_rotation));
    begins.cable_lists =
        reserve(&next, has_cables ? builder->tables->string_count : 0, sizeof(ice_cable_list));
    begins.cables = reserve(&next, detector->cable_count, sizeof(ice_cable_row));
    ice_shape_table *table;
    ICS_TRY(ics_tables_array(builder, &builder->tables->shapes.table, next.units, 16, &table));
    *table = begins;
    if (has_types) {
        ICS_TRY(fill_types(builder, detector, table));
        ICS_TRY(ics_tables_build_meshes(builder, detector, table->bodies));
    }
    if (has_cables) {
        ICS_TRY(ics_tables_fill_cables(builder, detector, strings,
                                       array_at(table, table->cable_lists),
                                       array_at(table, table->cables)));
    }
    return ICESTREAM_OK;
}
