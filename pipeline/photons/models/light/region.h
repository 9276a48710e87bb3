/* Whether light can be where it is said to be, and whether a module can see it. The questions are
 * cheap enough for every particle and every step file. */
#ifndef ICS_PHOTONS_MODELS_LIGHT_REGION_H
#define ICS_PHOTONS_MODELS_LIGHT_REGION_H

#include "physics/model.h"
#include "pipeline/photons/config/config.h"

#include <math.h>

/* The smallest and the largest of some numbers. */
typedef struct ics_range {
    double low, high;
} ics_range;

/* A range without numbers. */
static const ics_range ics_range_empty = {INFINITY, -INFINITY};

static inline void ics_range_add(ics_range *range, double value)
{
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

typedef enum ics_light_position {
    ICS_LIGHT_IN_ICE, /* nothing is wrong */
    ICS_LIGHT_IN_AIR,
    ICS_LIGHT_IN_ROCK,
    ICS_LIGHT_ABOVE_WORLD, /* ice.absorb_above */
    ICS_LIGHT_BELOW_WORLD, /* ice.absorb_below */
    ICS_LIGHT_ABOVE_TABLE, /* the ice is not known so far above its table */
    ICS_LIGHT_BELOW_TABLE,
    ICS_LIGHT_TOO_FAR, /* no module can see it */
    ICS_LIGHT_POSITIONS
} ics_light_position;

/* A region that contains the starts of light (m). */
typedef struct ics_light_box {
    ics_range x, y, z;
} ics_light_box;

static inline void ics_light_box_add(ics_light_box *box, double x, double y, double z)
{
    ics_range_add(&box->x, x);
    ics_range_add(&box->y, y);
    ics_range_add(&box->z, z);
}

#define ICS_LIGHT_BOX_EMPTY                                                                        \
    {                                                                                              \
        {INFINITY, -INFINITY}, {INFINITY, -INFINITY},                                              \
        {                                                                                          \
            INFINITY, -INFINITY                                                                    \
        }                                                                                          \
    }

/* What limits light. The detector must outlive it. */
typedef struct ics_light_limits {
    const ice_detector *detector;
    ics_light_box modules;
    double surface, rock; /* z (m), infinite for water */
    double above, below;  /* the ends of the world */
    double top, bottom;   /* z (m) up to which a table of ice is believed */
    double length;        /* m: in the clearest ice, light decreases by a factor e over it */
    double reach;         /* m: of 1e10 photons not one arrives from a larger distance */
} ics_light_limits;

ics_light_limits ics_light_limits_of(const ice_medium *medium, const ice_detector *detector);

/* Judges a height z (m). `limit` becomes the height that it violates. */
ics_light_position ics_light_position_of(const ics_light_limits *limits, double z, double *limit);

/* Returns the distance (m) of the nearest module that records light from the box; 0 if a module is
 * in it, +INFINITY if no module records light. */
double ics_light_distance(const ics_light_limits *limits, const ics_light_box *box);

/* Judges a box of light: it is wrong if all of it is wrong in the same way. If so, `text` says
 * what was found and what is usual: "found z from ... to ... m, above the surface ...". */
ics_light_position ics_light_judge(const ics_light_limits *limits, const ics_light_box *box,
                                   char *text, size_t size);

/* The modules in blocks, with the box of each: the nearest one is found without looking at all. */
enum { ICS_LIGHT_BLOCKS = 256 };
typedef struct ics_light_blocks {
    const ice_detector *detector; /* must outlive the blocks */
    size_t size;                  /* modules of a block; the last blocks have fewer */
    ics_light_box boxes[ICS_LIGHT_BLOCKS];
} ics_light_blocks;

void ics_light_blocks_of(const ice_detector *detector, ics_light_blocks *out);

/* Returns the module that records light and is the nearest one to the line from `from` to `to` (m;
 * they may be equal), and the distance (m) of its centre; of two equally near ones the first. NULL:
 * no module records light. */
const ice_module *ics_light_nearest(const ics_light_blocks *blocks, const double from[3],
                                    const double to[3], double *distance);

#endif
