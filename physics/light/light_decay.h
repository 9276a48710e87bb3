/* Decays of taus that fly and of muons at rest (physics.md 10.7).
 *
 * Shares of modes, masses and mean lives: Review of Particle Physics, 2026 (pdg.lbl.gov/api).
 * Directions of hadrons from polarised taus: S. Iyer Dutta, M. H. Reno, I. Sarcevic, Phys. Rev. D
 * 62 (2000) 123001 (hep-ph/0005310), table I. Capture of muons: T. Suzuki, D. F. Measday, J. P.
 * Roalsvig, Phys. Rev. C 35 (1987) 2212; slower decay of bound muons: H. C. von Baeyer, D. Leiter,
 * Phys. Rev. A 19 (1979) 1371. */
#ifndef ICS_PHYSICS_LIGHT_LIGHT_DECAY_H
#define ICS_PHYSICS_LIGHT_LIGHT_DECAY_H

#include "physics/light/light_muon.h"

#define ICE_ELECTRON_MASS 0.51099895e-3 /* GeV */
#define ICE_MUON_LIFE     2196.98       /* mean life (ns) */
/* Rates of a negative muon in the lowest orbit of oxygen (1/ns). It always gets there in ice and
 * water, because hydrogen passes its muons on. */
#define ICE_MUON_BOUND   (0.9983 / ICE_MUON_LIFE) /* decays */
#define ICE_MUON_CAPTURE 0.10242e-3               /* captured by the nucleus, without light here */

/* What comes of a decay. */
typedef enum ice_decay {
    ICE_DECAY_ELECTRON,
    ICE_DECAY_MUON,
    ICE_DECAY_HADRONS,
    ICE_DECAY_CAPTURE, /* of a muon, instead of its decay */
    ICE_DECAY_KINDS
} ice_decay;

/* The visible part of a decay. Hadrons are a hadronic cascade and, of pi0, an electromagnetic one,
 * in the direction of their sum. */
typedef struct ice_decay_products {
    ice_decay kind;
    double energy;          /* GeV, with the mass of an electron or muon; of hadrons: their sum */
    double electromagnetic; /* share of pi0 in the energy of hadrons */
    double cosine;          /* between the direction of the parent and these products */
    double delay;           /* ns, from the end of the track to the decay */
} ice_decay_products;

/* A mode of the tau with hadrons of a mass (GeV). A tau of a neutrino is left-handed, its
 * antiparticle right-handed; in its rest frame the cosine c between the hadrons and its motion then
 * has the density (1 - asymmetry * c)/2. */
typedef struct ice_tau_mode {
    double share;
    double mass;
    double asymmetry;
    int pions, neutral; /* mesons, and how many of them are pi0 */
} ice_tau_mode;

#define ICE_TAU_ELECTRON 0.17847
#define ICE_TAU_MUON     0.17366
enum { ICE_TAU_MODES = 7 };

/* Returns the mode of hadrons with this number. Shares and those of electrons and muons add up to
 * 1: the last mode, with kaons, has the rest. Masses are those of pi, rho(770), a1(1260) and
 * K*(892); hep-ph/0005310 has 4 pions as 0.7 of the tau's squared mass, and without asymmetry. */
ICE_FN ice_tau_mode ice_tau_mode_of(int number)
{
    static const ice_tau_mode modes[ICE_TAU_MODES] = {
        {0.11512, 0.13957, 0, 1, 0}, /* h- */
        {0.25926, 0.7750, 0, 2, 1},  /* h- pi0 */
        {0.09324, 1.2300, 0, 3, 2},  /* h- 2 pi0 */
        {0.09455, 1.2300, 0, 3, 0},  /* h- h- h+ */
        {0.05088, 1.4867, 0, 4, 1},  /* h- h- h+, 1 pi0 or more */
        {0.01255, 1.4867, 0, 4, 3},  /* h-, 3 pi0 or more */
        {0.02227, 0.8917, 0, 2, 0},
    };
    ice_tau_mode mode = modes[number];
    const double r = (mode.mass / ICE_TAU_MASS) * (mode.mass / ICE_TAU_MASS);
    mode.asymmetry = mode.pions == 1   ? 1.0
                     : mode.pions == 4 ? 0.0
                                       : (1.0 - 2.0 * r) / (1.0 + 2.0 * r);
    return mode;
}

/* Returns a cosine c with the density (1 + slope * c)/2; slope: -1 to 1, u: uniform in [0, 1). */
ICE_FN double ice_decay_cosine(double slope, double u)
{
    const double root = sqrt(fmax(1.0 - slope * (2.0 - slope - 4.0 * u), 0.0));
    return fmin(fmax((4.0 * u - 2.0 + slope) / (1.0 + root), -1.0), 1.0);
}

/* Draws the energy (GeV) of the charged lepton in the rest frame, and its cosine to the direction
 * of the parent. The neglected masses of leptons change energies by less than (m/M)^2. The density
 * in x, energy / largest energy, is x^2 ((3 - 2 x) - handedness (1 - 2 x) cosine), handedness 1 of
 * the leptons of neutrinos, and 0 without polarisation. */
ICE_FN double ice_decay_lepton(double parent, double mass, double handedness, double *cosine,
                               ice_stream *stream)
{
    const double most = (parent * parent + mass * mass) / (2.0 * parent);
    double x;
    do {
        x = ice_stream_uniform(stream);
    } while (ice_stream_uniform(stream) >= x * x * (3.0 - 2.0 * x) || x * most <= mass);
    const double slope = -handedness * (1.0 - 2.0 * x) / (3.0 - 2.0 * x);
    *cosine = ice_decay_cosine(slope, ice_stream_uniform(stream));
    return x * most;
}

/* Moves a product of an energy (GeV) and a cosine from the rest frame of its parent to the frame in
 * which the parent has this Lorentz factor. */
ICE_FN void ice_decay_boost(double gamma, double mass, double *energy, double *cosine)
{
    const double speed = sqrt(1.0 - 1.0 / (gamma * gamma));
    const double momentum = sqrt(fmax(*energy * *energy - mass * mass, 0.0));
    const double along = gamma * (momentum * *cosine + speed * *energy);
    const double across = momentum * sqrt(fmax(1.0 - *cosine * *cosine, 0.0));
    *energy = gamma * (*energy + speed * momentum * *cosine);
    *cosine = along / fmax(hypot(along, across), 1e-300);
}

/* Draws the decay of a tau from a neutrino; energy: GeV, its mass included. */
ICE_FN ice_decay_products ice_decay_tau(double energy, ice_stream *stream)
{
    const double gamma = fmax(energy / ICE_TAU_MASS, 1.0);
    ice_decay_products out = {ICE_DECAY_HADRONS, 0.0, 0.0, 1.0, 0.0};
    double u = ice_stream_uniform(stream) - ICE_TAU_ELECTRON - ICE_TAU_MUON;
    if (u < 0.0) {
        const bool is_muon = u < -ICE_TAU_ELECTRON;
        const double mass = is_muon ? ICE_MUON_MASS : ICE_ELECTRON_MASS;
        out.kind = is_muon ? ICE_DECAY_MUON : ICE_DECAY_ELECTRON;
        out.energy = ice_decay_lepton(ICE_TAU_MASS, mass, 1.0, &out.cosine, stream);
        ice_decay_boost(gamma, mass, &out.energy, &out.cosine);
        return out;
    }
    int number = 0;
    ice_tau_mode mode = ice_tau_mode_of(0);
    while (u >= mode.share && number < ICE_TAU_MODES - 1) {
        u -= mode.share;
        mode = ice_tau_mode_of(++number);
    }
    out.energy = (ICE_TAU_MASS * ICE_TAU_MASS + mode.mass * mode.mass) / (2.0 * ICE_TAU_MASS);
    out.cosine = ice_decay_cosine(-mode.asymmetry, ice_stream_uniform(stream));
    ice_decay_boost(gamma, mode.mass, &out.energy, &out.cosine);
    /* Massless pions share the energy with equal density everywhere that energy and momentum
     * allow, so that the share of some of them has a Beta distribution. */
    if (mode.neutral > 0) {
        const double some = ice_stream_gamma(stream, mode.neutral);
        out.electromagnetic = some / (some + ice_stream_gamma(stream, mode.pions - mode.neutral));
    }
    return out;
}

/* Draws the decay, or the capture, of a muon at rest that has no polarisation. */
ICE_FN ice_decay_products ice_decay_muon(bool is_positive, ice_stream *stream)
{
    ice_decay_products out = {ICE_DECAY_ELECTRON, 0.0, 0.0, 1.0, 0.0};
    const double decays = is_positive ? 1.0 / ICE_MUON_LIFE : ICE_MUON_BOUND;
    const double rate = decays + (is_positive ? 0.0 : ICE_MUON_CAPTURE);
    out.delay = -log(ice_stream_positive(stream)) / rate;
    if (ice_stream_uniform(stream) * rate >= decays) {
        out.kind = ICE_DECAY_CAPTURE;
        return out;
    }
    out.energy = ice_decay_lepton(ICE_MUON_MASS, ICE_ELECTRON_MASS, 0.0, &out.cosine, stream);
    return out;
}

#endif
