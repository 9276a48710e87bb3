/* Modules with several photomultipliers: what the variants pmt-plane, pmt-place and pmt-table of
 * detect share (physics.md 8.13, 8.14, 8.16). */
#ifndef ICS_PHYSICS_DETECT_PMT_H
#define ICS_PHYSICS_DETECT_PMT_H

#include "physics/detect/detect_pe.h"
#include "physics/detect/transit.h"

#include <math.h>

/* A PMT in the frame of its module (48 bytes). */
typedef struct ice_pmt_window {
    float axis_x, axis_y, axis_z; /* unit vector in the direction in which it looks */
    float x, y, z;                /* middle of its window, m */
    float radius;                 /* m, of the rim of its window */
    float weight; /* pmt-plane: effective area for light from the front, m2; pmt-place: efficiency;
                     both divided by the largest value of the detector (ice_detect_pmt_...);
                     pmt-table: 0 */
    float delay, spread; /* ns, of its transit time */
    uint32_t response;   /* its ice_pmt_response, if there are any */
    uint32_t transit;    /* its ice_transit_parts, if there are any */
} ice_pmt_window;

/* A type of modules. */
typedef struct ice_pmt_type {
    uint32_t first, count;     /* its windows */
    uint32_t shape;            /* an ice_shape */
    uint32_t open_ends;        /* 1: a cylinder whose ends light passes */
    float radius, half_height; /* m */
    float beta;                /* physics/model.h */
    uint32_t own_responses;    /* 1: its PMTs differ in their acceptances */
} ice_pmt_type;

/* How a module hangs, and its type. The quaternion turns from its frame to that of the detector. */
typedef struct ice_pmt_module {
    float w, x, y, z;
    uint32_t type;
} ice_pmt_module;

/* Directions of a table with the same zenith. */
typedef struct ice_pmt_ring {
    float zenith;          /* rad; ascends from 0 to pi from ring to ring of a type */
    uint32_t first, count; /* its directions, from the first one of the type; count > 0 */
} ice_pmt_ring;

/* Where the table of a type is in the arrays of all types. */
typedef struct ice_pmt_grid {
    uint32_t first_ring, ring_count; /* ring_count 0: the type has no PMTs */
    uint32_t first_azimuth, first_sum;
} ice_pmt_grid;

/* The acceptances of PMTs by angle and by wavelength, as indices of `numbers`. */
typedef struct ice_pmt_response {
    uint32_t first_coefficient,
        coefficient_count; /* coefficients of the polynomial by angle; count 0: 1 */
    uint32_t first_point,
        point_count; /* wavelengths (nm), and behind them the ratios; count 0: 1 */
} ice_pmt_response;

typedef struct ice_pmt_tables {
    const ice_pmt_module *modules; /* [module_count] */
    const ice_pmt_type *types;
    const ice_pmt_window *windows;
    const ice_pmt_response *responses; /* first that of each type, then those of single PMTs;
                                          NULL: all acceptances are 1 */
    const float *numbers;              /* numbers of the responses */
    const ice_transit_parts *transits; /* first that of each type, then those of single PMTs; NULL:
                                          there are no distributions of transit times */
    const ice_transit_part *transit_parts;

    /* Only of pmt-table. sums[k] of a direction: what the PMTs 0 .. k detect of the light that
     * reaches the module, divided by the largest value of the detector. */
    const ice_pmt_grid *grids; /* grid of each type */
    const ice_pmt_ring *rings;
    const float *azimuths; /* rad, ascending within a ring, 0 <= azimuth < 2 pi */
    const float *sums;     /* sums for each direction of a type [count of its PMTs] */
} ice_pmt_tables;

/* Turns a vector from the frame of the detector to that of a module. */
ICE_FN void ice_pmt_turn_back(const ice_pmt_module *q, const double in[3], double out[3])
{
    const double w = (double)q->w, x = -(double)q->x, y = -(double)q->y, z = -(double)q->z;
    const double tx = 2 * (y * in[2] - z * in[1]), ty = 2 * (z * in[0] - x * in[2]),
                 tz = 2 * (x * in[1] - y * in[0]);
    out[0] = in[0] + w * tx + y * tz - z * ty;
    out[1] = in[1] + w * ty + z * tx - x * tz;
    out[2] = in[2] + w * tz + x * ty - y * tx;
}

/* A(t) = a - sin(2 a) / 2 with a = acos t, for t in [0, 1]: the area of a part of a disc. */
ICE_FN double ice_pmt_segment(double t)
{
    return acos(t) - t * sqrt(1 - t * t);
}

/* Returns the area that the window of a PMT turns to parallel light, divided by the area of its
 * rim, or, with beta below -1, by the largest such area of a cylindrical window. x in [-1, 1] is
 * the cosine between the PMT's axis and the direction from which the light comes; beta in [0, 1] is
 * the cosine of half the angle that the window covers. The formulas are those of ppc (physics.md
 * 8.13). */
ICE_FN double ice_pmt_share(double x, double beta)
{
    const double front = x > 0 ? x : 0, sine = sqrt(fmax(1 - x * x, 0));
    if (beta < -1) {
        return sine;
    }
    if (!(sine > beta)) {
        return front;
    }
    const double q = beta / sine, c = 1 - beta * beta, side = fabs(x);
    return front + (ice_pmt_segment(q) / c - ice_pmt_segment(fmin(q * side / sqrt(c), 1)) * side) /
                       3.14159265358979323846;
}

/* Returns the mean of ice_pmt_share() over all directions. */
ICE_FN double ice_pmt_share_mean(double beta)
{
    return beta < -1 ? 3.14159265358979323846 / 4 : 1 / (2 * (1 + beta));
}

/* Returns the acceptance at a wavelength (nm), relative to that of light: linear between the
 * points, and beyond them the outermost one. `number` is that of the response. */
ICE_FN float ice_pmt_ratio(const ice_pmt_tables *tables, uint32_t number, float wavelength)
{
    if (tables->responses == NULL || tables->responses[number].point_count == 0) {
        return 1.0f;
    }
    const ice_pmt_response *response = &tables->responses[number];
    const float *points = tables->numbers + response->first_point;
    return ice_curve_value(ice_curve_find(points, response->point_count, wavelength),
                           points + response->point_count);
}

/* Returns the acceptance of one PMT at a wavelength (nm). It is 1 if all PMTs of the type have the
 * same acceptance, which ice_pmt_common() contains then. */
ICE_FN float ice_pmt_own_ratio(const ice_pmt_tables *tables, const ice_pmt_type *type,
                               const ice_pmt_window *window, float wavelength)
{
    return type->own_responses ? ice_pmt_ratio(tables, window->response, wavelength) : 1.0f;
}

/* Returns the acceptance of a PMT for light that travels along `direction` in the frame of the
 * module. */
ICE_FN float ice_pmt_angular(const ice_pmt_tables *tables, const ice_pmt_window *window,
                             const double direction[3])
{
    if (tables->responses == NULL || tables->responses[window->response].coefficient_count == 0) {
        return 1.0f;
    }
    const ice_pmt_response *response = &tables->responses[window->response];
    const double x =
        -(direction[0] * (double)window->axis_x + direction[1] * (double)window->axis_y +
          direction[2] * (double)window->axis_z);
    return ice_polynomial_share(tables->numbers + response->first_coefficient,
                                response->coefficient_count, (float)fmax(fmin(x, 1), -1));
}

/* Returns the time (ns) by which the transit through a PMT shifts a hit: its delay, and a time from
 * its distribution or of its spread, by the words c and d of the block of detection. */
ICE_FN float ice_pmt_transit_time(const ice_tables *tables, const ice_pmt_tables *pmts,
                                  const ice_pmt_window *window, ice_identity identity,
                                  uint32_t block)
{
    if (pmts->transits == NULL || pmts->transits[window->transit].count == 0) {
        return ice_transit_time(tables, identity, block, window->delay, window->spread);
    }
    const ice_transit_parts *parts = &pmts->transits[window->transit];
    const ice_block draw = ice_draw_of(tables, identity, block);
    return window->delay +
           ice_transit_drawn(pmts->transit_parts + parts->first, parts->count, draw.c, draw.d);
}

/* Returns what does not depend on the PMT: whether the module is on, its cable, its efficiency, and
 * the wavelength as far as it means the same for all PMTs. */
ICE_FN float ice_pmt_common(const ice_detection *detection, const ice_arrival *arrival)
{
    const ice_sensor *sensor = &detection->sensors[ice_arrival_module(arrival)];
    if (sensor->flags & ICE_SENSOR_OFF) {
        return 0.0f;
    }
    if (sensor->flags & ICE_SENSOR_CABLE && ice_is_shadowed(detection, sensor, arrival)) {
        return 0.0f;
    }
    const ice_pmt_tables *tables = detection->pmts;
    const uint32_t type = tables->modules[ice_arrival_module(arrival)].type;
    return sensor->efficiency *
           ice_kept_acceptance(detection, sensor->acceptance, arrival->wavelength) *
           (tables->types[type].own_responses ? 1.0f
                                              : ice_pmt_ratio(tables, type, arrival->wavelength));
}

/* Gives the direction and the impact of an arrival in the frame of its module, and returns the type
 * of the module. */
ICE_FN const ice_pmt_type *ice_pmt_view(const ice_detection *detection, const ice_arrival *arrival,
                                        double direction[3], double impact[3])
{
    const ice_pmt_module *module = &detection->pmts->modules[ice_arrival_module(arrival)];
    const double d[3] = {(double)arrival->dx, (double)arrival->dy, (double)arrival->dz};
    const double p[3] = {(double)arrival->x, (double)arrival->y, (double)arrival->z};
    ice_pmt_turn_back(module, d, direction);
    ice_pmt_turn_back(module, p, impact);
    return &detection->pmts->types[module->type];
}

#endif
