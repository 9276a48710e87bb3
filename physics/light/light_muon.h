/* Light of muon and tau tracks (physics.md 10.4).
 *
 * Secondaries below 0.5 GeV: Raedel & Wiebusch, Astropart. Phys. 38 (2012) 53 (arXiv:1206.5530);
 * energy loss: Chirkin & Rhode, hep-ph/0407075.
 */
#ifndef ICS_PHYSICS_LIGHT_LIGHT_MUON_H
#define ICS_PHYSICS_LIGHT_LIGHT_MUON_H

#include "physics/light/light_cascade.h"

#define ICE_TAU_MASS 1.77693 /* GeV */

/* Mean energy loss dE/dx = a + b E of a muon. */
typedef struct ice_muon_loss {
    double ionisation; /* a, GeV/m */
    double radiation;  /* b, 1/m */
} ice_muon_loss;

/* Returns the mean energy loss in ice or water of a density (g/cm3), to which it is proportional.
 */
ICE_FN ice_muon_loss ice_muon_loss_in(double density)
{
    const ice_muon_loss loss = {0.26 * density, 3.3e-4 / ICE_DENSITY * density};
    return loss;
}

/* Returns the light of the secondaries along a track relative to the light of the bare track.
 * energy: GeV, >= 0. */
ICE_FN double ice_muon_extra(const ice_light_convention *convention, double energy)
{
    const double log_energy = fmax(log(energy), convention->track_floor);
    return fmax(0.0, 0.1880 + 0.0206 * log_energy) * convention->secondary_factor;
}

/* Returns the mean range (m) of a muon with this energy (GeV, its mass included). */
ICE_FN double ice_muon_range(const ice_muon_loss *loss, double energy)
{
    const double kinetic = fmax(energy - ICE_MUON_MASS, 0.0);
    return log1p(loss->radiation * kinetic / loss->ionisation) / loss->radiation;
}

/* Returns the mean energy (GeV) after a distance (m), at least the mass. */
ICE_FN double ice_muon_energy_after(const ice_muon_loss *loss, double energy, double distance)
{
    const double critical = loss->ionisation / loss->radiation;
    const double kinetic =
        (energy - ICE_MUON_MASS + critical) * exp(-loss->radiation * distance) - critical;
    return ICE_MUON_MASS + fmax(kinetic, 0.0);
}

/* Returns the mean of ice_muon_extra() along a track (m) of a muon that loses the mean energy. */
ICE_FN double ice_muon_mean_extra(const ice_light_convention *convention, const ice_muon_loss *loss,
                                  double energy, double length)
{
    const int points = 64;
    double sum = 0.0;
    for (int i = 0; i < points; ++i) {
        const double at = length * (i + 0.5) / points;
        sum += ice_muon_extra(convention, ice_muon_energy_after(loss, energy, at));
    }
    return sum / points;
}

/* Returns the mean length (m) that a tau of this energy (GeV, its mass included) flies: beta gamma
 * c tau, with c tau = 87.03 um (Review of Particle Physics). */
ICE_FN double ice_tau_decay_length(double energy)
{
    const double gamma = fmax(energy / ICE_TAU_MASS, 1.0);
    return 87.03e-6 * sqrt(gamma * gamma - 1.0);
}

/* ---- stopping -------------------------------------------------------------------------------- */

/* A stopping muon is followed in short pieces, each with its beta, when its residual range is below
 * ICE_MUON_SLOW. Before that, beta = 1 is accurate to 3e-4, and the light to 1e-3. */
#define ICE_MUON_SLOW  20.0 /* m */
#define ICE_MUON_PIECE 0.05 /* m */

/* Returns v/c of a muon at a residual range > 0 (m), with ionisation only. */
ICE_FN double ice_muon_beta(const ice_muon_loss *loss, double residual)
{
    const double x = loss->ionisation / ICE_MUON_MASS * residual; /* gamma - 1 */
    return sqrt(x * (2.0 + x)) / (1.0 + x);
}

/* Returns how much later (ns) than light in vacuum a muon gets from one residual range (m) to a
 * smaller one: the integral of (1/beta - 1)/c, with ionisation only. */
ICE_FN double ice_muon_lag(const ice_muon_loss *loss, double from, double to)
{
    const double per_metre = loss->ionisation / ICE_MUON_MASS;
    const double x[2] = {per_metre * fmax(from, 0.0), per_metre * fmax(to, 0.0)};
    const double lag = sqrt(x[0] * (2.0 + x[0])) - x[0] - (sqrt(x[1] * (2.0 + x[1])) - x[1]);
    return lag / (per_metre * ICE_LIGHT_SPEED);
}

/* Returns the Cherenkov light of one wavelength at beta, relative to beta = 1: the ratio of sin^2
 * of the two Cherenkov angles. */
ICE_FN double ice_cherenkov_share(double beta, double phase_index)
{
    const double slow = 1.0 - 1.0 / (beta * phase_index * beta * phase_index);
    const double fast = 1.0 - 1.0 / (phase_index * phase_index);
    return fmax(slow, 0.0) / fast;
}

/* ---- stochastic losses ----------------------------------------------------------------------- */

/* A simple generator of losses, for realistic loads and not for physics results. */

#define ICE_LOSS_LEAST    0.5  /* GeV */
#define ICE_LOSS_PIECE    10.0 /* m */
#define ICE_LOSS_HADRONIC 0.1  /* share of losses that are hadronic */
#define ICE_MUON_STOPPED  0.11 /* GeV */
/* The number of losses is proportional to the energy. A muon with this energy has about 2e7 losses
 * on 2 km, which takes seconds to compute. */
#define ICE_LOSS_MOST 1e9 /* GeV */

/* Gives the mean numbers of losses on dx metres at an energy above ICE_LOSS_LEAST (GeV): of losses
 * with a density of 1/e^2, and of losses with a density of 1/e. Each kind has half of the mean
 * radiated energy b E dx. */
ICE_FN void ice_loss_means(const ice_muon_loss *loss, double energy, double dx, double *pair_like,
                           double *brems_like)
{
    const double half = 0.5 * loss->radiation * energy * dx;
    const double span = log(energy / ICE_LOSS_LEAST);
    *pair_like = half / (ICE_LOSS_LEAST * span / (1.0 - ICE_LOSS_LEAST / energy));
    *brems_like = half * span / (energy - ICE_LOSS_LEAST);
}

/* Return the energy (GeV) of a loss at u in [0, 1) of the two cumulative distributions. */
ICE_FN double ice_loss_pair_like(double energy, double u)
{
    return ICE_LOSS_LEAST / (1.0 - u * (1.0 - ICE_LOSS_LEAST / energy));
}

ICE_FN double ice_loss_brems_like(double energy, double u)
{
    return ICE_LOSS_LEAST * pow(energy / ICE_LOSS_LEAST, u);
}

#endif
