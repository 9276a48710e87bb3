#include "pipeline/photons/models/light/light.h"

#include "pipeline/photons/models/light/builder.h"

#include <stdlib.h>

static int build(ics_light_builder *builder, const ics_ice_factors *factors,
                 const ice_detector *detector)
{
    const icestream_config *config = builder->config;
    ice_light *light = builder->light;
    if (config->light.spectrum_count > ICS_SPECTRA_MAX - ICS_SPECTRA_BUILT_IN) {
        return ics_config_error(
            config, "light.spectra", builder->error, "found %zu spectra, expected at most %d",
            config->light.spectrum_count, ICS_SPECTRA_MAX - ICS_SPECTRA_BUILT_IN);
    }
    ICS_TRY(ics_light_make_bias(builder, detector, factors->efficiency));
    light->count = ICS_SPECTRA_BUILT_IN + config->light.spectrum_count;
    light->spectra = calloc(light->count, sizeof *light->spectra);
    light->kept = calloc(light->count, sizeof *light->kept);
    if (light->spectra == NULL || light->kept == NULL) {
        free(light->spectra);
        light->spectra = NULL;
        light->count = 0;
        return ics_error_no_memory(builder->error, "light");
    }
    const int status = ics_light_make_spectra(builder);
    light->bias_wavelength = builder->bias.x;
    light->bias = builder->bias.y;
    light->bias_count = builder->bias.count;
    builder->bias = (ics_curve){0};
    return status;
}

int ics_light_create(const icestream_config *config, const ice_medium *medium,
                     const ics_ice_factors *factors, const ice_detector *detector, ice_light **out,
                     icestream_error *error)
{
    ics_light_builder builder = {.config = config, .medium = medium, .error = error};
    *out = NULL;
    ics_config_place(config, "light.acceptance", builder.place, sizeof builder.place);
    builder.light = calloc(1, sizeof *builder.light);
    int status = builder.light != NULL ? build(&builder, factors, detector)
                                       : ics_error_no_memory(error, "light");
    ics_curve_free(&builder.bias);
    ics_curve_free(&builder.ratio);
    if (status != ICESTREAM_OK) {
        ics_light_destroy(builder.light);
        return status;
    }
    *out = builder.light;
    return ICESTREAM_OK;
}

void ics_light_destroy(ice_light *light)
{
    if (light == NULL) {
        return;
    }
    for (size_t i = 0; i < light->count; ++i) {
        free(light->spectra[i].name);
        free(light->spectra[i].wavelength);
        free(light->spectra[i].density);
    }
    for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
        free(light->acceptances[k]);
    }
    free(light->acceptance_from);
    free(light->spectra);
    free(light->kept);
    free(light->standard_acceptance);
    free(light->high_efficiency);
    free(light->bias_wavelength);
    free(light->bias);
    free(light);
}
