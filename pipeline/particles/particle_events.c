#include "pipeline/particles/particle_events.h"

#include "base/error.h"
#include "physics/light/light_muon.h"

#include <math.h>
#include <stdlib.h>

/* A straight line; `length` of the track on it, m. */
typedef struct line {
    double x, y, z, length;
    ice_axis axis;
} line;

/* A muon that may have pieces in its event. */
struct muon {
    line line;
    size_t position; /* in the list */
    bool has_pieces;
    bool has_left; /* it was in an earlier window and has its light */
};

struct ics_particle_events_reader {
    ics_particle_source *source;
    double track_length;
    ics_listed_particle *window; /* [capacity] */
    size_t count, next, capacity;
    ics_listed_particle ahead; /* the first particle after the window, if has_ahead */
    bool has_ahead;
    struct muon *muons; /* [muon_count] of the event, those of earlier windows included */
    size_t muon_count, muon_capacity;
    bool is_part;          /* the event of the window began before it or continues after it */
    bool ended;            /* the source has given its last particle, or an error */
    icestream_error error; /* of the source; its status is ICESTREAM_OK at the end of the list */
};

int ics_particle_events_create(ics_particle_source *source, double track_length,
                               ics_particle_events_reader **out, icestream_error *error)
{
    ics_particle_events_reader *events = calloc(1, sizeof *events);
    *out = events;
    if (events == NULL) {
        ics_particle_source_destroy(source);
        return ics_error_add(error, ICESTREAM_E_MEMORY, "particles: error: out of memory");
    }
    events->source = source;
    events->track_length = track_length;
    return ICESTREAM_OK;
}

void ics_particle_events_destroy(ics_particle_events_reader *events)
{
    if (events == NULL) {
        return;
    }
    ics_particle_source_destroy(events->source);
    free(events->muons);
    free(events->window);
    free(events);
}

const ics_particle_source *ics_particle_events_source(const ics_particle_events_reader *events)
{
    return events->source;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* A loss is at most this far away from the line of its track: NEAR (m), and NEAR_SHARE of the
 * distance from the start, because a muon scatters and a list rounds directions. Cascades that are
 * closer than VERTEX (m) to an end of the track can be other products of the same vertex, so there
 * only cascades count that are losses by their name. */
#define NEAR       2.0
#define NEAR_SHARE 0.01
#define VERTEX     1.0

static line line_of(const ics_particle_events_reader *events, const ics_particle *track)
{
    const double *v = track->values;
    double length = v[ICS_PARTICLE_LENGTH];
    if (length <= 0) {
        length = events->track_length > 0 ? events->track_length
                                          : ice_muon_range(v[ICS_PARTICLE_ENERGY]);
    }
    return (line){v[ICS_PARTICLE_X], v[ICS_PARTICLE_Y], v[ICS_PARTICLE_Z], length,
                  ics_particle_axis(track)};
}

static bool is_loss_on(const line *track, const ics_particle *particle)
{
    if (ics_particle_class_of(particle) != ICS_PARTICLE_CASCADE) {
        return false;
    }
    const double x = particle->values[ICS_PARTICLE_X] - track->x;
    const double y = particle->values[ICS_PARTICLE_Y] - track->y;
    const double z = particle->values[ICS_PARTICLE_Z] - track->z;
    const double along = x * track->axis.x + y * track->axis.y + z * track->axis.z;
    const double margin = ics_particle_is_loss(particle) ? -NEAR : VERTEX;
    const double near = NEAR + NEAR_SHARE * fmax(along, 0);
    const double across = x * x + y * y + z * z - along * along;
    return along >= margin && along <= track->length - margin && across <= near * near;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A piece has the direction of its muon up to the scattering of muons and the rounding of lists. */
#define PARALLEL 0.99 /* cosine */

/* Returns whether a piece is on the line of a muon. The line has no ends: mmc can write a muon with
 * the position of its end (option -surf). */
static bool is_piece_on(const line *muon, const line *piece)
{
    const double x = piece->x - muon->x, y = piece->y - muon->y, z = piece->z - muon->z;
    const double along = x * muon->axis.x + y * muon->axis.y + z * muon->axis.z;
    const double near = NEAR + NEAR_SHARE * fabs(along);
    const double cosine =
        muon->axis.x * piece->axis.x + muon->axis.y * piece->axis.y + muon->axis.z * piece->axis.z;
    return cosine >= PARALLEL && x * x + y * y + z * z - along * along <= near * near;
}

/* Returns whether this piece belongs to a muon of the event. */
static bool has_muon(const ics_particle_events_reader *events, const line *piece)
{
    for (size_t i = 0; i < events->muon_count; ++i) {
        if (events->muons[i].has_pieces && is_piece_on(&events->muons[i].line, piece)) {
            return true;
        }
    }
    return false;
}

static bool is_whole_muon(const ics_particle *particle)
{
    return ics_particle_is_muon(particle) && !ics_particle_is_piece(particle);
}

/* Adds the muons of the window to those of the event. */
static int add_muons(ics_particle_events_reader *events)
{
    for (size_t i = 0; i < events->count; ++i) {
        const ics_listed_particle *listed = &events->window[i];
        if (!is_whole_muon(&listed->particle)) {
            continue;
        }
        if (events->muon_count == events->muon_capacity) {
            const size_t capacity = events->muon_capacity > 0 ? 4 * events->muon_capacity : 16;
            struct muon *grown = reallocarray(events->muons, capacity, sizeof *grown);
            if (grown == NULL) {
                return ics_error_add(&events->error, ICESTREAM_E_MEMORY,
                                     "particles: error: out of memory for %zu muons", capacity);
            }
            events->muons = grown;
            events->muon_capacity = capacity;
        }
        events->muons[events->muon_count++] =
            (struct muon){.line = line_of(events, &listed->particle), .position = listed->position};
    }
    return ICESTREAM_OK;
}

/* Finds the muons of a piece. The light of a muon in an earlier window is already made. */
static int assign_piece(ics_particle_events_reader *events, const ics_listed_particle *piece)
{
    const line of = line_of(events, &piece->particle);
    char place[600], muon_place[600];
    for (size_t i = 0; i < events->muon_count; ++i) {
        struct muon *muon = &events->muons[i];
        if (muon->has_pieces || !is_piece_on(&muon->line, &of)) {
            continue;
        }
        if (muon->has_left) {
            return ics_error_add(
                &events->error, ICESTREAM_E_CONFIG,
                "%s: error: %s: found a piece of the muon at %s, whose light is already made, "
                "because more than %d particles of the event are between them; expected the list "
                "without that muon, because its pieces make its light",
                ics_particle_source_place_of(events->source, piece->position, place, sizeof place),
                ics_particle_type_name(ics_particle_type_of(&piece->particle)),
                ics_particle_source_place_of(events->source, muon->position, muon_place,
                                             sizeof muon_place),
                ICS_EVENT_PARTICLES);
        }
        muon->has_pieces = true;
    }
    return ICESTREAM_OK;
}

/* Passes over the muons of the window whose pieces are in it. `first` is the index of the first one
 * among those of the event. */
static int pass_over(ics_particle_events_reader *events, size_t first)
{
    ICS_TRY(add_muons(events));
    for (size_t i = 0; i < events->count && events->muon_count > 0; ++i) {
        if (ics_particle_is_piece(&events->window[i].particle)) {
            ICS_TRY(assign_piece(events, &events->window[i]));
        }
    }
    for (size_t i = 0; i < events->count; ++i) {
        ics_listed_particle *listed = &events->window[i];
        if (is_whole_muon(&listed->particle)) {
            struct muon *muon = &events->muons[first++];
            muon->has_left = listed->passed == ICS_PASSED_NOT;
            if (muon->has_pieces && listed->passed == ICS_PASSED_NOT) {
                listed->passed = ICS_PASSED_PIECES;
            }
        }
    }
    return ICESTREAM_OK;
}

static ics_track_losses losses_of(const ics_particle_events_reader *events,
                                  const ics_particle *particle)
{
    if (ics_particle_class_of(particle) != ICS_PARTICLE_TRACK ||
        particle->values[ICS_PARTICLE_ENERGY] < ICS_TRACK_ENERGETIC) {
        return ICS_LOSSES_NOT_NEEDED;
    }
    const line track = line_of(events, particle);
    if (ics_particle_is_piece(particle) && has_muon(events, &track)) {
        return ICS_LOSSES_LISTED; /* the program that made the pieces listed the losses between them
                                   */
    }
    for (size_t i = 0; i < events->count; ++i) {
        if (is_loss_on(&track, &events->window[i].particle)) {
            return ICS_LOSSES_LISTED;
        }
    }
    return events->is_part ? ICS_LOSSES_UNKNOWN : ICS_LOSSES_MISSING;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int push(ics_particle_events_reader *events, const ics_listed_particle *particle)
{
    if (events->count == events->capacity) {
        const size_t capacity = events->capacity > 0 ? 4 * events->capacity : 16;
        ics_listed_particle *grown = reallocarray(events->window, capacity, sizeof *grown);
        if (grown == NULL) {
            return ics_error_add(&events->error, ICESTREAM_E_MEMORY,
                                 "particles: error: out of memory for %zu particles", capacity);
        }
        events->window = grown;
        events->capacity = capacity;
    }
    events->window[events->count++] = *particle;
    return ICESTREAM_OK;
}

/* Reads the particle after those of the window. */
static bool look_ahead(ics_particle_events_reader *events)
{
    if (!events->has_ahead && !events->ended) {
        bool found;
        const int status =
            ics_particle_source_next(events->source, &events->ahead, &found, &events->error);
        events->has_ahead = status == ICESTREAM_OK && found;
        events->ended = !events->has_ahead;
    }
    return events->has_ahead;
}

/* Fills the window with an event, or with a part of it. */
static void fill(ics_particle_events_reader *events)
{
    const bool had_event = events->count > 0;
    const uint64_t last = had_event ? events->window[events->count - 1].event : 0;
    events->count = events->next = 0;
    while (look_ahead(events) && events->count < ICS_EVENT_PARTICLES &&
           (events->count == 0 || events->ahead.event == events->window[0].event)) {
        if (push(events, &events->ahead) != ICESTREAM_OK) {
            events->ended = true;
            break;
        }
        events->has_ahead = false;
    }
    if (events->count > 0) {
        const uint64_t event = events->window[0].event;
        events->is_part =
            (had_event && event == last) || (events->has_ahead && events->ahead.event == event);
        if (!had_event || event != last) {
            events->muon_count = 0;
        }
        if (pass_over(events, events->muon_count) != ICESTREAM_OK) {
            events->count = 0;
            events->ended = true;
            return;
        }
        for (size_t i = 0; i < events->count; ++i) {
            events->window[i].track_losses = losses_of(events, &events->window[i].particle);
        }
    }
}

int ics_particle_events_next(ics_particle_events_reader *events, ics_listed_particle *out,
                             bool *found, icestream_error *error)
{
    if (events->next == events->count) {
        fill(events);
    }
    *found = events->count > 0;
    if (*found) {
        *out = events->window[events->next++];
    } else if (events->error.status != ICESTREAM_OK) {
        ics_error_copy(error, &events->error);
    }
    return *found ? ICESTREAM_OK : events->error.status;
}
