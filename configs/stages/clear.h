/* A propagate stage of your own: ice that scatters as the ice model says and absorbs nothing.
 *
 *     stages: { propagate: { source: ../stages/clear.h } }
 *
 * Such photons end in modules, outside the world (ice.absorb_above, ice.absorb_below) or at the
 * bounce limit, which should be far below the default then. docs/stages.md has the contract of the
 * stage. */
#include "stages/propagate_cumulative.h"

/* An absorption depth that no segment uses up. */
#define CLEAR_DEPTH 1e30f

ICE_FN ice_segment ice_propagate_custom(const ice_tables *tables, ice_segment_start start)
{
    const float depth = start.absorption;
    start.absorption = CLEAR_DEPTH;
    ice_segment segment = ice_propagate_cumulative(tables, start);
    segment.absorption = depth;
    return segment;
}
