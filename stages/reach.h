/* Lower bounds of the distance to the nearest module, with which collide and propagate skip work.
 *
 * The bounds are conservative: they skip only segments that cannot enter a module and photons that
 * cannot reach one, so hits do not depend on them (physics.md 5.1, 8.2).
 */
#ifndef ICS_STAGES_REACH_H
#define ICS_STAGES_REACH_H

#include "stages/direction.h"
#include "stages/optics.h"
#include "stages/photon.h"
#include "stages/tilt.h"

/* Returns the cell of the clearance map for (x, y). For a position outside the map this is the
 * nearest cell of its border, and the cell is nearer to every module than the position. */
ICE_FN int32_t ice_clearance_cell(const ice_tables *tables, float x, float y)
{
    const float inverse = tables->clearance_inverse_cell;
    const int32_t i =
        ice_cell(fmaf(x, inverse, tables->clearance_of_zero_x), tables->clearance_nx - 1);
    const int32_t j =
        ice_cell(fmaf(y, inverse, tables->clearance_of_zero_y), tables->clearance_ny - 1);
    return j * tables->clearance_nx + i;
}

/* With more axes than this, a cell of the map of clearances has 32 bits instead of 16. */
#define ICE_AXES_NARROW 2048u

ICE_FN int32_t ice_has_wide_cells(const ice_tables *tables)
{
    return tables->axis_mask >= ICE_AXES_NARROW ? 1 : 0;
}

/* What is near a position, seen from above, m. */
typedef struct ice_surroundings {
    float x, y;   /* from the nearest axis to the position */
    float others; /* no module of another axis is within this distance; negative: unknown */
} ice_surroundings;

/* Returns the word of the map of clearances for (x, y) (ice_tables.near_axes). */
ICE_FN uint32_t ice_near_word(const ice_tables *tables, float x, float y)
{
#if defined(ICE_HAS_TEXTURES)
    const float inverse = tables->clearance_inverse_cell;
    return ice_texel(tables->near_texture, fmaf(x, inverse, tables->clearance_of_zero_x),
                     fmaf(y, inverse, tables->clearance_of_zero_y));
#else
    const int32_t cell = ice_clearance_cell(tables, x, y);
    const uint32_t narrow = ice_has_wide_cells(tables) ? 0 : 1;
#if defined(__CUDACC__)
    return narrow ? ((const uint16_t *)tables->near_axes)[cell] : tables->near_axes[cell];
#else
    /* A processor gathers words of 32 bits only. */
    const uint32_t used = narrow ? 0xffffu : 0xffffffffu;
    const uint32_t shift = ((uint32_t)cell & narrow) * 16;
    return (tables->near_axes[cell >> narrow] >> shift) & used;
#endif
#endif
}

/* Returns what is subtracted from the number in a word, m (ice_tables.others_less). */
ICE_FN float ice_others_less(const ice_tables *tables)
{
#if defined(ICE_HAS_TEXTURES)
    /* The cell may be the neighbour of the one that contains the position. */
    return tables->others_less + 2.0f * ICE_TEXEL_DOUBT / tables->clearance_inverse_cell;
#else
    return tables->others_less;
#endif
}

/* What is read from memory for a position (x, y, z), before the bounce that starts there. A loop
 * reads it as soon as it knows the position, and has it when the bounce begins. */
typedef struct ice_site {
    float height;  /* among the layers, m */
    uint32_t near; /* ice_near_word() */
} ice_site;

ICE_FN ice_site ice_site_of(const ice_tables *tables, float x, float y, float z)
{
    const ice_site site = {ice_height(tables, x, y, z), ice_near_word(tables, x, y)};
    return site;
}

/* The functions below with `word` take the ice_near_word() of (x, y). */
ICE_FN ice_surroundings ice_surroundings_of(const ice_tables *tables, uint32_t word, float x,
                                            float y)
{
    const ice_string_axis axis = tables->axes[word & tables->axis_mask];
    const ice_surroundings near = {
        x - axis.x, y - axis.y,
        fmaf((float)(int32_t)word, tables->others_step, -ice_others_less(tables))};
    return near;
}

/* Returns the clearance of (x, y): a lower bound (m), >= 0, of the horizontal distance to the edge
 * of any module. */
ICE_FN float ice_clearance_at(const ice_tables *tables, uint32_t word, float x, float y)
{
    const ice_surroundings near = ice_surroundings_of(tables, word, x, y);
    const float distance = ice_root(fmaf(near.x, near.x, near.y * near.y));
    /* The factor covers the rounding of positions far away. */
    const float own = fmaf(distance, 0.99999f, -tables->axis_radius);
    return ice_max(ice_min(own, near.others), 0.0f);
}

/* The same, which reads the word. */
ICE_FN float ice_clearance(const ice_tables *tables, float x, float y)
{
    return ice_clearance_at(tables, ice_near_word(tables, x, y), x, y);
}

/* Returns a lower bound (m) of the distance from the height z (m) at a position with this clearance
 * to the edge of any module: the larger one of its horizontal and its vertical part. */
ICE_FN float ice_least_distance(const ice_tables *tables, float clearance, float z)
{
    return ice_max(clearance, fabsf(z - tables->middle) - tables->half_height);
}

/* Whether a segment may touch a module: whether it passes the heights of the modules and, seen from
 * above, the nearest axis or is long enough for other modules. n is its direction. A segment that
 * is shorter than ice_least_distance() never may. */
ICE_FN int32_t ice_may_collide_at(const ice_tables *tables, uint32_t word, float x, float y,
                                  float z, ice_direction n, float length)
{
    const ice_surroundings near = ice_surroundings_of(tables, word, x, y);
    const float square = fmaf(n.x, n.x, n.y * n.y);
    const float others = ice_max(near.others, 0.0f);
    /* For a vertical segment the quotient is 0/0, and its nearest point counts as its start. */
    const float nearest = ice_div(-fmaf(near.x, n.x, near.y * n.y), square);
    const float along = ice_min(ice_max(nearest, 0.0f), length);
    const float ex = fmaf(along, n.x, near.x);
    const float ey = fmaf(along, n.y, near.y);
    const float radius = tables->axis_radius;
    const int32_t passes = fmaf(ex, ex, ey * ey) <= radius * radius ? 1 : 0;
    const int32_t reaches = length * length * square >= others * others ? 1 : 0;
    const float above = z - tables->middle, end_above = fmaf(length, n.z, above);
    const int32_t not_below = ice_max(above, end_above) >= -tables->half_height ? 1 : 0;
    const int32_t not_above = ice_min(above, end_above) <= tables->half_height ? 1 : 0;
    return (passes | reaches) & not_below & not_above;
}

/* The same, which reads the word. */
ICE_FN int32_t ice_may_collide(const ice_tables *tables, float x, float y, float z, ice_direction n,
                               float length)
{
    return ice_may_collide_at(tables, ice_near_word(tables, x, y), x, y, z, n, length);
}

/* Whether the clearest ice of the layer rows (clear_dust, clear_ice) is valid for a photon at
 * (x, y, z). It is not valid far outside the table of a tilt, because the shift continues linearly
 * there and layers may become very steep. */
ICE_FN int32_t ice_is_clear_range_known(const ice_tables *tables, float x, float y, float z)
{
    const ice_tilt_table *tilt = &tables->tilt;
    /* No branches, so that a loop over photons vectorises. */
    const int32_t level = tables->features & (ICE_HAS_TILT_LINE | ICE_HAS_TILT_MAP) ? 0 : 1;
    const int32_t endless = tables->features & ICE_HAS_TILT_LINE ? 0 : 1;
    const float position = ice_tilt_coordinate(tilt, x, y);
    const int32_t in_depth = fabsf(z - tilt->known_z) <= tilt->known_half_z ? 1 : 0;
    const int32_t across = fabsf(position - tilt->known_along) <= tilt->known_half_along ? 1 : 0;
    return level | (in_depth & (across | endless));
}

/* Returns ice_clearest_cost(). Kernels that need many registers compute it for every bounce instead
 * of keeping it. */
ICE_FN float ice_far_cost(const ice_tables *tables, ice_optics optics)
{
    return tables->features & ICE_HAS_MANY_REGISTERS ? ice_clearest_cost(tables, optics)
                                                     : optics.clearest;
}

/* Whether the absorption depth left is too small to carry the photon to any module, even on a
 * straight path through the clearest ice (the reach bound of physics.md 5.1). For the first
 * ICE_CLEAR_RANGE of the path this is the clearest ice near the photon's layer, beyond it the
 * clearest ice of all layers. `distance` (m) is ice_least_distance() of the photon, and `height`
 * (m) its height among the layers. The rows of the layers allow for the change of height by tilt on
 * the way, where this change is known. */
ICE_FN int32_t ice_is_out_of_reach(const ice_tables *tables, const ice_photon *photon,
                                   float distance, float height, ice_optics optics)
{
    const ice_layer_row *near = &tables->layers[ice_layer_at(tables, height)];
    float near_cost = ice_absorption(optics, near->clear_dust, near->clear_ice);
    if (tables->features & ICE_HAS_HOLES) {
        near_cost = ice_min(near_cost, ICE_REACH_SAFETY * tables->hole.absorption);
    }
    const float clear_range =
        ice_is_clear_range_known(tables, photon->x, photon->y, photon->z) ? ICE_CLEAR_RANGE : 0.0f;
    const float near_distance = ice_min(distance, clear_range);
    const float far_cost = ice_far_cost(tables, optics);
    const float far_part = fmaf(far_cost, distance - near_distance, -1e-3f);
    return photon->absorption < fmaf(near_cost, near_distance, far_part) ? 1 : 0;
}

#endif
