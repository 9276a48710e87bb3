/* Follows one photon and reports every point of its path. The loops of a run report hits alone.
 * `trace` and the replay of hits use this, on the CPU and on a GPU; random numbers and results are
 * those of a run with the same maths, bit by bit.
 *
 * Before a kernel includes this file, it defines where points go:
 *   #define ICE_PUT_POINT(walk, tables, point)
 * It takes *point, and evaluates to 0, or to another number to end the path. `walk` is the
 * ice_walk, which may be the first member of a structure. The walk does not keep the tables: a GPU
 * has them in registers and constants, as long as nothing stores their address.
 */
#ifndef ICS_STAGES_PATH_WALK_H
#define ICS_STAGES_PATH_WALK_H

/* 1: the end of a photon at an excluded module or a cable is searched; 0: that point has no
 * meaning. */
#ifndef ICE_WANTS_ENDS
#define ICE_WANTS_ENDS 1
#endif

struct ice_walk;
#define ICE_PUT_ARRIVAL(sink, tables, arrival)                                                     \
    ice_walk_put_hit((struct ice_walk *)(sink), tables, arrival)
#define ICE_DIES_BEFORE_IMPACT(sink, tables, search, contact, photon)                              \
    ice_walk_put_unreached((struct ice_walk *)(sink), tables, search, contact, photon)
#include "stages/contact.h"
#include "stages/photon.h"
ICE_FN int32_t ice_walk_put_hit(struct ice_walk *walk, const ice_tables *tables,
                                const ice_arrival *arrival);
ICE_FN void ice_walk_put_unreached(struct ice_walk *walk, const ice_tables *tables,
                                   const ice_contact_search *search, ice_contact contact,
                                   const ice_photon *photon);
#include "stages/bounce.h"
#include "stages/path_point.h"

/* A photon that is followed. */
typedef struct ice_walk {
    ice_active_photon active;
    float depth; /* the absorption depth that the photon drew at its creation */
    ice_bounce bounce;
    /* The segment, as its points report it. */
    ice_photon begin;
    float height, length;
    ice_direction arriving;
    int32_t result; /* not 0: with it ICE_PUT_POINT has ended the path */
    int32_t quiet;  /* 1: no point is reported */
} ice_walk;

/* Reports the point at `distance` (m) from the start of the segment. `absorption` is the absorption
 * depth that is left there. */
ICE_FN void ice_walk_put(ice_walk *walk, const ice_tables *tables, ice_point_kind kind,
                         float distance, float absorption, const ice_arrival *arrival)
{
    const ice_photon *photon = &walk->active.photon;
    ice_path_point point;
    point.kind = kind;
    point.x = fmaf(distance, photon->dx, photon->x);
    point.y = fmaf(distance, photon->dy, photon->y);
    point.z = fmaf(distance, photon->dz, photon->z);
    point.dx = photon->dx;
    point.dy = photon->dy;
    point.dz = photon->dz;
    point.path = arrival != NULL ? arrival->path : photon->path + distance;
    point.absorption = walk->depth - absorption;
    point.wavelength = photon->wavelength;
    point.scatters = photon->scatters;
    point.arrival = arrival;
    point.begin = &walk->begin;
    point.height = walk->height;
    point.length = walk->length;
    point.distance = distance;
    point.arriving = walk->arriving;
    walk->result = ICE_PUT_POINT(walk, tables, &point);
}

/* ---- hits ------------------------------------------------------------------------------------ */

/* Returns the absorption depth that is left after `distance` (m) of the segment. It is exact if the
 * segment lies in one layer. */
ICE_FN float ice_walk_absorption_after(const ice_walk *walk, float distance)
{
    const float length = walk->bounce.length, before = walk->active.photon.absorption;
    const float share = length > 0.0f ? distance / length : 0.0f;
    return fmaf(share, walk->bounce.absorption - before, before);
}

ICE_FN void ice_walk_put_contact(ice_walk *walk, const ice_tables *tables, ice_point_kind kind,
                                 const ice_arrival *arrival)
{
    const float distance = arrival->path - walk->active.photon.path;
    ice_walk_put(walk, tables, kind, distance, ice_walk_absorption_after(walk, distance), arrival);
}

ICE_FN int32_t ice_walk_put_hit(struct ice_walk *walk, const ice_tables *tables,
                                const ice_arrival *arrival)
{
    if (!walk->quiet && !walk->result) {
        ice_walk_put_contact(walk, tables, ICE_POINT_HIT, arrival);
    }
    return walk->result;
}

/* Reports an entry before whose impact the photon dies, if it would have ended the photon. */
ICE_FN void ice_walk_put_unreached(struct ice_walk *walk, const ice_tables *tables,
                                   const ice_contact_search *search, ice_contact contact,
                                   const ice_photon *photon)
{
    if (!walk->quiet && !walk->result &&
        (ice_ends_at_hit(tables, search, contact) || ice_is_absorber(tables, search, contact) ||
         ice_cable_is_before(tables, search, contact))) {
        const ice_arrival arrival = ice_arrive(tables, search, contact, photon);
        ice_walk_put_contact(walk, tables, ICE_POINT_UNREACHED, &arrival);
    }
}

ICE_FN float ice_walk_left(const ice_walk *walk)
{
    return ice_left_of(walk->bounce.leaves_world, walk->bounce.absorption);
}

/* Returns the distance (m) at which an excluded module or a cable ends the photon. Such a contact
 * makes no arrival, so the distance is found by halving the segment, with the same collision test
 * as for all photons. 40 halvings are more than a float has digits. */
ICE_RARE_FN float ice_walk_end_at_module(ice_walk *walk, ice_variant collide,
                                         const ice_tables *tables)
{
    const float left = ice_walk_left(walk);
    float before = 0.0f, after = walk->bounce.length;
    walk->quiet = 1;
    for (int32_t i = 0; i < 40; ++i) {
        const float middle = 0.5f * (before + after);
        float length = middle;
        uint32_t fate = ICE_ALIVE, recorded = 0;
        (void)ice_record_hits(collide, tables, &length, left, &walk->active.photon, walk, &fate,
                              &recorded);
        if (fate != ICE_ALIVE) {
            after = middle;
        } else {
            before = middle;
        }
    }
    walk->quiet = 0;
    return after;
}

/* Reports the hits on the segment, and its end if an excluded module or a cable absorbs the photon.
 */
ICE_FN void ice_walk_put_hits(ice_walk *walk, const ice_variants *variants,
                              const ice_tables *tables)
{
    const float left = ice_walk_left(walk);
    float length = walk->bounce.length;
    uint32_t recorded = 0;
    (void)ice_record_hits(variants->collide, tables, &length, left, &walk->active.photon, walk,
                          &walk->active.fate, &recorded);
    if (walk->result || walk->active.fate != ICE_ABSORBED) {
        return;
    }
    const float distance =
        ICE_WANTS_ENDS ? ice_walk_end_at_module(walk, variants->collide, tables) : 0.0f;
    ice_walk_put(walk, tables, ICE_POINT_ABSORBED, distance,
                 ice_walk_absorption_after(walk, distance), 0);
}

/* ---- segments -------------------------------------------------------------------------------- */

/* Reports the end of the segment: the next scatter, or the end of the photon. */
ICE_FN void ice_walk_put_end(ice_walk *walk, const ice_variants *variants, const ice_tables *tables)
{
    ice_active_photon *active = &walk->active;
    const ice_direction n = ice_direction_of(&active->photon);
    const float height = ice_reach_end(tables, &walk->bounce, &active->photon, &active->random,
                                       &active->fate, &active->site);
    walk->arriving = ice_direction_of(&active->photon);
    const ice_point_kind kind = active->fate == ICE_ALIVE      ? ICE_POINT_SCATTER
                                : active->fate == ICE_ABSORBED ? ICE_POINT_ABSORBED
                                : active->fate == ICE_LEFT     ? ICE_POINT_LEFT
                                                               : ICE_POINT_STOPPED;
    if (kind == ICE_POINT_SCATTER) {
        ice_turn_at_end(variants->scatter, tables, height, &active->photon, &active->random);
    } else {
        /* The photon ended before its scatter. */
        active->photon.scatters -= 1;
        ice_set_direction(&active->photon, n);
    }
    ice_walk_put(walk, tables, kind, 0.0f, active->photon.absorption, 0);
}

/* Begins to follow a photon of an emission, whose arrivals get the number `index` as their
 * emission. `photon_id` may be outside the emission. */
ICE_FN void ice_walk_begin(ice_walk *walk, const ice_variants *variants, const ice_tables *tables,
                           const ice_emission *emission, uint32_t index, uint32_t photon_id)
{
    const ice_direction none = {0.0f, 0.0f, 0.0f};
    walk->active = ice_activate(tables, ice_random_of(tables, ice_identity_of(emission, photon_id)),
                                ice_create(variants->create, tables, emission, index, photon_id));
    walk->depth = walk->active.photon.absorption;
    walk->begin = walk->active.photon;
    walk->height = walk->length = 0.0f;
    walk->arriving = none;
    walk->quiet = 0;
    ice_walk_put(walk, tables, ICE_POINT_START, 0.0f, walk->active.photon.absorption, 0);
}

/* Whether the path goes on. */
ICE_FN int32_t ice_walk_goes_on(const ice_walk *walk)
{
    return walk->active.fate == ICE_ALIVE && !walk->result ? 1 : 0;
}

/* Follows the photon to the end of its next segment. */
ICE_FN void ice_walk_segment(ice_walk *walk, const ice_variants *variants, const ice_tables *tables)
{
    ice_active_photon *active = &walk->active;
    if (!ice_start_bounce(variants->propagate, tables, active->random, active->optics,
                          &active->photon, active->site, &walk->bounce)) {
        active->fate = ICE_LEFT;
        ice_walk_put(walk, tables, ICE_POINT_LEFT, 0.0f, active->photon.absorption, 0);
        return;
    }
    walk->begin = active->photon;
    walk->height = walk->bounce.height;
    walk->length = walk->bounce.length;
    if (walk->bounce.may_collide) {
        ice_walk_put_hits(walk, variants, tables);
    }
    if (ice_walk_goes_on(walk)) {
        ice_walk_put_end(walk, variants, tables);
    }
}

#endif
