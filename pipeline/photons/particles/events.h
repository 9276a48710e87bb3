/* Particles of a source, with what their whole event says about them: whether a track brings its
 * losses and the products of its decay, and whether a muon is passed over because its pieces are in
 * the event.
 *
 * An event is read ahead, up to ICS_EVENT_PARTICLES particles at a time, which take 4 MiB. A larger
 * event is looked at in parts of this size, and a track belongs to the part that it is in. A part
 * may be shorter, so that a muon is in one part with its pieces; muon_pieces.h says which muons and
 * pieces of different parts are compared. An error of the source is returned after the particles
 * that stand before it. */
#ifndef ICS_PHOTONS_PARTICLES_EVENTS_H
#define ICS_PHOTONS_PARTICLES_EVENTS_H

#include "pipeline/photons/particles/source.h"
#include "pipeline/photons/particles/track_line.h"

enum { ICS_EVENT_PARTICLES = 16384 };

/* A muon below this total energy (GeV) is not asked for its losses, because less than 3 % of its
 * light comes from losses above 0.5 GeV (physics.md 10.4). */
#define ICS_TRACK_ENERGETIC 20.0

typedef struct ics_particle_events_reader ics_particle_events_reader;

/* Takes a source, and owns it afterwards, also after an error. `track`: for tracks whose
 * length is not given. ICESTREAM_E_MEMORY. */
int ics_particle_events_create(ics_particle_source *source, const ics_track_rule *track,
                               ics_particle_events_reader **out, icestream_error *error);
/* Accepts NULL. */
void ics_particle_events_destroy(ics_particle_events_reader *events);
/* Gives the next particle, as ics_particle_source_next() does, with track_losses, `decay`,
 * `passed` and is_incomparable. A muon with pieces is an error if one of them comes so much later
 * than the other that its light is already made: ICESTREAM_E_CONFIG. */
int ics_particle_events_next(ics_particle_events_reader *events, ics_listed_particle *out,
                             bool *found, icestream_error *error);
/* Returns the source. It may have read further than the last particle. */
const ics_particle_source *ics_particle_events_source(const ics_particle_events_reader *events);

#endif
