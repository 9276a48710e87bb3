#include "pipeline/photons/particles/stray_losses.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>

/* A cascade with another name than that of a loss is one of a track if it lies on its line (m),
 * flies along it (cosine), and is this far (m) away from both ends, where a vertex makes others. */
#define EXACT    0.5
#define PARALLEL 0.999
#define VERTEX   1.0

/* A loss may be this much earlier or later than its track: ns, and a share of the time from the
 * start of the track. Muons lag and lists round. */
#define LATE       5.0
#define LATE_SHARE 0.01

static ics_stray_candidate candidate_of(const ics_listed_particle *listed)
{
    const double *values = listed->particle.values;
    const bool has_axis = ics_particle_has(&listed->particle, ICS_PARTICLE_ZENITH) ||
                          ics_particle_has(&listed->particle, ICS_PARTICLE_DX);
    return (ics_stray_candidate){.x = values[ICS_PARTICLE_X],
                                 .y = values[ICS_PARTICLE_Y],
                                 .z = values[ICS_PARTICLE_Z],
                                 .time = values[ICS_PARTICLE_TIME],
                                 .energy = values[ICS_PARTICLE_ENERGY],
                                 .axis = has_axis ? ics_particle_axis(&listed->particle)
                                                  : (ice_axis){0, 0, 0},
                                 .position = listed->position,
                                 .type = ics_particle_type_of(&listed->particle),
                                 .is_named = ics_particle_is_loss(&listed->particle)};
}

void ics_stray_losses_add(ics_stray_losses *strays, const ics_listed_particle *listed,
                          const ics_light_parts *parts)
{
    const ics_particle *particle = &listed->particle;
    if (listed->passed == ICS_PASSED_PPC) {
        return;
    }
    if (ics_particle_class_of(particle) == ICS_PARTICLE_CASCADE &&
        strays->loss_count < ICS_STRAY_LOSSES) {
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

static bool is_on(const ics_stray_candidate *track, const ics_stray_candidate *loss,
                  double distance, double along)
{
    if (loss->is_named) {
        return distance <= ics_track_line_reach(along);
    }
    const double cosine =
        loss->axis.x * track->axis.x + loss->axis.y * track->axis.y + loss->axis.z * track->axis.z;
    return !isinf(track->length) && cosine >= PARALLEL && distance <= EXACT && along >= VERTEX &&
           along <= track->length - VERTEX;
}

static void note(ics_stray_fault *fault, const ics_stray_candidate *loss,
                 const ics_stray_candidate *track, double expected)
{
    if (fault->count++ == 0) {
        fault->loss = *loss;
        fault->track = *track;
        fault->first = expected;
    }
    fault->last = expected;
}

/* Compares a loss with all tracks. On several tracks it may have the time of any of them, and it
 * belongs to none of them alone. */
static void judge(ics_stray_losses *strays, const ics_stray_candidate *loss)
{
    double least = INFINITY, expected = 0;
    const ics_stray_candidate *nearest = NULL;
    ics_stray_candidate *on = NULL;
    size_t count = 0;
    bool is_in_time = false;
    for (size_t i = 0; i < strays->track_count; ++i) {
        ics_stray_candidate *track = &strays->tracks[i];
        double along;
        const double here = distance_of(track, loss, &along);
        if (is_on(track, loss, here, along)) {
            const double later = along / ICE_LIGHT_SPEED;
            on = track;
            expected = track->time + later;
            is_in_time = is_in_time || isinf(track->length) ||
                         fabs(loss->time - expected) <= LATE + LATE_SHARE * fabs(later);
            ++count;
        } else if (track->makes_losses && here < least) {
            least = here;
            nearest = track;
        }
    }
    if (count > 0) {
        if (!is_in_time) {
            note(&strays->late, loss, on, expected);
        }
        if (count == 1) {
            on->losses += loss->energy;
        }
    } else if (nearest != NULL && loss->is_named && strays->count++ == 0) {
        strays->first_loss = *loss;
        strays->first_track = *nearest;
        strays->distance = least;
    }
}

void ics_stray_losses_end(ics_stray_losses *strays)
{
    const uint64_t before = strays->count;
    const bool is_judged = strays->track_count <= ICS_STRAY_TRACKS;
    for (size_t i = 0; is_judged && i < strays->loss_count; ++i) {
        judge(strays, &strays->losses[i]);
    }
    for (size_t i = 0; is_judged && i < strays->track_count; ++i) {
        const ics_stray_candidate *track = &strays->tracks[i];
        if (!isinf(track->length) && track->losses > track->energy * (1 + 1e-6)) {
            note(&strays->rich, track, track, track->energy);
        }
    }
    strays->events += strays->count > before;
    strays->track_count = strays->loss_count = 0;
}

static void warn_of_late(const ics_stray_fault *late, const ics_particle_source *source,
                         ics_warnings *out)
{
    char track_place[600];
    const double seconds = late->loss.time * 1e9;
    const bool is_seconds = late->loss.time != 0 &&
                            fabs(seconds - late->first) <= LATE + LATE_SHARE * fabs(late->first);
    ics_particle_source_warn(
        source, late->loss.position, out,
        "time: found %.6g ns for the %s of %.6g GeV on the line of the %s at %s, expected %.2f ns, "
        "when it passes%s (%" PRIu64 " such loss%s, the last one: expected %.2f ns)",
        late->loss.time, ics_particle_type_name(late->loss.type), late->loss.energy,
        ics_particle_type_name(late->track.type),
        ics_particle_source_place_of(source, late->track.position, track_place, sizeof track_place),
        late->first, is_seconds ? "; this time is in seconds" : "", late->count,
        late->count == 1 ? "" : "es", late->last);
}

void ics_stray_losses_warn(const ics_stray_losses *strays, const ics_particle_source *source,
                           ics_warnings *out)
{
    const ics_stray_candidate *loss = &strays->first_loss, *track = &strays->first_track;
    const ics_stray_fault *rich = &strays->rich;
    char track_place[600];
    if (strays->late.count > 0) {
        warn_of_late(&strays->late, source, out);
    }
    if (rich->count > 0) {
        ics_particle_source_warn(
            source, rich->track.position, out,
            "energy: found losses of %.6g GeV in all on the line of this %s, expected at most its "
            "energy, %.6g GeV; are they in MeV? (%" PRIu64 " such track%s)",
            rich->track.losses, ics_particle_type_name(rich->track.type), rich->first, rich->count,
            rich->count == 1 ? "" : "s");
    }
    if (strays->count > 0) {
        ics_particle_source_warn(
            source, loss->position, out,
            "found %s of %.6g GeV on no track of its event, %.3g m from the %s of %.6g GeV at %s, "
            "for which losses are made in addition to it, so that light is counted twice (%" PRIu64
            " event%s ha%s such losses); do zenith and azimuth say where the particle goes?",
            ics_particle_type_name(loss->type), loss->energy, strays->distance,
            ics_particle_type_name(track->type), track->energy,
            ics_particle_source_place_of(source, track->position, track_place, sizeof track_place),
            strays->events, strays->events == 1 ? "" : "s", strays->events == 1 ? "s" : "ve");
    }
}
