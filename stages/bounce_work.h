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

/* Returns the work of the photon's next bounce. For ICE_WORK_ICE, *bounce is what
 * ice_start_bounce() gives, and ice_end_bounce_in_ice() is the rest of the bounce. Otherwise
 * *bounce has no meaning. The function does not change the photon. */
ICE_FN ice_work ice_start_bounce_in_ice(ice_variant propagate, const ice_tables *tables,
                                        ice_random random, ice_optics optics,
                                        const ice_photon *photon, ice_site site, ice_bounce *bounce)
{
    const float clearance = ice_clearance_of(tables, site.near, photon->x, photon->y);
    const float distance = ice_least_distance(tables, clearance, photon->z);
    const float height = site.height;
    const int32_t dropped = ice_is_dropped(tables, photon, distance, height, optics);
    const ice_tables open = ice_without_columns(tables);
    bounce->height = height;
    const ice_segment segment = ice_find_segment(
        propagate, &open, ice_segment_start_of(photon, height, ice_depth_of(random), optics),
        photon, clearance);
    if (dropped) {
        return ICE_WORK_NONE;
    }
    /* A segment that ends this close to a column counts as one that meets it, because rounding may
     * put the end into the column. */
    const float doubt = 1e-3f;
    if (tables->features & ICE_HAS_HOLES &&
        ice_may_meet_hole(tables, clearance - doubt, ice_direction_of(photon), segment.length) &&
        ice_may_cross_column(tables, photon->x, photon->y, ice_direction_of(photon), segment.length,
                             doubt)) {
        return ICE_WORK_COLUMN;
    }
    bounce->length = segment.length;
    bounce->absorption = segment.absorption;
    ice_limit_segment(tables, photon, distance, bounce);
    if (bounce->may_collide) {
        bounce->may_collide = ice_is_candidate(tables, site.near, photon, bounce->length);
    }
    bounce->is_last = ice_is_last_bounce(tables, photon->scatters);
    ice_find_birefringence(tables, photon, bounce);
    return bounce->may_collide ? ICE_WORK_MODULE : ICE_WORK_ICE;
}

/* The stage scatter after ice_start_bounce_in_ice(), if that returned ICE_WORK_ICE. Birefringence
 * shifts the end of the segment, so that only birefringent ice looks for a column there. */
ICE_FN void ice_end_bounce_in_ice(ice_variant scatter, const ice_tables *tables,
                                  const ice_bounce *bounce, ice_photon *photon, ice_random *random,
                                  uint32_t *fate, ice_site *site)
{
    if (tables->features & ICE_HAS_BIREFRINGENCE) {
        ice_end_bounce(scatter, tables, bounce, photon, random, fate, site);
    } else {
        const ice_tables open = ice_without_columns(tables);
        ice_end_bounce(scatter, &open, bounce, photon, random, fate, site);
    }
}

#endif
