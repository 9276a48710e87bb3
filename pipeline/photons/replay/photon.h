/* Follows single photons and reports every point of their paths, for `icestream trace`. */
#ifndef ICS_PHOTONS_REPLAY_PHOTON_H
#define ICS_PHOTONS_REPLAY_PHOTON_H

#include "graphs/gpu.h"
#include "pipeline/photons/replay/steps.h"
#include "stages/path_point.h"
#include "stages/variants.h"
#include "tables/tables.h"

#include <stdbool.h>

typedef struct ics_replay_follower {
    /* Receives the points in the order of the path, without ICE_POINT_UNREACHED. A result other
     * than 0 ends the path. */
    int (*put)(void *self, const ice_path_point *point);
    void *self;
} ics_replay_follower;

/* Returns whether photons can be followed with these variants. The user's own headers cannot,
 * because only compiled kernels contain them. */
bool ics_replay_supports(const ice_variants *variants);

/* Follows one photon of an emission from its start to its end. Random numbers and results are the
 * same, bit by bit, as those of ics_graph_run with portable maths. `photon_id` may be outside the
 * emission. Returns 0, or the result with which the follower stopped. Several threads may call this
 * at the same time. */
int ics_replay_photon_follow(const ice_variants *variants, const ice_tables *tables,
                             const ice_emission *emission, uint32_t photon_id,
                             const ics_replay_follower *follower);

/* Photons that a GPU follows. */
typedef struct ics_replay_gpu_paths {
    ics_gpu_options options; /* ordinal, variants, math (not AUTO), memory limit and cache */
    ics_kernels kernels;     /* of fast maths, which made the hits; all zero: any */
    const ics_tables *tables;
    const ics_replay_photon *photons; /* [count] */
    const icestream_step *steps;      /* [count] */
    size_t count;
    /* Both are called with follower.self, before and behind the points of each photon, in the order
     * of the photons. A result other than 0 ends all. */
    int (*begin)(void *self, size_t photon);
    int (*end)(void *self, size_t photon);
    ics_replay_follower follower;
} ics_replay_gpu_paths;

/* Follows all photons on a GPU. ICESTREAM_E_DIFFERENT: its kernels are of another kind than those
 * of the hits; errors of graphs/gpu_replay.h, and whatever the functions return. */
int ics_replay_follow_on_gpu(const ics_replay_gpu_paths *wanted, icestream_error *error);

#endif
