#include "pipeline/photons/particles/particle.h"

#include "physics/light/light_muon.h"
#include "pipeline/photons/config/schema/nearest.h"
#include "pipeline/photons/models/text/text.h"
#include "pipeline/photons/particles/names.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* All names of physics.md 10.6. `detail` is the profile of a cascade, the number of a candle, or 1
 * for a muon of positive charge.
 * `mass` is the least total energy (GeV), rounded down in its sixth digit. Sums of losses and of
 * hadrons have no mass. */
static const struct {
    const char *name;
    ics_particle_class kind;
    int detail;
    double mass;
} types[] = {
    {"e", ICS_PARTICLE_CASCADE, ICE_CASCADE_ELECTRON, 5.11e-4},
    {"e-", ICS_PARTICLE_CASCADE, ICE_CASCADE_ELECTRON, 5.11e-4},
    {"e+", ICS_PARTICLE_CASCADE, ICE_CASCADE_POSITRON, 5.11e-4},
    {"gamma", ICS_PARTICLE_CASCADE, ICE_CASCADE_GAMMA, 0},
    {"pi0", ICS_PARTICLE_CASCADE, ICE_CASCADE_GAMMA, 0.134977},
    {"brems", ICS_PARTICLE_CASCADE, ICE_CASCADE_ELECTRON, 0},
    {"epair", ICS_PARTICLE_CASCADE, ICE_CASCADE_ELECTRON, 0},
    {"delta", ICS_PARTICLE_CASCADE, ICE_CASCADE_ELECTRON, 0},
    {"hadr", ICS_PARTICLE_CASCADE, ICE_CASCADE_PI_PLUS, 0},
    {"munu", ICS_PARTICLE_CASCADE, ICE_CASCADE_PI_PLUS, 0},
    {"pi+", ICS_PARTICLE_CASCADE, ICE_CASCADE_PI_PLUS, 0.13957},
    {"pi-", ICS_PARTICLE_CASCADE, ICE_CASCADE_PI_MINUS, 0.13957},
    {"K0L", ICS_PARTICLE_CASCADE, ICE_CASCADE_KAON, 0.497611},
    {"p", ICS_PARTICLE_CASCADE, ICE_CASCADE_PROTON, 0.938272},
    {"n", ICS_PARTICLE_CASCADE, ICE_CASCADE_NEUTRON, 0.939565},
    {"pbar", ICS_PARTICLE_CASCADE, ICE_CASCADE_ANTIPROTON, 0.938272},
    {"mu", ICS_PARTICLE_TRACK, 0, ICE_MUON_MASS},
    {"mu+", ICS_PARTICLE_TRACK, 1, ICE_MUON_MASS},
    {"amu", ICS_PARTICLE_TRACK, 0, ICE_MUON_MASS},
    {"amu-", ICS_PARTICLE_TRACK, 0, ICE_MUON_MASS},
    {"amu+", ICS_PARTICLE_TRACK, 1, ICE_MUON_MASS},
    {"tau", ICS_PARTICLE_TRACK, 0, ICE_TAU_MASS},
    {"monopole", ICS_PARTICLE_MONOPOLE, 0, 0},
    {"ph", ICS_PARTICLE_RAY, 0, 0},
    {"flasher", ICS_PARTICLE_FLASHER, 0, 0},
    {"beam", ICS_PARTICLE_FLASHER, 0, 0},
    {"point", ICS_PARTICLE_POINT, 0, 0},
    {"sc1", ICS_PARTICLE_CANDLE, 1, 0},
    {"sc2", ICS_PARTICLE_CANDLE, 2, 0},
    {"nu", ICS_PARTICLE_DARK, 0, 0},
    {"nucleus", ICS_PARTICLE_DARK, 0, 0},
    {"dark", ICS_PARTICLE_DARK, 0, 0},
};
enum { TYPES = sizeof types / sizeof *types };
_Static_assert((int)TYPES == (int)ICS_PARTICLE_TYPES, "the number of types in the header");

static const char *const beams[] = {"gauss", "lab", "clsim", "linear", "isotropic", "exact"};
static const char *const pulses[] = {"instant", "led", "rectangle", "file"};
enum { BEAMS = sizeof beams / sizeof *beams, PULSES = sizeof pulses / sizeof *pulses };

static const struct {
    const char *name;
    char kind;
    double low, high;
    const char *unit;
} fields[] = {
#define X(id, text, sort, from, to, of)                                                            \
    {.name = #text, .kind = #sort[0], .low = (from), .high = (to), .unit = (of)},
    ICS_PARTICLE_FIELDS(X)
#undef X
};

#define BIT(field)    (UINT32_C(1) << ICS_PARTICLE_##field)
#define POSITION      (BIT(X) | BIT(Y) | BIT(Z))
#define VECTOR        (BIT(DX) | BIT(DY) | BIT(DZ))
#define ORIGIN        (BIT(ZENITH) | BIT(AZIMUTH))
#define ALWAYS        (BIT(EVENT) | BIT(TYPE) | BIT(TIME))
#define OF_THE_PULSE  (BIT(PULSE) | BIT(DURATION) | BIT(WIDTH))
#define OF_THE_MODULE (BIT(STRING) | BIT(MODULE))

uint32_t ics_particle_knows(const ics_particle *particle)
{
    switch (ics_particle_class_of(particle)) {
    case ICS_PARTICLE_CASCADE:
    case ICS_PARTICLE_TRACK:
    case ICS_PARTICLE_DARK:
        return ALWAYS | POSITION | VECTOR | ORIGIN | BIT(LENGTH) | BIT(ENERGY);
    case ICS_PARTICLE_MONOPOLE:
        return ALWAYS | POSITION | VECTOR | ORIGIN | BIT(LENGTH) | BIT(BETA) | BIT(FREE_PATH);
    case ICS_PARTICLE_RAY:
        return ALWAYS | POSITION | VECTOR | ORIGIN | BIT(PHOTONS) | BIT(SPECTRUM);
    case ICS_PARTICLE_FLASHER:
        return ALWAYS | POSITION | VECTOR | ORIGIN | OF_THE_MODULE | BIT(LED) | BIT(LED_AZIMUTH) |
               BIT(PHOTONS) | BIT(BRIGHTNESS) | BIT(SPECTRUM) | BIT(BEAM) | BIT(BEAM_WIDTH) |
               OF_THE_PULSE;
    case ICS_PARTICLE_POINT:
        return ALWAYS | POSITION | BIT(PHOTONS) | BIT(SPECTRUM) | OF_THE_PULSE;
    case ICS_PARTICLE_CANDLE:
        break;
    }
    return ALWAYS | BIT(PHOTONS) | OF_THE_PULSE;
}

ics_particle_class ics_particle_class_of(const ics_particle *particle)
{
    return types[ics_particle_type_of(particle)].kind;
}

ice_cascade ics_particle_cascade_of(const ics_particle *particle)
{
    return (ice_cascade)types[ics_particle_type_of(particle)].detail;
}

bool ics_particle_is_muon(const ics_particle *particle)
{
    return ics_particle_class_of(particle) == ICS_PARTICLE_TRACK &&
           strcmp(types[ics_particle_type_of(particle)].name, "tau") != 0;
}

bool ics_particle_is_positive(const ics_particle *particle)
{
    return types[ics_particle_type_of(particle)].detail != 0;
}

bool ics_particle_is_piece(const ics_particle *particle)
{
    return strncmp(types[ics_particle_type_of(particle)].name, "amu", 3) == 0;
}

bool ics_particle_is_loss(const ics_particle *particle)
{
    static const char *const losses[] = {"brems", "epair", "delta", "munu"};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; ++i) {
        if (strcmp(types[ics_particle_type_of(particle)].name, losses[i]) == 0) {
            return true;
        }
    }
    return false;
}

int ics_particle_candle_of(const ics_particle *particle)
{
    return types[ics_particle_type_of(particle)].detail;
}

const char *ics_particle_field_name(ics_particle_field field)
{
    return fields[field].name;
}

const char *ics_particle_type_name(size_t index)
{
    return index < TYPES ? types[index].name : NULL;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *word_of(char kind, size_t index)
{
    if (kind == 'T') {
        return ics_particle_type_name(index);
    }
    if (kind == 'B') {
        return index < BEAMS ? beams[index] : NULL;
    }
    return index < PULSES ? pulses[index] : NULL;
}

/* Lists the words of a kind for messages. */
static void list_words(char kind, char *buffer, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; word_of(kind, i) != NULL && used < size; ++i) {
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "one of ",
                                 word_of(kind, i));
    }
}

/* Says which words a field can have. The names of types are too many for a message. */
static void refuse_word(ics_particle_field field, const ics_text_field *text,
                        char message[ICS_PARTICLE_MESSAGE])
{
    const char kind = fields[field].kind;
    char shown[48], words[256], typed[48];
    ics_nearest nearest = {0};
    snprintf(typed, sizeof typed, "%.*s", (int)(text->length < 40 ? text->length : 40),
             text->start);
    for (size_t i = 0; word_of(kind, i) != NULL; ++i) {
        ics_nearest_try(&nearest, typed, word_of(kind, i));
    }
    if (kind == 'T') {
        ics_particle_name_nearest(&nearest, typed);
        snprintf(words, sizeof words,
                 "a name of f2k as mu, e-, hadr, brems, flasher, a code of the "
                 "PDG as 13, or a name of IceTray as MuMinus (docs/particles.md)");
    } else {
        list_words(kind, words, sizeof words);
    }
    snprintf(message, ICS_PARTICLE_MESSAGE, "%s: found %s, expected %s%s%s%s", fields[field].name,
             ics_text_field_show(text, shown), words,
             nearest.word != NULL ? "; did you mean '" : "",
             nearest.word != NULL ? nearest.word : "", nearest.word != NULL ? "'?" : "");
}

static bool set_word(ics_particle *particle, ics_particle_field field, const ics_text_field *text,
                     char message[ICS_PARTICLE_MESSAGE])
{
    const char kind = fields[field].kind;
    for (size_t i = 0; word_of(kind, i) != NULL; ++i) {
        if (ics_text_field_equals(text, word_of(kind, i))) {
            particle->values[field] = (double)i;
            return true;
        }
    }
    if (kind == 'T') {
        const char *name = ics_particle_name_find(text);
        for (size_t i = 0; name != NULL && i < TYPES; ++i) {
            if (strcmp(name, types[i].name) == 0) {
                particle->values[field] = (double)i;
                return true;
            }
        }
    }
    refuse_word(field, text, message);
    return false;
}

/* Reads an identity exactly. A number with a point or an exponent, as programs write floats, is
 * exact only below 2^53. */
static bool set_identity(ics_particle *particle, ics_particle_field field,
                         const ics_text_field *text, char message[ICS_PARTICLE_MESSAGE])
{
    char shown[48];
    double value = 0;
    uint64_t event = 0;
    size_t digits = 0;
    bool good = true;
    while (digits < text->length && isdigit((unsigned char)text->start[digits])) {
        const unsigned digit = (unsigned)(text->start[digits++] - '0');
        good = good && !__builtin_mul_overflow(event, UINT64_C(10), &event) &&
               !__builtin_add_overflow(event, (uint64_t)digit, &event);
    }
    if (digits < text->length || digits == 0) {
        good = ics_text_field_number(text, &value) && value >= 0 && value < 0x1p53 &&
               value == floor(value);
        event = good ? (uint64_t)value : 0;
    }
    if (!good) {
        snprintf(message, ICS_PARTICLE_MESSAGE,
                 "%s: found %s, expected a whole number from 0 to %" PRIu64
                 ", from 9007199254740992 on in digits alone",
                 fields[field].name, ics_text_field_show(text, shown), UINT64_MAX);
        return false;
    }
    particle->event = event;
    return true;
}

bool ics_particle_set(ics_particle *particle, ics_particle_field field, const char *text,
                      size_t length, char message[ICS_PARTICLE_MESSAGE])
{
    const ics_text_field found = {.start = text, .length = length};
    const char kind = fields[field].kind;
    char shown[48];
    double value = 0;
    bool good;
    if (kind == 'I') {
        good = set_identity(particle, field, &found, message);
    } else if (kind != 'N' && kind != 'W') {
        good = set_word(particle, field, &found, message);
    } else {
        good = ics_text_field_number(&found, &value) && value >= fields[field].low &&
               value <= fields[field].high && (kind == 'N' || value == floor(value));
        if (!good) {
            snprintf(message, ICS_PARTICLE_MESSAGE,
                     "%s: found %s, expected a %s from %.16g to %.16g%s%s%s", fields[field].name,
                     ics_text_field_show(&found, shown), kind == 'W' ? "whole number" : "number",
                     fields[field].low, fields[field].high, *fields[field].unit ? " " : "",
                     fields[field].unit, ics_text_number_hint(&found));
        } else {
            particle->values[field] = value;
        }
    }
    if (good) {
        particle->given |= UINT32_C(1) << field;
    }
    return good;
}

ics_particle_field ics_particle_field_find(const char *text, size_t length, const char **nearest)
{
    const ics_text_field found = {.start = text, .length = length};
    char typed[48];
    ics_nearest best = {0};
    snprintf(typed, sizeof typed, "%.*s", (int)(length < 40 ? length : 40), text);
    for (size_t i = 0; i < ICS_PARTICLE_FIELD_COUNT; ++i) {
        if (ics_text_field_equals(&found, fields[i].name)) {
            return (ics_particle_field)i;
        }
        ics_nearest_try(&best, typed, fields[i].name);
    }
    *nearest = best.word;
    return ICS_PARTICLE_FIELD_COUNT;
}

/* ---- consistency ----------------------------------------------------------------------------- */

static bool refuse(char message[ICS_PARTICLE_MESSAGE], const ics_particle *particle,
                   const char *text)
{
    snprintf(message, ICS_PARTICLE_MESSAGE, "%s: %s", types[ics_particle_type_of(particle)].name,
             text);
    return false;
}

static bool all(const ics_particle *particle, uint32_t wanted)
{
    return (particle->given & wanted) == wanted;
}

static bool any(const ics_particle *particle, uint32_t wanted)
{
    return (particle->given & wanted) != 0;
}

/* Says which of the fields `of` are given: "found zenith, dx, expected ...", if there are any. */
static bool refuse_given(char message[ICS_PARTICLE_MESSAGE], const ics_particle *particle,
                         uint32_t of, const char *expected)
{
    char text[320] = "";
    size_t length = 0;
    for (uint32_t left = particle->given & of; left != 0; left &= left - 1) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s",
                                   length == 0 ? "found " : ", ", fields[__builtin_ctz(left)].name);
    }
    snprintf(text + length, sizeof text - length, "%s%s", length == 0 ? "" : ", ", expected);
    return refuse(message, particle, text);
}

static bool check_direction(const ics_particle *particle, char message[ICS_PARTICLE_MESSAGE])
{
    const bool has_led = any(particle, BIT(LED));
    const int ways = any(particle, VECTOR) + any(particle, ORIGIN) +
                     (has_led || any(particle, BIT(LED_AZIMUTH)));
    if (ways == 0 && any(particle, BIT(BEAM)) &&
        particle->values[ICS_PARTICLE_BEAM] == ICS_BEAM_ISOTROPIC) {
        return true;
    }
    if (ways != 1 || !(all(particle, VECTOR) || all(particle, ORIGIN) || has_led)) {
        return refuse_given(message, particle, VECTOR | ORIGIN | BIT(LED) | BIT(LED_AZIMUTH),
                            ics_particle_class_of(particle) == ICS_PARTICLE_FLASHER
                                ? "expected a direction: zenith and azimuth; or dx, dy, dz; or led"
                                : "expected a direction: zenith and azimuth; or dx, dy, dz");
    }
    const double *v = particle->values;
    const double longest =
        fmax(fmax(fabs(v[ICS_PARTICLE_DX]), fabs(v[ICS_PARTICLE_DY])), fabs(v[ICS_PARTICLE_DZ]));
    if (any(particle, VECTOR) && longest < 1e-100) {
        return refuse(message, particle,
                      "dx, dy, dz: found a vector of length 0, expected a direction");
    }
    return true;
}

static bool check_flasher(const ics_particle *particle, char message[ICS_PARTICLE_MESSAGE])
{
    const double beam = particle->values[ICS_PARTICLE_BEAM];
    if (any(particle, POSITION) == any(particle, OF_THE_MODULE) ||
        !(all(particle, POSITION) || all(particle, OF_THE_MODULE))) {
        return refuse_given(message, particle, POSITION | OF_THE_MODULE,
                            "expected a position: x, y, z; or string and module");
    }
    if (any(particle, BIT(PHOTONS)) == any(particle, BIT(BRIGHTNESS)) ||
        (any(particle, BIT(BRIGHTNESS)) && !any(particle, BIT(WIDTH)))) {
        return refuse_given(message, particle, BIT(PHOTONS) | BIT(BRIGHTNESS) | BIT(WIDTH),
                            "expected an amount of light: photons; or brightness and width");
    }
    if (any(particle, BIT(BEAM_WIDTH)) && beam != ICS_BEAM_GAUSS) {
        return refuse(message, particle, "beam_width: is for beam gauss");
    }
    if (any(particle, BIT(BEAM)) && beam == ICS_BEAM_ISOTROPIC && any(particle, BIT(LED))) {
        return refuse(message, particle, "led: is for beams with a direction");
    }
    return true;
}

static bool check_pulse(const ics_particle *particle, char message[ICS_PARTICLE_MESSAGE])
{
    const double pulse = particle->values[ICS_PARTICLE_PULSE];
    if (any(particle, BIT(DURATION)) && pulse != ICS_PULSE_RECTANGLE) {
        return refuse(message, particle, "duration: is for pulse rectangle");
    }
    if (any(particle, BIT(PULSE)) && pulse == ICS_PULSE_LED && !any(particle, BIT(WIDTH))) {
        return refuse(message, particle, "expected the width of pulse led");
    }
    return true;
}

/* The tolerance accepts masses that programs round in different ways. */
static bool check_energy(const ics_particle *particle, char message[ICS_PARTICLE_MESSAGE])
{
    const double energy = particle->values[ICS_PARTICLE_ENERGY];
    const double mass = types[ics_particle_type_of(particle)].mass;
    if (!any(particle, BIT(ENERGY))) {
        return refuse(message, particle, "expected an energy");
    }
    if (energy < mass * (1 - 1e-5)) {
        char text[160];
        snprintf(text, sizeof text,
                 "energy: found %.10g GeV, expected the total energy, which is at least the mass, "
                 "%.6g GeV",
                 energy, mass);
        return refuse(message, particle, text);
    }
    return true;
}

bool ics_particle_check(const ics_particle *particle, char message[ICS_PARTICLE_MESSAGE])
{
    if (!ics_particle_has(particle, ICS_PARTICLE_TYPE)) {
        snprintf(message, ICS_PARTICLE_MESSAGE, "type: found nothing, expected a type");
        return false;
    }
    const uint32_t unknown = particle->given & ~ics_particle_knows(particle);
    const ics_particle_class kind = ics_particle_class_of(particle);
    if (kind == ICS_PARTICLE_DARK && !unknown) {
        return true;
    }
    if (unknown) {
        char text[64];
        snprintf(text, sizeof text, "%s: is not for this type",
                 fields[__builtin_ctz(unknown)].name);
        return refuse(message, particle, text);
    }
    if (kind != ICS_PARTICLE_FLASHER && kind != ICS_PARTICLE_CANDLE && !all(particle, POSITION)) {
        return refuse_given(message, particle, POSITION, "expected a position: x, y, z");
    }
    const bool has_energy = kind == ICS_PARTICLE_CASCADE || kind == ICS_PARTICLE_TRACK;
    if (has_energy && !check_energy(particle, message)) {
        return false;
    }
    if (kind == ICS_PARTICLE_MONOPOLE && !all(particle, BIT(BETA) | BIT(LENGTH))) {
        return refuse_given(message, particle, BIT(BETA) | BIT(LENGTH),
                            "expected beta, its speed divided by that of light, and length (m)");
    }
    if (!has_energy && kind != ICS_PARTICLE_FLASHER && kind != ICS_PARTICLE_MONOPOLE &&
        !any(particle, BIT(PHOTONS))) {
        return refuse(message, particle, "expected a number of photons");
    }
    const double photons = particle->values[ICS_PARTICLE_PHOTONS];
    if (kind == ICS_PARTICLE_RAY && photons != floor(photons)) {
        return refuse(message, particle, "photons: found a fraction, expected a whole number");
    }
    if (kind != ICS_PARTICLE_POINT && kind != ICS_PARTICLE_CANDLE &&
        !check_direction(particle, message)) {
        return false;
    }
    if (kind == ICS_PARTICLE_FLASHER && !check_flasher(particle, message)) {
        return false;
    }
    return check_pulse(particle, message);
}

ice_axis ics_particle_axis(const ics_particle *particle)
{
    const double *v = particle->values;
    if (ics_particle_has(particle, ICS_PARTICLE_ZENITH)) {
        const double degree = ICE_PI / 180;
        return ice_axis_from_origin(degree * v[ICS_PARTICLE_ZENITH],
                                    degree * v[ICS_PARTICLE_AZIMUTH]);
    }
    const double norm = hypot(hypot(v[ICS_PARTICLE_DX], v[ICS_PARTICLE_DY]), v[ICS_PARTICLE_DZ]);
    return (ice_axis){v[ICS_PARTICLE_DX] / norm, v[ICS_PARTICLE_DY] / norm,
                      v[ICS_PARTICLE_DZ] / norm};
}
