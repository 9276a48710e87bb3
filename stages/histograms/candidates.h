/* The candidates of a segment: how many modules collide tests for it (histograms,
 * docs/histograms.md).
 *
 * A search is repeated after the bounce, for the segment from its start to its end. So the number
 * is one of the segment alone: it is the same in every schedule, whatever the schedule itself has
 * tested for it. A file that includes other stages before this header defines ICE_COUNTS_CANDIDATES
 * as 1 before all of them.
 */
#ifndef ICS_STAGES_HISTOGRAMS_CANDIDATES_H
#define ICS_STAGES_HISTOGRAMS_CANDIDATES_H

#ifndef ICE_COUNTS_CANDIDATES
#define ICE_COUNTS_CANDIDATES 1
#endif
#include "stages/histograms/photon_end.h"
#include "stages/reach.h"
#include "stages/variants.h"

/* Returns how many times the first search of the variant tests a module; 0: the segment comes near
 * to no module, so that there is no search. */
ICE_FN uint32_t ice_candidates_of(ice_variant collide, const ice_tables *tables,
                                  ice_segment_end segment)
{
    if (!ice_may_collide(tables, segment.x, segment.y, segment.z, segment.direction,
                         segment.length)) {
        return 0;
    }
    const ice_contact_search search = {segment.x,      segment.y, segment.z, segment.direction,
                                       segment.length, -1.0f,     0};
    return ice_collide(collide, tables, &search).tested;
}

/* Returns the word of a quantity of segments. */
ICE_FN uint32_t ice_segment_word_with(ice_variant collide, const ice_tables *tables,
                                      uint32_t quantity, ice_segment_end segment)
{
    return quantity == ICE_PHOTON_CANDIDATES ? ice_candidates_of(collide, tables, segment)
                                             : ice_layers_of(tables, segment);
}

#endif
