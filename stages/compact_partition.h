/* compact: partition. Living photons to the front of the pool.
 *
 * Holes at the front are filled from the back: as few photons move as there are holes. On the CPU
 * the moves are listed one by one; a GPU gets the same pairs from a device-wide partition.
 */
#ifndef ICS_STAGES_COMPACT_PARTITION_H
#define ICS_STAGES_COMPACT_PARTITION_H

#include "stages/photon.h"

/* What became of a photon; ICE_ALIVE: it goes on. */
enum ice_fate {
    ICE_ALIVE = 0,
    ICE_ABSORBED = 1,
    ICE_DETECTED = 2,
    ICE_LEFT = 3,
    ICE_STOPPED = 4,
    ICE_FATES = 5
};

/* Next move: the first hole at or after *front and the last living photon before *back. Returns 0
 * when there is none; *back is then the number of living photons. */
ICE_FN int32_t ice_compact_partition(const uint32_t *fates, uint32_t *front, uint32_t *back)
{
    while (*front < *back && fates[*front] == ICE_ALIVE) {
        ++*front;
    }
    while (*front < *back && fates[*back - 1] != ICE_ALIVE) {
        --*back;
    }
    return *front < *back;
}

/* For `icestream stages`: what the user may set, separated by blanks. */
#define ICE_PARAMETERS_compact_partition "graph.pool"

#endif
