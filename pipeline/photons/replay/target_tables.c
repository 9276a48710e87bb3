#include "base/error.h"
#include "pipeline/photons/replay/replay.h"

#include <stddef.h>
#include <string.h>

/* An array of the tables, by the position of its pointer in ice_tables. */
typedef struct table_array {
    size_t pointer;
    const char *what; /* for messages */
} table_array;

#define ARRAY(member, what)                                                                        \
    {                                                                                              \
        offsetof(ice_tables, member), what                                                         \
    }

/* What no weight of a path describes. */
static const table_array fixed[] = {
    ARRAY(modules, "positions or oversize of the modules"),
    ARRAY(absorbs, "modules that only absorb"),
    ARRAY(shapes.table, "shapes, orientations or cables of the modules"),
    ARRAY(shapes.meshes, "meshes of the modules"),
};

/* What decides the deflections by birefringence. */
static const table_array deflecting[] = {
    ARRAY(birefringence, "strengths of birefringence"),
    ARRAY(mean_birefringence, "strengths of the mean deflection by birefringence"),
    ARRAY(deflection, "angles of birefringence"),
    ARRAY(tilt.cells, "tilt"),
    ARRAY(tilt.stretches, "positions of the tilt"),
    ARRAY(columns, "columns of hole ice"),
};

static const void *pointer_of(const ics_tables *tables, size_t pointer)
{
    const void *array;
    memcpy(&array, (const char *)&tables->device + pointer, sizeof array);
    return array;
}

/* Returns the bytes from the begin of an array to that of the next one in the block of the tables;
 * 0 without the array. */
static size_t bytes_of(const ics_tables *tables, size_t pointer)
{
    const char *array = pointer_of(tables, pointer);
    if (array == NULL) {
        return 0;
    }
    const char *end = (const char *)tables->memory + tables->bytes;
    for (size_t i = 0; i < tables->pointer_count; ++i) {
        const char *other = pointer_of(tables, tables->pointers[i]);
        end = other > array && other < end ? other : end;
    }
    return (size_t)(end - array);
}

static int differs(const ics_replay_target *target, const char *what, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: %s: found other numbers than those of the ice that made the hits, "
                         "expected the same, because no weight of a path describes the difference",
                         target->name, what);
}

static int differs_with_birefringence(const ics_replay_target *target, const char *what,
                                      icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: %s: found other numbers than those of the ice that made the hits, "
                         "expected the same, because birefringence then deflects the light "
                         "differently",
                         target->name, what);
}

/* Returns the first array that differs, or NULL. */
static const char *find_difference(const ics_tables *own, const ics_tables *other,
                                   const table_array *arrays, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const size_t bytes = bytes_of(own, arrays[i].pointer);
        if (bytes != bytes_of(other, arrays[i].pointer) ||
            (bytes > 0 && memcmp(pointer_of(own, arrays[i].pointer),
                                 pointer_of(other, arrays[i].pointer), bytes) != 0)) {
            return arrays[i].what;
        }
    }
    return NULL;
}

/* Whether both media have the same index of refraction at all wavelengths. */
static bool has_same_index(const ice_tables *a, const ice_tables *b)
{
    if (!(a->features & ICE_HAS_SPECTRAL_OPTICS)) {
        return true;
    }
    for (int i = 0; i < ICE_SPECTRAL_ROWS; ++i) {
        if (a->spectral[i].phase_index != b->spectral[i].phase_index ||
            a->spectral[i].group_index != b->spectral[i].group_index) {
            return false;
        }
    }
    return true;
}

static const char *find_other_number(const ice_tables *a, const ice_tables *b)
{
    const uint32_t detector = ICE_HAS_SHAPES | ICE_HAS_CABLES | ICE_HAS_ABSORBERS |
                              ICE_HAS_ENTRIES | 0xffffu << ICE_HAS_SHAPE_SHIFT;
    const uint32_t other = a->features ^ b->features;
    if (a->seed_low != b->seed_low || a->seed_high != b->seed_high) {
        return "seed";
    }
    if (a->bounce_limit != b->bounce_limit) {
        return "bounce limit";
    }
    if (a->bounded != b->bounded || a->absorb_above != b->absorb_above ||
        a->absorb_below != b->absorb_below) {
        return "boundaries of the world";
    }
    if (a->radius != b->radius || a->module_count != b->module_count || (other & detector) != 0 ||
        a->keep_hit_photons != b->keep_hit_photons) {
        return "detector";
    }
    if ((other & ICE_HAS_SPECTRAL_OPTICS) != 0 || !has_same_index(a, b)) {
        return "index of refraction";
    }
    return NULL;
}

/* Returns the first number, besides arrays, by which deflections differ, or NULL. */
static const char *find_other_deflection(const ice_tables *a, const ice_tables *b)
{
    const uint32_t features =
        ICE_HAS_BIREFRINGENCE | ICE_HAS_MEAN_BIREFRINGENCE | ICE_HAS_TILT | ICE_HAS_HOLES;
    if (((a->features ^ b->features) & features) != 0) {
        return "birefringence, tilt or columns of hole ice";
    }
    if (a->flow_x != b->flow_x || a->flow_y != b->flow_y) {
        return "flow";
    }
    if (a->layer_count != b->layer_count || a->bottom != b->bottom ||
        a->thickness != b->thickness) {
        return "heights of the layers";
    }
    if (a->hole.radius != b->hole.radius || a->column_count != b->column_count) {
        return "radius of the columns of hole ice";
    }
    /* The pointers in the tilt table were compared by what they point to. */
    ice_tilt_table one = a->tilt, two = b->tilt;
    one.cells = two.cells = NULL;
    one.stretches = two.stretches = NULL;
    const void *left = &one, *right = &two;
    return memcmp(left, right, sizeof one) != 0 ? "tilt" : NULL;
}

int ics_replay_check_target(const ics_tables *own, const ics_replay_target *target,
                            icestream_error *error)
{
    const ice_tables *a = &own->device, *b = &target->tables->device;
    const char *what = find_other_number(a, b);
    if (what == NULL) {
        what = find_difference(own, target->tables, fixed, sizeof fixed / sizeof *fixed);
    }
    if (what != NULL) {
        return differs(target, what, error);
    }
    if (((a->features | b->features) & ICE_HAS_BIREFRINGENCE) == 0) {
        return ICESTREAM_OK;
    }
    what = find_difference(own, target->tables, deflecting, sizeof deflecting / sizeof *deflecting);
    if (what == NULL) {
        what = find_other_deflection(a, b);
    }
    return what != NULL ? differs_with_birefringence(target, what, error) : ICESTREAM_OK;
}
