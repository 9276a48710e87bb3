/* Coordinates of a table of your own: how far from the nearest string light passes, and from which
 * zenith angle it comes.
 *
 *     stages: { tabulate: { source: ../stages/nearest_string.h } }
 *     table:
 *       axes:
 *         - { name: distance, unit: m, from: 0, to: 70, bins: 35 }
 *         - { name: cos_zenith, from: -1, to: 1, bins: 20 }
 *
 * docs/stages.md has the contract of the stage. */
#include "stages/tabulate/tabulate_custom.h"

#define ICE_TABULATE_COORDINATES 2

ICE_FN ice_tabulate_coordinates ice_tabulate_custom(const ice_tables *tables,
                                                    const ice_tabulation *table,
                                                    const ice_tabulate_view *view)
{
    float nearest = 1e30f; /* squared, seen from above */
    for (uint32_t i = 0; i < tables->string_count; ++i) {
        const float dx = tables->strings[i].x - view->x, dy = tables->strings[i].y - view->y;
        nearest = ice_min(nearest, fmaf(dx, dx, dy * dy));
    }
    (void)table;
    const ice_tabulate_coordinates result = {{ice_sqrt(nearest), -view->dz}, 0};
    return result;
}
