/* What happens between two scatters, beyond the stages themselves: the boundaries of the world, the
 * modules on the way, the fate at the segment's end; and all of it in turn for one photon.
 *
 * Before including this, a kernel says where arrivals go:
 *   #define ICE_PUT_ARRIVAL(sink, arrival)   records *arrival, is not 0 if it cannot
 * with `sink` whatever pointer the kernel passes in.
 */
#ifndef ICE_BOUNCE_H
#define ICE_BOUNCE_H

#include "stages/variants.h"

/* Cuts a segment at the boundaries of the world (physics.md 5.4); returns 1 if it was cut. */
ICE_FN int32_t ice_cut_at_boundary(const ice_tables *tables, float z, float dz, float *length)
{
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
 * (physics.md 8.2 to 8.4, 8.6). Returns the number of hits, or -1 if one could not be recorded. */
ICE_FN int32_t ice_meet(ice_variant collide, const ice_tables *tables, ice_probe *probe,
                        const ice_photon *photon, void *sink, uint32_t *fate)
{
    int32_t hits = 0;
    for (;;) {
        const ice_contact contact = ice_collide(collide, tables, probe);
        if (contact.module == ICE_NO_MODULE)
            return hits;
        if (tables->absorbs[contact.module]) {
            *fate = ICE_ABSORBED;
            return hits;
        }
        const ice_arrival arrival = ice_arrive(tables, probe, contact, photon);
        if (ICE_PUT_ARRIVAL(sink, &arrival))
            return -1;
        ++hits;
        if (!tables->keep_hit_photons) {
            *fate = ICE_DETECTED;
            return hits;
        }
        probe->after_distance = contact.distance;
        probe->after_module = contact.module;
    }
}

/* One bounce of one photon, all stages in turn. Updates photon and fate, adds to hits and bounces.
 * Returns 0, or -1 if an arrival could not be recorded. */
ICE_FN int32_t ice_bounce(const ice_variants *variants, const ice_tables *tables,
                          const ice_emission *emission, ice_optics optics, ice_photon *photon,
                          void *sink, uint32_t *fate, uint64_t *hits, uint64_t *bounces)
{
    const float clearance = ice_clearance(tables, photon->x, photon->y);
    if (tables->reach_cull &&
        ice_out_of_reach(tables, clearance, photon->z, optics, photon->absorption)) {
        *fate = ICE_LEFT;
        return 0;
    }
    const ice_block draw =
        ice_draw(tables->seed_low, tables->seed_high ^ emission->event_high, emission->event_low,
                 emission->step_id, photon->photon_id, ICE_BLOCK_BOUNCE + photon->scatters);
    const ice_direction n = {photon->dx, photon->dy, photon->dz};
    const ice_flight flight = {photon->z, n.z, -ice_log(ice_uniform_positive(draw.a)),
                               photon->absorption, optics};
    int32_t leaves;
    ice_segment segment = ice_segment_in_layer(tables, flight, &leaves);
    if (leaves)
        segment = ice_propagate_on(variants->propagate, tables, flight);
    const int32_t cut = ice_cut_at_boundary(tables, photon->z, n.z, &segment.length);
    ++*bounces;

    if (ice_may_collide(tables, clearance, photon->z, n.x, n.y, n.z, segment.length)) {
        ice_probe probe = {photon->x, photon->y, photon->z, n, segment.length, -1.0f, 0};
        const int32_t met = ice_meet(variants->collide, tables, &probe, photon, sink, fate);
        if (met < 0)
            return -1;
        *hits += (uint32_t)met;
    }

    photon->x = fmaf(segment.length, n.x, photon->x);
    photon->y = fmaf(segment.length, n.y, photon->y);
    photon->z = fmaf(segment.length, n.z, photon->z);
    photon->path += segment.length;
    photon->absorption = segment.absorption;
    *fate = ice_fate_at_end(*fate, cut, photon->absorption, photon->scatters, tables->bounce_limit);
    photon->scatters += 1;
    const ice_direction turned = ice_deflect(
        n, ice_scatter(variants->scatter, &tables->scatter, ice_uniform_positive(draw.b)),
        ice_uniform(draw.c));
    photon->dx = turned.x;
    photon->dy = turned.y;
    photon->dz = turned.z;
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
