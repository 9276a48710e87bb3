/* collide: brute-force. Tests every module; the reference for the other collide variants
 * (physics.md 8.2). */
#ifndef ICS_STAGES_COLLIDE_BRUTE_FORCE_H
#define ICS_STAGES_COLLIDE_BRUTE_FORCE_H

#include "stages/contact.h"

ICE_FN ice_contact ice_collide_brute_force(const ice_tables *tables,
                                           const ice_contact_search *search)
{
    ice_contact nearest = ice_no_contact();
    for (uint32_t module = 0; module < tables->module_count; ++module) {
        ice_try_module(tables, search, module, &nearest);
    }
    return nearest;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_collide_brute_force "detector.modules detector.radius detector.oversize"

#endif
