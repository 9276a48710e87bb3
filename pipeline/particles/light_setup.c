#include "pipeline/particles/light_setup.h"

#include "pipeline/error.h"
#include "pipeline/models/curve.h"
#include "pipeline/models/light.h"

#include <math.h>
#include <stdlib.h>

_Static_assert((int)IS_CONVENTIONS_STANDARD == ICE_CONVENTION_STANDARD &&
                   (int)IS_CONVENTIONS_CLSIM == ICE_CONVENTION_CLSIM &&
                   (int)IS_CONVENTIONS_PPC == ICE_CONVENTION_PPC,
               "one order of conventions");

static is_curve curve_of(double *x, double *y, size_t count)
{
    return (is_curve){.x = x, .y = y, .count = count};
}

/* Light of a file's spectrum before the bias, also where the bias is zero. */
static int file_integral(const char *path, double *out, is_error *error)
{
    is_text text;
    is_curve curve = {0};
    int status = is_text_read(path, &text, error);
    if (status != IS_OK)
        return status;
    status = is_curve_read_density(&text, &curve, error);
    is_text_free(&text);
    if (status == IS_OK)
        *out = is_curve_integral(&curve);
    is_curve_free(&curve);
    return status;
}

/* The same of a built-in one, all of which is inside the bias. */
static double built_in_integral(const is_curve *spectrum, const is_curve *bias)
{
    double sum = 0;
    for (size_t i = 1; i < spectrum->count; ++i) {
        const double left = is_curve_at(bias, spectrum->x[i - 1]);
        const double right = is_curve_at(bias, spectrum->x[i]);
        if (left > 0 && right > 0)
            sum += 0.5 * (spectrum->y[i - 1] / left + spectrum->y[i] / right) *
                   (spectrum->x[i] - spectrum->x[i - 1]);
    }
    return sum;
}

/* int(s bias) / int(s) (physics.md 3.4). */
static int find_kept(const is_config *config, const ice_light *light, size_t index, double *out,
                     is_error *error)
{
    const ice_spectrum *spectrum = &light->spectra[index];
    const is_curve biased = curve_of(spectrum->wavelength, spectrum->density, spectrum->count);
    const is_curve bias = curve_of(light->bias_wavelength, light->bias, light->bias_count);
    *out = 1;
    if (light->bias_count == 0)
        return IS_OK;
    if (spectrum->count == 1) {
        *out = is_curve_at(&bias, spectrum->wavelength[0]);
        return IS_OK;
    }
    double all = 0;
    int status = IS_OK;
    if (index < IS_SPECTRA_BUILT_IN)
        all = built_in_integral(&biased, &bias);
    else
        status =
            file_integral(config->light.spectra[index - IS_SPECTRA_BUILT_IN].file, &all, error);
    if (status == IS_OK)
        *out = is_curve_integral(&biased) / all;
    return status;
}

/* Cherenkov light at beta relative to beta = 1, over the biased spectrum. */
static double slow_share(const ice_medium *medium, const ice_spectrum *spectrum, double beta)
{
    double sum = 0, all = 0;
    for (size_t i = 1; i < spectrum->count; ++i) {
        const double width = spectrum->wavelength[i] - spectrum->wavelength[i - 1];
        for (size_t k = i - 1; k <= i; ++k) {
            const double light = 0.5 * width * spectrum->density[k];
            all += light;
            sum += light * ice_cherenkov_share(
                               beta, is_medium_phase_index(medium, spectrum->wavelength[k]));
        }
    }
    return sum / all;
}

int is_light_setup_create(const is_config *config, const ice_medium *medium,
                          const ice_detector *detector, const ice_light *light,
                          is_light_setup **out, is_error *error)
{
    *out = NULL;
    is_light_setup *setup = calloc(1, sizeof *setup);
    double *kept = calloc(light->count, sizeof *kept);
    if (!setup || !kept) {
        free(setup);
        free(kept);
        return is_error_add(error, IS_E_MEMORY, "particles: error: out of memory");
    }
    *setup = (is_light_setup){
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
        .track_length = config->particles.track_length,
        .spectrum = config->particles.spectrum};
    setup->per_metre = light->photons_per_metre * setup->convention.cherenkov_factor;
    for (int k = 0; k < IS_SLOW_PIECES; ++k)
        setup->slow[k] =
            slow_share(medium, &light->spectra[0], ice_muon_beta(ICE_MUON_PIECE * (k + 0.5)));
    int status = IS_OK;
    for (size_t i = 1; i < light->count && status == IS_OK; ++i)
        status = find_kept(config, light, i, &kept[i], error);
    if (status != IS_OK) {
        is_light_setup_destroy(setup);
        return status;
    }
    *out = setup;
    return IS_OK;
}

void is_light_setup_destroy(is_light_setup *setup)
{
    if (!setup)
        return;
    free(setup->kept);
    free(setup);
}
