/* A collide stage of your own: modules record light that travels upwards, and light that travels
 * downwards passes through them.
 *
 *     stages: { collide: { source: ../stages/upward.h } }
 *
 * docs/stages.md has the contract of the stage. */
#include "stages/collide_string_grid.h"

ICE_FN ice_contact ice_collide_custom(const ice_tables *tables, const ice_contact_search *search)
{
    const ice_contact none = {0.0f, ICE_NO_MODULE};
    return search->direction.z > 0.0f ? ice_collide_string_grid(tables, search) : none;
}
