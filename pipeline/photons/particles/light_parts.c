#include "pipeline/photons/particles/light_parts.h"

#include "physics/light/light_monopole.h"
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

/* Adds the place of a part: the model at this distance (m) behind the start of the track. */
static void place(const ics_light_parts *parts, double distance, ics_light_part *part)
{
    part->x += distance * parts->model.axis.x;
    part->y += distance * parts->model.axis.y;
    part->z += distance * parts->model.axis.z;
    part->t += distance / ICE_LIGHT_SPEED;
}

/* Photons may be within WORLD (m) of the origin. */
#define WORLD 1e4

/* Returns how far it is from the start of a track to the end of the world along its axis (m), at
 * most `length`. */
static double clip_to_world(const ics_light_parts *parts, double length)
{
    const ics_light_part *model = &parts->model;
    const double starts[3] = {model->x, model->y, model->z};
    const double steps[3] = {model->axis.x, model->axis.y, model->axis.z};
    for (int i = 0; i < 3; ++i) {
        if (steps[i] != 0) {
            length = fmin(length, (copysign(WORLD, steps[i]) - starts[i]) / steps[i]);
        }
    }
    return fmax(length, 0);
}

/* Decides whether losses are made for a track. The generator has the numbers of muons, so with
 * particles.losses: auto it makes none for a tau (light_totals.h warns). With the conventions of
 * ppc it makes none for pieces, as ppc. */
static bool decide_losses(ics_light_parts *parts, ics_track_losses listed,
                          char message[ICS_PARTICLE_MESSAGE])
{
    const ics_losses wanted = parts->setup->losses;
    const bool is_of_ppc = parts->setup->has_ppc && parts->is_piece;
    const bool is_auto = wanted == ICS_LOSSES_AUTO && parts->is_muon && !is_of_ppc;
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

/* Draws how far a tau flies that has no length in its list. Returns false if only the list can know
 * it. */
static bool fly(ics_light_parts *parts, ics_decay_listed listed, char message[ICS_PARTICLE_MESSAGE])
{
    if (!parts->setup->decays || listed != ICS_DECAY_NOT_LISTED) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "tau: found no length%s, expected the length (m) to its decay, and its decay "
                 "products as particles: a tau of %.6g GeV flies %.3g m on average%s",
                 listed == ICS_DECAY_LISTED    ? ", and particles on its line behind its start"
                 : listed == ICS_DECAY_UNKNOWN ? " in an event too large to look for its decay"
                                               : "",
                 parts->energy, ice_tau_decay_length(parts->energy),
                 parts->setup->decays
                     ? ""
                     : ", and decays are simulated with particles.decays: auto and "
                       "conventions: standard");
        return false;
    }
    ice_stream stream = numbers(parts, ICE_PURPOSE_DECAY, 0);
    const double length = -log(ice_stream_positive(&stream)) * ice_tau_decay_length(parts->energy);
    parts->length = clip_to_world(parts, length);
    parts->decays = parts->length >= length;
    return true;
}

/* Returns whether losses can be made for a muon that a tau decays to. */
static bool can_lose(const ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    if (parts->is_muon || !parts->decays || parts->energy <= ICE_LOSS_MOST ||
        parts->setup->losses == ICS_LOSSES_NONE) {
        return true;
    }
    snprintf(message, ICS_PARTICLE_MESSAGE,
             "energy: found a tau of %.10g GeV that decays, expected at most %.10g GeV with losses "
             "of its muon, or particles.losses: none",
             parts->energy, ICE_LOSS_MOST);
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
        if (fabs(ends[i]) > WORLD * (1 + 1e-9)) {
            snprintf(message, ICS_PARTICLE_MESSAGE,
                     "length: found a track of %.10g m to (%.10g, %.10g, %.10g), expected its end "
                     "within 10000 m",
                     parts->length, ends[0], ends[1], ends[2]);
            return false;
        }
    }
    return true;
}

/* Chooses the length of a track, and whether the particle is at rest at its end. */
static void choose_length(ics_light_parts *parts, bool has_length)
{
    const ics_light_setup *setup = parts->setup;
    const double range = ice_muon_range(&setup->track.muon, parts->energy);
    if (!has_length) {
        parts->length = setup->track.length > 0 ? setup->track.length : range;
        if (parts->is_muon && !parts->makes_losses) {
            parts->length = fmin(parts->length, range);
        }
    }
    parts->residual = INFINITY;
    /* A muon that ends at its range stops there. */
    const bool stops = setup->stopping || (setup->slows && !has_length && !parts->makes_losses);
    if (stops && parts->is_muon) {
        parts->residual = range;
        /* With losses the track ends where its energy ends. */
        if (!parts->makes_losses) {
            parts->length = fmin(parts->length, range);
        }
    }
}

static bool begin_track(ics_light_parts *parts, const ics_listed_particle *listed,
                        char message[ICS_PARTICLE_MESSAGE])
{
    const ics_particle *particle = parts->particle;
    parts->is_muon = ics_particle_is_muon(particle);
    parts->is_piece = ics_particle_is_piece(particle);
    parts->is_positive = ics_particle_is_positive(particle);
    parts->energy = value(particle, ICS_PARTICLE_ENERGY);
    /* A piece of no length is no light, as in ppc; the length of another track is not known then.
     */
    if (parts->is_piece && ics_particle_has(particle, ICS_PARTICLE_LENGTH) &&
        value(particle, ICS_PARTICLE_LENGTH) <= 0) {
        parts->done = true;
        return true;
    }
    parts->length = value(particle, ICS_PARTICLE_LENGTH);
    const bool has_length = parts->length > 0 || !parts->is_muon;
    parts->decays = parts->setup->decays && listed->decay == ICS_DECAY_NOT_LISTED;
    if (parts->length <= 0 && !parts->is_muon && !fly(parts, listed->decay, message)) {
        return false;
    }
    if (!decide_losses(parts, listed->track_losses, message) || !can_lose(parts, message)) {
        return false;
    }
    choose_length(parts, has_length);
    return ends_inside(parts, message);
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
           (parts->setup->slows && !parts->makes_losses && parts->is_muon && !parts->is_piece);
}

/* Returns whether losses have left a muon no energy. */
static bool is_spent(const ics_light_parts *parts)
{
    return parts->makes_losses && parts->energy <= ICE_MUON_STOPPED;
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
    parts->ended =
        parts->at >= parts->length * (1 - 1e-12) || parts->residual <= 1e-9 || is_spent(parts);
}

/* Sets the start of a part to this distance (m) behind the start of the piece. */
static void move(const ics_light_parts *parts, double along, ics_light_part *part)
{
    place(parts, parts->at + along, part);
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

/* ---- decays ---------------------------------------------------------------------------------- */

/* Returns whether the particle decays where its track has ended. */
static bool decays_now(const ics_light_parts *parts)
{
    return parts->decays && (!parts->is_muon || parts->residual <= 1e-9 || is_spent(parts));
}

/* Begins the track of a muon of a decay, at the position and along the axis of the model. The
 * pieces of both tracks are counted on, because random numbers belong to them. */
static void begin_muon(ics_light_parts *parts, double energy)
{
    const ics_losses wanted = parts->setup->losses;
    parts->is_muon = true;
    parts->energy = energy;
    parts->makes_losses =
        wanted == ICS_LOSSES_SIMPLE || (wanted == ICS_LOSSES_AUTO && energy >= ICS_TRACK_ENERGETIC);
    choose_length(parts, false);
    parts->length = clip_to_world(parts, parts->length);
    parts->at = parts->piece = 0;
    parts->losses = 0;
    parts->ended = false;
}

/* Begins the light of the products. */
static void take_products(ics_light_parts *parts, const ice_decay_products *products)
{
    ics_decay_cascade *out = parts->cascades;
    switch (products->kind) {
    case ICE_DECAY_MUON:
        begin_muon(parts, fmax(products->energy, ICE_MUON_MASS));
        break;
    case ICE_DECAY_ELECTRON:
        out[0] = (ics_decay_cascade){
            parts->is_positive ? ICE_CASCADE_POSITRON : ICE_CASCADE_ELECTRON, products->energy};
        parts->cascades_left = 1;
        break;
    case ICE_DECAY_HADRONS:
        out[1] = (ics_decay_cascade){ICE_CASCADE_PI_PLUS,
                                     products->energy * (1 - products->electromagnetic)};
        out[0] =
            (ics_decay_cascade){ICE_CASCADE_GAMMA, products->energy * products->electromagnetic};
        parts->cascades_left = 2;
        break;
    default:
        break;
    }
}

/* Moves to the end of the track, and draws what follows there. */
static void decay(ics_light_parts *parts)
{
    ics_light_part *model = &parts->model;
    const uint32_t before = (uint32_t)parts->decayed.tau[ICE_DECAY_MUON];
    ice_stream stream = numbers(parts, ICE_PURPOSE_DECAY, 1 + before);
    const ice_decay_products products = parts->is_muon ? ice_decay_muon(parts->is_positive, &stream)
                                                       : ice_decay_tau(parts->energy, &stream);
    place(parts, parts->at, model);
    if (parts->is_muon) {
        const double slow = isfinite(parts->residual) ? ICE_MUON_SLOW : 0;
        model->t += ice_muon_lag(&parts->setup->track.muon, fmin(slow, parts->at), 0);
        /* The muon has forgotten its direction. */
        model->axis = ice_axis_turn((ice_axis){0, 0, 1}, 2 * ice_stream_uniform(&stream),
                                    2 * ICE_PI * ice_stream_uniform(&stream));
        ++parts->decayed.muon[products.kind];
    } else {
        model->axis = ice_axis_turn(model->axis, 1 - products.cosine,
                                    2 * ICE_PI * ice_stream_uniform(&stream));
        ++parts->decayed.tau[products.kind];
    }
    model->t += products.delay;
    parts->decays = products.kind == ICE_DECAY_MUON;
    take_products(parts, &products);
}

static bool next_of_track(ics_light_parts *parts, ics_light_part *part)
{
    for (;;) {
        if (parts->cascades_left > 0) {
            const ics_decay_cascade *one = &parts->cascades[--parts->cascades_left];
            *part = parts->model;
            if (one->energy > 0) {
                take_cascade(parts, part, one->kind, one->energy);
                return true;
            }
        } else if (parts->ended) {
            if (!decays_now(parts)) {
                return false;
            }
            decay(parts);
            *part = parts->model;
        } else if (parts->length > 0 && next_of_piece(parts, part)) {
            return true;
        } else {
            end_piece(parts);
        }
    }
}

/* ---- monopoles ------------------------------------------------------------------------------- */

static bool begin_monopole(ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    const ics_light_setup *setup = parts->setup;
    const ics_particle *particle = parts->particle;
    parts->model.beta = value(particle, ICS_PARTICLE_BETA);
    parts->length = value(particle, ICS_PARTICLE_LENGTH);
    parts->bare = setup->per_metre * ics_light_setup_share(setup, parts->model.beta, true);
    if (parts->bare <= 0 && !ics_particle_has(particle, ICS_PARTICLE_FREE_PATH)) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "monopole: found beta %.6g, at which there is no Cherenkov light, and no "
                 "free_path, expected one of both",
                 parts->model.beta);
        return false;
    }
    return ends_inside(parts, message);
}

/* The bare track first, then the cascades of nucleons in their order. Their products have any
 * direction. */
static bool next_of_monopole(ics_light_parts *parts, ics_light_part *part)
{
    const ics_particle *particle = parts->particle;
    if (parts->part == 0) {
        part->form = ICS_PART_TRACK;
        part->per_step = PROFILE_PHOTONS; /* each photon has its own start on the track */
        part->length = parts->length;
        take(parts, part, parts->length * parts->bare);
        return true;
    }
    if (!ics_particle_has(particle, ICS_PARTICLE_FREE_PATH)) {
        return false;
    }
    ice_stream stream = numbers(parts, ICE_PURPOSE_DECAY, parts->part);
    parts->at += ice_monopole_way(value(particle, ICS_PARTICLE_FREE_PATH), &stream);
    if (parts->at > parts->length) {
        return false;
    }
    part->x += parts->at * part->axis.x;
    part->y += parts->at * part->axis.y;
    part->z += parts->at * part->axis.z;
    part->t += parts->at / (ICE_LIGHT_SPEED * part->beta);
    part->axis = ice_axis_turn((ice_axis){0, 0, 1}, 2 * ice_stream_uniform(&stream),
                               2 * ICE_PI * ice_stream_uniform(&stream));
    part->beta = 1;
    take_cascade(parts, part, ICE_CASCADE_POSITRON, ICE_NUCLEON_DECAY);
    return true;
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
        return begin_track(parts, listed, message);
    }
    if (kind == ICS_PARTICLE_MONOPOLE) {
        return begin_monopole(parts, message);
    }
    return ics_light_source_begin(parts, kind, message);
}

bool ics_light_parts_next(ics_light_parts *parts, ics_light_part *out)
{
    const ics_particle *particle = parts->particle;
    double share;
    if (parts->done) {
        return false;
    }
    *out = parts->model;
    switch (ics_particle_class_of(particle)) {
    case ICS_PARTICLE_TRACK:
        if (!next_of_track(parts, out)) {
            parts->done = true;
            return false;
        }
        break;
    case ICS_PARTICLE_MONOPOLE:
        if (!next_of_monopole(parts, out)) {
            parts->done = true;
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
        if (!ics_light_source_slice(parts, out, &share)) {
            parts->done = true;
            return false;
        }
        take(parts, out, share * ics_light_source_mean(parts));
    }
    ++parts->part;
    return true;
}
