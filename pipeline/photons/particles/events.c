#include "pipeline/photons/particles/events.h"

#include "base/error.h"
#include "pipeline/photons/particles/muon_pieces.h"

#include <stdlib.h>
#include <string.h>

/* A cascade that may be a loss, or the electron of a muon that decayed at rest. */
typedef struct cascade {
    double x, y, z;
    bool is_loss;   /* by its name */
    bool is_michel; /* an electron or positron of so little energy */
} cascade;

struct ics_particle_events_reader {
    ics_particle_source *source;
    ics_track_rule track;
    ics_listed_particle *window; /* [capacity] */
    size_t count, next, capacity;
    ics_listed_particle ahead; /* the first particle after the window, if has_ahead */
    bool has_ahead;
    size_t carried;    /* particles behind the window, which begin the next one */
    cascade *cascades; /* [cascade_count] of the window, room for `capacity` */
    size_t cascade_count;
    bool has_michel; /* one of them is_michel */
    ics_muon_pieces pieces;
    bool is_part;          /* the event of the window began before it or continues after it */
    bool ended;            /* the source has given its last particle, or an error */
    icestream_error error; /* of the source; its status is ICESTREAM_OK at the end of the list */
};

int ics_particle_events_create(ics_particle_source *source, const ics_track_rule *track,
                               ics_particle_events_reader **out, icestream_error *error)
{
    ics_particle_events_reader *events = calloc(1, sizeof *events);
    *out = events;
    if (events == NULL) {
        ics_particle_source_destroy(source);
        return ics_error_add(error, ICESTREAM_E_MEMORY, "particles: error: out of memory");
    }
    events->source = source;
    events->track = *track;
    return ICESTREAM_OK;
}

void ics_particle_events_destroy(ics_particle_events_reader *events)
{
    if (events == NULL) {
        return;
    }
    ics_particle_source_destroy(events->source);
    ics_muon_pieces_free(&events->pieces);
    free(events->cascades);
    free(events->window);
    free(events);
}

const ics_particle_source *ics_particle_events_source(const ics_particle_events_reader *events)
{
    return events->source;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Cascades that are closer than VERTEX (m) to an end of the track can be other products of the same
 * vertex, so there only cascades count that are losses by their name. */
#define VERTEX 1.0

static bool is_loss_on(const ics_track_line *track, const cascade *particle)
{
    const double x = particle->x - track->x;
    const double y = particle->y - track->y;
    const double z = particle->z - track->z;
    const double along = x * track->axis.x + y * track->axis.y + z * track->axis.z;
    const double margin = particle->is_loss ? -ICS_TRACK_NEAR : VERTEX;
    const double near = ics_track_line_reach(fmax(along, 0));
    const double across = x * x + y * y + z * z - along * along;
    return along >= margin && along <= track->length - margin && across <= near * near;
}

/* Returns whether a particle may be the electron or positron of a muon that decayed at rest, which
 * has at most 0.0529 GeV. */
static bool may_be_michel(const ics_particle *particle)
{
    const ice_cascade kind = ics_particle_cascade_of(particle);
    return (kind == ICE_CASCADE_ELECTRON || kind == ICE_CASCADE_POSITRON) &&
           !ics_particle_is_loss(particle) && particle->values[ICS_PARTICLE_ENERGY] < 0.055;
}

/* Finds the cascades of the window. */
static void gather(ics_particle_events_reader *events)
{
    events->cascade_count = 0;
    events->has_michel = false;
    for (size_t i = 0; i < events->count; ++i) {
        const ics_particle *particle = &events->window[i].particle;
        if (ics_particle_class_of(particle) == ICS_PARTICLE_CASCADE) {
            const cascade found = {particle->values[ICS_PARTICLE_X],
                                   particle->values[ICS_PARTICLE_Y],
                                   particle->values[ICS_PARTICLE_Z], ics_particle_is_loss(particle),
                                   may_be_michel(particle)};
            events->has_michel = events->has_michel || found.is_michel;
            events->cascades[events->cascade_count++] = found;
        }
    }
}

static ics_track_losses losses_of(const ics_particle_events_reader *events,
                                  const ics_listed_particle *listed)
{
    const ics_particle *particle = &listed->particle;
    if (ics_particle_class_of(particle) != ICS_PARTICLE_TRACK ||
        particle->values[ICS_PARTICLE_ENERGY] < ICS_TRACK_ENERGETIC) {
        return ICS_LOSSES_NOT_NEEDED;
    }
    if (listed->track_losses == ICS_LOSSES_LISTED) {
        return ICS_LOSSES_LISTED; /* the program that made the pieces listed the losses between them
                                   */
    }
    const ics_track_line track = ics_track_line_of(particle, &events->track);
    for (size_t i = 0; i < events->cascade_count; ++i) {
        if (is_loss_on(&track, &events->cascades[i])) {
            return ICS_LOSSES_LISTED;
        }
    }
    return events->is_part ? ICS_LOSSES_UNKNOWN : ICS_LOSSES_MISSING;
}

/* ---- decays ---------------------------------------------------------------------------------- */

/* Returns whether a list has the electron of a muon: on its line, in the second half or behind it,
 * because ranges fluctuate and a list may not give the length. */
static bool has_michel(const ics_particle_events_reader *events, const ics_particle *muon)
{
    const ics_track_line line = ics_track_line_of(muon, &events->track);
    const double range = ice_muon_range(&events->track.muon, muon->values[ICS_PARTICLE_ENERGY]);
    for (size_t i = 0; i < events->cascade_count; ++i) {
        const cascade *one = &events->cascades[i];
        const double x = one->x - line.x, y = one->y - line.y, z = one->z - line.z;
        const double along = x * line.axis.x + y * line.axis.y + z * line.axis.z;
        const double near = ics_track_line_reach(along);
        if (one->is_michel && along >= 0.5 * fmin(line.length, range) &&
            x * x + y * y + z * z - along * along <= near * near) {
            return true;
        }
    }
    return false;
}

/* Positions that are written with all their digits agree to within CLOSE (m). */
#define CLOSE 1e-4

/* Returns whether a particle may be a product of a tau. The products of a tau whose length is known
 * are nearer to its end than to its start; those of another one are ahead of its start. */
static bool is_of_tau(const ics_particle *tau, const ics_particle *particle)
{
    const double *v = tau->values, *of = particle->values;
    const double length = v[ICS_PARTICLE_LENGTH];
    const ice_axis axis = ics_particle_axis(tau);
    const double x = of[ICS_PARTICLE_X] - v[ICS_PARTICLE_X];
    const double y = of[ICS_PARTICLE_Y] - v[ICS_PARTICLE_Y];
    const double z = of[ICS_PARTICLE_Z] - v[ICS_PARTICLE_Z];
    const double along = x * axis.x + y * axis.y + z * axis.z;
    const double across = sqrt(fmax(x * x + y * y + z * z - along * along, 0));
    const double near = ics_track_line_reach(along);
    if (length <= 0) {
        return along > VERTEX && across <= near;
    }
    return hypot(along - length, across) <= fmin(hypot(along, across) + CLOSE, near);
}

static bool makes_light(const ics_particle *particle)
{
    const ics_particle_class kind = ics_particle_class_of(particle);
    return kind == ICS_PARTICLE_CASCADE || kind == ICS_PARTICLE_TRACK;
}

static ics_decay_listed decay_of(const ics_particle_events_reader *events, size_t index)
{
    const ics_particle *particle = &events->window[index].particle;
    if (ics_particle_class_of(particle) != ICS_PARTICLE_TRACK) {
        return ICS_DECAY_NOT_LISTED;
    }
    if (ics_particle_is_muon(particle)) {
        return events->has_michel && has_michel(events, particle) ? ICS_DECAY_LISTED
                                                                  : ICS_DECAY_NOT_LISTED;
    }
    for (size_t i = 0; i < events->count; ++i) {
        const ics_particle *other = &events->window[i].particle;
        if (i != index && makes_light(other) && is_of_tau(particle, other)) {
            return ICS_DECAY_LISTED;
        }
    }
    return events->is_part ? ICS_DECAY_UNKNOWN : ICS_DECAY_NOT_LISTED;
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
        cascade *cascades = reallocarray(events->cascades, capacity, sizeof *cascades);
        if (cascades == NULL) {
            return ics_error_add(&events->error, ICESTREAM_E_MEMORY,
                                 "particles: error: out of memory for %zu cascades", capacity);
        }
        events->cascades = cascades;
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

/* Ends a window before its last muon if the pieces of that muon may all be in the next window. */
static void carry_muon(ics_particle_events_reader *events)
{
    size_t last = events->count;
    while (last > ICS_EVENT_PARTICLES / 2) {
        const ics_particle *particle = &events->window[--last].particle;
        if (ics_particle_is_piece(particle)) {
            return;
        }
        if (ics_is_whole_muon(particle)) {
            break;
        }
    }
    bool has_pieces = false;
    for (size_t i = 0; i < last && !has_pieces; ++i) {
        has_pieces = ics_particle_is_piece(&events->window[i].particle);
    }
    if (has_pieces && ics_is_whole_muon(&events->window[last].particle) &&
        !ics_muon_has_piece(&events->window[last].particle, events->window, last, &events->track)) {
        events->carried = events->count - last;
        events->count = last;
    }
}

/* Reads an event into the window, or the next part of it. */
static void read_window(ics_particle_events_reader *events)
{
    if (events->carried > 0) {
        memmove(events->window, events->window + events->count,
                events->carried * sizeof *events->window);
    }
    events->count = events->carried;
    events->next = events->carried = 0;
    while (look_ahead(events) && events->count < ICS_EVENT_PARTICLES &&
           (events->count == 0 || events->ahead.event == events->window[0].event)) {
        if (push(events, &events->ahead) != ICESTREAM_OK) {
            events->ended = true;
            break;
        }
        events->has_ahead = false;
    }
}

/* Fills the window, and finds out what it says about its particles. */
static void fill(ics_particle_events_reader *events)
{
    const bool had_event = events->count > 0;
    const uint64_t last = had_event ? events->window[events->count - 1].event : 0;
    read_window(events);
    if (events->count == 0) {
        return;
    }
    const uint64_t event = events->window[0].event;
    const bool continues = events->has_ahead && events->ahead.event == event;
    events->is_part = (had_event && event == last) || continues;
    if (continues) {
        carry_muon(events);
    }
    if (!had_event || event != last) {
        ics_muon_pieces_begin_event(&events->pieces);
    }
    if (ics_muon_pieces_find(&events->pieces, events->window, events->count, &events->track,
                             events->source, &events->error) != ICESTREAM_OK) {
        events->count = events->carried = 0;
        events->ended = true;
        return;
    }
    gather(events);
    for (size_t i = 0; i < events->count; ++i) {
        events->window[i].track_losses = losses_of(events, &events->window[i]);
        events->window[i].decay = decay_of(events, i);
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
