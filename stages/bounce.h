/* What happens between two scatters, beyond the stages themselves: the boundaries of the world, the
 * modules on the way, the fate at the segment's end; and all of it in turn for one photon.
 *
 * Before including this, a kernel says where arrivals go:
 *   #define ICE_PUT_ARRIVAL(sink, arrival)   records *arrival, is not 0 if it cannot
 * with `sink` whatever pointer the kernel passes in.
 */
#ifndef ICS_STAGES_BOUNCE_H
#define ICS_STAGES_BOUNCE_H

#include "stages/anisotropy.h"
#include "stages/birefringence.h"
#include "stages/hole.h"
#include "stages/tilt.h"
#include "stages/variants.h"

/* Cuts a segment at the boundaries of the world (physics.md 5.4); returns 1 if it was cut. */
ICE_FN int32_t ice_cut_at_boundary(const ice_tables *tables, float z, float dz, float *length)
{
    if (!tables->bounded) {
        return 0;
    }
    const float end = fmaf(*length, dz, z);
    const int32_t up = dz > 0.0f ? 1 : 0;
    const float boundary = up ? tables->absorb_above : tables->absorb_below;
    const float excess = up ? end - boundary : boundary - end;
    const int32_t beyond = excess > 0.0f ? 1 : 0;
    /* No room: it is outside already, and perhaps horizontal. */
    const float room = up ? boundary - z : z - boundary;
    const float cut = room > 0.0f ? ice_div(room, fabsf(dz)) : 0.0f;
    *length = beyond ? cut : *length;
    return beyond;
}

/* The fate of a photon at its segment's end, before it scatters. `absorption` is what is left,
 * `scatters` counts those before this one. */
ICE_FN uint32_t ice_fate_at_end(uint32_t fate, int32_t left_world, float absorption,
                                uint32_t scatters, uint32_t bounce_limit)
{
    const uint32_t by_limit = scatters + 1 >= bounce_limit ? ICE_STOPPED : ICE_ALIVE;
    const uint32_t by_ice = absorption < ICE_ABSORPTION_END ? (uint32_t)ICE_ABSORBED : by_limit;
    const uint32_t by_end = left_world ? (uint32_t)ICE_LEFT : by_ice;
    return fate == ICE_ALIVE ? by_end : fate;
}

/* Records what a segment meets, in the order of the flight, until something ends the photon
 * (physics.md 8.2 to 8.4, 8.6). Returns the number of hits, or -1 if one could not be recorded:
 * *met then says how many of the segment are recorded, and a second call with it goes on there.
 * After any other return *met is 0, as it has to be for the next segment. */
ICE_FN int32_t ice_meet(ice_variant collide, const ice_tables *tables, ice_probe *probe,
                        const ice_photon *photon, void *sink, uint32_t *fate, uint32_t *met)
{
    int32_t hits = 0;
    /* The first look stands outside the loop: on a GPU the threads that meet nothing, nearly all,
     * would not wait for each other behind a loop with an atomic operation in it, because the
     * compiler lets threads in such a loop give way (YIELD). That took a fifth of the time. */
    ice_contact contact = ice_collide(collide, tables, probe);
    if (contact.module == ICE_NO_MODULE) {
        return 0;
    }
    const uint32_t recorded = *met;
    if (recorded) {
        *met = 0;
    }
    for (uint32_t passed = 0; contact.module != ICE_NO_MODULE; ++passed) {
        if (tables->absorbs[contact.module]) {
            *fate = ICE_ABSORBED;
            return hits;
        }
        if (passed >= recorded) {
            const ice_arrival arrival = ice_arrive(tables, probe, contact, photon);
            if (ICE_PUT_ARRIVAL(sink, &arrival)) {
                *met = passed;
                return -1;
            }
            ++hits;
        }
        if (!tables->keep_hit_photons) {
            *fate = ICE_DETECTED;
            return hits;
        }
        probe->after_distance = contact.distance;
        probe->after_module = contact.module;
        contact = ice_collide(collide, tables, probe);
    }
    return hits;
}

/* What is left to chance at a segment's end. */
typedef struct ice_chance {
    float angle;     /* of scattering, uniform in (0, 1] */
    float azimuth;   /* uniform in [0, 1) */
    ice_spare spare; /* for birefringence */
} ice_chance;

ICE_FN ice_chance ice_chance_of(ice_block draw)
{
    const ice_chance chance = {ice_uniform_positive(draw.b), ice_uniform(draw.c),
                               ice_spare_of(draw)};
    return chance;
}

/* A segment that propagate has found, with what its bounce has drawn. */
typedef struct ice_leg {
    float length;     /* m */
    float absorption; /* optical depth left at the end */
    ice_chance chance;
    float height; /* of the start among the layers, m; of use to bent and anisotropic ice only */
    int32_t leaves_world;
    int32_t may_collide; /* 0: it is too short, too high or too low for any module */
} ice_leg;

/* The segment of a flight from (x, y) along n, whatever the ice has. flight.absorption is what is
 * left of the photon's. */
ICE_FN ice_segment ice_find_segment(ice_variant propagate, const ice_tables *tables,
                                    ice_flight flight, float x, float y, ice_direction n,
                                    float clearance)
{
    ice_slant slant = {1.0f, 1.0f};
    if (tables->features & ICE_HAS_DIRECTIONS) {
        slant = ice_slant_along(tables, flight.z, n);
        flight.absorption *= slant.inverse;
    }
    int32_t leaves;
    ice_segment segment = ice_segment_in_layer(tables, flight, &leaves);
    if (leaves) {
        segment = ice_propagate_on(propagate, tables, flight);
    }
    if (tables->features & ICE_HAS_HOLES &&
        ice_may_meet_hole(tables, clearance, n, segment.length)) {
        segment = ice_through_holes(propagate, tables, flight, x, y, n, slant.factor);
    }
    if (tables->features & ICE_HAS_DIRECTIONS) {
        segment.absorption *= slant.factor;
    }
    return segment;
}

/* The next segment of a photon. Returns 0 if the photon cannot reach a module any more and is to be
 * dropped: there is no segment then. */
ICE_FN int32_t ice_fly(ice_variant propagate, const ice_tables *tables, ice_identity identity,
                       ice_optics optics, const ice_photon *photon, ice_leg *leg)
{
    const float clearance = ice_clearance(tables, photon->x, photon->y);
    const float height = ice_height(tables, photon->x, photon->y, photon->z);
    if (tables->reach_cull && ice_out_of_reach(tables, clearance, photon->x, photon->y, photon->z,
                                               height, optics, photon->absorption)) {
        return 0;
    }
    const ice_block draw = ice_draw_of(tables, identity, ICE_BLOCK_BOUNCE + photon->scatters);
    const ice_direction n = {photon->dx, photon->dy, photon->dz};
    const ice_flight flight = {height, n.z, ice_exponential(draw.a), photon->absorption, optics};
    ice_segment segment =
        ice_find_segment(propagate, tables, flight, photon->x, photon->y, n, clearance);
    leg->height = height;
    leg->leaves_world = ice_cut_at_boundary(tables, photon->z, photon->dz, &segment.length);
    leg->length = segment.length;
    leg->absorption = segment.absorption;
    leg->chance = ice_chance_of(draw);
    leg->may_collide = ice_may_collide(tables, clearance, photon->z, photon->dx, photon->dy,
                                       photon->dz, segment.length);
    return 1;
}

/* What birefringence makes of a segment. In and beside hole ice there is none of it. */
ICE_FN ice_bent ice_bend_leg(const ice_tables *tables, const ice_leg *leg, const ice_photon *photon,
                             ice_spare spare)
{
    const ice_direction n = {photon->dx, photon->dy, photon->dz};
    ice_bending over = ice_bending_over(tables, leg->height, n.z, leg->length);
    if (tables->features & ICE_HAS_HOLES && ice_in_hole(tables, photon->x, photon->y)) {
        over.diffusion = over.mean = 0.0f;
    }
    return ice_bend_segment(tables, n, over, leg->length, ice_normals(spare));
}

/* The direction after the scatter at a segment's end, (x, y) and `height` among the layers. */
ICE_FN ice_direction ice_scattered(ice_variant scatter, const ice_tables *tables,
                                   const ice_chance *chance, ice_direction n, float x, float y,
                                   float height)
{
    const int32_t in_hole = tables->features & ICE_HAS_HOLES ? ice_in_hole(tables, x, y) : 0;
    /* Chosen by value: a choice of addresses would bring all tables of a GPU's thread to memory. */
    ice_scatter_constants constants = tables->scatter;
    if (in_hole) {
        constants = tables->hole.scatter;
    }
    const float one_minus_cosine = ice_scatter(scatter, &constants, chance->angle);
    if (!(tables->features & ICE_HAS_SCATTERING_ANISOTROPY) || in_hole) {
        return ice_deflect(n, one_minus_cosine, chance->azimuth);
    }
    const ice_anisotropy_row row = ice_anisotropy_at(tables, height);
    const ice_direction stretched = ice_unit(ice_stretch(&row.to, n));
    return ice_unit(
        ice_stretch(&row.back, ice_deflect(stretched, one_minus_cosine, chance->azimuth)));
}

/* Moves a photon along its segment and turns it at the end, unless that is the end of the photon.
 * `fate` is what collide left of it. */
ICE_FN void ice_turn(ice_variant scatter, const ice_tables *tables, const ice_leg *leg,
                     ice_photon *photon, uint32_t *fate)
{
    ice_direction n = {photon->dx, photon->dy, photon->dz};
    const float end_height = fmaf(leg->length, n.z, leg->height);
    ice_bent bent = {{0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f}};
    if (tables->features & ICE_HAS_BIREFRINGENCE) {
        bent = ice_bend_leg(tables, leg, photon, leg->chance.spare);
    }
    photon->x = fmaf(leg->length, n.x, photon->x);
    photon->y = fmaf(leg->length, n.y, photon->y);
    photon->z = fmaf(leg->length, n.z, photon->z);
    photon->path += leg->length;
    photon->absorption = leg->absorption;
    *fate = ice_fate_at_end(*fate, leg->leaves_world, leg->absorption, photon->scatters,
                            tables->bounce_limit);
    photon->scatters += 1;
    if (tables->features & ICE_HAS_BIREFRINGENCE) {
        const ice_direction straight = {photon->x, photon->y, photon->z};
        const ice_direction end = ice_add_turning(tables, straight, bent.place);
        photon->x = end.x;
        photon->y = end.y;
        photon->z = end.z;
        n = ice_add_turning(tables, n, bent.direction);
    }
    const ice_direction turned =
        ice_scattered(scatter, tables, &leg->chance, n, photon->x, photon->y, end_height);
    photon->dx = turned.x;
    photon->dy = turned.y;
    photon->dz = turned.z;
}

/* What a photon's segment meets; as ice_meet. */
ICE_FN int32_t ice_meet_on(ice_variant collide, const ice_tables *tables, float length,
                           const ice_photon *photon, void *sink, uint32_t *fate, uint32_t *met)
{
    const ice_direction n = {photon->dx, photon->dy, photon->dz};
    ice_probe probe = {photon->x, photon->y, photon->z, n, length, -1.0f, 0};
    return ice_meet(collide, tables, &probe, photon, sink, fate, met);
}

/* One bounce of one photon, all stages in turn. Updates photon and fate and adds to hits; a photon
 * that flew a segment has one scatter more. Returns 0, or -1 if an arrival could not be recorded:
 * photon and fate are then as before, and the same call with *met as it was left goes on there. */
ICE_FN int32_t ice_bounce(const ice_variants *variants, const ice_tables *tables,
                          ice_identity identity, ice_optics optics, ice_photon *photon, void *sink,
                          uint32_t *fate, uint32_t *hits, uint32_t *met)
{
    ice_leg leg;
    if (!ice_fly(variants->propagate, tables, identity, optics, photon, &leg)) {
        *fate = ICE_LEFT;
        return 0;
    }
    if (leg.may_collide) {
        const int32_t added =
            ice_meet_on(variants->collide, tables, leg.length, photon, sink, fate, met);
        if (added < 0) {
            return -1;
        }
        *hits += (uint32_t)added;
    }
    ice_turn(variants->scatter, tables, &leg, photon, fate);
    return 0;
}

/* Adds photons that came to this fate. */
ICE_FN void ice_count_fate(ice_account *account, uint32_t fate, uint32_t photons)
{
    account->absorbed += fate == ICE_ABSORBED ? photons : 0;
    account->detected += fate == ICE_DETECTED ? photons : 0;
    account->left += fate == ICE_LEFT ? photons : 0;
    account->stopped += fate == ICE_STOPPED ? photons : 0;
}

#endif
