/* Light of magnetic monopoles (physics.md 10.8).
 *
 * Cherenkov light: D. R. Tompkins, Phys. Rev. 138 (1965) B248; IceCube, arXiv:1208.4861 and
 * arXiv:1511.01350. Decays of nucleons that a monopole catalyses: IceCube, arXiv:1402.3460, and
 * I3MonopoleSlowUtils.cxx of IceTray's monopole-generator. */
#ifndef ICS_PHYSICS_LIGHT_LIGHT_MONOPOLE_H
#define ICS_PHYSICS_LIGHT_LIGHT_MONOPOLE_H

#include "physics/light/light_cascade.h"

/* One Dirac charge divided by the elementary charge: half of the inverse fine-structure constant.
 */
#define ICE_DIRAC_CHARGE (137.035999084 / 2)
/* Visible energy of a decay of a nucleon, whose products are a positron and a pi0: the mass of the
 * proton (GeV). */
#define ICE_NUCLEON_DECAY 0.938272

/* Returns the Cherenkov light of one Dirac charge relative to that of one elementary charge of the
 * same speed: the square of its magnetic charge times the index (1). */
ICE_FN double ice_monopole_gain(double phase_index)
{
    return ICE_DIRAC_CHARGE * phase_index * ICE_DIRAC_CHARGE * phase_index;
}

/* Returns the way (m) to the next decay. */
ICE_FN double ice_monopole_way(double free_path, ice_stream *stream)
{
    return -free_path * log(ice_stream_positive(stream));
}

#endif
