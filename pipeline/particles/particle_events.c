#include "pipeline/particles/particle_events.h"

#include "base/error.h"
#include "physics/light/light_muon.h"

#include <math.h>
#include <stdlib.h>

struct ics_particle_events_reader {
    ics_particle_source *source;
    double track_length;
    ics_listed_particle *window; /* [capacity] */
    size_t count, next, capacity;
    ics_listed_particle ahead; /* the first particle after the window, if has_ahead */
    bool has_ahead;
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

typedef struct line {
    double x, y, z, length;
    ice_axis axis;
} line;

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

static ics_track_losses losses_of(const ics_particle_events_reader *events,
                                  const ics_particle *particle)
{
    if (ics_particle_class_of(particle) != ICS_PARTICLE_TRACK ||
        particle->values[ICS_PARTICLE_ENERGY] < ICS_TRACK_ENERGETIC) {
        return ICS_LOSSES_NOT_NEEDED;
    }
    const line track = line_of(events, particle);
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
