/* Losses of a list that do not fit to the tracks of their event:
 * - on no track, while a track gets losses that are made: its direction is most likely wrong,
 * - on a track that passes them at another time: their times are missing, or in seconds,
 * - on a track that has less energy than all of them: they are most likely in MeV. */
#ifndef ICS_PHOTONS_PARTICLES_STRAY_LOSSES_H
#define ICS_PHOTONS_PARTICLES_STRAY_LOSSES_H

#include "pipeline/photons/models/warnings.h"
#include "pipeline/photons/particles/light_parts.h"

/* The most tracks and losses of an event that are looked at. */
enum { ICS_STRAY_TRACKS = 32, ICS_STRAY_LOSSES = 512 };

/* A track, or a cascade that may be a loss. */
typedef struct ics_stray_candidate {
    double x, y, z, time; /* m, ns */
    double length;        /* m, of a track; INFINITY: the line has no ends */
    double energy;        /* GeV */
    double losses;        /* GeV, of the losses on this track and on no other */
    ice_axis axis;        /* axis of a loss: 0, 0, 0 if the list gives no direction */
    size_t position;      /* position in the list */
    size_t type;
    bool makes_losses; /* whether losses of a track are made */
    bool is_named;     /* brems, epair, delta or munu */
} ics_stray_candidate;

/* Losses with one fault. */
typedef struct ics_stray_fault {
    uint64_t count;
    ics_stray_candidate loss, track; /* the first pair of these */
    double first, last;              /* what was expected of the first and the last one */
} ics_stray_fault;

/* It starts with zeros. */
typedef struct ics_stray_losses {
    ics_stray_candidate tracks[ICS_STRAY_TRACKS], losses[ICS_STRAY_LOSSES]; /* of this event */
    size_t track_count, loss_count;
    uint64_t events, count; /* events with such losses, and the losses */
    ics_stray_candidate first_loss, first_track;
    double distance;      /* m, between these two */
    ics_stray_fault late; /* expected: times, ns */
    ics_stray_fault rich; /* tracks; expected: their energy, GeV */
} ics_stray_losses;

/* Takes a particle whose parts have begun. */
void ics_stray_losses_add(ics_stray_losses *strays, const ics_listed_particle *particle,
                          const ics_light_parts *parts);
/* Judges the event, and forgets its tracks and losses. */
void ics_stray_losses_end(ics_stray_losses *strays);
/* Adds a sentence for each fault. `source` names the places. Without memory the status of `out`
 * says so. */
void ics_stray_losses_warn(const ics_stray_losses *strays, const ics_particle_source *source,
                           ics_warnings *out);

#endif
