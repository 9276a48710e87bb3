/* Which muons of an event have pieces (amu) in it. The pieces make the light of such a muon.
 *
 * An event comes in windows (particles/events.h). All muons and pieces of a window are compared
 * with each other, and with the last ICS_EARLIER_TRACKS muons, and the last ICS_EARLIER_TRACKS
 * pieces without a muon, of the windows before it. Programs write the pieces of a muon after it, so
 * they are found at once. Memory is thus at most 5 MiB for any event, and the time for a particle
 * has a bound as well. A muon or a piece that could belong to older ones, with which it is not
 * compared, gets is_incomparable. */
#ifndef ICS_PHOTONS_PARTICLES_MUON_PIECES_H
#define ICS_PHOTONS_PARTICLES_MUON_PIECES_H

#include "pipeline/photons/particles/source.h"
#include "pipeline/photons/particles/track_line.h"

enum { ICS_EARLIER_TRACKS = 1024 };

typedef struct ics_piece_track {
    ics_track_line line;
    size_t position;  /* position in the list */
    bool has_partner; /* a muon that has pieces, a piece that has a muon */
    bool makes_light;
} ics_piece_track;

/* Tracks in the order of the list: `earlier` of them are those of the windows before. */
typedef struct ics_piece_tracks {
    ics_piece_track *items; /* [count] */
    size_t earlier, count, capacity;
    bool has_forgotten; /* tracks of the event that are not among `items` any more */
} ics_piece_tracks;

/* Begins as zeros. */
typedef struct ics_muon_pieces {
    ics_piece_tracks muons, pieces;
} ics_muon_pieces;

void ics_muon_pieces_free(ics_muon_pieces *self);

/* Returns whether a particle is a muon that may have pieces. */
static inline bool ics_is_whole_muon(const ics_particle *particle)
{
    return ics_particle_is_muon(particle) && !ics_particle_is_piece(particle);
}

/* Returns whether one of `count` particles is a piece on the line of the muon. */
bool ics_muon_has_piece(const ics_particle *muon, const ics_listed_particle *particles,
                        size_t count, const ics_track_rule *track);

/* Forgets the muons and pieces of the event before. */
void ics_muon_pieces_begin_event(ics_muon_pieces *self);
/* Finds the pieces in the next window of the event. Passes over muons that have pieces, sets
 * track_losses of pieces that have a muon, and is_incomparable. `track` as in
 * ics_track_line_of(). Light that an earlier window has made cannot be taken back. A piece whose
 * muon has made its light there, or a muon whose pieces have, is ICESTREAM_E_CONFIG.
 * ICESTREAM_E_MEMORY. */
int ics_muon_pieces_find(ics_muon_pieces *self, ics_listed_particle *window, size_t count,
                         const ics_track_rule *track, const ics_particle_source *source,
                         icestream_error *error);

#endif
