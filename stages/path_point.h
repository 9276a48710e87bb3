/* A point of the path of a photon, as stages/path_walk.h reports it. */
#ifndef ICS_STAGES_PATH_POINT_H
#define ICS_STAGES_PATH_POINT_H

#include "stages/direction.h"
#include "stages/photon.h"

typedef enum ice_point_kind {
    ICE_POINT_START,
    ICE_POINT_SCATTER,
    ICE_POINT_HIT,
    ICE_POINT_UNREACHED, /* the photon dies before the impact of an entry that would have ended it
                            (physics.md 8.19), and lives on */
    ICE_POINT_ABSORBED,  /* absorbed by the ice or by an excluded module */
    ICE_POINT_LEFT,      /* left the world; or cannot reach any module, then at the last scatter */
    ICE_POINT_STOPPED    /* stopped by the bounce limit */
} ice_point_kind;

typedef struct ice_path_point {
    ice_point_kind kind;
    float x, y, z;    /* position (m) */
    float dx, dy, dz; /* direction of travel after the point; at the end of the path, before it */
    float path;       /* path length from the start (m) */
    float absorption; /* absorption depth passed so far; inside a segment in proportion to length */
    float wavelength; /* (nm) */
    uint32_t scatters;          /* scatters so far, with this point */
    const ice_arrival *arrival; /* the arrival of a hit; NULL at other points */
    /* The segment of the point; no content at the start. */
    const ice_photon *begin; /* the photon at the start of the segment */
    float height;            /* of this start among the layers (m) */
    float length;            /* of the segment up to the next scatter (m) */
    float distance;          /* of a hit from the start of the segment (m); of an entry that of its
                                impact, which may be larger than `length`; 0 at other points */
    ice_direction arriving;  /* at a scatter: the direction before it, after the deflection by
                                birefringence */
} ice_path_point;

#endif
