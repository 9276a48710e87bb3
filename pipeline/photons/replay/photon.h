/* Follows one photon on the CPU and reports every point of its path. `icestream trace` and the
 * replay of hits use it; runs do not. */
#ifndef ICS_PHOTONS_REPLAY_PHOTON_H
#define ICS_PHOTONS_REPLAY_PHOTON_H

#include "stages/direction.h"
#include "stages/photon.h"
#include "stages/variants.h"
#include "tables/tables.h"

#include <stdbool.h>

typedef enum ics_replay_kind {
    ICS_REPLAY_START,
    ICS_REPLAY_SCATTER,
    ICS_REPLAY_HIT,
    ICS_REPLAY_UNREACHED, /* the photon dies before the impact of an entry that would have ended it
                             (physics.md 8.19), and lives on; only with
                             ics_replay_follower.unreached
                           */
    ICS_REPLAY_ABSORBED,  /* absorbed by the ice or by an excluded module */
    ICS_REPLAY_LEFT,      /* left the world; or cannot reach any module, then at the last scatter */
    ICS_REPLAY_STOPPED    /* stopped by the bounce limit */
} ics_replay_kind;

typedef struct ics_replay_point {
    ics_replay_kind kind;
    float x, y, z;    /* position (m) */
    float dx, dy, dz; /* direction of travel after the point; at the end of the path, before it */
    float path;       /* path length from the start (m) */
    float absorption; /* absorption depth passed so far; inside a segment in proportion to length */
    float wavelength; /* (nm) */
    uint32_t scatters;          /* scatters so far, with this point */
    const ice_arrival *arrival; /* the arrival of a hit, with emission 0; NULL at other points */
    /* The segment of the point; NULL at the start. */
    const ice_photon *begin; /* the photon at the start of the segment */
    float length;            /* of the segment up to the next scatter (m) */
    float distance;          /* of a hit from the start of the segment (m); of an entry that of its
                                impact, which may be larger than `length`; 0 at other points */
    ice_direction arriving;  /* at a scatter: the direction before it, after the deflection by
                                birefringence */
} ics_replay_point;

typedef struct ics_replay_follower {
    /* Receives the points in the order of the path. A result other than 0 ends the path. */
    int (*put)(void *self, const ics_replay_point *point);
    void *self;
    bool unreached; /* points of the kind ICS_REPLAY_UNREACHED are wanted */
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

#endif
