#include "pipeline/particles/stray_losses.h"

#include <inttypes.h>
#include <math.h>

/* A loss at most this far (m) from a track lies on it: NEAR, and NEAR_SHARE of the distance from
 * the start of the track (particle_events.c). */
#define NEAR       2.0
#define NEAR_SHARE 0.01

static ics_stray_candidate candidate_of(const ics_listed_particle *listed)
{
    const double *values = listed->particle.values;
    return (ics_stray_candidate){.x = values[ICS_PARTICLE_X],
                                 .y = values[ICS_PARTICLE_Y],
                                 .z = values[ICS_PARTICLE_Z],
                                 .energy = values[ICS_PARTICLE_ENERGY],
                                 .position = listed->position,
                                 .type = ics_particle_type_of(&listed->particle)};
}

void ics_stray_losses_add(ics_stray_losses *strays, const ics_listed_particle *listed,
                          const ics_light_parts *parts)
{
    const ics_particle *particle = &listed->particle;
    if (listed->passed == ICS_PASSED_PPC) {
        return;
    }
    if (ics_particle_is_loss(particle) && strays->loss_count < ICS_STRAY_LOSSES) {
        strays->losses[strays->loss_count++] = candidate_of(listed);
    }
    if (ics_particle_class_of(particle) == ICS_PARTICLE_TRACK) {
        if (strays->track_count < ICS_STRAY_TRACKS) {
            ics_stray_candidate *track = &strays->tracks[strays->track_count];
            /* Losses lie between the pieces of a muon, too. */
            const bool is_endless =
                listed->passed != ICS_PASSED_NOT || ics_particle_is_piece(particle);
            *track = candidate_of(listed);
            track->axis = parts->model.axis;
            track->length = is_endless ? INFINITY : parts->length;
            track->makes_losses = parts->makes_losses && listed->passed == ICS_PASSED_NOT;
        }
        ++strays->track_count; /* an event with too many tracks is not judged */
    }
}

/* Returns the distance (m) of a loss from a track; *along is its distance from the start. */
static double distance_of(const ics_stray_candidate *track, const ics_stray_candidate *loss,
                          double *along)
{
    const double x = loss->x - track->x, y = loss->y - track->y, z = loss->z - track->z;
    const double whole = x * track->axis.x + y * track->axis.y + z * track->axis.z;
    const double least = isinf(track->length) ? -INFINITY : 0;
    const double nearest = fmin(fmax(whole, least), track->length);
    *along = whole;
    return sqrt(fmax(x * x + y * y + z * z - whole * whole, 0) +
                (whole - nearest) * (whole - nearest));
}

/* Returns whether the loss lies on no track. *nearest: of the tracks that get losses. */
static bool is_stray(const ics_stray_losses *strays, const ics_stray_candidate *loss,
                     const ics_stray_candidate **nearest, double *distance)
{
    *distance = INFINITY;
    *nearest = NULL;
    for (size_t i = 0; i < strays->track_count; ++i) {
        const ics_stray_candidate *track = &strays->tracks[i];
        double along;
        const double here = distance_of(track, loss, &along);
        if (here <= NEAR + NEAR_SHARE * fabs(along)) {
            return false;
        }
        if (track->makes_losses && here < *distance) {
            *distance = here;
            *nearest = track;
        }
    }
    return *nearest != NULL;
}

void ics_stray_losses_end(ics_stray_losses *strays)
{
    const uint64_t before = strays->count;
    const bool is_judged = strays->track_count <= ICS_STRAY_TRACKS;
    for (size_t i = 0; is_judged && i < strays->loss_count; ++i) {
        const ics_stray_candidate *nearest;
        double distance;
        if (is_stray(strays, &strays->losses[i], &nearest, &distance) && strays->count++ == 0) {
            strays->first_loss = strays->losses[i];
            strays->first_track = *nearest;
            strays->distance = distance;
        }
    }
    strays->events += strays->count > before;
    strays->track_count = strays->loss_count = 0;
}

int ics_stray_losses_warn(const ics_stray_losses *strays, const ics_particle_source *source,
                          ics_warnings *out)
{
    const ics_stray_candidate *loss = &strays->first_loss, *track = &strays->first_track;
    char place[600], track_place[600];
    if (strays->count == 0) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        out,
        "%s: found %s of %.6g GeV on no track of its event, %.3g m from the %s of %.6g GeV at %s, "
        "for which losses are made in addition to it, so that light is counted twice (%" PRIu64
        " event%s ha%s such losses); do zenith and azimuth say where the particle goes?",
        ics_particle_source_place_of(source, loss->position, place, sizeof place),
        ics_particle_type_name(loss->type), loss->energy, strays->distance,
        ics_particle_type_name(track->type), track->energy,
        ics_particle_source_place_of(source, track->position, track_place, sizeof track_place),
        strays->events, strays->events == 1 ? "" : "s", strays->events == 1 ? "s" : "ve");
}
