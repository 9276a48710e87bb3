/* Particles and other light sources, as their lists in YAML, CSV and f2k give them.
 *
 * A particle is a row of fields; only the fields that its list gives are set. All three formats use
 * the same table of fields, which docs/particles.md describes. */
#ifndef ICS_PHOTONS_PARTICLES_PARTICLE_H
#define ICS_PHOTONS_PARTICLES_PARTICLE_H

#include "physics/light/light_cascade.h"
#include "pipeline/icestream.h"

/* Name in lists, lowest and highest value, unit. I: an identity, any number of 64 bits, which is
 * kept exactly; W: a whole number; T: a type, B: a beam, P: a pulse, by their names; N: any number.
 */
#define ICS_PARTICLE_FIELDS(X)                                                                     \
    X(EVENT, event, I, 0, 18446744073709551615.0, "")                                              \
    X(TYPE, type, T, 0, 0, "")                                                                     \
    X(X, x, N, -1e4, 1e4, "m")                                                                     \
    X(Y, y, N, -1e4, 1e4, "m")                                                                     \
    X(Z, z, N, -1e4, 1e4, "m")                                                                     \
    X(DX, dx, N, -1e100, 1e100, "")                                                                \
    X(DY, dy, N, -1e100, 1e100, "")                                                                \
    X(DZ, dz, N, -1e100, 1e100, "")                                                                \
    X(ZENITH, zenith, N, 0, 180, "degrees")                                                        \
    X(AZIMUTH, azimuth, N, -360, 360, "degrees")                                                   \
    X(LENGTH, length, N, 0, 1e5, "m")                                                              \
    X(ENERGY, energy, N, 0, 1e11, "GeV")                                                           \
    X(TIME, time, N, -1e12, 1e12, "ns")                                                            \
    X(PHOTONS, photons, N, 0, 1e15, "")                                                            \
    X(SPECTRUM, spectrum, W, 1, 255, "")                                                           \
    X(STRING, string, W, 0, 65535, "")                                                             \
    X(MODULE, module, W, 0, 65535, "")                                                             \
    X(LED, led, W, 1, 12, "")                                                                      \
    X(LED_AZIMUTH, led_azimuth, N, -360, 360, "degrees")                                           \
    X(BRIGHTNESS, brightness, N, 0, 127, "")                                                       \
    X(WIDTH, width, N, 0, 127, "")                                                                 \
    X(BEAM, beam, B, 0, 0, "")                                                                     \
    X(BEAM_WIDTH, beam_width, N, 0.01, 180, "degrees")                                             \
    X(PULSE, pulse, P, 0, 0, "")                                                                   \
    X(DURATION, duration, N, 0, 1e9, "ns")                                                         \
    X(BETA, beta, N, 1e-6, 1, "")                                                                  \
    X(FREE_PATH, free_path, N, 1e-4, 1e6, "m")

typedef enum ics_particle_field {
#define X(name, text, kind, low, high, unit) ICS_PARTICLE_##name,
    ICS_PARTICLE_FIELDS(X)
#undef X
        ICS_PARTICLE_FIELD_COUNT
} ics_particle_field;

/* Kinds of light sources. */
typedef enum ics_particle_class {
    ICS_PARTICLE_CASCADE,
    ICS_PARTICLE_TRACK,
    ICS_PARTICLE_MONOPOLE, /* a track of a given speed, with cascades along it */
    ICS_PARTICLE_RAY,      /* an exact number of photons along one direction */
    ICS_PARTICLE_FLASHER,  /* a beam from a module or from anywhere */
    ICS_PARTICLE_POINT,    /* isotropic */
    ICS_PARTICLE_CANDLE,   /* a laser at a fixed position */
    ICS_PARTICLE_DARK      /* makes no light: a neutrino, a nucleus, ... */
} ics_particle_class;

typedef enum ics_beam {
    ICS_BEAM_GAUSS,
    ICS_BEAM_LAB,
    ICS_BEAM_CLSIM,
    ICS_BEAM_LINEAR,
    ICS_BEAM_ISOTROPIC,
    ICS_BEAM_EXACT
} ics_beam;

typedef enum ics_pulse {
    ICS_PULSE_INSTANT,
    ICS_PULSE_LED,
    ICS_PULSE_RECTANGLE,
    ICS_PULSE_FILE /* particles.pulse */
} ics_pulse;

typedef struct ics_particle {
    double values[ICS_PARTICLE_FIELD_COUNT]; /* in the units above; words by their number */
    uint64_t event;                          /* the only identity; values[] does not have it */
    uint32_t given;                          /* bit of every field that was given */
} ics_particle;

enum { ICS_PARTICLE_MESSAGE = 512 };

/* Sets a field from its text. Returns false after an error; `message` is then "FIELD: found ...,
 * expected ...". */
bool ics_particle_set(ics_particle *particle, ics_particle_field field, const char *text,
                      size_t length, char message[ICS_PARTICLE_MESSAGE]);
/* Returns whether a particle has all fields that its type needs, and no others. If not, `message`
 * says what is wrong. */
bool ics_particle_check(const ics_particle *particle, char message[ICS_PARTICLE_MESSAGE]);

/* Returns the field with this name. If there is none, returns ICS_PARTICLE_FIELD_COUNT, and
 * *nearest may be a similar name. */
ics_particle_field ics_particle_field_find(const char *text, size_t length, const char **nearest);
const char *ics_particle_field_name(ics_particle_field field);
/* Number of types of particles and of other light sources. */
enum { ICS_PARTICLE_TYPES = 32 };
/* Returns the name of a type by its index, NULL after the last one. */
const char *ics_particle_type_name(size_t index);
/* Returns the index of the type of a particle. */
static inline size_t ics_particle_type_of(const ics_particle *particle)
{
    return (size_t)particle->values[ICS_PARTICLE_TYPE];
}

static inline bool ics_particle_has(const ics_particle *particle, ics_particle_field field)
{
    return (particle->given >> field & 1) != 0;
}

/* Returns the fields that the type of a particle can have, as bits. */
uint32_t ics_particle_knows(const ics_particle *particle);
ics_particle_class ics_particle_class_of(const ics_particle *particle);
/* The profile of a cascade. */
ice_cascade ics_particle_cascade_of(const ics_particle *particle);
/* Returns whether a particle is a track of a muon, the only tracks for which losses can be made. */
bool ics_particle_is_muon(const ics_particle *particle);
/* Returns whether a muon has positive charge; mu and amu, whose charge is not known, have not. */
bool ics_particle_is_positive(const ics_particle *particle);
/* Returns whether a particle is by its name a piece of a muon (amu), between two of its energy
 * losses. Programs that propagate muons write such pieces after the muon. */
bool ics_particle_is_piece(const ics_particle *particle);
/* Returns whether a particle is by its name an energy loss of a track. A hadronic loss has the same
 * name as the hadronic cascade at the vertex of a neutrino, and is not among them. */
bool ics_particle_is_loss(const ics_particle *particle);
/* The number of a candle, 1 or 2. */
int ics_particle_candle_of(const ics_particle *particle);
/* Returns the unit vector of travel, from dx, dy, dz or from zenith and azimuth; one of both must
 * be given. */
ice_axis ics_particle_axis(const ics_particle *particle);

#endif
