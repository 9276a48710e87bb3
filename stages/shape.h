/* What the shape of a module is to the stages: the body of a type, a line that may meet it, and the
 * point where the line enters it (physics.md 8.9).
 *
 * A shape is one header, stages/shapes/shape_NAME.h, and one row in stages/shapes.def. The header
 * has two functions:
 *
 *   ICE_FN ice_body_entry ice_enter_NAME(ice_shapes shapes, const ice_body *body, const ice_line
 * *line) Returns where the endless line enters the body from outside for the first time. A shape
 * that a line can enter more than once returns the first entry at a distance from line->from to
 *       line->to. A line that misses the body has ICE_NO_ENTRY as its distance.
 *   ICE_FN float ice_reach_NAME(const ice_body *body)
 *       Returns the radius (m) of the smallest sphere around the centre that contains the body.
 * Only the host calls it.
 *
 * Both work in the module's own frame: the centre is the origin, and z is the axis of the module.
 */
#ifndef ICS_STAGES_SHAPE_H
#define ICS_STAGES_SHAPE_H

#include "stages/direction.h"
#include "stages/shape_list.h"
#include "stages/shapes/mesh_tree.h"

/* ICE_SHAPE_SPHERE, ...: one number for every row of stages/shapes.def. */
#define ICE_SHAPE_NUMBER(NAME, name, yaml, sizes, text) ICE_SHAPE_##NAME,
typedef enum ice_shape { ICE_SHAPES(ICE_SHAPE_NUMBER) ICE_SHAPE_COUNT } ice_shape;

/* The sizes that a shape can take. */
enum { ICE_SIZE_RADIUS = 1, ICE_SIZE_HALF_HEIGHT = 2, ICE_SIZE_OPEN_ENDS = 4 };

/* The part of a module that a photon enters. A number from 0 up is a PMT. Shapes without parts are
 * glass.
 */
enum { ICE_PART_GLASS = -1, ICE_PART_ABSORBER = -2 };

/* An arrival has the index of the module in the low 22 bits of its member `module`, and 1 + the
 * part in the 10 bits above. The part of shapes without parts is ICE_PART_GLASS, so that the word
 * is the index alone. */
enum { ICE_MODULE_BITS = 22 };

/* `part`: no absorber, because absorbers record no hits. */
ICE_FN uint32_t ice_module_with_part(uint32_t module, int32_t part)
{
    return module | (uint32_t)(part + 1) << ICE_MODULE_BITS;
}

ICE_FN uint32_t ice_arrival_module(const ice_arrival *arrival)
{
    return arrival->module & ((1u << ICE_MODULE_BITS) - 1);
}

ICE_FN int32_t ice_arrival_part(const ice_arrival *arrival)
{
    return (int32_t)(arrival->module >> ICE_MODULE_BITS) - 1;
}

/* The body of a type of modules (32 bytes). */
typedef struct ice_body {
    ICE_ALIGNED(16)
    float radius;       /* m */
    float half_height;  /* m; of a sphere: the radius */
    float reach;        /* m, of a sphere around the centre that contains the body */
    uint32_t shape;     /* ice_shape */
    uint32_t open_ends; /* cylinder: 1, only the mantle can be entered */
    uint32_t mesh;      /* mesh: index of its first node in ice_shapes.meshes */
    uint32_t unused[2];
} ice_body;

/* A rotation from the module's own frame to the frame of the detector: a unit quaternion. */
typedef struct ice_rotation {
    ICE_ALIGNED(16)
    float w;
    float x, y, z;
} ice_rotation;

/* A cable: an absorbing cylinder with flat ends (32 bytes). */
typedef struct ice_cable_row {
    ICE_ALIGNED(16)
    float x; /* lower end of the axis, m */
    float y, z;
    float radius;     /* m */
    float ux, uy, uz; /* unit vector along the axis; uz >= 0 */
    float length;     /* m */
} ice_cable_row;

/* The cables that belong to a string of the tables (ice_tables.strings). */
typedef struct ice_cable_list {
    ICE_ALIGNED(16)
    uint32_t
        first; /* index of the lowest cable; the cables ascend in the height of their lower end */
    uint32_t count;
    float tallest; /* m, no cable of the string is higher than this above its lower end */
    float widest;  /* m, no cable of the string is lower than this below its lower end */
} ice_cable_list;

/* The largest number of types. A module's word has its type in the low ICE_TYPE_BITS bits and the
 * index of its orientation above them; index 0 is upright. */
enum { ICE_TYPE_BITS = 4, ICE_BODIES = 1 << ICE_TYPE_BITS };

/* Bodies, and what belongs to modules and strings: the head of one block of memory. It is one
 * array, because every pointer is a parameter of all kernels (graphs/cuda/loop.c). The other arrays
 * follow in the same block, at these distances from its begin, in units of 16 bytes. */
typedef struct ice_shape_table {
    ice_body bodies[ICE_BODIES];
    uint32_t words;       /* uint32_t[module_count], type and orientation of every module */
    uint32_t rotations;   /* ice_rotation[], number 0 is not read */
    uint32_t cable_lists; /* ice_cable_list[string_count] */
    uint32_t cables;      /* ice_cable_row[] */
} ice_shape_table;

ICE_FN const void *ice_shape_array(const ice_shape_table *table, uint32_t offset)
{
    return (const char *)table + 16 * (size_t)offset;
}

/* All that a shape may read besides its body. */
typedef struct ice_shapes {
    const ice_shape_table *table;
    const ice_mesh_node *meshes;
} ice_shapes;

/* Returns the word of a module: its type and its orientation. */
ICE_FN uint32_t ice_module_word(ice_shapes shapes, uint32_t module)
{
    return ((const uint32_t *)ice_shape_array(shapes.table, shapes.table->words))[module];
}

ICE_FN ice_body ice_body_of(ice_shapes shapes, uint32_t module)
{
    return shapes.table->bodies[ice_module_word(shapes, module) & (ICE_BODIES - 1)];
}

/* A line in the module's own frame, after its impact vector was divided by the oversize F. */
typedef struct ice_line {
    float x, y,
        z; /* its point of closest approach to the centre, m. All distances count from here */
    ice_direction direction; /* unit vector */
    float from, to;          /* distances of the ends of the segment, m */
    float oversize;          /* F */
    float square;            /* square of the impact vector before its division by F (m2) */
} ice_line;

/* Where a line enters a body. */
typedef struct ice_body_entry {
    float distance; /* m; ICE_NO_ENTRY: the line misses the body */
    int32_t part;   /* what it meets there: ICE_PART_... or the number of a PMT */
} ice_body_entry;

#define ICE_NO_ENTRY ICE_INFINITY

ICE_FN ice_body_entry ice_body_entry_at(float distance)
{
    const ice_body_entry entry = {distance, ICE_PART_GLASS};
    return entry;
}

#endif
