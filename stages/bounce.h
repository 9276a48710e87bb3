/* One bounce: a segment from one scatter to the next, and the scatter at its end.
 *
 * The parts below, in this order, are a bounce. Every loop over photons calls the same parts: one
 * photon at a time (ice_bounce_photon), the vector loops of the CPU (kernels/cpu/isa) and the
 * kernels of the GPU (kernels/cuda/device). A loop only loads, stores and selects.
 *
 *   ice_height              the height of the start among the layers (stages/tilt.h)
 *   ice_is_dropped          whether the photon can still reach a module
 *   ice_depth_of            the scattering depth of the segment
 *   ice_find_segment        where the segment ends: scatter or absorption
 *   ice_limit_segment       whether it leaves the world, whether it is long enough for a module
 *   ice_is_aimed_at_module  whether it is aimed at one, seen from above
 *   ice_is_candidate        whether it comes near to a module after all
 *   ice_is_last_bounce      whether the bounce limit stops the photon
 *   ice_find_birefringence  how strongly birefringence bends the segment
 *   ice_record_hits         the modules on the segment
 *   ice_draw_deflection     the random numbers of the way to its end
 *   ice_go_to_end           to the end, straight or bent (stages/advance.h)
 *   ice_fate_at_end         whether the photon ends there
 *   ice_draw_scatter        the random numbers of the scatter
 *   ice_stretch_in, ice_scatter_direction, ice_stretch_out    the new direction
 *
 * ice_start_bounce, ice_record_hits and ice_end_bounce are the three stages propagate, collide and
 * scatter of one photon.
 *
 * Before a kernel includes this file, it defines where arrivals go:
 *   #define ICE_PUT_ARRIVAL(sink, tables, arrival)
 * It records *arrival and evaluates to 0, or to another number if there is no room. `sink` is the
 * pointer that the kernel passes to ice_record_hits.
 *
 * size: all parts of a bounce stand in one file, in their order.
 */
#ifndef ICS_STAGES_BOUNCE_H
#define ICS_STAGES_BOUNCE_H

#include "stages/active.h"
#include "stages/advance.h"
#include "stages/anisotropy.h"
#include "stages/cable.h"
#include "stages/hole_ice/hole.h"
#include "stages/tilt.h"
#include "stages/variants.h"

/* A stage of a photon begins: PROPAGATE, COLLIDE or SCATTER. Only a kernel that measures the time
 * of stages defines this (kernels/cuda/device/clocks.h). */
#ifndef ICE_CLOCK
#define ICE_CLOCK(stage) ((void)0)
#endif

/* A photon dies before the impact of a contact (physics.md 8.19), so that it is no hit. Only the
 * replay of hits defines this (stages/path_walk.h). */
#ifndef ICE_DIES_BEFORE_IMPACT
#define ICE_DIES_BEFORE_IMPACT(sink, tables, search, contact, photon) ((void)0)
#endif

/* 1: a user's header decides about every segment, so no bound rules one out before it does. */
#if defined(ICE_CUSTOM_collide)
#define ICE_SEARCHES_ALL 1
#else
#define ICE_SEARCHES_ALL 0
#endif

/* ---- the segment ----------------------------------------------------------------------------- */

/* Whether the photon is dropped because it cannot reach a module any more (physics.md 5.1). The
 * function has no branch, so that a loop over photons vectorises. No photon is dropped if a user's
 * header decides about absorption or about contacts, because the bound is that of the tables. */
ICE_FN int32_t ice_is_dropped(const ice_tables *tables, const ice_photon *photon, float distance,
                              float height, ice_optics optics)
{
#if defined(ICE_CUSTOM_propagate) || defined(ICE_CUSTOM_collide)
    (void)tables, (void)photon, (void)distance, (void)height, (void)optics;
    return 0;
#else
    return tables->reach_cull & ice_is_out_of_reach(tables, photon, distance, height, optics);
#endif
}

/* Returns what a propagate variant reads of a photon at `height` (m) among the layers. `depth` is
 * the scattering depth of the segment. */
ICE_FN ice_segment_start ice_segment_start_of(const ice_photon *photon, float height, float depth,
                                              ice_optics optics)
{
    const ice_segment_start start = {height, photon->dz, depth, photon->absorption, optics};
    return start;
}

/* Finds the segment of a photon in ice with any features. start.absorption is the absorption depth
 * that the photon has left; `clearance` (m) is that of its position. The function reads the
 * position and the direction of the photon. */
ICE_FN ice_segment ice_find_segment(ice_variant propagate, const ice_tables *tables,
                                    ice_segment_start start, const ice_photon *photon,
                                    float clearance)
{
    const ice_direction n = ice_direction_of(photon);
    ice_absorption_factor factor = {1.0f, 1.0f};
    if (ICE_HAS(tables, ICE_HAS_DIRECTIONS)) {
        factor = ice_absorption_factor_along(tables, start.z, n);
        start.absorption *= factor.inverse;
    }
    ice_segment segment = ice_propagates_all(propagate)
                              ? ice_propagate(propagate, tables, start)
                              : ice_propagate_built_in(propagate, tables, start);
    if (ICE_HAS(tables, ICE_HAS_HOLES) && ice_may_meet_hole(tables, clearance, n, segment.length)) {
        segment = ice_through_holes(propagate, tables, start, photon, factor.factor);
    }
    if (ICE_HAS(tables, ICE_HAS_DIRECTIONS)) {
        segment.absorption *= factor.factor;
    }
    return segment;
}

/* Cuts the length of a segment at the boundaries of the world, and sets leaves_world and
 * may_collide. `photon` is at the start of the segment; the function reads its z and its direction.
 * `distance` (m) is ice_least_distance() of the start. */
ICE_FN void ice_limit_segment(const ice_tables *tables, const ice_photon *photon, float distance,
                              ice_bounce *bounce)
{
    bounce->leaves_world = ice_cut_at_boundary(tables, photon->z, photon->dz, &bounce->length);
    bounce->may_collide = ICE_SEARCHES_ALL || bounce->length >= distance ? 1 : 0;
}

/* Whether a segment with may_collide is aimed at a module, seen from above (ice_is_aimed). `photon`
 * is at its start, and `near` is that of the start. */
ICE_FN int32_t ice_is_aimed_at_module(const ice_tables *tables, ice_surroundings near,
                                      const ice_photon *photon, float length)
{
    return ICE_SEARCHES_ALL ||
           ice_is_aimed(tables, near, photon->x, photon->y, ice_direction_of(photon), length);
}

/* Whether a segment that is aimed at a module is still a candidate for collide after the closer
 * look of ice_may_collide_near(). The arguments are those of ice_is_aimed_at_module(). A warp of a
 * GPU often has a segment that is long enough for a module, and rarely one that is aimed, so
 * kernels look closer only then. */
ICE_FN int32_t ice_is_candidate(const ice_tables *tables, ice_surroundings near,
                                const ice_photon *photon, float length)
{
    return ICE_SEARCHES_ALL || ice_may_collide_near(tables, near, photon->x, photon->y,
                                                    ice_direction_of(photon), length);
}

/* Whether the bounce limit stops a photon at the end of its segment. `scatters` is the number of
 * its scatters before the segment. */
ICE_FN int32_t ice_is_last_bounce(const ice_tables *tables, uint32_t scatters)
{
    return scatters + 1 >= tables->bounce_limit ? 1 : 0;
}

/* The stage propagate of one photon without the closer look of ice_is_candidate(), which
 * bounce->may_collide asks for. Returns 0 if the photon is dropped; *bounce has no content then. */
ICE_FN int32_t ice_begin_bounce(ice_variant propagate, const ice_tables *tables, ice_random random,
                                ice_optics optics, const ice_photon *photon, ice_site site,
                                ice_bounce *bounce)
{
    const float clearance = ice_clearance_of(tables, site.near, photon->x, photon->y);
    const float distance = ice_least_distance(tables, clearance, photon->z);
    const float height = site.height;
    const int32_t dropped = ice_is_dropped(tables, photon, distance, height, optics);
    bounce->height = height;
    const ice_segment segment = ice_find_segment(
        propagate, tables, ice_segment_start_of(photon, height, ice_depth_of(random), optics),
        photon, clearance);
    if (dropped) {
        return 0;
    }
    bounce->length = segment.length;
    bounce->absorption = segment.absorption;
    ice_limit_segment(tables, photon, distance, bounce);
    bounce->is_last = ice_is_last_bounce(tables, photon->scatters);
    ice_find_birefringence(tables, photon, bounce);
    return 1;
}

/* The stage propagate of one photon: finds its next segment. Returns 0 if the photon is dropped;
 * *bounce has no content then. */
ICE_FN int32_t ice_start_bounce(ice_variant propagate, const ice_tables *tables, ice_random random,
                                ice_optics optics, const ice_photon *photon, ice_site site,
                                ice_bounce *bounce)
{
    if (!ice_begin_bounce(propagate, tables, random, optics, photon, site, bounce)) {
        return 0;
    }
    bounce->may_collide = bounce->may_collide &&
                          ice_is_aimed_at_module(tables, site.near, photon, bounce->length) &&
                          ice_is_candidate(tables, site.near, photon, bounce->length);
    return 1;
}

/* ---- the modules ----------------------------------------------------------------------------- */

/* Returns the absorption coefficient (1/m) with which a photon goes on straight beyond the end of
 * its segment, until the impact of a contact: that of the ice at the end (physics.md 8.19). */
ICE_FN float ice_absorption_beyond(const ice_tables *tables, const ice_contact_search *search,
                                   float wavelength)
{
    const ice_direction n = search->direction;
    const float height =
        ice_height(tables, fmaf(search->length, n.x, search->x),
                   fmaf(search->length, n.y, search->y), fmaf(search->length, n.z, search->z));
    const ice_layer_row *row = &tables->layers[ice_layer_at(tables, height)];
    float cost = ice_absorption(ice_layer_optics_at(tables, wavelength), row->dust, row->ice);
    if (ICE_HAS(tables, ICE_HAS_DIRECTIONS)) {
        cost *= ice_absorption_factor_along(tables, height, n).factor;
    }
    return cost;
}

/* Whether a photon lives as far as the impact of a contact (m). The photon may scatter before the
 * impact, and counts as if it went on straight (physics.md 8.19): through the ice at the end of its
 * segment. `left`: the absorption depth left there; 0 if the segment ends in absorption or at a
 * boundary of the world. */
ICE_FN int32_t ice_lives_until(const ice_tables *tables, const ice_contact_search *search,
                               float impact, float wavelength, float left)
{
    const float beyond = impact - search->length;
    if (!(beyond > 0.0f)) {
        return 1;
    }
    return left > beyond * ice_absorption_beyond(tables, search, wavelength) ? 1 : 0;
}

/* Whether a contact may be a hit: always, unless contacts are entries. */
ICE_FN int32_t ice_comes_to_impact(const ice_tables *tables, const ice_contact_search *search,
                                   ice_contact contact, float wavelength, float left)
{
    return !ICE_HAS(tables, ICE_HAS_ENTRIES) ||
           ice_lives_until(tables, search, ice_impact_of(tables, search, contact), wavelength,
                           left);
}

/* Whether a hit ends its photon (physics.md 8.4). */
ICE_FN int32_t ice_ends_at_hit(const ice_tables *tables, const ice_contact_search *search,
                               ice_contact contact)
{
    const int32_t at_true = tables->keep_hit_photons == ICE_KEEPS_WIDE ? 1 : 0;
    return !tables->keep_hit_photons || (at_true && ice_meets_true_module(tables, search, contact));
}

/* The absorption depth that ice_record_hits() needs for a segment. */
ICE_FN float ice_left_of(int32_t leaves_world, float absorption)
{
    return leaves_world || absorption < ICE_ABSORPTION_END ? 0.0f : absorption;
}

/* Ends a photon at a contact. */
ICE_FN void ice_end_at_module(ice_contact contact, uint32_t end, uint32_t *fate, float *length)
{
    *fate = end;
    if (ICE_CUTS_SEGMENT) {
        *length = contact.distance;
    }
}

/* No module ends the photon, but a cable may do so. `tested`: modules that the first search of the
 * segment has tested. */
ICE_FN void ice_pass_modules(const ice_tables *tables, const ice_contact_search *search,
                             const ice_photon *photon, void *sink, uint32_t tested, uint32_t *fate)
{
    (void)sink, (void)photon;
    ICE_COUNT_TESTED(sink, photon, tested);
    if (ice_cable_absorbs(tables, search)) {
        *fate = ICE_ABSORBED;
    }
}

/* The stage collide of one photon: records the hits on the next *length (m) of its way, in the
 * order of distance (physics.md 8.2 to 8.4, 8.6, 8.9, 8.10, 8.19). If a module or a cable ends the
 * photon, sets *fate. If it is a module, *length becomes the distance to it, with ICE_CUTS_SEGMENT.
 * `left` is ice_left_of() the segment.
 *
 * Returns the number of hits that this call recorded, or -1 if there was no room for a hit. After
 * -1, *recorded is the number of hits of this segment that are recorded, and a second call with
 * this number continues there. *recorded is 0 before a segment, and after every other return.
 *
 * size: one loop, and a structure for its parameters would cost registers of a GPU. */
ICE_FN int32_t ice_record_hits(ice_variant collide, const ice_tables *tables, float *length,
                               float left, const ice_photon *photon, void *sink, uint32_t *fate,
                               uint32_t *recorded)
{
    ice_contact_search search = {photon->x, photon->y, photon->z, ice_direction_of(photon),
                                 *length,   -1.0f,     0};
    int32_t hits = 0;
    /* The first contact is found outside the loop, because nearly all threads of a GPU find none.
     * The loop contains an atomic operation. If the search were inside it, the compiler would make
     * these threads yield (YIELD) and wait for each other behind the loop, which took a fifth of
     * the time. */
    ice_contact contact = ice_collide(collide, tables, &search);
    const uint32_t tested = ice_tested_by(contact);
    if (contact.module == ICE_NO_MODULE) {
        ice_pass_modules(tables, &search, photon, sink, tested, fate);
        return 0;
    }
    const uint32_t before = *recorded;
    if (before) {
        *recorded = 0;
    }
    uint32_t passed = 0;
    while (contact.module != ICE_NO_MODULE) {
        const int32_t is_hit =
            ice_comes_to_impact(tables, &search, contact, photon->wavelength, left);
        if (!is_hit) {
            ICE_DIES_BEFORE_IMPACT(sink, tables, &search, contact, photon);
        }
        if (is_hit && (ice_is_absorber(tables, &search, contact) ||
                       ice_cable_is_before(tables, &search, contact))) {
            ice_end_at_module(contact, ICE_ABSORBED, fate, length);
            ICE_COUNT_CANDIDATES(sink, tables, photon, *length);
            return hits;
        }
        if (is_hit && passed >= before) {
            const ice_arrival arrival = ice_arrive(tables, &search, contact, photon);
            if (ICE_PUT_ARRIVAL(sink, tables, &arrival)) {
                *recorded = passed;
                return -1;
            }
            ++hits;
        }
        if (is_hit && ice_ends_at_hit(tables, &search, contact)) {
            ice_end_at_module(contact, ICE_DETECTED, fate, length);
            ICE_COUNT_CANDIDATES(sink, tables, photon, *length);
            return hits;
        }
        passed += is_hit ? 1 : 0;
        search.after_distance = contact.distance;
        search.after_module = contact.module;
        contact = ice_collide(collide, tables, &search);
        if (ICE_SEARCHES_ALL && !ice_is_after(&search, contact)) {
            break; /* a header that returns the same contact again would never end */
        }
    }
    ice_pass_modules(tables, &search, photon, sink, tested, fate);
    return hits;
}

/* The same for the segment *bounce of *active. Where the search is a function that is called, the
 * photon is saved during it (stages/active.h). */
ICE_FN int32_t ice_record_hits_of(ice_variant collide, const ice_tables *tables,
                                  ice_active_photon *active, ice_bounce *bounce, void *sink,
                                  uint32_t *recorded)
{
    volatile ice_saved saved;
    if (ICE_SAVES) {
        ice_save(&saved, active, bounce);
        /* The search works on values that this branch has read. So no register that the loop over
         * bounces uses has to survive the call. */
        ice_restore(&saved, active, bounce);
    }
    float length = bounce->length;
    const int32_t hits = ice_record_hits(collide, tables, &length,
                                         ice_left_of(bounce->leaves_world, bounce->absorption),
                                         &active->photon, sink, &active->fate, recorded);
    if (ICE_SAVES) {
        ice_restore(&saved, active, bounce);
    }
    if (ICE_CUTS_SEGMENT) {
        bounce->length = length;
    }
    return hits;
}

/* ---- the end of the segment ------------------------------------------------------------------ */

/* Returns the fate of a photon at the end of its segment, before the scatter. `fate` is its fate
 * after collide; `absorption` is the absorption depth left. */
ICE_FN uint32_t ice_fate_at_end(uint32_t fate, int32_t leaves_world, float absorption,
                                int32_t is_last)
{
    const uint32_t by_limit = is_last ? (uint32_t)ICE_STOPPED : (uint32_t)ICE_ALIVE;
    const uint32_t by_ice = absorption < ICE_ABSORPTION_END ? (uint32_t)ICE_ABSORBED : by_limit;
    const uint32_t by_end = leaves_world ? (uint32_t)ICE_LEFT : by_ice;
    return fate == ICE_ALIVE ? by_end : fate;
}

/* ---- the scatter ----------------------------------------------------------------------------- */

/* Turn a direction into the frame in which scattering is the same in all directions, and back
 * (physics.md 6.2). `row` is the row of the layer in which the segment ends. */
ICE_FN ice_direction ice_stretch_in(const ice_anisotropy_row *row, ice_direction n)
{
    return ice_unit(ice_stretch(&row->to, n));
}

ICE_FN ice_direction ice_stretch_out(const ice_anisotropy_row *row, ice_direction n)
{
    return ice_unit(ice_stretch(&row->back, n));
}

/* Returns the direction after a scatter in ice that scatters the same in all directions. If
 * `keeps_length` is 0, the result need not have length 1, because ice_stretch_out() follows. */
ICE_FN ice_direction ice_scatter_direction(ice_variant scatter,
                                           const ice_scatter_constants *constants,
                                           ice_scatter_draw draw, ice_direction n,
                                           int32_t keeps_length)
{
    return ice_deflect_or_turn(n, ice_scatter(scatter, constants, draw.angle),
                               ice_azimuth_of(draw.azimuth), keeps_length);
}

/* Returns the direction after the scatter of a photon at the end of its segment, in ice with any
 * features. `height` (m) is the height of the end among the layers. */
ICE_FN ice_direction ice_scattered(ice_variant scatter, const ice_tables *tables,
                                   const ice_scatter_draw *draw, const ice_photon *photon,
                                   float height)
{
    const ice_direction n = ice_direction_of(photon);
    const int32_t in_hole =
        ICE_HAS(tables, ICE_HAS_HOLES) ? ice_in_hole(tables, photon->x, photon->y) : 0;
    /* The constants are chosen by value. A choice between their addresses would make a thread of a
     * GPU copy all tables to its local memory. */
    ice_scatter_constants constants = tables->scatter;
    if (in_hole) {
        constants = tables->hole.scatter;
    }
    if (!ICE_HAS(tables, ICE_HAS_SCATTERING_ANISOTROPY) || in_hole) {
        return ice_scatter_direction(scatter, &constants, *draw, n, 1);
    }
    const ice_anisotropy_row row = ice_anisotropy_at(tables, height);
    return ice_stretch_out(
        &row, ice_scatter_direction(scatter, &constants, *draw, ice_stretch_in(&row, n), 0));
}

/* The first part of the stage scatter of one photon: moves it to the end of its segment. Its
 * direction becomes that at the end, before the scatter. *random goes on to the scatter, and *site
 * becomes that of the end. *fate is the fate after collide, and the function replaces it by the
 * fate at the end. Returns the height (m) of the end among the layers. */
ICE_FN float ice_reach_end(const ice_tables *tables, const ice_bounce *bounce, ice_photon *photon,
                           ice_random *random, uint32_t *fate, ice_site *site)
{
    const float end_height = fmaf(bounce->length, photon->dz, bounce->height);
    ice_normal normal = {0.0f, 0.0f, 0.0f, 0.0f};
    if (ICE_HAS(tables, ICE_HAS_BIREFRINGENCE)) {
        normal = ice_draw_deflection(tables, random);
    }
    ice_go_to_end(tables, bounce->birefringence, bounce->length, normal, photon);
    photon->absorption = bounce->absorption;
    photon->scatters += 1;
    *fate = ice_fate_at_end(*fate, bounce->leaves_world, bounce->absorption, bounce->is_last);
    *site = ice_site_of(tables, photon->x, photon->y, photon->z);
    return end_height;
}

/* The second part: gives the photon a new direction. *random becomes the state of the next bounce.
 */
ICE_FN void ice_turn_at_end(ice_variant scatter, const ice_tables *tables, float end_height,
                            ice_photon *photon, ice_random *random)
{
    const ice_scatter_draw draw = ice_draw_scatter(random);
    ice_set_direction(photon, ice_scattered(scatter, tables, &draw, photon, end_height));
}

/* The stage scatter of one photon. Its new direction has no meaning if the photon ends there. */
ICE_FN void ice_end_bounce(ice_variant scatter, const ice_tables *tables, const ice_bounce *bounce,
                           ice_photon *photon, ice_random *random, uint32_t *fate, ice_site *site)
{
    const float end_height = ice_reach_end(tables, bounce, photon, random, fate, site);
    ice_turn_at_end(scatter, tables, end_height, photon, random);
}

/* ---- one photon ------------------------------------------------------------------------------ */

/* Computes one bounce of one photon: propagate, collide, scatter. Adds the recorded hits to *hits,
 * and 1 to the scatters of a photon that completes its segment. Returns 0, or -1 if there was no
 * room for a hit. After -1 the photon is as before, and the same call with the new *recorded
 * continues there. */
ICE_FN int32_t ice_bounce_photon(const ice_variants *variants, const ice_tables *tables,
                                 ice_active_photon *active, void *sink, uint32_t *hits,
                                 uint32_t *recorded)
{
    ice_bounce bounce;
    ICE_CLOCK(PROPAGATE);
    if (!ice_begin_bounce(variants->propagate, tables, active->random, active->optics,
                          &active->photon, active->site, &bounce)) {
        active->fate = ICE_LEFT;
        return 0;
    }
    /* One condition: after two of them a GPU would bring the threads of a warp together twice. */
    if (bounce.may_collide &&
        ice_is_aimed_at_module(tables, active->site.near, &active->photon, bounce.length) &&
        ice_is_candidate(tables, active->site.near, &active->photon, bounce.length)) {
        ICE_CLOCK(COLLIDE);
        const int32_t added =
            ice_record_hits_of(variants->collide, tables, active, &bounce, sink, recorded);
        if (added < 0) {
            return -1;
        }
        *hits += (uint32_t)added;
    }
    ICE_COUNT_SEGMENT(sink, tables, &active->photon, bounce.height, bounce.length);
    ICE_CLOCK(SCATTER);
    ice_end_bounce(variants->scatter, tables, &bounce, &active->photon, &active->random,
                   &active->fate, &active->site);
    return 0;
}

#endif
