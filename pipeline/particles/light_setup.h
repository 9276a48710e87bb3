/* What all particles of a run make their light with. */
#ifndef IS_LIGHT_SETUP_H
#define IS_LIGHT_SETUP_H

#include "pipeline/config/config.h"
#include "stages/light_muon.h"
#include "stages/model.h"

/* Pieces of a stopping muon's last metres. */
enum { IS_SLOW_PIECES = 400 };

typedef struct is_light_setup {
    uint64_t seed;
    ice_light_convention convention;
    const ice_detector *detector; /* not owned */
    double per_metre;             /* photons per metre of bare track at beta = 1, bias included */
    double *kept; /* [spectrum_count] share of the photons of a spectrum that the bias keeps */
    size_t spectrum_count;
    /* light of the k-th piece of ICE_MUON_PIECE metres before the end of a stopping muon, relative
     * to beta = 1 */
    double slow[IS_SLOW_PIECES];
    uint32_t photons_per_step, photons_per_direction;
    bool losses, stopping;
    double track_length; /* m; 0: the range */
    uint32_t spectrum;   /* of sources that have none */
} is_light_setup;

/* The light is that of the medium. Detector and light must outlive the setup. IS_E_CONFIG: a
 * spectrum of light.spectra that cannot be read any more; IS_E_MEMORY. */
int is_light_setup_create(const is_config *config, const ice_medium *medium,
                          const ice_detector *detector, const ice_light *light,
                          is_light_setup **out, is_error *error);
/* Accepts NULL. */
void is_light_setup_destroy(is_light_setup *setup);

#endif
