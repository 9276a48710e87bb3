/* The straight line of a track, and how far away from it what belongs to the track can be. */
#ifndef ICS_PHOTONS_PARTICLES_TRACK_LINE_H
#define ICS_PHOTONS_PARTICLES_TRACK_LINE_H

#include "physics/light/light_muon.h"
#include "pipeline/photons/particles/particle.h"

#include <math.h>

/* A loss or a piece is at most this far away from the line of its track: NEAR (m), and NEAR_SHARE
 * of the distance from the start, because a muon scatters and a list rounds directions. */
#define ICS_TRACK_NEAR       2.0
#define ICS_TRACK_NEAR_SHARE 0.01

/* A straight line; `length` of the track on it, m. */
typedef struct ics_track_line {
    double x, y, z, length;
    ice_axis axis;
} ics_track_line;

/* What the length of a track follows from if the list does not give it. */
typedef struct ics_track_rule {
    double length;      /* m; 0: the range */
    ice_muon_loss muon; /* losses of a muon in the medium */
} ics_track_rule;

static inline ics_track_line ics_track_line_of(const ics_particle *track,
                                               const ics_track_rule *rule)
{
    const double *v = track->values;
    double length = v[ICS_PARTICLE_LENGTH];
    if (length <= 0) {
        length =
            rule->length > 0 ? rule->length : ice_muon_range(&rule->muon, v[ICS_PARTICLE_ENERGY]);
    }
    return (ics_track_line){v[ICS_PARTICLE_X], v[ICS_PARTICLE_Y], v[ICS_PARTICLE_Z], length,
                            ics_particle_axis(track)};
}

/* Returns how far away from the line (m) something of the track can be, at a distance `along` (m)
 * from the start. */
static inline double ics_track_line_reach(double along)
{
    return ICS_TRACK_NEAR + ICS_TRACK_NEAR_SHARE * fabs(along);
}

#endif
