#include "pipeline/photons/models/light/region.h"

#include "pipeline/photons/models/ice/medium.h"

#include <math.h>
#include <stdio.h>

/* The ice at the South Pole ends about 2820 m below the surface. */
#define ICE_SHEET 2850.0

/* A table with this number of layers was measured; one with fewer is an illustration, whose outer
 * layers are meant to continue. Beyond the ends of a measured table its outer layers are believed
 * for some distance. */
enum { MEASURED_LAYERS = 10 };
#define BEYOND_TABLE 150.0 /* m */

/* The number of lengths after which of 1e10 photons less than one is left. */
#define LENGTHS 25.0

/* Over how many metres light decreases by a factor e in the clearest layer and at the clearest of
 * some wavelengths. Far from its source light diffuses: the length is that of diffusion, but never
 * more than that of absorption. */
static double find_length(const ice_medium *medium)
{
    static const double wavelengths[] = {350, 400, 450, 500};
    double longest = 0;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        for (size_t k = 0; k < sizeof wavelengths / sizeof *wavelengths; ++k) {
            const double absorption = 1 / ics_ice_absorption(medium, i, wavelengths[k]);
            const double scattering = 1 / ics_ice_scattering(medium, i, wavelengths[k]);
            longest = fmax(longest, fmin(absorption, sqrt(absorption * scattering / 3)));
        }
    }
    return longest;
}

ics_light_limits ics_light_limits_of(const ice_medium *medium, const ice_detector *detector)
{
    const bool is_water = medium->spectral != NULL;
    const bool is_measured = !is_water && medium->layer_count >= MEASURED_LAYERS;
    const double top = medium->bottom + medium->thickness * (double)medium->layer_count;
    ics_light_limits limits = {
        .detector = detector,
        .modules = ICS_LIGHT_BOX_EMPTY,
        .surface = is_water ? INFINITY : ICE_DETECTOR_DEPTH,
        .rock = is_water ? -INFINITY : ICE_DETECTOR_DEPTH - ICE_SHEET,
        .above = medium->absorb_above,
        .below = medium->absorb_below,
        .top = is_measured ? top + BEYOND_TABLE : INFINITY,
        .bottom = is_measured ? medium->bottom - BEYOND_TABLE : -INFINITY,
        .length = find_length(medium),
    };
    limits.reach = LENGTHS * limits.length;
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        ics_light_box_add(&limits.modules, module->x, module->y, module->z);
    }
    return limits;
}

ics_light_position ics_light_position_of(const ics_light_limits *limits, double z, double *limit)
{
    const struct {
        double limit;
        ics_light_position position;
        bool is_wrong;
    } rows[] = {
        {limits->surface, ICS_LIGHT_IN_AIR, z > limits->surface},
        {limits->rock, ICS_LIGHT_IN_ROCK, z < limits->rock},
        {limits->above, ICS_LIGHT_ABOVE_WORLD, z > limits->above},
        {limits->below, ICS_LIGHT_BELOW_WORLD, z < limits->below},
        {limits->top, ICS_LIGHT_ABOVE_TABLE, z > limits->top},
        {limits->bottom, ICS_LIGHT_BELOW_TABLE, z < limits->bottom},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        if (rows[i].is_wrong) {
            *limit = rows[i].limit;
            return rows[i].position;
        }
    }
    *limit = 0;
    return ICS_LIGHT_IN_ICE;
}

/* The distance of a number from a range. */
static double outside(const ics_range *range, double value)
{
    return fmax(0, fmax(range->low - value, value - range->high));
}

double ics_light_distance(const ics_light_limits *limits, const ics_light_box *box)
{
    double nearest = INFINITY;
    for (size_t i = 0; i < limits->detector->module_count; ++i) {
        const ice_module *module = &limits->detector->modules[i];
        const double x = outside(&box->x, module->x), y = outside(&box->y, module->y),
                     z = outside(&box->z, module->z);
        /* The squares have a rounding that is much smaller than this factor. */
        const bool is_farther = x * x + y * y + z * z > 1.000001 * nearest * nearest;
        if (!is_farther && !module->absorbs && !module->is_off) {
            nearest = fmin(nearest, hypot(hypot(x, y), z));
        }
    }
    return nearest;
}

/* The distance of two ranges. */
static double apart(const ics_range *a, const ics_range *b)
{
    const double below = a->low - b->high, above = b->low - a->high;
    const double most = below > above ? below : above;
    return most > 0 ? most : 0;
}

ics_light_position ics_light_judge(const ics_light_limits *limits, const ics_light_box *box,
                                   char *text, size_t size)
{
    static const char *const names[ICS_LIGHT_POSITIONS] = {
        [ICS_LIGHT_IN_AIR] = "above the surface",
        [ICS_LIGHT_IN_ROCK] = "below the ice",
        [ICS_LIGHT_ABOVE_WORLD] = "above ice.absorb_above",
        [ICS_LIGHT_BELOW_WORLD] = "below ice.absorb_below",
        [ICS_LIGHT_ABOVE_TABLE] = "far above the table of the ice",
        [ICS_LIGHT_BELOW_TABLE] = "far below the table of the ice",
    };
    double limit, other;
    const ics_light_position lowest = ics_light_position_of(limits, box->z.low, &limit);
    const ics_light_position highest = ics_light_position_of(limits, box->z.high, &other);
    if (lowest != ICS_LIGHT_IN_ICE && lowest == highest) {
        char heights[64];
        snprintf(heights, sizeof heights, box->z.low < box->z.high ? "%.6g to %.6g m" : "%.6g m",
                 box->z.low, box->z.high);
        snprintf(text, size,
                 "found light at z = %s, %s (%.6g m); usual: z = %g m minus the depth, "
                 "modules have z = %.6g to %.6g m",
                 heights, names[lowest], limit, ICE_DETECTOR_DEPTH, limits->modules.z.low,
                 limits->modules.z.high);
        return lowest;
    }
    /* The box of all modules is not farther away than the nearest module. */
    const double least =
        hypot(hypot(apart(&box->x, &limits->modules.x), apart(&box->y, &limits->modules.y)),
              apart(&box->z, &limits->modules.z));
    const double distance = least > limits->reach ? ics_light_distance(limits, box) : least;
    if (distance > limits->reach && isfinite(distance)) {
        snprintf(text, size,
                 "found light %.4g m away from the nearest module, and in the clearest ice it "
                 "decreases by a factor e every %.3g m, so that no module can see it; usual: less "
                 "than %.4g m",
                 distance, limits->length, limits->reach);
        return ICS_LIGHT_TOO_FAR;
    }
    return ICS_LIGHT_IN_ICE;
}

/* ---- the nearest module ---------------------------------------------------------------------- */

void ics_light_blocks_of(const ice_detector *detector, ics_light_blocks *out)
{
    out->detector = detector;
    out->size = detector->module_count / ICS_LIGHT_BLOCKS + 1;
    for (size_t i = 0; i < ICS_LIGHT_BLOCKS; ++i) {
        out->boxes[i] = (ics_light_box)ICS_LIGHT_BOX_EMPTY;
    }
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        if (!module->absorbs) {
            ics_light_box_add(&out->boxes[i / out->size], module->x, module->y, module->z);
        }
    }
}

/* A line from one point to another, and what was found near it. */
typedef struct nearest_search {
    const double *from;
    double way[3], square; /* and its length squared */
    ics_light_box box;     /* of the line */
    const ice_module *module;
    double least; /* square of the distance */
} nearest_search;

/* The square of a distance that no module of the box falls below. */
static double least_of_box(const nearest_search *search, const ics_light_box *box)
{
    const double x = apart(&search->box.x, &box->x), y = apart(&search->box.y, &box->y),
                 z = apart(&search->box.z, &box->z);
    return x * x + y * y + z * z;
}

static double square_distance(const nearest_search *search, const ice_module *module)
{
    const double *way = search->way;
    const double x = module->x - search->from[0], y = module->y - search->from[1],
                 z = module->z - search->from[2];
    const double along = x * way[0] + y * way[1] + z * way[2];
    const double share = !(along > 0) ? 0 : along < search->square ? along / search->square : 1;
    const double dx = x - share * way[0], dy = y - share * way[1], dz = z - share * way[2];
    return dx * dx + dy * dy + dz * dz;
}

static void search_block(nearest_search *search, const ics_light_blocks *blocks, size_t block)
{
    const ice_detector *detector = blocks->detector;
    const size_t end = (block + 1) * blocks->size;
    for (size_t i = block * blocks->size; i < end && i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        const double square = square_distance(search, module);
        const bool is_first = square == search->least && module < search->module;
        if (!module->absorbs && (square < search->least || is_first)) {
            search->least = square;
            search->module = module;
        }
    }
}

const ice_module *ics_light_nearest(const ics_light_blocks *blocks, const double from[3],
                                    const double to[3], double *distance)
{
    nearest_search search = {.from = from,
                             .way = {to[0] - from[0], to[1] - from[1], to[2] - from[2]},
                             .box = ICS_LIGHT_BOX_EMPTY,
                             .least = INFINITY};
    const double *way = search.way;
    search.square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
    ics_light_box_add(&search.box, from[0], from[1], from[2]);
    ics_light_box_add(&search.box, to[0], to[1], to[2]);
    double bounds[ICS_LIGHT_BLOCKS];
    size_t first = 0;
    for (size_t i = 0; i < ICS_LIGHT_BLOCKS; ++i) {
        bounds[i] = least_of_box(&search, &blocks->boxes[i]);
        first = bounds[i] < bounds[first] ? i : first;
    }
    search_block(&search, blocks, first);
    for (size_t i = 0; i < ICS_LIGHT_BLOCKS; ++i) {
        /* The rounding of the squares is much smaller than this factor. */
        if (i != first && bounds[i] <= 1.000001 * search.least) {
            search_block(&search, blocks, i);
        }
    }
    *distance = sqrt(search.least);
    return search.module;
}
