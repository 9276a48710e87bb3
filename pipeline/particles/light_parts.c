#include "pipeline/particles/light_parts.h"

#include <math.h>
#include <string.h>

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

/* ---- cascades -------------------------------------------------------------------------------- */

static void take_cascade(ics_light_parts *parts, ics_light_part *part, ice_cascade kind,
                         double energy)
{
    const ics_light_setup *setup = parts->setup;
    ice_stream stream = numbers(parts, ICE_PURPOSE_NUMBER, parts->part);
    const double track = ice_cascade_track(&setup->convention, kind, energy, &stream);
    part->form = ICS_PART_CASCADE;
    part->depth = ice_cascade_profile_of(&setup->convention, kind, energy);
    part->photons = ice_stream_poisson(&stream, track * setup->per_metre);
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static bool begin_track(ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    const ics_light_setup *setup = parts->setup;
    const ics_particle *particle = parts->particle;
    const bool is_muon =
        strcmp(ics_particle_type_name((size_t)value(particle, ICS_PARTICLE_TYPE)), "tau") != 0;
    parts->energy = value(particle, ICS_PARTICLE_ENERGY);
    if (setup->losses && parts->energy > ICE_LOSS_MOST) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "energy: found a track of %.10g GeV, expected at most %.10g GeV with "
                 "particles.losses: simple, which makes every loss above %.10g GeV",
                 parts->energy, ICE_LOSS_MOST, ICE_LOSS_LEAST);
        return false;
    }
    const double range = ice_muon_range(parts->energy);
    parts->length = value(particle, ICS_PARTICLE_LENGTH);
    if (parts->length <= 0) {
        parts->length = setup->track_length > 0 ? setup->track_length : range;
    }
    parts->residual = INFINITY;
    if (setup->stopping && is_muon) {
        parts->residual = range;
        /* With losses the track ends where its energy ends. */
        if (!setup->losses) {
            parts->length = fmin(parts->length, range);
        }
    }
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
    if (parts->setup->losses) {
        piece = clamp_piece(piece, ICE_LOSS_PIECE);
    }
    if (parts->setup->stopping && !parts->setup->losses) {
        piece = clamp_piece(piece, parts->residual - ICE_MUON_SLOW);
    }
    return piece;
}

static void draw_losses(ics_light_parts *parts)
{
    parts->losses = parts->loss = parts->pair_like = 0;
    if (!parts->setup->losses || is_slow(parts) || parts->energy <= ICE_LOSS_LEAST) {
        return;
    }
    double pairs, brems;
    ice_stream stream = numbers(parts, ICE_PURPOSE_LOSSES, parts->piece_number);
    ice_loss_means(parts->energy, parts->piece, &pairs, &brems);
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

/* Subtracts the energy that the piece lost and moves to the next piece. */
static void end_piece(ics_light_parts *parts)
{
    const ics_light_setup *setup = parts->setup;
    double spent = ICE_MUON_IONISATION * parts->piece, share;
    ice_cascade kind;
    for (uint32_t i = 0; i < parts->losses; ++i) {
        spent += draw_loss(parts, i, &share, &kind);
    }
    parts->at += parts->piece;
    if (setup->losses) {
        parts->energy -= spent;
    }
    if (isfinite(parts->residual)) {
        parts->residual = setup->losses && !is_slow(parts)
                              ? (parts->energy - ICE_MUON_MASS) / ICE_MUON_IONISATION
                              : parts->residual - parts->piece;
    }
    ++parts->piece_number;
    parts->stage = 0;
    const bool is_spent = setup->losses && parts->energy <= ICE_MUON_STOPPED;
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

/* The bare track of a slow piece, in parts of ICE_MUON_PIECE metres, counted from the end of the
 * track. */
static bool take_slow(ics_light_parts *parts, uint32_t index, ics_light_part *part)
{
    const double along = index * ICE_MUON_PIECE;
    if (along >= parts->piece) {
        return false;
    }
    const double middle = parts->residual - along - 0.5 * ICE_MUON_PIECE;
    const double length = clamp_piece(ICE_MUON_PIECE, parts->piece - along);
    const int share = (int)fmin(fmax(middle / ICE_MUON_PIECE, 0), ICS_SLOW_PIECES - 1);
    move(parts, along, part);
    part->form = ICS_PART_TRACK;
    part->length = length;
    part->beta = ice_muon_beta(fmax(middle, 0.5 * length));
    take(parts, part, length * parts->setup->per_metre * parts->setup->slow[share]);
    return true;
}

/* Makes the parts of a piece in order: light of secondaries, losses, the bare track. */
static bool next_of_piece(ics_light_parts *parts, ics_light_part *part)
{
    const ics_light_setup *setup = parts->setup;
    if (parts->stage == 0) {
        parts->piece = find_piece(parts);
        draw_losses(parts);
        move(parts, 0, part);
        part->form = ICS_PART_CLOUD;
        part->length = parts->piece;
        take(parts, part,
             parts->piece * setup->per_metre * ice_muon_extra(&setup->convention, parts->energy));
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
        return take_slow(parts, parts->stage++ - 1, part);
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

/* ---- flashers and the like ------------------------------------------------------------------- */

static const ice_module *find_module(const ice_detector *detector, double string, double module)
{
    for (size_t i = 0; i < detector->module_count; ++i) {
        if (detector->modules[i].string == string && detector->modules[i].module == module) {
            return &detector->modules[i];
        }
    }
    return NULL;
}

static void set_pulse(ics_light_parts *parts)
{
    const ics_particle *particle = parts->particle;
    ics_pulse pulse = (ics_pulse)value(particle, ICS_PARTICLE_PULSE);
    if (!ics_particle_has(particle, ICS_PARTICLE_PULSE)) {
        pulse = ics_particle_has(particle, ICS_PARTICLE_WIDTH) ? ICS_PULSE_LED : ICS_PULSE_INSTANT;
    }
    if (pulse == ICS_PULSE_LED) {
        parts->model.pulse = ice_led_pulse(value(particle, ICS_PARTICLE_WIDTH));
    } else if (pulse == ICS_PULSE_RECTANGLE) {
        parts->model.pulse.plateau = ics_particle_has(particle, ICS_PARTICLE_DURATION)
                                         ? value(particle, ICS_PARTICLE_DURATION)
                                         : 70;
    } else {
        parts->model.per_step = parts->model.form == ICS_PART_POINT
                                    ? parts->setup->photons_per_step
                                    : parts->setup->photons_per_direction;
    }
}

/* Sets the direction of an LED of a module, and its position. With has_glass the position follows
 * from the direction for each photon. */
static void start_led(ics_light_parts *parts)
{
    const ics_particle *particle = parts->particle;
    ics_light_part *model = &parts->model;
    ice_axis offset;
    const uint32_t led = (uint32_t)value(particle, ICS_PARTICLE_LED);
    ice_led_position(led, value(particle, ICS_PARTICLE_LED_AZIMUTH) * ICE_DEGREE, &offset,
                     &model->axis);
    model->led = ice_led_is_tilted(led) ? ICE_LED_TILTED : ICE_LED_HORIZONTAL;
    if (!model->has_glass) {
        model->x += offset.x;
        model->y += offset.y;
        model->z += offset.z;
        model->radius = 0;
    }
}

/* Sets position and direction of a flasher on its module, or of a beam anywhere. */
static bool start_beam(ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    const ics_particle *particle = parts->particle;
    ics_light_part *model = &parts->model;
    if (ics_particle_has(particle, ICS_PARTICLE_STRING)) {
        const double string = value(particle, ICS_PARTICLE_STRING);
        const double number = value(particle, ICS_PARTICLE_MODULE);
        const ice_module *module = find_module(parts->setup->detector, string, number);
        if (module == NULL) {
            snprintf(message, ICS_PARTICLE_MESSAGE,
                     "string, module: found [%g, %g], expected a module of %.200s", string, number,
                     parts->setup->detector->name);
            return false;
        }
        model->x = module->x;
        model->y = module->y;
        model->z = module->z;
        model->radius = parts->setup->detector->radius;
        model->has_glass = parts->setup->leds_of_ppc && model->beam == ICS_BEAM_LAB;
    }
    if (ics_particle_has(particle, ICS_PARTICLE_LED)) {
        start_led(parts);
    }
    const double ring = hypot(ICE_LED_PPC_RING, ICE_LED_PPC_HEIGHT);
    if (model->has_glass && !(model->radius > ring)) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "beam: found lab with particles.conventions: ppc and detector.radius %.10g m, "
                 "expected a radius above %.10g m, so that the LED is inside the module",
                 model->radius, ring);
        return false;
    }
    return true;
}

static bool set_beam(ics_light_parts *parts, char message[ICS_PARTICLE_MESSAGE])
{
    const ics_particle *particle = parts->particle;
    ics_light_part *model = &parts->model;
    double polar, azimuth;
    model->form = ICS_PART_BEAM;
    model->beam = (ics_beam)value(particle, ICS_PARTICLE_BEAM);
    model->beam_width = ics_particle_has(particle, ICS_PARTICLE_BEAM_WIDTH)
                            ? value(particle, ICS_PARTICLE_BEAM_WIDTH) * ICE_DEGREE
                            : 9.7 * ICE_DEGREE;
    if (model->beam == ICS_BEAM_CLSIM && !ice_led_smear(model->spectrum, false, &polar, &azimuth)) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "beam: found clsim with spectrum %u, expected one of the LEDs, 1 to 5",
                 model->spectrum);
        return false;
    }
    return start_beam(parts, message);
}

/* Begins a source that has a number of photons and no energy. */
static bool begin_source(ics_light_parts *parts, ics_particle_class kind,
                         char message[ICS_PARTICLE_MESSAGE])
{
    const ics_light_setup *setup = parts->setup;
    const ics_particle *particle = parts->particle;
    ics_light_part *model = &parts->model;
    model->spectrum = kind == ICS_PARTICLE_CANDLE ? 6
                      : ics_particle_has(particle, ICS_PARTICLE_SPECTRUM)
                          ? (uint32_t)value(particle, ICS_PARTICLE_SPECTRUM)
                          : setup->spectrum;
    if (model->spectrum >= setup->spectrum_count) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "spectrum: found %u, expected at most %zu: those beyond 6 are in light.spectra",
                 model->spectrum, setup->spectrum_count - 1);
        return false;
    }
    model->form = kind == ICS_PARTICLE_RAY     ? ICS_PART_RAY
                  : kind == ICS_PARTICLE_POINT ? ICS_PART_POINT
                                               : ICS_PART_CANDLE;
    if (kind == ICS_PARTICLE_RAY) {
        return true;
    }
    model->per_step = setup->photons_per_direction;
    if (kind == ICS_PARTICLE_CANDLE) {
        const ice_candle candle = ice_candle_of(ics_particle_candle_of(particle));
        model->x = candle.x;
        model->y = candle.y;
        model->z = candle.z;
        model->elevation = candle.elevation;
    }
    set_pulse(parts);
    return kind != ICS_PARTICLE_FLASHER || set_beam(parts, message);
}

static double source_mean(const ics_light_parts *parts)
{
    const ics_particle *particle = parts->particle;
    const double photons = ics_particle_has(particle, ICS_PARTICLE_PHOTONS)
                               ? value(particle, ICS_PARTICLE_PHOTONS)
                               : ice_led_output(value(particle, ICS_PARTICLE_BRIGHTNESS),
                                                value(particle, ICS_PARTICLE_WIDTH));
    const ics_light_part *model = &parts->model;
    const double leaves =
        model->has_glass ? ice_led_ppc_share(model->led, model->axis, model->radius) : 1.0;
    return photons * leaves * parts->setup->kept[model->spectrum];
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
    if (kind == ICS_PARTICLE_CASCADE) {
        return true;
    }
    if (kind == ICS_PARTICLE_TRACK) {
        return begin_track(parts, message);
    }
    return begin_source(parts, kind, message);
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
        take(parts, out, source_mean(parts));
        parts->done = true;
    }
    ++parts->part;
    return true;
}
