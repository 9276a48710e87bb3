#include "pipeline/photons/models/oversize.h"

#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/light/region.h"
#include "stages/optics.h"

#include <math.h>
#include <stdio.h>

#define WAVELENGTH 400.0                      /* nm */
static const double near_light[] = {1, 2, 5}; /* m */
static const double far_light = 10;           /* m, for times */

/* Numbers that were fitted to the matrix of docs/oversize.md, and to first hits of photons on true
 * modules. */
#define BUNCHING_ENTRY 0.25 /* per wide radius over effective scattering length */
#define BUNCHING_DISC  1.55
#define LATE_ENTRY                                                                                 \
    0.33 /* of the square of the wide radius over the effective scattering length                  \
          */
#define REPEATS       1.2e-3 /* share of hits that repeat a photon on a true module, at 25 m */
#define REPEATS_POWER 0.4

/* Modules for which the shadows of the others are summed, times the modules. */
#define SHADOW_PAIRS 2e7

/* The bias of the sum of a module whose reach is `wide` (m), from a point of light at a distance:
 * the light in the solid angle of the module over the square of its width. Minus 1: the light
 * begins inside. */
static double excess_of(double wide, double distance)
{
    const double q = wide / distance;
    return q < 1 ? 2 * (1 - sqrt(1 - q * q)) / (q * q) - 1 : -1;
}

/* The same relative to a true module. */
static double near_bias(double reach, double oversize, double distance)
{
    return (1 + excess_of(oversize * reach, distance)) / (1 + excess_of(reach, distance)) - 1;
}

static double oversize_of(const ice_detector *detector, const ice_module *module)
{
    return detector->type_count > 0 ? detector->types[module->type].oversize : detector->oversize;
}

/* The same for a cascade from `from` to `to`, whose light comes from its axis. Light that begins
 * inside the oversized module is not seen. */
static double cascade_bias(const ice_detector *detector, const ice_module *module,
                           const double from[3], const double to[3],
                           const ice_cascade_profile *depth)
{
    enum { POINTS = 500 };
    const double oversize = oversize_of(detector, module),
                 reach = ics_detector_reach(detector, module);
    const double way[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    const double length = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    double wide = 0, narrow = 0;
    for (int i = 0; i < POINTS; ++i) {
        const double share = (i + 0.5) / POINTS, x = share * length / depth->scale;
        const double dx = module->x - from[0] - share * way[0],
                     dy = module->y - from[1] - share * way[1],
                     dz = module->z - from[2] - share * way[2];
        const double square = dx * dx + dy * dy + dz * dz, distance = sqrt(square);
        if (distance <= reach) {
            continue; /* neither module sees light from inside; at the centre there is no number */
        }
        const double light = exp((depth->shape - 1) * log(x) - x) / square;
        wide += light * (1 + excess_of(oversize * reach, distance));
        narrow += light * (1 + excess_of(reach, distance));
    }
    return narrow > 0 ? wide / narrow - 1 : -1;
}

double ics_oversize_cascade_end(const ice_cascade_profile *depth)
{
    return depth->scale * (depth->shape + 9 * sqrt(depth->shape));
}

/* The radius of a sphere inside the module; 0 of a mesh, whose inside is not known. */
static double inner_of(const ice_detector *detector, const ice_module *module)
{
    if (detector->type_count == 0) {
        return detector->radius;
    }
    const ice_module_type *type = &detector->types[module->type];
    return type->shape == ICE_SHAPE_MESH ? 0 : fmin(type->radius, type->half_height);
}

static double scattering_length_at(const ice_medium *medium, double z)
{
    const double layer = floor((z - medium->bottom) / medium->thickness);
    const double last = (double)medium->layer_count - 1;
    return 1 / ics_ice_scattering(medium, (size_t)fmin(fmax(layer, 0), last), WAVELENGTH);
}

/* The share of the directions from a module that other modules hide with their true cross-section,
 * as far as light flies straight. */
static double shadow_on(const ice_detector *detector, const ice_module *module, double length)
{
    double share = 0;
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *other = &detector->modules[i];
        const double dx = other->x - module->x, dy = other->y - module->y,
                     dz = other->z - module->z;
        const double square = dx * dx + dy * dy + dz * dz,
                     reach = ics_detector_reach(detector, other);
        if (square > 0 && square < 25 * length * length) {
            share += reach * reach / (4 * square) * exp(-sqrt(square) / length);
        }
    }
    return share;
}

/* The bias of sums far from the light, as far as it comes from where photons end. `shadow`: that of
 * true modules. */
static double bias_of(const ice_detector *detector, double wide, double oversize, double length,
                      double shadow)
{
    const double repeats = REPEATS * pow(25 / length, REPEATS_POWER);
    if (detector->keep_hit_photons) {
        return repeats + shadow;
    }
    if (detector->ends_at_true_size) {
        return 0; /* as many photons end as at true modules */
    }
    const double depleted = 1 / (1 + 3 * wide / (4 * length));
    const double wider = oversize * oversize - 1;
    return depleted / (1 - repeats) * fmax(1 - wider * shadow, 0) - 1;
}

static void add(ics_oversize_pair *pair, double value, double share)
{
    pair->mean += share * value;
    pair->worst = fabs(value) > fabs(pair->worst) ? value : pair->worst;
}

static void add_module(const ice_medium *medium, const ice_detector *detector,
                       const ice_module *module, double share, ics_oversize_effects *out)
{
    const double slowness = ice_group_index_double(WAVELENGTH) / ICE_LIGHT_SPEED;
    const double oversize = oversize_of(detector, module),
                 reach = ics_detector_reach(detector, module);
    const double wide = oversize * reach, length = scattering_length_at(medium, module->z);
    const bool is_entry = detector->crossing == ICE_CROSSING_ENTRY;
    out->length.mean += share / length;
    out->length.worst = fmin(out->length.worst, length);
    add(&out->sum, bias_of(detector, wide, oversize, length, shadow_on(detector, module, length)),
        share);
    const bool stops = !detector->keep_hit_photons && !detector->ends_at_true_size;
    add(&out->bunching, stops ? 1 : 1 + (is_entry ? BUNCHING_ENTRY : BUNCHING_DISC) * wide / length,
        share);
    const double late = LATE_ENTRY * wide * wide / length;
    add(&out->late, -slowness * (is_entry ? late : late + wide * wide / (4 * far_light)), share);
    if (wide > out->wide) {
        out->wide = wide;
        out->earliest = is_entry ? 0 : slowness * (oversize - 1) * reach;
        for (size_t k = 0; k < ICS_OVERSIZE_NEAR; ++k) {
            out->near[k] = near_bias(reach, oversize, near_light[k]);
        }
    }
}

bool ics_oversize_effects_of(const ice_medium *medium, const ice_detector *detector,
                             ics_oversize_effects *out)
{
    const double count = (double)detector->module_count;
    if (!(detector->oversize > 1)) {
        return false;
    }
    const size_t step = (size_t)fmax(ceil(count * count / SHADOW_PAIRS), 1);
    const size_t used = (detector->module_count + step - 1) / step;
    *out = (ics_oversize_effects){.length = {.worst = INFINITY}};
    for (size_t i = 0; i < detector->module_count; i += step) {
        add_module(medium, detector, &detector->modules[i], 1 / (double)used, out);
    }
    out->length.mean = 1 / out->length.mean;
    return true;
}

const char *ics_oversize_text(const ics_oversize_effects *e, char text[ICS_OVERSIZE_TEXT])
{
    char near[120] = "";
    size_t used = 0;
    for (size_t k = 0; k < ICS_OVERSIZE_NEAR; ++k) {
        if (near_light[k] > e->wide) {
            used += (size_t)snprintf(near + used, sizeof near - used, "%s%+.1f %% at %g m",
                                     used ? ", " : "", 100 * e->near[k], near_light[k]);
        }
    }
    snprintf(text, ICS_OVERSIZE_TEXT,
             "against oversize 1: sums of weights %+.1f %% (worst module %+.1f %%), variance/mean "
             "of counts %.2f (%.2f), "
             "10 %% quantile of times %+.2f ns (%+.2f ns), hits up to %.1f ns too early; besides "
             "this, sums of light that "
             "begins near a module: %s, wrong within %.2g m; effective scattering length at the "
             "modules %.3g m (least %.3g m)",
             100 * e->sum.mean, 100 * e->sum.worst, e->bunching.mean, e->bunching.worst,
             e->late.mean, e->late.worst, e->earliest, used > 0 ? near : "no estimate", e->wide,
             e->length.mean, e->length.worst);
    return text;
}

/* The bias of the sum of the nearest module. */
static double bias_near(const ice_detector *detector, const ice_module *module,
                        const double from[3], const double to[3], double distance,
                        const ice_cascade_profile *depth)
{
    const double oversize = oversize_of(detector, module),
                 reach = ics_detector_reach(detector, module);
    const double nearest = distance > reach ? near_bias(reach, oversize, distance) : -1;
    /* Of a cascade no point has a larger bias than the nearest one, if `distance` is that of all
     * of it. */
    const bool is_far = detector->oversize > 1 && distance > oversize * reach &&
                        nearest < 0.999 * ICS_OVERSIZE_WARNING;
    return depth == NULL || is_far ? nearest : cascade_bias(detector, module, from, to, depth);
}

bool ics_oversize_near_text(const ics_light_blocks *modules, const double from[3],
                            const double to[3], const ice_cascade_profile *depth, char *text,
                            size_t size)
{
    const ice_detector *detector = modules->detector;
    double distance = 0;
    const double *end = detector->oversize > 1 ? to : from;
    const ice_module *module = ics_light_nearest(modules, from, end, &distance);
    if (module == NULL) {
        return false;
    }
    const double oversize = oversize_of(detector, module);
    if (!(oversize > 1)) {
        if (!(distance < inner_of(detector, module))) {
            return false;
        }
        snprintf(text, size,
                 "found light that begins inside string %u, module %u (%.3g m from its centre), "
                 "which does not see light from inside; usual: light that begins outside",
                 module->string, module->module, distance);
        return true;
    }
    const double bias = bias_near(detector, module, from, to, distance, depth);
    if (!(fabs(bias) >= ICS_OVERSIZE_WARNING)) {
        return false;
    }
    snprintf(text, size,
             "found light that begins %.3g m from string %u, module %u, which has a radius of "
             "%.3g m with detector.oversize: %g, so that the sums of its hits are wrong by about "
             "%+.3g %%; usual: detector.oversize: 1",
             distance < 1e-3 ? 0 : distance, module->string, module->module,
             oversize * ics_detector_reach(detector, module), oversize, 100 * bias);
    return true;
}
