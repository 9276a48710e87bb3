#include "pipeline/photons/particles/light_parts.h"

#include "pipeline/photons/particles/events.h"

#include <math.h>

static double value(const ics_particle *particle, ics_particle_field field)
{
    return particle->values[field];
}

/* Begins the random numbers of the next part. */
static ice_stream numbers(const ics_light_parts *parts, ice_purpose purpose, uint32_t item)
{
    return ice_stream_of(parts->setup->seed, parts->event, parts->number, purpose, item);
}

/* Makes a part with a Poisson number of photons. */
static void take(ics_light_parts *parts, ics_light_part *part, double mean)
{
    ice_stream stream = numbers(parts, ICE_PURPOSE_NUMBER, parts->part);
    part->photons = ice_stream_poisson(&stream, mean);
}

/* The photons of a step with a profile differ, so it may have many (particles.cascades: profile).
 * `icestream split` divides no step. */
enum { PROFILE_PHOTONS = 1 << 20 };

static void use_profile(const ics_light_parts *parts, ics_light_part *part)
{
    part->has_profile = parts->setup->cascades_are_profiles;
    part->per_step = part->has_profile ? PROFILE_PHOTONS : parts->setup->photons_per_step;
}

/* ---- cascades -------------------------------------------------------------------------------- */

static void take_cascade(ics_light_parts *parts, ics_light_part *part, ice_cascade kind,
                         double energy)
{
    const ics_light_setup *setup = parts->setup;
    ice_stream stream = numbers(parts, ICE_PURPOSE_NUMBER, parts->part);
    const double track = ice_cascade_track(&setup->convention, kind, energy, &stream);
    part->form = ICS_PART_CASCADE;
    use_profile(parts, part);
    part->depth = ice_cascade_profile_of(&setup->convention, kind, energy);
    part->photons = ice_stream_poisson(&stream, track * setup->per_metre);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

/* Decides whether losses are made for a track. The generator has the numbers of muons, so with
 * particles.losses: auto it makes none for a tau (light_totals.h warns). With the conventions of
 * ppc it makes none for pieces, as ppc. */
static bool decide_losses(ics_light_parts *parts, ics_track_losses listed,
                          char message[ICS_PARTICLE_MESSAGE])
{
    const ics_losses wanted = parts->setup->losses;
    const bool is_of_ppc = parts->setup->has_ppc && ics_particle_is_piece(parts->particle);
    const bool is_auto =
        wanted == ICS_LOSSES_AUTO && ics_particle_is_muon(parts->particle) && !is_of_ppc;
    if (is_auto && listed == ICS_LOSSES_UNKNOWN) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "mu: found no losses on this track among %d particles of its event, which has "
                 "more; expected particles.losses: none (the list has them) or simple",
                 ICS_EVENT_PARTICLES);
        return false;
    }
    parts->makes_losses = wanted == ICS_LOSSES_SIMPLE || (is_auto && listed == ICS_LOSSES_MISSING);
    if (parts->makes_losses && parts->energy > ICE_LOSS_MOST) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "energy: found a track of %.10g GeV, expected at most %.10g GeV with "
                 "particles.losses: %s, which makes every loss above %.10g GeV",
                 parts->energy, ICE_LOSS_MOST, is_auto ? "auto" : "simple", ICE_LOSS_LEAST);
        return false;
    }
    return true;
}

/* Taus do not decay here, so only the list knows where one ends. */
static bool refuse_tau(const ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    snprintf(
        message, ICS_PARTICLE_MESSAGE,
        "tau: found no length, expected the length (m) to its decay, and its decay products as "
        "particles: a tau of %.6g GeV flies %.3g m on average, and its decay is not simulated",
        parts->energy, ice_tau_decay_length(parts->energy));
    return false;
}

/* Returns whether the end of a track is where photons may be. */
static bool ends_inside(const ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    const ice_axis axis = parts->model.axis;
    const double ends[3] = {parts->model.x + parts->length * axis.x,
                            parts->model.y + parts->length * axis.y,
                            parts->model.z + parts->length * axis.z};
    for (int i = 0; i < 3; ++i) {
        if (fabs(ends[i]) > 1e4) {
            snprintf(message, ICS_PARTICLE_MESSAGE,
                     "length: found a track of %.10g m to (%.10g, %.10g, %.10g), expected its end "
                     "within 10000 m",
                     parts->length, ends[0], ends[1], ends[2]);
            return false;
        }
    }
    return true;
}

static bool begin_track(ics_light_parts *parts, ics_track_losses listed,
                        char message[ICS_PARTICLE_MESSAGE])
{
    const ics_light_setup *setup = parts->setup;
    const ics_particle *particle = parts->particle;
    const bool is_muon = ics_particle_is_muon(particle);
    parts->energy = value(particle, ICS_PARTICLE_ENERGY);
    /* A piece of no length is no light, as in ppc; the length of another track is not known then.
     */
    if (ics_particle_is_piece(particle) && ics_particle_has(particle, ICS_PARTICLE_LENGTH) &&
        value(particle, ICS_PARTICLE_LENGTH) <= 0) {
        parts->done = true;
        return true;
    }
    parts->length = value(particle, ICS_PARTICLE_LENGTH);
    const bool has_length = parts->length > 0;
    if (!is_muon && !has_length) {
        return refuse_tau(parts, message);
    }
    if (!decide_losses(parts, listed, message)) {
        return false;
    }
    const double range = ice_muon_range(&setup->track.muon, parts->energy);
    if (!has_length) {
        parts->length = setup->track.length > 0 ? setup->track.length : range;
        if (is_muon && !parts->makes_losses) {
            parts->length = fmin(parts->length, range);
        }
    }
    parts->residual = INFINITY;
    /* A muon that ends at its range stops there. */
    const bool stops = setup->stopping || (setup->slows && !has_length && !parts->makes_losses);
    if (stops && is_muon) {
        parts->residual = range;
        /* With losses the track ends where its energy ends. */
        if (!parts->makes_losses) {
            parts->length = fmin(parts->length, range);
        }
    }
    if (!ends_inside(parts, message)) {
        return false;
    }
    parts->done = parts->length <= 0;
    return true;
}

/* Returns whether the muon is so slow that it is followed in short pieces. */
static bool is_slow(const ics_light_parts *parts)
{
    return parts->residual <= ICE_MUON_SLOW * (1 + 1e-12);
}

static double clamp_piece(double wanted, double most)
{
    return wanted < most ? wanted : most;
}

/* Returns the length (m) of the piece that starts here. It ends with the track, or earlier where
 * its treatment changes. */
static double find_piece(const ics_light_parts *parts)
{
    double piece = parts->length - parts->at;
    if (is_slow(parts)) {
        return clamp_piece(piece, parts->residual);
    }
    if (parts->makes_losses) {
        piece = clamp_piece(piece, ICE_LOSS_PIECE);
    }
    if (!parts->makes_losses) { /* the residual range may be INFINITY */
        piece = clamp_piece(piece, parts->residual - ICE_MUON_SLOW);
    }
    return piece;
}

static void draw_losses(ics_light_parts *parts)
{
    parts->losses = parts->loss = parts->pair_like = 0;
    if (!parts->makes_losses || is_slow(parts) || parts->energy <= ICE_LOSS_LEAST) {
        return;
    }
    double pairs, brems;
    ice_stream stream = numbers(parts, ICE_PURPOSE_LOSSES, parts->piece_number);
    ice_loss_means(&parts->setup->track.muon, parts->energy, parts->piece, &pairs, &brems);
    parts->pair_like = (uint32_t)ice_stream_poisson(&stream, pairs);
    parts->losses = parts->pair_like + (uint32_t)ice_stream_poisson(&stream, brems);
}

/* Returns a loss of the piece: its position as a share of the piece, its energy, its kind. The loss
 * is a function of its number, so that no list of losses is needed. */
static double draw_loss(const ics_light_parts *parts, uint32_t loss, double *share,
                        ice_cascade *kind)
{
    ice_stream stream = numbers(parts, ICE_PURPOSE_LOSS, parts->piece_number);
    ice_stream_skip_to(&stream, ICE_BLOCKS_OF_LOSS * loss);
    const double u = ice_stream_uniform(&stream);
    *share = ice_stream_uniform(&stream);
    *kind = ice_stream_uniform(&stream) < ICE_LOSS_HADRONIC ? ICE_CASCADE_PI_PLUS
                                                            : ICE_CASCADE_ELECTRON;
    return loss < parts->pair_like ? ice_loss_pair_like(parts->energy, u)
                                   : ice_loss_brems_like(parts->energy, u);
}

/* Returns whether a muon loses the mean energy along the piece. The energy of a piece with losses
 * that are made is that of its start; so is that of a listed piece, and with the conventions of
 * clsim and ppc that of the track. */
static bool is_slowing(const ics_light_parts *parts)
{
    return is_slow(parts) ||
           (parts->setup->slows && !parts->makes_losses && ics_particle_is_muon(parts->particle) &&
            !ics_particle_is_piece(parts->particle));
}

/* Subtracts the energy that the piece lost and moves to the next piece. */
static void end_piece(ics_light_parts *parts)
{
    const ice_muon_loss *muon = &parts->setup->track.muon;
    double spent = muon->ionisation * parts->piece, share;
    ice_cascade kind;
    for (uint32_t i = 0; i < parts->losses; ++i) {
        spent += draw_loss(parts, i, &share, &kind);
    }
    parts->at += parts->piece;
    if (parts->makes_losses) {
        parts->energy -= spent;
    } else if (is_slowing(parts)) {
        parts->energy = ice_muon_energy_after(muon, parts->energy, parts->piece);
    }
    if (isfinite(parts->residual)) {
        parts->residual = parts->makes_losses && !is_slow(parts)
                              ? (parts->energy - ICE_MUON_MASS) / muon->ionisation
                              : parts->residual - parts->piece;
    }
    ++parts->piece_number;
    parts->stage = 0;
    const bool is_spent = parts->makes_losses && parts->energy <= ICE_MUON_STOPPED;
    parts->done = parts->at >= parts->length * (1 - 1e-12) || parts->residual <= 1e-9 || is_spent;
}

/* Sets the start of a part to this distance (m) behind the start of the piece. */
static void move(const ics_light_parts *parts, double along, ics_light_part *part)
{
    const double distance = parts->at + along;
    part->x += distance * part->axis.x;
    part->y += distance * part->axis.y;
    part->z += distance * part->axis.z;
    part->t += distance / ICE_LIGHT_SPEED;
}

/* The bare track of a slow piece, in parts of ICE_MUON_PIECE metres that are counted from the end
 * of the range: part k has the residual ranges from k to k + 1 of them. `index` counts from the
 * start of the piece. */
static bool take_slow(ics_light_parts *parts, int index, ics_light_part *part)
{
    const ice_muon_loss *muon = &parts->setup->track.muon;
    const int k = (int)ceil(parts->residual / ICE_MUON_PIECE - 1e-9) - 1 - index;
    const double from = fmin(parts->residual, (k + 1) * ICE_MUON_PIECE);
    const double to = fmax(k * ICE_MUON_PIECE, parts->residual - parts->piece);
    if (k < 0 || from <= to) {
        return false;
    }
    move(parts, parts->residual - from, part);
    part->t += ice_muon_lag(muon, parts->residual, from);
    part->form = ICS_PART_TRACK;
    part->length = from - to;
    part->beta =
        ice_muon_beta(muon, (k + 0.5) * ICE_MUON_PIECE); /* setup->slow[k] is of this speed */
    take(parts, part, part->length * parts->setup->per_metre * parts->setup->slow[k]);
    return true;
}

/* The light of secondaries along a piece. */
static void take_secondaries(ics_light_parts *parts, ics_light_part *part)
{
    const ics_light_setup *setup = parts->setup;
    const double extra = is_slowing(parts)
                             ? ice_muon_mean_extra(&setup->convention, &setup->track.muon,
                                                   parts->energy, parts->piece)
                             : ice_muon_extra(&setup->convention, parts->energy);
    move(parts, 0, part);
    part->form = ICS_PART_CLOUD;
    use_profile(parts, part);
    part->length = parts->piece;
    take(parts, part, parts->piece * setup->per_metre * extra);
}

/* Makes the parts of a piece in order: light of secondaries, losses, the bare track. */
static bool next_of_piece(ics_light_parts *parts, ics_light_part *part)
{
    const ics_light_setup *setup = parts->setup;
    if (parts->stage == 0) {
        parts->piece = find_piece(parts);
        draw_losses(parts);
        take_secondaries(parts, part);
        parts->stage = 1;
        return true;
    }
    if (parts->loss < parts->losses) {
        double share;
        ice_cascade kind;
        const double energy = draw_loss(parts, parts->loss++, &share, &kind);
        move(parts, share * parts->piece, part);
        take_cascade(parts, part, kind, energy);
        return true;
    }
    if (is_slow(parts)) {
        return take_slow(parts, (int)parts->stage++ - 1, part);
    }
    if (parts->stage == 2) {
        return false;
    }
    parts->stage = 2;
    move(parts, 0, part);
    part->form = ICS_PART_TRACK;
    part->length = parts->piece;
    take(parts, part, parts->piece * setup->per_metre);
    return true;
}

static bool next_of_track(ics_light_parts *parts, ics_light_part *part)
{
    while (!parts->done) {
        if (next_of_piece(parts, part)) {
            return true;
        }
        end_piece(parts);
    }
    return false;
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool ics_light_parts_begin(ics_light_parts *parts, const ics_light_setup *setup,
                           const ics_listed_particle *listed, char message[ICS_PARTICLE_MESSAGE])
{
    const ics_particle *particle = &listed->particle;
    const ics_particle_class kind = ics_particle_class_of(particle);
    *parts = (ics_light_parts){
        .setup = setup, .particle = particle, .event = listed->event, .number = listed->number};
    parts->model = (ics_light_part){.per_step = setup->photons_per_step,
                                    .x = value(particle, ICS_PARTICLE_X),
                                    .y = value(particle, ICS_PARTICLE_Y),
                                    .z = value(particle, ICS_PARTICLE_Z),
                                    .t = value(particle, ICS_PARTICLE_TIME),
                                    .axis = {0, 0, 1},
                                    .beta = 1};
    if (ics_particle_has(particle, ICS_PARTICLE_ZENITH) ||
        ics_particle_has(particle, ICS_PARTICLE_DX)) {
        parts->model.axis = ics_particle_axis(particle);
    }
    if (listed->passed != ICS_PASSED_NOT) {
        parts->done = true;
        return true;
    }
    if (kind == ICS_PARTICLE_CASCADE || kind == ICS_PARTICLE_DARK) {
        parts->done = kind == ICS_PARTICLE_DARK;
        return true;
    }
    if (kind == ICS_PARTICLE_TRACK) {
        return begin_track(parts, listed->track_losses, message);
    }
    return ics_light_source_begin(parts, kind, message);
}

bool ics_light_parts_next(ics_light_parts *parts, ics_light_part *out)
{
    const ics_particle *particle = parts->particle;
    if (parts->done) {
        return false;
    }
    *out = parts->model;
    switch (ics_particle_class_of(particle)) {
    case ICS_PARTICLE_TRACK:
        if (!next_of_track(parts, out)) {
            return false;
        }
        break;
    case ICS_PARTICLE_CASCADE:
        take_cascade(parts, out, ics_particle_cascade_of(particle),
                     value(particle, ICS_PARTICLE_ENERGY));
        parts->done = true;
        break;
    case ICS_PARTICLE_RAY:
        out->photons = (uint64_t)value(particle, ICS_PARTICLE_PHOTONS);
        parts->done = true;
        break;
    default:
        take(parts, out, ics_light_source_mean(parts));
        parts->done = true;
    }
    ++parts->part;
    return true;
}
