/* tabulate: photons leave samples along their way, weighted with what survives of absorption
 * (docs/tabulate.md). It is called after propagate, instead of collide.
 *
 * A photon that is tabulated flies a fixed number of absorption lengths. Its samples lie at the
 * lengths (k + u) * step of its path, k = 0, 1, 2, ..., where u in [0, 1) belongs to the photon. So
 * the remainder of one segment is carried into the next one, and a photon has no additional state.
 * A sample has the weight of its step times exp(-absorption depth), which the layers give exactly.
 *
 * Sums are whole numbers in units of 2^-32 of a weight, so they do not depend on the order of the
 * samples. All functions are in portable maths: the CPU and a GPU add the same numbers to the same
 * cells.
 */
#ifndef ICS_STAGES_TABULATE_TABULATE_H
#define ICS_STAGES_TABULATE_TABULATE_H

#include "stages/anisotropy.h"
#include "stages/create_cherenkov.h"
#include "stages/profile.h"

/* Axes of a table at most: three of position, the delay, and the angle of impact. Coefficients of
 * an acceptance. */
enum { ICE_TABULATE_AXES = 5, ICE_TABULATE_COEFFICIENTS = 16 };

typedef enum ice_tabulate_geometry {
    ICE_TABULATE_NONE,
    ICE_TABULATE_SPHERICAL,   /* r, azimuth (deg), cosine of the polar angle, delay, impact */
    ICE_TABULATE_CYLINDRICAL, /* rho, azimuth (rad), z, delay, impact */
    ICE_TABULATE_CUSTOM /* those of a header of the user (stages/tabulate/tabulate_custom.h) */
} ice_tabulate_geometry;

/* An axis with its under- and overflow. Its bins are equally wide in coordinate^(1/power). */
typedef struct ice_tabulate_axis {
    uint32_t stride;     /* cells of the table from one cell of the axis to the next one */
    int32_t coordinate;  /* which member of ice_tabulate_point it bins, from 0 */
    int32_t bins;        /* 1 to 2^24 - 1 */
    int32_t power;       /* 1 to 8 */
    int32_t ends_below;  /* 1: a photon ends at its first sample below the axis */
    int32_t ends_above;  /* the same above the axis */
    float inverse_power; /* 1 / power */
    float first;         /* root of the lower end */
    float scale;         /* bins / (root of the upper end - root of the lower end) */
} ice_tabulate_axis;

/* A table that is being filled, and how. */
typedef struct ice_tabulation {
    ice_tabulate_axis axes[ICE_TABULATE_AXES];
    int32_t axis_count;
    int32_t geometry;         /* ice_tabulate_geometry */
    int32_t full_azimuth;     /* 0: 0 to half a turn, and both halves add up; 1: a whole turn */
    float step, inverse_step; /* m between two samples, > 0; 1/m */
    float absorption_lengths; /* absorption lengths that a photon travels, > 0 */
    float inverse_speed;      /* ns/m: of the light that has the delay 0 */
    float cherenkov_tangent;  /* cylindrical: tangent of the Cherenkov angle */
    int32_t has_acceptance;   /* 1: weights contain the acceptance of a module by direction */
    /* Coefficients of x^0, x^1, ..., where x is ice_tabulate_way.impact: the acceptance of a module
     * that looks down, divided by its maximum (physics.md 8.5). */
    float acceptance[ICE_TABULATE_COEFFICIENTS];
    uint64_t *sums;    /* [cells], units of 2^-32 of a weight */
    uint64_t *squares; /* [cells], units of 2^-32 of a squared weight; or NULL */
} ice_tabulation;

/* The source of the photons of an emission, and the weight that they start with (64 bytes). The
 * three axes are unit vectors at right angles to each other. */
typedef struct ice_tabulate_origin {
    float x, y, z;    /* m */
    float time;       /* time of the step after that of the source, ns */
    float ux, uy, uz; /* azimuth 0 */
    float vx, vy, vz; /* a quarter of a turn further */
    float wx, wy, wz; /* direction of the source: cosine 1 */
    float weight;     /* weight of a photon, 0 to ICE_TABULATE_WEIGHT_MAX */
    float unused[2];
} ice_tabulate_origin;

/* The largest weight of a photon. The units of its square still fit into 62 bits. */
#define ICE_TABULATE_WEIGHT_MAX 32768.0f

/* A segment in the frame of its source, and the samples on it. */
typedef struct ice_tabulate_way {
    float x, y, z, dx, dy, dz; /* m */
    float time;                /* time at the start (ns after the source) */
    float slowness;            /* ns/m */
    float weight;              /* weight of the photon at its creation */
    float impact;              /* cosine of the angle between the direction and the vertical */
    float first;               /* distance of the first sample from the start, m */
    float length;              /* length of the segment (m) */
    int32_t count;             /* samples; for 0 nothing else here has a meaning */
    /* The layer that the last sample lies in. */
    float coefficient; /* absorption coefficient there, 1/m */
    float entered;     /* distance from the start at which the segment entered it, m */
    float depth;       /* absorption depth of the photon there */
    float leaves;      /* distance at which the segment leaves it, m */
    float through;     /* length of the segment in a whole layer, m */
    float factor;      /* factor of absorption along this direction */
    int32_t layer, up;
    float dust, ice; /* ice_optics */
} ice_tabulate_way;

/* ---- the samples of a segment ---------------------------------------------------------------- */

/* Returns u of a photon, uniform in [0, 1): where on its way the samples lie. */
ICE_FN float ice_tabulate_offset(const ice_tables *tables, ice_identity identity)
{
    uint32_t h = tables->seed_low ^ identity.photon_id * 0x9E3779B9u ^
                 identity.step_id * 0x85EBCA6Bu ^ identity.event_low * 0xC2B2AE35u ^
                 identity.event_high * 0x27D4EB2Fu;
    /* The last steps of MurmurHash3 (A. Appleby, public domain) mix the bits. */
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    h ^= h >> 16;
    return (float)(int32_t)(h >> 8) * 5.9604644775390625e-8f;
}

/* Returns the time (ns) from that of a step without a pulse to the start of a photon, as
 * ics_tables_arrival_delay() does in double precision. */
ICE_FN float ice_tabulate_start_delay(const ice_tables *tables, const ice_emission *emission,
                                      uint32_t photon_id)
{
    if (emission->length == 0.0f && !(emission->flags & ICE_EMISSION_PROFILE)) {
        return 0.0f;
    }
    const ice_block draw =
        ice_draw_of(tables, ice_identity_of(emission, photon_id), ICE_BLOCK_CREATE);
    ice_photon_step own;
    own.ahead = 0.0f;
    own.emission = *emission;
    if (emission->flags & ICE_EMISSION_PROFILE) {
        ice_profile_draw_step(ice_profile_setting_of(tables), emission, photon_id, &own);
    }
    const float shift = ice_start_shift(own.emission.length, own.emission.flags, draw.a);
    return (own.ahead + ice_div(shift, own.emission.beta)) * ICE_INVERSE_C;
}

/* What all segments of a photon share. */
typedef struct ice_tabulate_start {
    float offset; /* ice_tabulate_offset() */
    float delay;  /* ice_tabulate_start_delay(), ns */
} ice_tabulate_start;

ICE_FN ice_tabulate_start ice_tabulate_start_of(const ice_tables *tables,
                                                const ice_emission *emission, uint32_t photon_id)
{
    const ice_tabulate_start start = {
        ice_tabulate_offset(tables, ice_identity_of(emission, photon_id)),
        ice_tabulate_start_delay(tables, emission, photon_id)};
    return start;
}

/* A segment that a photon begins. */
typedef struct ice_tabulate_segment {
    ice_photon photon; /* at the start, with the absorption depth left there */
    ice_tabulate_start start;
    ice_optics optics;
    float height; /* height of the start among the layers (m) */
    float length; /* m */
    float factor; /* ice_tabulate_factor() */
} ice_tabulate_segment;

/* Returns the factor of absorption along the direction of a photon. */
ICE_FN float ice_tabulate_factor(const ice_tables *tables, float height, ice_direction n)
{
    return ICE_HAS(tables, ICE_HAS_DIRECTIONS)
               ? ice_absorption_factor_along(tables, height, n).factor
               : 1.0f;
}

/* Returns the absorption coefficient in the layer of a segment, 1/m. */
ICE_FN float ice_tabulate_coefficient(const ice_tables *tables, const ice_tabulate_way *way)
{
    const ice_layer_row *row = &tables->layers[way->layer];
    const ice_optics optics = {0.0f, way->dust, way->ice, 0.0f};
    return ice_absorption(optics, row->dust, row->ice) * way->factor;
}

/* Returns a vector in the frame of a source. */
ICE_FN ice_direction ice_tabulate_turn(const ice_tabulate_origin *origin, float x, float y, float z)
{
    const ice_direction turned = {fmaf(origin->ux, x, fmaf(origin->uy, y, origin->uz * z)),
                                  fmaf(origin->vx, x, fmaf(origin->vy, y, origin->vz * z)),
                                  fmaf(origin->wx, x, fmaf(origin->wy, y, origin->wz * z))};
    return turned;
}

/* Finds the samples on a segment. The function has no branch if the features of the tables are
 * constants, so that a loop over segments vectorises. */
ICE_FN ice_tabulate_way ice_tabulate_begin(const ice_tabulation *table, const ice_tables *tables,
                                           const ice_tabulate_origin *origin,
                                           ice_tabulate_segment segment)
{
    const ice_photon photon = segment.photon;
    const float u = segment.start.offset;
    const float before = floorf(fmaf(photon.path, table->inverse_step, -u));
    const float after = floorf(fmaf(photon.path + segment.length, table->inverse_step, -u));
    const ice_direction from =
        ice_tabulate_turn(origin, photon.x - origin->x, photon.y - origin->y, photon.z - origin->z);
    const ice_direction n = ice_tabulate_turn(origin, photon.dx, photon.dy, photon.dz);
    const int32_t up = photon.dz > 0.0f ? 1 : 0;
    const float stretch = ice_div(1.0f, ice_max(fabsf(photon.dz), 1e-9f));
    ice_tabulate_way way;
    way.count = (int32_t)ice_max(after - before, 0.0f);
    way.first = fmaf(before + 1.0f + u, table->step, -photon.path);
    way.length = segment.length;
    way.x = from.x;
    way.y = from.y;
    way.z = from.z;
    way.dx = n.x;
    way.dy = n.y;
    way.dz = n.z;
    way.impact = photon.dz;
    way.weight = origin->weight;
    way.slowness = ice_slowness(tables, photon.wavelength);
    way.time = fmaf(photon.path, way.slowness, origin->time + segment.start.delay);
    way.dust = segment.optics.dust;
    way.ice = segment.optics.ice;
    way.factor = segment.factor;
    way.depth = table->absorption_lengths - photon.absorption;
    way.entered = 0.0f;
    way.up = up;
    way.layer = ice_layer_at(tables, segment.height);
    way.coefficient = ice_tabulate_coefficient(tables, &way);
    way.through = tables->thickness * stretch;
    way.leaves = fabsf(ice_face(tables, way.layer + up) - segment.height) * stretch;
    return way;
}

/* Returns the share of the light of a direction that a module which looks down accepts, relative to
 * the direction that it accepts best. x: ice_tabulate_way.impact, which is 1 for light that travels
 * upwards. The number of coefficients is a constant, so that a loop over segments vectorises. */
ICE_FN float ice_tabulate_accepted(const ice_tabulation *table, float x)
{
    float sum = 0.0f;
    for (int32_t k = ICE_TABULATE_COEFFICIENTS; k > 0; --k) {
        sum = fmaf(sum, x, table->acceptance[k - 1]);
    }
    return ice_max(sum, 0.0f);
}

/* A sample, in the frame of its source. */
typedef struct ice_tabulate_sample {
    float x, y, z; /* m */
    float time;    /* ns after the source */
    float impact;
    float depth; /* absorption depth from the creation of the photon to here */
    float weight;
} ice_tabulate_sample;

/* Returns the distance of sample k of a segment from its start, m. */
ICE_FN float ice_tabulate_distance(float first, float step, float length, int32_t k)
{
    return ice_min(ice_max(fmaf((float)k, step, first), 0.0f), length);
}

/* Returns 1 if a point at a distance (m) lies behind the layer that a segment was followed to. */
ICE_FN int32_t ice_tabulate_crosses(const ice_tables *tables, float distance,
                                    const ice_tabulate_way *way)
{
    const int32_t last = way->up ? tables->layer_count - 1 : 0;
    return (distance > way->leaves ? 1 : 0) & (way->layer != last ? 1 : 0);
}

/* Follows a segment into the next layer if `moves` is 1. There is no branch, so that a loop over
 * segments vectorises. */
ICE_FN void ice_tabulate_cross(const ice_tables *tables, int32_t moves, ice_tabulate_way *way)
{
    const float depth = fmaf(way->coefficient, way->leaves - way->entered, way->depth);
    const float leaves = way->leaves;
    way->depth = ice_select(moves, depth, way->depth);
    way->entered = ice_select(moves, leaves, way->entered);
    way->leaves = ice_select(moves, leaves + way->through, leaves);
    way->layer += way->up ? moves : -moves;
    way->coefficient = ice_tabulate_coefficient(tables, way);
}

/* Follows a segment to the layer that it is in at a distance (m), which does not become smaller
 * from call to call. */
ICE_FN void ice_tabulate_follow(const ice_tables *tables, float distance, ice_tabulate_way *way)
{
    while (ice_tabulate_crosses(tables, distance, way)) {
        ice_tabulate_cross(tables, 1, way);
    }
}

/* Returns the absorption depth at a distance in the layer that a segment was followed to. */
ICE_FN float ice_tabulate_depth_at(const ice_tabulate_way *way, float distance)
{
    return fmaf(way->coefficient, distance - way->entered, way->depth);
}

/* Returns the sample at a distance, whose absorption depth is `depth`. */
ICE_FN ice_tabulate_sample ice_tabulate_sample_at(const ice_tabulate_way *way, float distance,
                                                  float depth)
{
    const ice_tabulate_sample sample = {fmaf(distance, way->dx, way->x),
                                        fmaf(distance, way->dy, way->y),
                                        fmaf(distance, way->dz, way->z),
                                        fmaf(distance, way->slowness, way->time),
                                        way->impact,
                                        depth,
                                        way->weight};
    return sample;
}

/* Returns sample k of a segment. Samples are asked for in the order of k, because the segment is
 * followed from layer to layer. */
ICE_FN ice_tabulate_sample ice_tabulate_next(const ice_tabulation *table, const ice_tables *tables,
                                             ice_tabulate_way *way, int32_t k)
{
    const float distance = ice_tabulate_distance(way->first, table->step, way->length, k);
    ice_tabulate_follow(tables, distance, way);
    return ice_tabulate_sample_at(way, distance, ice_tabulate_depth_at(way, distance));
}

/* ---- the cell of a sample -------------------------------------------------------------------- */

/* Returns the angle of the point (x, y) from the axis of x, 0 to pi, with an error below 3e-7; pi/2
 * for the point (0, 0). y >= 0. */
ICE_FN float ice_tabulate_angle(float x, float y)
{
    const float a = fabsf(x);
    const int32_t steep = y > a ? 1 : 0;
    const float low = ice_select(steep, a, y), high = ice_select(steep, y, a);
    const float t = ice_div(low, ice_max(high, 1e-30f));
    const float s = t * t;
    float p = 0.00276628346f;
    p = fmaf(p, s, -0.015731249f);
    p = fmaf(p, s, 0.0421376228f);
    p = fmaf(p, s, -0.0745685473f);
    p = fmaf(p, s, 0.106183708f);
    p = fmaf(p, s, -0.141977981f);
    p = fmaf(p, s, 0.199918717f);
    p = fmaf(p, s, -0.333330363f);
    p = fmaf(p * s, t, t);
    const float first = ice_select(steep, 1.57079637f - p, p);
    const int32_t behind = x < 0.0f ? 1 : 0;
    return ice_select(behind, 3.14159274f - first, first);
}

/* Returns the azimuth of a point, rad: 0 to pi, or to 2 pi for a whole turn. */
ICE_FN float ice_tabulate_azimuth(const ice_tabulation *table, float x, float y)
{
    const float half = ice_tabulate_angle(x, fabsf(y));
    const int32_t mirrored = (y < 0.0f ? 1 : 0) & table->full_azimuth;
    return ice_select(mirrored, 6.28318548f - half, half);
}

/* The coordinates of a sample, in the order and units of the geometry. */
typedef struct ice_tabulate_point {
    float first, azimuth, third;
    float delay; /* ns */
    float impact;
} ice_tabulate_point;

/* Returns the coordinates of a sample. For one geometry the function has no branch, so that a loop
 * over samples vectorises. */
ICE_FN ice_tabulate_point ice_tabulate_locate(const ice_tabulation *table, int32_t geometry,
                                              const ice_tabulate_sample *sample)
{
    const float x = sample->x, y = sample->y, z = sample->z;
    const float azimuth = ice_tabulate_azimuth(table, x, y);
    const float across = fmaf(x, x, y * y);
    ice_tabulate_point point;
    point.impact = sample->impact;
    if (geometry == ICE_TABULATE_SPHERICAL) {
        const float r = ice_sqrt(fmaf(z, z, across));
        point.first = r;
        point.azimuth = azimuth * 57.2957802f;
        point.third = ice_div(z, ice_max(r, 1e-30f));
        point.delay = fmaf(-r, table->inverse_speed, sample->time);
    } else {
        const float rho = ice_sqrt(across);
        point.first = rho;
        point.azimuth = azimuth;
        point.third = z;
        point.delay =
            fmaf(-fmaf(rho, table->cherenkov_tangent, z), table->inverse_speed, sample->time);
    }
    return point;
}

/* Returns the root of a coordinate, from which the bins of an axis follow. */
ICE_FN float ice_tabulate_root(const ice_tabulate_axis *axis, int32_t power, float coordinate)
{
    if (power == 1) {
        return coordinate;
    }
    const float positive = ice_max(coordinate, 1e-30f);
    const float root = power == 2 ? ice_sqrt(positive) : ice_pow(positive, axis->inverse_power);
    const int32_t below = coordinate < 0.0f ? 1 : 0;
    return ice_select(below, -1.0f, root); /* below every axis, which begins at 0 or above */
}

/* Returns the cell of an axis: 0 below it, 1 to bins, bins + 1 above it. `power` is that of the
 * axis; loops pass a constant. A NaN lies below. */
ICE_FN int32_t ice_tabulate_cell(const ice_tabulate_axis *axis, int32_t power, float coordinate)
{
    const float root = ice_tabulate_root(axis, power, coordinate);
    const float position = (root - axis->first) * axis->scale + 1.0f;
    return (int32_t)ice_min(ice_max(floorf(position), 0.0f), (float)(axis->bins + 1));
}

/* Whether a photon ends at a sample in this cell of the axis. */
ICE_FN int32_t ice_tabulate_ends(const ice_tabulate_axis *axis, int32_t cell)
{
    return (axis->ends_below & (cell == 0 ? 1 : 0)) |
           (axis->ends_above & (cell > axis->bins ? 1 : 0));
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Returns what survives of the weight of a sample. */
ICE_FN float ice_tabulate_weight(float weight, float depth)
{
    return weight * ice_exp(-depth);
}

/* Returns a weight, 0 to 2^30, in units of 2^-32, rounded to the nearest one.
 */
ICE_FN uint64_t ice_tabulate_units(float weight)
{
    const float scaled = weight * 4294967296.0f; /* exact */
    const uint64_t whole = (uint64_t)scaled;
    const float rest = scaled - (float)whole; /* exact: either is 0, or both have few digits */
    return whole + (rest >= 0.5f ? 1u : 0u);
}

#endif
