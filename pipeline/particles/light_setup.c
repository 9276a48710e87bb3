#include "pipeline/particles/light_setup.h"

#include "base/error.h"
#include "pipeline/models/light/curve.h"
#include "pipeline/models/light/light.h"

#include <math.h>
#include <stdlib.h>

_Static_assert((int)ICS_CONVENTIONS_STANDARD == ICE_CONVENTION_STANDARD &&
                   (int)ICS_CONVENTIONS_CLSIM == ICE_CONVENTION_CLSIM &&
                   (int)ICS_CONVENTIONS_PPC == ICE_CONVENTION_PPC,
               "one order of conventions");

static ics_curve curve_of(double *x, double *y, size_t count)
{
    return (ics_curve){.x = x, .y = y, .count = count};
}

/* Integrates the spectrum of a file before the bias, also where the bias is zero. */
static int file_integral(const char *path, double *out, icestream_error *error)
{
    ics_text text;
    ics_curve curve = {0};
    int status = ics_text_read(path, &text, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    status = ics_curve_read_density(&text, &curve, error);
    ics_text_free(&text);
    if (status == ICESTREAM_OK) {
        *out = ics_curve_integral(&curve);
    }
    ics_curve_free(&curve);
    return status;
}

/* Integrates a built-in spectrum before the bias: the biased spectrum divided by the bias. */
static double built_in_integral(const ics_curve *spectrum, const ics_curve *bias)
{
    double sum = 0;
    for (size_t i = 1; i < spectrum->count; ++i) {
        const double left = ics_curve_at(bias, spectrum->x[i - 1]);
        const double right = ics_curve_at(bias, spectrum->x[i]);
        if (left > 0 && right > 0) {
            sum += 0.5 * (spectrum->y[i - 1] / left + spectrum->y[i] / right) *
                   (spectrum->x[i] - spectrum->x[i - 1]);
        }
    }
    return sum;
}

/* Finds the share of the light that the bias keeps: int(s bias) / int(s) (physics.md 3.4). */
static int find_kept(const icestream_config *config, const ice_light *light, size_t index,
                     double *out, icestream_error *error)
{
    const ice_spectrum *spectrum = &light->spectra[index];
    const ics_curve biased = curve_of(spectrum->wavelength, spectrum->density, spectrum->count);
    const ics_curve bias = curve_of(light->bias_wavelength, light->bias, light->bias_count);
    *out = 1;
    if (light->bias_count == 0) {
        return ICESTREAM_OK;
    }
    if (spectrum->count == 1) {
        *out = ics_curve_at(&bias, spectrum->wavelength[0]);
        return ICESTREAM_OK;
    }
    double all = 0;
    int status = ICESTREAM_OK;
    if (index < ICS_SPECTRA_BUILT_IN) {
        all = built_in_integral(&biased, &bias);
    } else {
        status =
            file_integral(config->light.spectra[index - ICS_SPECTRA_BUILT_IN].file, &all, error);
    }
    if (status == ICESTREAM_OK) {
        *out = ics_curve_integral(&biased) / all;
    }
    return status;
}

/* Returns the number of photons to make at beta, relative to beta = 1, over the biased spectrum.
 * This is the Cherenkov light, divided by the share of photons whose wavelengths are above the
 * threshold, because stages/create_cherenkov.h drops all others. */
static double slow_share(const ice_medium *medium, const ice_spectrum *spectrum, double beta)
{
    double sum = 0, kept = 0;
    for (size_t i = 1; i < spectrum->count; ++i) {
        const double width = spectrum->wavelength[i] - spectrum->wavelength[i - 1];
        for (size_t k = i - 1; k <= i; ++k) {
            const double light = 0.5 * width * spectrum->density[k];
            const double index = ics_ice_phase_index(medium, spectrum->wavelength[k]);
            kept += beta * index >= 1 ? light : 0;
            sum += light * ice_cherenkov_share(beta, index);
        }
    }
    return kept > 0 ? sum / kept : 0;
}

int ics_light_setup_create(const icestream_config *config, const ice_medium *medium,
                           const ice_detector *detector, const ice_light *light,
                           ics_light_setup **out, icestream_error *error)
{
    *out = NULL;
    ics_light_setup *setup = calloc(1, sizeof *setup);
    double *kept = calloc(light->count, sizeof *kept);
    if (setup == NULL || kept == NULL) {
        free(setup);
        free(kept);
        return ics_error_add(error, ICESTREAM_E_MEMORY, "particles: error: out of memory");
    }
    *setup = (ics_light_setup){
        .seed = config->run.seed,
        .convention = ice_light_convention_in((ice_convention_name)config->particles.conventions,
                                              medium->density > 0 ? medium->density : ICE_DENSITY),
        .detector = detector,
        .kept = kept,
        .spectrum_count = light->count,
        .photons_per_step = config->particles.photons_per_step,
        .photons_per_direction = config->particles.photons_per_direction,
        .losses = config->particles.losses,
        .stopping = config->particles.stopping,
        .leds_of_ppc = config->particles.conventions == ICS_CONVENTIONS_PPC,
        .track_length = config->particles.track_length,
        .spectrum = config->particles.spectrum};
    setup->per_metre = light->photons_per_metre * setup->convention.cherenkov_factor;
    for (int k = 0; k < ICS_SLOW_PIECES; ++k) {
        setup->slow[k] =
            slow_share(medium, &light->spectra[0], ice_muon_beta(ICE_MUON_PIECE * (k + 0.5)));
    }
    int status = ICESTREAM_OK;
    for (size_t i = 1; i < light->count && status == ICESTREAM_OK; ++i) {
        status = find_kept(config, light, i, &kept[i], error);
    }
    if (status != ICESTREAM_OK) {
        ics_light_setup_destroy(setup);
        return status;
    }
    *out = setup;
    return ICESTREAM_OK;
}

void ics_light_setup_destroy(ics_light_setup *setup)
{
    if (setup == NULL) {
        return;
    }
    free(setup->kept);
    free(setup);
}
