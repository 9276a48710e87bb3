#include "pipeline/photons/particles/light_totals.h"

#include "pipeline/photons/particles/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A track may be longer than the mean range by this factor, because ranges fluctuate and programs
 * differ in their energy loss. */
#define RANGE_MARGIN 1.5

/* One tau in a million flies further than this many mean lengths. */
#define TAU_MARGIN 14.0

/* Spectra from this number on are those of light.spectra. */
enum { FIRST_OF_USER = 7 };

static void count_track(ics_light_totals *totals, ics_track_warning kind,
                        const ics_listed_particle *particle, const ics_light_parts *parts)
{
    ics_warned_tracks *tracks = &totals->warned[kind];
    if (tracks->count++ == 0) {
        tracks->position = particle->position;
        tracks->type = ics_particle_type_of(&particle->particle);
        tracks->energy = particle->particle.values[ICS_PARTICLE_ENERGY];
        tracks->length = kind == ICS_TRACK_PIECES || kind == ICS_TRACK_SPREAD
                             ? particle->particle.values[ICS_PARTICLE_LENGTH]
                             : parts->length;
    }
}

/* Returns why a track without losses gets none. */
static ics_track_warning warning_about_bare(const ics_particle *track, const ics_light_parts *parts)
{
    if (parts->setup->has_ppc && ics_particle_is_piece(track)) {
        return ICS_TRACK_PIECE;
    }
    return ics_particle_is_muon(track) ? ICS_TRACK_BARE : ICS_TRACK_TAU;
}

/* Returns whether a tau would lose less than 0.5 % of its energy if it had the losses of a muon,
 * which are larger. */
static bool is_short_tau(const ics_particle *track, const ics_light_parts *parts)
{
    return !ics_particle_is_muon(track) && !parts->makes_losses &&
           parts->setup->track.muon.radiation * parts->length < 0.005;
}

static void judge_losses(ics_light_totals *totals, const ics_listed_particle *particle,
                         const ics_light_parts *parts)
{
    const ics_losses wanted = parts->setup->losses;
    switch (particle->track_losses) {
    case ICS_LOSSES_NOT_NEEDED:
        break;
    case ICS_LOSSES_LISTED:
        ++totals->listed;
        if (parts->makes_losses) {
            count_track(totals, ICS_TRACK_TWICE, particle, parts);
        }
        break;
    case ICS_LOSSES_MISSING:
        if (is_short_tau(&particle->particle, parts)) {
            break;
        }
        if (!parts->makes_losses) {
            count_track(totals, warning_about_bare(&particle->particle, parts), particle, parts);
        } else if (wanted == ICS_LOSSES_AUTO) {
            count_track(totals, ICS_TRACK_MIXED, particle, parts);
        }
        break;
    case ICS_LOSSES_UNKNOWN:
        count_track(totals, ICS_TRACK_UNKNOWN, particle, parts);
    }
}

static void end_event(ics_light_totals *totals)
{
    if (!totals->has_event) {
        return;
    }
    if (totals->events == 0 || totals->photons < totals->least) {
        totals->least = totals->photons;
        totals->least_event = totals->event;
    }
    if (totals->events == 0 || totals->photons > totals->most) {
        totals->most = totals->photons;
        totals->most_event = totals->event;
    }
    ics_stray_losses_end(&totals->strays);
    if (totals->is_dark && totals->dark++ == 0) {
        totals->dark_event = totals->event;
        totals->dark_position = totals->begin;
    }
    ++totals->events;
    totals->photons = 0;
    totals->has_event = false;
}

/* Ends the event of the particle before if this one begins another. */
static void begin_event(ics_light_totals *totals, const ics_listed_particle *particle)
{
    if (totals->has_event && totals->event != particle->event) {
        end_event(totals);
    }
    if (!totals->has_event) {
        totals->is_dark = true;
        totals->begin = particle->position;
    }
    totals->has_event = true;
    totals->is_dark =
        totals->is_dark && ics_particle_class_of(&particle->particle) == ICS_PARTICLE_DARK;
}

void ics_light_totals_begin(ics_light_totals *totals, const ics_listed_particle *particle,
                            const ics_light_parts *parts)
{
    const ics_particle *of = &particle->particle;
    begin_event(totals, particle);
    ics_list_warnings_add(&totals->list, particle);
    ics_stray_losses_add(&totals->strays, particle, parts);
    totals->event = particle->event;
    totals->type = ics_particle_type_of(of);
    ics_light_of_type *type = &totals->types[totals->type];
    ++type->particles;
    type->energy += of->values[ICS_PARTICLE_ENERGY];
    if (particle->passed != ICS_PASSED_NOT) {
        count_track(totals, particle->passed == ICS_PASSED_PPC ? ICS_TRACK_PPC : ICS_TRACK_PIECES,
                    particle, parts);
        return;
    }
    if (ics_particle_class_of(of) == ICS_PARTICLE_RAY && parts->setup->has_ppc &&
        parts->model.spectrum < FIRST_OF_USER) {
        count_track(totals, ICS_TRACK_RAY, particle, parts);
    }
    if (ics_particle_class_of(of) == ICS_PARTICLE_CASCADE && parts->setup->has_ppc &&
        ics_particle_has(of, ICS_PARTICLE_LENGTH) && of->values[ICS_PARTICLE_LENGTH] > 0) {
        count_track(totals, ICS_TRACK_SPREAD, particle, parts);
    }
    if (ics_particle_class_of(of) == ICS_PARTICLE_MONOPOLE) {
        type->length += parts->length;
    }
    if (ics_particle_class_of(of) != ICS_PARTICLE_TRACK || parts->length <= 0) {
        return;
    }
    if (particle->is_incomparable) {
        count_track(totals, ICS_TRACK_FAR, particle, parts);
    }
    type->length += parts->length;
    judge_losses(totals, particle, parts);
    if (!parts->makes_losses && ics_particle_is_muon(of) &&
        parts->length > RANGE_MARGIN * ice_muon_range(&parts->setup->track.muon,
                                                      of->values[ICS_PARTICLE_ENERGY])) {
        count_track(totals, ICS_TRACK_LONG, particle, parts);
    }
    const double listed = of->values[ICS_PARTICLE_LENGTH];
    if (ics_particle_is_muon(of) || listed <= 0) {
        return;
    }
    if (particle->decay != ICS_DECAY_LISTED) {
        count_track(totals, parts->decays ? ICS_TRACK_DECAYS : ICS_TRACK_STABLE, particle, parts);
    }
    if (listed > TAU_MARGIN * ice_tau_decay_length(of->values[ICS_PARTICLE_ENERGY])) {
        count_track(totals, ICS_TRACK_OLD, particle, parts);
    }
}

void ics_light_totals_add(ics_light_totals *totals, uint64_t photons)
{
    totals->types[totals->type].photons += (double)photons;
    totals->photons += (double)photons;
}

void ics_light_totals_add_decays(ics_light_totals *totals, const ics_light_parts *parts)
{
    for (int i = 0; i < ICE_DECAY_KINDS; ++i) {
        totals->decayed.tau[i] += parts->decayed.tau[i];
        totals->decayed.muon[i] += parts->decayed.muon[i];
    }
}

void ics_light_totals_end(ics_light_totals *totals)
{
    end_event(totals);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void describe_decays(const ics_decay_counts *decayed, FILE *out)
{
    const uint64_t *tau = decayed->tau, *muon = decayed->muon;
    const uint64_t taus = tau[ICE_DECAY_ELECTRON] + tau[ICE_DECAY_MUON] + tau[ICE_DECAY_HADRONS];
    if (taus > 0) {
        fprintf(out,
                "  decays   %" PRIu64 " tau%s: %" PRIu64 " to an electron, %" PRIu64
                " to a muon, %" PRIu64 " to hadrons\n",
                taus, taus == 1 ? "" : "s", tau[ICE_DECAY_ELECTRON], tau[ICE_DECAY_MUON],
                tau[ICE_DECAY_HADRONS]);
    }
    const uint64_t muons = muon[ICE_DECAY_ELECTRON] + muon[ICE_DECAY_CAPTURE];
    if (muons > 0) {
        fprintf(out,
                "  decays   %" PRIu64 " muon%s at rest: %" PRIu64 " to an electron, %" PRIu64
                " captured by nuclei\n",
                muons, muons == 1 ? "" : "s", muon[ICE_DECAY_ELECTRON], muon[ICE_DECAY_CAPTURE]);
    }
}

void ics_light_totals_describe(const ics_light_totals *totals, FILE *out)
{
    double photons = 0;
    for (size_t i = 0; i < ICS_PARTICLE_TYPES; ++i) {
        photons += totals->types[i].photons;
    }
    if (totals->events > 1) {
        fprintf(out,
                "  event    %.3g photons (event %" PRIu64 ") to %.3g photons (event %" PRIu64
                "), %.3g on average\n",
                totals->least, totals->least_event, totals->most, totals->most_event,
                photons / (double)totals->events);
    }
    for (size_t i = 0; i < ICS_PARTICLE_TYPES; ++i) {
        const ics_light_of_type *type = &totals->types[i];
        if (type->particles == 0) {
            continue;
        }
        fprintf(out, "  %-8s %" PRIu64, ics_particle_type_name(i), type->particles);
        if (type->energy > 0) {
            fprintf(out, ", %.6g GeV", type->energy);
        }
        if (type->length > 0) {
            fprintf(out, ", %.6g m", type->length);
        }
        fprintf(out, ": %.3g photons\n", type->photons);
    }
    describe_decays(&totals->decayed, out);
}

static const char *const texts[ICS_TRACK_WARNINGS] = {
    [ICS_TRACK_BARE] =
        "no energy losses in the list, and particles.losses: none makes none, so most "
        "of the light may be missing (particles.losses: auto makes it)",
    [ICS_TRACK_PIECE] =
        "no energy losses in the list, and none are made, as in ppc, so most of the light may be "
        "missing (particles.losses: simple makes it)",
    [ICS_TRACK_TAU] =
        "no energy losses in the list, and none are made, because the generator knows "
        "those of muons only, so that their light is missing",
    [ICS_TRACK_TWICE] = "energy losses in the list, and particles.losses: simple makes them again "
                        "(particles.losses: auto does not)",
    [ICS_TRACK_MIXED] =
        "no energy losses in the list and get simple ones, while others have theirs "
        "in the list; with a complete list say particles.losses: none",
    [ICS_TRACK_UNKNOWN] = "no energy losses near them in the list, and the event is too large to "
                          "look at all of it",
    [ICS_TRACK_DECAYS] =
        "no decay products at the end in the list, so that it decays there (particles.decays: none "
        "leaves the products out)",
    [ICS_TRACK_STABLE] =
        "no decay products at the end in the list, and none are made (particles.decays: auto with "
        "conventions: standard makes them)",
    [ICS_TRACK_LONG] =
        "more length than a muon of this energy flies (particles.stopping: true ends "
        "it there)",
    [ICS_TRACK_OLD] = "more length than a tau of this energy flies: 14 times its mean length or "
                      "more, which one in a million does",
    [ICS_TRACK_FAR] =
        "more muons or pieces of muons (amu, amu-, amu+) far before them in the event than can be "
        "compared, so a muon and its pieces may both make light (pieces should follow their muon)",
    [ICS_TRACK_PIECES] =
        "pieces (amu, amu-, amu+) in the same event, so only the pieces make light",
    [ICS_TRACK_PPC] =
        "no light, because ppc gives light only to the lines of amu, amu-, amu+, e, e-, "
        "e+, delta, brems, epair, munu, hadr and ph whose columns are all numbers "
        "(particles.conventions: standard gives light to all particles)",
    [ICS_TRACK_SPREAD] =
        "a length of a cascade, over which ppc spreads its light; here it is ignored, and the "
        "light of the cascade begins at its position",
    [ICS_TRACK_RAY] =
        "the wavelengths of particles.spectrum, while ppc takes those of ph from wv.dat "
        "(docs/for-ppc-users.md says how to get the same)",
};

const char *ics_light_totals_explain_dark(const ics_light_totals *totals)
{
    return totals->warned[ICS_TRACK_PPC].count > 0
               ? "found particles without light, expected at least one photon; with "
                 "particles.conventions: ppc only amu, amu-, amu+, e, e-, e+, delta, brems, epair, "
                 "munu, hadr and ph of an f2k list make light, as in ppc: a muon needs its pieces, "
                 "amu, which mmc writes with -recc"
               : "found particles without light, expected at least one photon";
}

static const char *describe_first(const ics_warned_tracks *tracks, size_t kind, char *buffer,
                                  size_t size)
{
    if (kind == ICS_TRACK_RAY) {
        snprintf(buffer, size, "type %s", ics_particle_type_name(tracks->type));
    } else if (kind == ICS_TRACK_PPC) {
        /* Only a name that icestream does not know has this type here (particles/f2k.c). */
        const char *name = ics_particle_type_name(tracks->type);
        if (strcmp(name, "dark") == 0) {
            snprintf(buffer, size, "an unknown type");
        } else {
            snprintf(buffer, size, "type %s and %.6g GeV", name, tracks->energy);
        }
    } else {
        snprintf(buffer, size, "%.6g GeV and %.6g m", tracks->energy, tracks->length);
    }
    return buffer;
}

int ics_light_totals_warn(const ics_light_totals *totals, const ics_particle_source *source,
                          ics_warnings *out)
{
    for (size_t i = 0; i < ICS_TRACK_WARNINGS; ++i) {
        const ics_warned_tracks *tracks = &totals->warned[i];
        char first[128];
        if (tracks->count > 0 && (i != ICS_TRACK_MIXED || totals->listed > 0)) {
            ics_particle_source_warn(
                source, tracks->position, out, "%" PRIu64 " %s%s, the first one of %s, ha%s %s",
                tracks->count, i >= ICS_TRACK_PPC ? "particle" : "track",
                tracks->count == 1 ? "" : "s", describe_first(tracks, i, first, sizeof first),
                tracks->count == 1 ? "s" : "ve", texts[i]);
        }
    }
    if (totals->dark > 0 && totals->dark < totals->events) {
        ics_particle_source_warn(source, totals->dark_position, out,
                                 "event %" PRIu64
                                 ": found only particles without light, neutrinos or nuclei, in "
                                 "%" PRIu64 " of %" PRIu64
                                 " events; interactions are not simulated, so the list needs the "
                                 "particles that they make",
                                 totals->dark_event, totals->dark, totals->events);
    }
    ics_stray_losses_warn(&totals->strays, source, out);
    return out->status;
}
