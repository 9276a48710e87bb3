/* Light of electromagnetic and hadronic cascades (physics.md 10.1 to 10.3).
 *
 * Yields and longitudinal profiles: Raedel & Wiebusch, Astropart. Phys. 44 (2013) 102
 * (arXiv:1210.5140), hadronic constants of the same authors; angles: Wiebusch, thesis, RWTH Aachen.
 */
#ifndef ICS_PHYSICS_LIGHT_LIGHT_CASCADE_H
#define ICS_PHYSICS_LIGHT_LIGHT_CASCADE_H

#include "physics/light/light_draw.h"
#include "stages/profile.h"

/* Density of ice, and density of the ice in the Geant4 runs behind the numbers below, g/cm3. */
#define ICE_DENSITY        0.9216
#define ICE_GEANT4_DENSITY 0.910
#define ICE_MUON_MASS      0.105658389 /* GeV */

/* Numbers in which the public codes differ (physics.md 14.1). */
typedef struct ice_light_convention {
    double track_per_energy; /* Cherenkov track of an electromagnetic cascade, m/GeV */
    double radiation_length; /* m */
    double secondary_factor; /* factor of the light of secondaries along muons */
    double hadron_most;      /* largest hadronic light fraction */
    double cascade_floor;    /* smallest ln(E/GeV) in the shape of a cascade */
    bool point_below_gev;    /* cascades below 1 GeV have no length */
    double track_floor;      /* smallest ln(E/GeV) in the light of secondaries along muons */
    double cherenkov_factor; /* factor of all Cherenkov light: the fine-structure constant divided
                                by the value of CODATA */
} ice_light_convention;

typedef enum ice_convention_name {
    ICE_CONVENTION_STANDARD,
    ICE_CONVENTION_CLSIM,
    ICE_CONVENTION_PPC
} ice_convention_name;

/* Returns the numbers for a medium with the molecules of ice and another density (g/cm3). Lengths
 * are proportional to 1 / density. */
ICE_FN ice_light_convention ice_light_convention_in(ice_convention_name name, double density)
{
    const double ratio = ICE_GEANT4_DENSITY / density;
    ice_light_convention convention = {.track_per_energy = 5.321 * ratio,
                                       .radiation_length = 0.39652 * ratio,
                                       .secondary_factor = ratio,
                                       .hadron_most = 1.1,
                                       .cascade_floor = 0.0,
                                       .point_below_gev = true,
                                       .track_floor = log(ICE_MUON_MASS),
                                       .cherenkov_factor = 1.0};
    if (name == ICE_CONVENTION_CLSIM) {
        convention.track_per_energy = 5.21 * 0.924 / density;
        convention.radiation_length = 0.358 / density;
        convention.secondary_factor = 1.0;
        convention.hadron_most = 1.0;
        convention.track_floor = 0.0;
        convention.cherenkov_factor = 137.035999084 / 137.0;
    }
    if (name == ICE_CONVENTION_PPC) {
        convention.cascade_floor = log(ICE_MUON_MASS);
        convention.point_below_gev = false;
    }
    return convention;
}

ICE_FN ice_light_convention ice_light_convention_of(ice_convention_name name)
{
    return ice_light_convention_in(name, ICE_DENSITY);
}

/* Profiles, in the order of the table below. */
typedef enum ice_cascade {
    ICE_CASCADE_ELECTRON, /* also for all electromagnetic particles that have no profile below */
    ICE_CASCADE_POSITRON,
    ICE_CASCADE_GAMMA,
    ICE_CASCADE_PI_PLUS, /* also for all hadrons that have no profile below */
    ICE_CASCADE_PI_MINUS,
    ICE_CASCADE_KAON,
    ICE_CASCADE_PROTON,
    ICE_CASCADE_NEUTRON,
    ICE_CASCADE_ANTIPROTON
} ice_cascade;

/* The depth of the light is l = b Gamma(a) with a = a0 + a1 ln E and b = radiation length /
 * per_length. The light of hadrons is a fraction of the light of electrons, 1 - (E/e0)^-m (1 - f0),
 * and fluctuates. */
typedef struct ice_cascade_numbers {
    double a0, a1, per_length;
    double e0, m, f0, rms0, gamma; /* hadrons; e0 = 0: electromagnetic */
} ice_cascade_numbers;

ICE_FN ice_cascade_numbers ice_cascade_numbers_of(ice_cascade kind)
{
    const ice_cascade_numbers numbers[] = {
        {2.01849, 0.63176, 0.63207, 0, 0, 0, 0, 0},
        {2.00035, 0.63190, 0.63008, 0, 0, 0, 0, 0},
        {2.83923, 0.58209, 0.64526, 0, 0, 0, 0, 0},
        {1.58357292, 0.41886807, 0.33833116, 0.18791678, 0.16267529, 0.30974123, 0.95899551,
         1.35589541},
        {1.69176636, 0.40803489, 0.34108075, 0.19826506, 0.16218006, 0.31859323, 0.94033488,
         1.35070162},
        {1.95948974, 0.34934666, 0.34535151, 0.21687243, 0.16861530, 0.27724987, 1.00318874,
         1.37528605},
        {1.47495778, 0.40450398, 0.35226706, 0.29579368, 0.19373018, 0.02455403, 1.01619344,
         1.45477346},
        {1.57739060, 0.40631102, 0.35269455, 0.66725124, 0.19263595, 0.17559033, 1.01414337,
         1.45086895},
        {1.92249171, 0.33701751, 0.34969748, 0.29579368, 0.19373018, 0.02455403, 1.01094637,
         1.50438415},
    };
    return numbers[kind];
}

/* Depth of the light along the axis: a Gamma distribution with this shape (1) and scale (m). */
typedef struct ice_cascade_profile {
    double shape, scale;
} ice_cascade_profile;

/* energy: GeV, >= 0. */
ICE_FN ice_cascade_profile ice_cascade_profile_of(const ice_light_convention *convention,
                                                  ice_cascade kind, double energy)
{
    const ice_cascade_numbers numbers = ice_cascade_numbers_of(kind);
    const double log_energy = fmax(log(energy), convention->cascade_floor);
    const bool is_point = convention->point_below_gev && energy < 1.0;
    const ice_cascade_profile profile = {
        numbers.a0 + numbers.a1 * log_energy,
        is_point ? 0.0 : convention->radiation_length / numbers.per_length};
    return profile;
}

/* Returns the mean and the standard deviation of the light of a hadronic cascade, relative to an
 * electromagnetic cascade of the same energy. */
ICE_FN void ice_hadron_light(ice_cascade kind, double energy, double *mean, double *sigma)
{
    const ice_cascade_numbers numbers = ice_cascade_numbers_of(kind);
    const double e = fmax(energy, 2.71828);
    *mean = 1.0 - pow(e / numbers.e0, -numbers.m) * (1.0 - numbers.f0);
    *sigma = *mean * numbers.rms0 * pow(log(e), -numbers.gamma);
}

ICE_FN bool ice_cascade_is_hadronic(ice_cascade kind)
{
    return kind >= ICE_CASCADE_PI_PLUS;
}

/* Returns the Cherenkov track (m) of a cascade; for a hadronic cascade it fluctuates. energy: GeV,
 * >= 0. */
ICE_FN double ice_cascade_track(const ice_light_convention *convention, ice_cascade kind,
                                double energy, ice_stream *stream)
{
    const double track = convention->track_per_energy * energy;
    if (!ice_cascade_is_hadronic(kind)) {
        return track;
    }
    double mean, sigma, fraction;
    ice_hadron_light(kind, energy, &mean, &sigma);
    do {
        fraction = mean + sigma * ice_stream_normal(stream);
    } while (fraction < 0.0 || fraction > convention->hadron_most);
    return track * fraction;
}

/* Returns 1 - cos of the angle between an emitter and the axis (physics.md 10.3), at u in [0, 1) of
 * the cumulative distribution. */
ICE_FN double ice_emitter_angle(double u)
{
    const double x =
        pow(-log1p(-u * ICE_EMITTER_INSIDE) / ICE_EMITTER_SLOPE, 1.0 / ICE_EMITTER_EXPONENT);
    return fmin(x, 2.0);
}

/* Draws the direction of an emitter around the axis of a cascade. */
ICE_FN ice_axis ice_emitter_direction(ice_axis axis, ice_stream *stream)
{
    const double x = ice_emitter_angle(ice_stream_uniform(stream));
    return ice_axis_turn(axis, x, 2.0 * ICE_PI * ice_stream_uniform(stream));
}

#endif
