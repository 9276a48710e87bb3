/* What the light of all particles of a run depends on. */
#ifndef ICS_PHOTONS_PARTICLES_LIGHT_SETUP_H
#define ICS_PHOTONS_PARTICLES_LIGHT_SETUP_H

#include "physics/light/light_muon.h"
#include "pipeline/photons/models/models.h"
#include "pipeline/photons/particles/track_line.h"

/* Pieces of a stopping muon's last metres. */
enum { ICS_SLOW_PIECES = 400 };

typedef struct ics_light_setup {
    uint64_t seed;
    ice_light_convention convention;
    const ice_detector *detector;  /* not owned */
    double per_metre;              /* photons per metre of bare track at beta = 1, bias included */
    const ice_medium *medium;      /* not owned */
    const ice_spectrum *cherenkov; /* biased; not owned */
    const double *kept; /* [spectrum_count] share of the photons of a spectrum that the bias keeps;
                           not owned */
    size_t spectrum_count;
    /* The photons to make in the k-th piece of ICE_MUON_PIECE metres before the end of a stopping
     * muon, relative to beta = 1. The create stage drops those whose wavelength is below the
     * threshold; what is left is the light of the muon. */
    double slow[ICS_SLOW_PIECES];
    uint32_t photons_per_step;
    uint32_t photons_per_direction; /* 0: pulses are steps with a profile */
    bool cascades_are_profiles;
    ics_losses losses;
    bool stopping;
    bool decays;  /* of taus and of muons at rest */
    bool has_ppc; /* particles.conventions: ppc */
    bool slows;   /* secondaries follow the mean energy of a muon along its track */
    ics_track_rule track;
    uint32_t spectrum;        /* spectrum of sources that give none */
    const ice_transit *pulse; /* of sources with pulse: file; NULL: not given; not owned */
} ics_light_setup;

/* Returns the setup for the light of these models, which must outlive it. */
ics_light_setup ics_light_setup_of(const icestream_config *config, const ics_models *models);
/* Returns the number of photons to make for one of per_metre at beta (0 to 1], relative to beta =
 * 1: the stage that creates photons drops those whose wavelength is below the threshold, and what
 * is left is the light at beta. `is_magnetic`: of a monopole with one Dirac charge. 0: no light. */
double ics_light_setup_share(const ics_light_setup *setup, double beta, bool is_magnetic);

#endif
