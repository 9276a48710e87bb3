/* Bounces by their work, for schedules that sort photons by what their next bounce needs. Most
 * bounces have only ice around them. ice_start_bounce_in_ice() and ice_end_bounce_in_ice() compute
 * these; ice_bounce_photon() computes all others. The photons are the same, to the bit.
 *
 * Included after the definition of ICE_PUT_ARRIVAL, as stages/bounce.h.
 */
#ifndef ICS_STAGES_BOUNCE_WORK_H
#define ICS_STAGES_BOUNCE_WORK_H

#include "stages/bounce.h"

/* The work of a bounce. */
typedef enum ice_work {
    ICE_WORK_NONE,   /* the photon is dropped: it cannot reach a module */
    ICE_WORK_ICE,    /* the segment and its end are in ice, and no module is near */
    ICE_WORK_MODULE, /* the segment may touch a module, and is not near a column of hole ice */
    ICE_WORK_COLUMN  /* the segment may pass a column of hole ice, and may touch a module */
} ice_work;

/* Returns the tables without columns of hole ice, for bounces that are not near one. */
ICE_FN ice_tables ice_without_columns(const ice_tables *tables)
{
    ice_tables open = *tables;
    open.features &= ~(uint32_t)ICE_HAS_HOLES;
    return open;
}

/* Whether the work of the photon's next bounce is ICE_WORK_ICE. Then *bounce is what
 * ice_start_bounce() gives, and ice_end_bounce_in_ice() is the rest of the bounce. Otherwise *work
 * is the work; *bounce has a meaning for ICE_WORK_MODULE only. The function does not change the
 * photon. (With the work as its only result, a bounce would take a GPU ten instructions more.) */
ICE_FN int32_t ice_start_bounce_in_ice(ice_variant propagate, const ice_tables *tables,
                                       const ice_active_photon *active, ice_bounce *bounce,
                                       ice_work *work)
{
    const ice_photon *photon = &active->photon;
    const ice_surroundings near = active->site.near;
    const float clearance = ice_clearance_of(tables, near, photon->x, photon->y);
    const float distance = ice_least_distance(tables, clearance, photon->z);
    const float height = active->site.height, depth = ice_depth_of(active->random);
    const int32_t dropped = ice_is_dropped(tables, photon, distance, height, active->optics);
    const ice_tables open = ice_without_columns(tables);
    bounce->height = height;
    const ice_segment segment = ice_find_segment(
        propagate, &open, ice_segment_start_of(photon, height, depth, active->optics), photon,
        clearance);
    if (dropped) {
        *work = ICE_WORK_NONE;
        return 0;
    }
    /* A segment that ends this close to a column counts as one that meets it, because rounding may
     * put the end into the column. */
    const float doubt = 1e-3f;
    if (ICE_HAS(tables, ICE_HAS_HOLES) &&
        ice_may_meet_hole(tables, clearance - doubt, ice_direction_of(photon), segment.length) &&
        ice_may_cross_column(tables, photon->x, photon->y, ice_direction_of(photon), segment.length,
                             doubt)) {
        *work = ICE_WORK_COLUMN;
        return 0;
    }
    bounce->length = segment.length;
    bounce->absorption = segment.absorption;
    ice_limit_segment(tables, photon, distance, bounce);
    bounce->is_last = ice_is_last_bounce(tables, photon->scatters);
    ice_find_birefringence(tables, photon, bounce);
    if (bounce->may_collide && ice_is_aimed_at_module(tables, near, photon, bounce->length) &&
        ice_is_candidate(tables, near, photon, bounce->length)) {
        *work = ICE_WORK_MODULE;
        return 0;
    }
    return 1;
}

/* The stage scatter after ice_start_bounce_in_ice(), if that returned 1. Birefringence shifts the
 * end of the segment, so that only birefringent ice looks for a column there. */
ICE_FN void ice_end_bounce_in_ice(ice_variant scatter, const ice_tables *tables,
                                  const ice_bounce *bounce, ice_photon *photon, ice_random *random,
                                  uint32_t *fate, ice_site *site)
{
    if (ICE_HAS(tables, ICE_HAS_BIREFRINGENCE)) {
        ice_end_bounce(scatter, tables, bounce, photon, random, fate, site);
    } else {
        const ice_tables open = ice_without_columns(tables);
        ice_end_bounce(scatter, &open, bounce, photon, random, fate, site);
    }
}

#endif
