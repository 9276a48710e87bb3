/* Losses of a list that lie on no track of their event, while a track of the event gets losses that
 * are made: most likely the list has the losses of this track, and its direction is wrong. */
#ifndef ICS_PARTICLES_STRAY_LOSSES_H
#define ICS_PARTICLES_STRAY_LOSSES_H

#include "pipeline/models/warnings.h"
#include "pipeline/particles/light_parts.h"

/* The most tracks and losses of an event that are looked at. */
enum { ICS_STRAY_TRACKS = 32, ICS_STRAY_LOSSES = 64 };

/* A track, or a loss, whose `axis`, `length` and `makes_losses` have no meaning. */
typedef struct ics_stray_candidate {
    double x, y, z; /* m */
    double length;  /* m, of a track; INFINITY: the line has no ends */
    double energy;  /* GeV */
    ice_axis axis;
    size_t position; /* in the list */
    size_t type;
    bool makes_losses;
} ics_stray_candidate;

/* It starts with zeros. */
typedef struct ics_stray_losses {
    ics_stray_candidate tracks[ICS_STRAY_TRACKS], losses[ICS_STRAY_LOSSES]; /* of this event */
    size_t track_count, loss_count;
    uint64_t events, count; /* events with such losses, and the losses */
    ics_stray_candidate first_loss, first_track;
    double distance; /* m, between these two */
} ics_stray_losses;

/* Takes a particle whose parts have begun. */
void ics_stray_losses_add(ics_stray_losses *strays, const ics_listed_particle *particle,
                          const ics_light_parts *parts);
/* Judges the event, and forgets its tracks and losses. */
void ics_stray_losses_end(ics_stray_losses *strays);
/* Adds a sentence if there are such losses. `source` names the places. ICESTREAM_E_MEMORY. */
int ics_stray_losses_warn(const ics_stray_losses *strays, const ics_particle_source *source,
                          ics_warnings *out);

#endif
