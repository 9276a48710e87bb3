/* Light of muon and tau tracks (physics.md 10.4).
 *
 * Secondaries below 0.5 GeV: Raedel & Wiebusch, Astropart. Phys. 38 (2012) 53 (arXiv:1206.5530);
 * energy loss: Chirkin & Rhode, hep-ph/0407075.
 */
#ifndef ICS_PHYSICS_LIGHT_LIGHT_MUON_H
#define ICS_PHYSICS_LIGHT_LIGHT_MUON_H

#include "physics/light/light_cascade.h"

/* Mean energy loss dE/dx = a + b E of a muon. */
#define ICE_MUON_IONISATION 0.239616 /* a = 0.26 * 0.9216, GeV/m */
#define ICE_MUON_RADIATION  3.3e-4   /* b, 1/m */

/* Returns the light of the secondaries along a track relative to the light of the bare track.
 * energy: GeV, >= 0. */
ICE_FN double ice_muon_extra(const ice_light_convention *convention, double energy)
{
    const double log_energy = fmax(log(energy), convention->track_floor);
    return fmax(0.0, 0.1880 + 0.0206 * log_energy) * convention->secondary_factor;
}

/* Returns the mean range (m) of a muon with this energy (GeV, its mass included). */
ICE_FN double ice_muon_range(double energy)
{
    const double kinetic = fmax(energy - ICE_MUON_MASS, 0.0);
    return log1p(ICE_MUON_RADIATION * kinetic / ICE_MUON_IONISATION) / ICE_MUON_RADIATION;
}

/* ---- stopping -------------------------------------------------------------------------------- */

/* A stopping muon is followed in short pieces, each with its beta, when its residual range is below
 * ICE_MUON_SLOW. Before that, beta = 1 is accurate to 3e-4, and the light to 1e-3. */
#define ICE_MUON_SLOW  20.0 /* m */
#define ICE_MUON_PIECE 0.05 /* m */

/* Returns v/c of a muon at a residual range > 0 (m), with ionisation only. */
ICE_FN double ice_muon_beta(double residual)
{
    const double x = ICE_MUON_IONISATION / ICE_MUON_MASS * residual; /* gamma - 1 */
    return sqrt(x * (2.0 + x)) / (1.0 + x);
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
ICE_FN void ice_loss_means(double energy, double dx, double *pair_like, double *brems_like)
{
    const double half = 0.5 * ICE_MUON_RADIATION * energy * dx;
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
