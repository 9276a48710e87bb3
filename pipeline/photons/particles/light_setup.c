#include "pipeline/photons/particles/light_setup.h"

#include "physics/light/light_monopole.h"
#include "pipeline/photons/models/light/curve.h"
#include "pipeline/photons/models/light/light.h"

#include <math.h>

_Static_assert((int)ICS_CONVENTIONS_STANDARD == ICE_CONVENTION_STANDARD &&
                   (int)ICS_CONVENTIONS_CLSIM == ICE_CONVENTION_CLSIM &&
                   (int)ICS_CONVENTIONS_PPC == ICE_CONVENTION_PPC,
               "one order of conventions");

/* This is the Cherenkov light, divided by the share of photons whose wavelengths are above the
 * threshold, because stages/create_cherenkov.h drops all others. */
double ics_light_setup_share(const ics_light_setup *setup, double beta, bool is_magnetic)
{
    const ice_spectrum *spectrum = setup->cherenkov;
    double sum = 0, kept = 0;
    for (size_t i = 1; i < spectrum->count; ++i) {
        const double width = spectrum->wavelength[i] - spectrum->wavelength[i - 1];
        for (size_t k = i - 1; k <= i; ++k) {
            const double light = 0.5 * width * spectrum->density[k];
            const double index = ics_ice_phase_index(setup->medium, spectrum->wavelength[k]);
            kept += beta * index >= 1 ? light : 0;
            sum += light * ice_cherenkov_share(beta, index) *
                   (is_magnetic ? ice_monopole_gain(index) : 1);
        }
    }
    return kept > 0 ? sum / kept : 0;
}

ics_light_setup ics_light_setup_of(const icestream_config *config, const ics_models *models)
{
    const ice_medium *medium = models->medium;
    const ice_light *light = models->light;
    const double density = medium->density > 0 ? medium->density : ICE_DENSITY;
    ics_light_setup setup = {
        .seed = config->run.seed,
        .convention =
            ice_light_convention_in((ice_convention_name)config->particles.conventions, density),
        .detector = models->detector,
        .medium = medium,
        .cherenkov = &light->spectra[0],
        .kept = light->kept,
        .spectrum_count = light->count,
        .photons_per_step = config->particles.photons_per_step,
        .photons_per_direction = config->particles.photons_per_direction,
        .cascades_are_profiles = config->particles.cascades == ICS_CASCADES_PROFILE,
        .losses = config->particles.losses,
        .stopping = config->particles.stopping,
        .decays = config->particles.decays == ICS_DECAYS_AUTO &&
                  config->particles.conventions == ICS_CONVENTIONS_STANDARD,
        .has_ppc = config->particles.conventions == ICS_CONVENTIONS_PPC,
        .slows = config->particles.conventions == ICS_CONVENTIONS_STANDARD,
        .track = {.length = config->particles.track_length, .muon = ice_muon_loss_in(density)},
        .spectrum = config->particles.spectrum,
        .pulse = models->pulse.count > 0 ? &models->pulse : NULL};
    setup.per_metre = light->photons_per_metre * setup.convention.cherenkov_factor;
    for (int k = 0; k < ICS_SLOW_PIECES; ++k) {
        const double beta = ice_muon_beta(&setup.track.muon, ICE_MUON_PIECE * (k + 0.5));
        setup.slow[k] = ics_light_setup_share(&setup, beta, false);
    }
    return setup;
}
