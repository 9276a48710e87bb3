#include "pipeline/photons/particles/muon_pieces.h"

#include "base/error.h"
#include "pipeline/photons/particles/events.h"

#include <stdlib.h>
#include <string.h>

/* A piece has the direction of its muon up to the scattering of muons and the rounding of lists. */
#define PARALLEL 0.99 /* cosine */

/* Returns whether a piece is on the line of a muon. The line has no ends: mmc can write a muon with
 * the position of its end (option -surf). */
static bool is_piece_on(const ics_track_line *muon, const ics_track_line *piece)
{
    const double cosine =
        muon->axis.x * piece->axis.x + muon->axis.y * piece->axis.y + muon->axis.z * piece->axis.z;
    if (cosine < PARALLEL) {
        return false;
    }
    const double x = piece->x - muon->x, y = piece->y - muon->y, z = piece->z - muon->z;
    const double along = x * muon->axis.x + y * muon->axis.y + z * muon->axis.z;
    const double near = ics_track_line_reach(along);
    return x * x + y * y + z * z - along * along <= near * near;
}

void ics_muon_pieces_free(ics_muon_pieces *self)
{
    free(self->muons.items);
    free(self->pieces.items);
}

bool ics_muon_has_piece(const ics_particle *muon, const ics_listed_particle *particles,
                        size_t count, const ics_track_rule *track)
{
    const ics_track_line line = ics_track_line_of(muon, track);
    for (size_t i = 0; i < count; ++i) {
        if (ics_particle_is_piece(&particles[i].particle)) {
            const ics_track_line piece = ics_track_line_of(&particles[i].particle, track);
            if (is_piece_on(&line, &piece)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- tracks of an event ---------------------------------------------------------------------- */

void ics_muon_pieces_begin_event(ics_muon_pieces *self)
{
    ics_piece_tracks *all[] = {&self->muons, &self->pieces};
    for (size_t i = 0; i < 2; ++i) {
        all[i]->earlier = all[i]->count = 0;
        all[i]->has_forgotten = false;
    }
}

/* Keeps the last tracks of the windows before. Pieces that have a muon are not needed any more. */
static void forget(ics_piece_tracks *tracks, bool is_of_muons)
{
    size_t kept = 0;
    for (size_t i = 0; i < tracks->count; ++i) {
        if (is_of_muons || !tracks->items[i].has_partner) {
            tracks->items[kept++] = tracks->items[i];
        }
    }
    if (kept > ICS_EARLIER_TRACKS) {
        memmove(tracks->items, tracks->items + (kept - ICS_EARLIER_TRACKS),
                ICS_EARLIER_TRACKS * sizeof *tracks->items);
        kept = ICS_EARLIER_TRACKS;
        tracks->has_forgotten = true;
    }
    tracks->earlier = tracks->count = kept;
}

static int add(ics_piece_tracks *tracks, const ics_listed_particle *listed,
               const ics_track_rule *track, icestream_error *error)
{
    if (tracks->count == tracks->capacity) {
        const size_t capacity = tracks->capacity > 0 ? 2 * tracks->capacity : 16;
        ics_piece_track *grown = reallocarray(tracks->items, capacity, sizeof *grown);
        if (grown == NULL) {
            return ics_error_add(error, ICESTREAM_E_MEMORY,
                                 "particles: error: out of memory for %zu tracks", capacity);
        }
        tracks->items = grown;
        tracks->capacity = capacity;
    }
    tracks->items[tracks->count++] =
        (ics_piece_track){.line = ics_track_line_of(&listed->particle, track),
                          .position = listed->position,
                          .makes_light = listed->passed == ICS_PASSED_NOT};
    return ICESTREAM_OK;
}

/* ---- partners -------------------------------------------------------------------------------- */

/* Finds the muons of the window that have pieces in it. The search begins behind the muon, where
 * programs write its pieces. */
static void mark_muons(ics_muon_pieces *self)
{
    const ics_piece_tracks *pieces = &self->pieces;
    const size_t first = pieces->earlier, count = pieces->count - first;
    size_t behind = 0;
    for (size_t i = self->muons.earlier; i < self->muons.count; ++i) {
        ics_piece_track *muon = &self->muons.items[i];
        while (behind < count && pieces->items[first + behind].position < muon->position) {
            ++behind;
        }
        for (size_t k = 0; k < count && !muon->has_partner; ++k) {
            const size_t at = behind + k < count ? behind + k : behind + k - count;
            muon->has_partner = is_piece_on(&muon->line, &pieces->items[first + at].line);
        }
    }
}

/* Finds a muon of a piece. The search begins before the piece: `before` muons stand there. Muons of
 * the window without pieces are on the line of no piece of the window. If the only muons on the
 * line are those whose light is made, *made is one of them. */
static bool find_muon(const ics_piece_tracks *muons, const ics_piece_track *piece, size_t before,
                      const ics_piece_track **made)
{
    *made = NULL;
    for (size_t k = 0; k < muons->count; ++k) {
        const size_t at = k < before ? before - 1 - k : muons->count - 1 - (k - before);
        const ics_piece_track *muon = &muons->items[at];
        if ((at >= muons->earlier && !muon->has_partner) ||
            !is_piece_on(&muon->line, &piece->line)) {
            continue;
        }
        if (muon->has_partner || !muon->makes_light) {
            return true;
        }
        *made = muon;
    }
    return false;
}

/* Finds a muon for each piece of the window. */
static int assign_pieces(ics_muon_pieces *self, const ics_particle_source *source,
                         icestream_error *error)
{
    char place[600], muon_place[600];
    size_t before = 0;
    for (size_t i = self->pieces.earlier; i < self->pieces.count; ++i) {
        ics_piece_track *piece = &self->pieces.items[i];
        const ics_piece_track *made;
        while (before < self->muons.count && self->muons.items[before].position < piece->position) {
            ++before;
        }
        piece->has_partner = find_muon(&self->muons, piece, before, &made);
        if (!piece->has_partner && made != NULL) {
            return ics_error_add(
                error, ICESTREAM_E_CONFIG,
                "%s: error: amu: found a piece of the muon at %s, whose light is already made, "
                "because an event is read %d particles at a time; expected the list without that "
                "muon, because its pieces make its light",
                ics_particle_source_place_of(source, piece->position, place, sizeof place),
                ics_particle_source_place_of(source, made->position, muon_place, sizeof muon_place),
                ICS_EVENT_PARTICLES);
        }
    }
    return ICESTREAM_OK;
}

/* Finds muons of the window whose pieces are in the windows before. */
static int check_muons(const ics_muon_pieces *self, const ics_particle_source *source,
                       icestream_error *error)
{
    char place[600], piece_place[600];
    for (size_t i = self->muons.earlier; i < self->muons.count; ++i) {
        const ics_piece_track *muon = &self->muons.items[i];
        const bool is_alone = muon->makes_light && !muon->has_partner;
        for (size_t k = 0; is_alone && k < self->pieces.earlier; ++k) {
            const ics_piece_track *piece = &self->pieces.items[k];
            if (!piece->makes_light || !is_piece_on(&muon->line, &piece->line)) {
                continue;
            }
            return ics_error_add(
                error, ICESTREAM_E_CONFIG,
                "%s: error: mu: found a muon whose piece at %s has already made its light, because "
                "an event is read %d particles at a time; expected the list without that muon, or "
                "the muon before its pieces",
                ics_particle_source_place_of(source, muon->position, place, sizeof place),
                ics_particle_source_place_of(source, piece->position, piece_place,
                                             sizeof piece_place),
                ICS_EVENT_PARTICLES);
        }
    }
    return ICESTREAM_OK;
}

int ics_muon_pieces_find(ics_muon_pieces *self, ics_listed_particle *window, size_t count,
                         const ics_track_rule *track, const ics_particle_source *source,
                         icestream_error *error)
{
    forget(&self->muons, true);
    forget(&self->pieces, false);
    for (size_t i = 0; i < count; ++i) {
        const ics_particle *particle = &window[i].particle;
        if (ics_particle_is_piece(particle)) {
            ICS_TRY(add(&self->pieces, &window[i], track, error));
        } else if (ics_particle_is_muon(particle)) {
            ICS_TRY(add(&self->muons, &window[i], track, error));
        }
    }
    mark_muons(self);
    ICS_TRY(assign_pieces(self, source, error));
    ICS_TRY(check_muons(self, source, error));
    size_t muon = self->muons.earlier, piece = self->pieces.earlier;
    for (size_t i = 0; i < count; ++i) {
        ics_listed_particle *listed = &window[i];
        if (ics_particle_is_piece(&listed->particle)) {
            const bool has_muon = self->pieces.items[piece++].has_partner;
            listed->track_losses = has_muon ? ICS_LOSSES_LISTED : ICS_LOSSES_NOT_NEEDED;
            listed->is_incomparable = !has_muon && self->muons.has_forgotten;
        } else if (ics_particle_is_muon(&listed->particle)) {
            const bool has_pieces = self->muons.items[muon++].has_partner;
            if (has_pieces && listed->passed == ICS_PASSED_NOT) {
                listed->passed = ICS_PASSED_PIECES;
            }
            listed->is_incomparable = !has_pieces && self->pieces.has_forgotten;
        }
    }
    return ICESTREAM_OK;
}
