/* compact: partition. Moves living photons to the front of the pool.
 *
 * Photons from the back fill the holes at the front, so that as few photons as possible move. The
 * CPU finds the moves one by one; a GPU gets the same pairs of slots from a partition of the whole
 * pool.
 */
#ifndef ICS_STAGES_COMPACT_PARTITION_H
#define ICS_STAGES_COMPACT_PARTITION_H

#include "stages/photon.h"

/* The fate of a photon (physics.md 5.1). A photon that is alive continues. */
enum ice_fate {
    ICE_ALIVE = 0,
    ICE_ABSORBED = 1,
    ICE_DETECTED = 2,
    ICE_LEFT = 3,
    ICE_STOPPED = 4,
    ICE_FATES = 5
};

/* Adds a number of photons that ended with this fate to an account. */
ICE_FN void ice_count_fate(ice_account *account, uint32_t fate, uint32_t photons)
{
    account->absorbed += fate == ICE_ABSORBED ? photons : 0;
    account->detected += fate == ICE_DETECTED ? photons : 0;
    account->left += fate == ICE_LEFT ? photons : 0;
    account->stopped += fate == ICE_STOPPED ? photons : 0;
}

/* Finds the next move: sets *front to the first hole at or after *front, and *back so that the last
 * living photon before *back is in slot *back - 1. Returns 0 if there is no move; *back is then the
 * number of living photons. */
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
