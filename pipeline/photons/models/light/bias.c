/* The bias of the generated light: which share of the photons is worth creating. */
#include "base/cleanup.h"
#include "pipeline/photons/config/table.h"
#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/file.h"
#include "pipeline/photons/models/light/acceptance_table.h"
#include "pipeline/photons/models/light/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Says in reports where the acceptance comes from. */
static int set_origin(ics_light_builder *builder, const char *what, const char *name)
{
    free(builder->light->acceptance_from);
    if (asprintf(&builder->light->acceptance_from, "%s%s", what, name) < 0) {
        builder->light->acceptance_from = NULL;
        return ics_error_no_memory(builder->error, "light");
    }
    return ICESTREAM_OK;
}

static int bias_from_file(ics_light_builder *builder, const char *path)
{
    ICS_TRY(set_origin(builder, "", path));
    return ics_acceptance_file_read(path, builder->place, &builder->bias, builder->error);
}

static int bias_from_formula(ics_light_builder *builder)
{
    ICS_TRY(set_origin(builder, "standard: a module of IceCube (physics.md 3.3)", ""));
    return ics_light_standard_curve(&builder->bias, builder->error);
}

/* The largest acceptance of the types of modules. */
static int bias_from_types(ics_light_builder *builder, const ice_detector *detector)
{
    ICS_TRY(set_origin(builder, "the types of modules", ""));
    for (size_t i = 0; i < detector->acceptance_count; ++i) {
        ICS_TRY(ics_curve_add(&builder->bias, detector->acceptance_wavelengths[i],
                              detector->acceptance[i], builder->error));
    }
    return ICESTREAM_OK;
}

/* Makes the bias from light.acceptance. The value auto means what the types of modules say, else
 * the file wv.dat of a ppc ice folder, if there is one, else the standard acceptance. */
static int make_bias(ics_light_builder *builder, const ice_detector *detector)
{
    const icestream_config *config = builder->config;
    const char *acceptance = config->light.acceptance;
    if (strcmp(acceptance, "none") == 0) {
        return ICESTREAM_OK;
    }
    if (strcmp(acceptance, "standard") == 0) {
        return bias_from_formula(builder);
    }
    if (strcmp(acceptance, "auto") != 0) {
        return bias_from_file(builder, acceptance);
    }
    if (detector->acceptance_count > 0) {
        return bias_from_types(builder, detector);
    }
    ICS_FREES char *path = NULL;
    ICS_TRY(ics_model_file_find(config, acceptance, "wv.dat", &path, builder->error));
    return path != NULL ? bias_from_file(builder, path) : bias_from_formula(builder);
}

/* ---- modules that differ -----------------------------------------------------------------------
 */

static int read_ratio(ics_light_builder *builder)
{
    const icestream_config *config = builder->config;
    const char *value = config->light.high_efficiency;
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    if (strcmp(value, "auto") == 0 && !ics_sensors_detecting(config)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_model_file_read(config, value, "wv.rde", &text, builder->error));
    return text.name != NULL ? ics_curve_read_ratio(&text, &builder->ratio, builder->error)
                             : ICESTREAM_OK;
}

static double ratio_at(const ics_light_builder *builder, size_t acceptance, double wavelength)
{
    return acceptance > 0 && builder->ratio.count > 0
               ? ics_curve_at_or_end(&builder->ratio, wavelength)
               : 1;
}

/* Keeps what the bias is made from, for the record of steps. */
static int keep_parts(ics_light_builder *builder, double efficiency)
{
    ice_light *light = builder->light;
    const ics_curve *bias = &builder->bias;
    light->efficiency = efficiency;
    light->standard_acceptance = calloc(bias->count + 1, sizeof(double));
    light->high_efficiency = calloc(bias->count + 1, sizeof(double));
    if (light->standard_acceptance == NULL || light->high_efficiency == NULL) {
        return ics_error_no_memory(builder->error, "light");
    }
    for (size_t i = 0; i < bias->count; ++i) {
        light->standard_acceptance[i] = bias->y[i];
        light->high_efficiency[i] = ratio_at(builder, 1, bias->x[i]);
    }
    return ICESTREAM_OK;
}

void ics_light_efficiencies(const icestream_config *config, const ice_detector *detector,
                            double largest[ICE_ACCEPTANCES])
{
    _Static_assert(ICE_ACCEPTANCES == 2, "the standard module, and modules of high efficiency");
    ics_detector_efficiencies(detector, largest);
    if (ics_config_tabulate(config) != ICS_TABULATE_NONE) {
        largest[0] = 1;
        largest[1] = 0;
    }
}

/* Turns the acceptance in builder->bias into the bias: at each wavelength the largest acceptance of
 * all modules, times `best`, the acceptance from the best direction, divided by F^2. The
 * acceptances of single modules go to the light. */
static int finish_bias(ics_light_builder *builder, const ice_detector *detector, double best)
{
    ice_light *light = builder->light;
    ics_curve *bias = &builder->bias;
    const double area = detector->oversize * detector->oversize, factor = best / area;
    double efficiencies[ICE_ACCEPTANCES];
    ics_light_efficiencies(builder->config, detector, efficiencies);
    light->flat_acceptance = factor;
    for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
        light->acceptances[k] = calloc(bias->count + 1, sizeof(double));
        if (light->acceptances[k] == NULL) {
            return ics_error_no_memory(builder->error, "light");
        }
        for (size_t i = 0; i < bias->count; ++i) {
            light->acceptances[k][i] = bias->y[i] * factor * ratio_at(builder, k, bias->x[i]);
        }
    }
    if (builder->ratio.count == 0 || efficiencies[1] == 0) {
        const double largest = fmax(efficiencies[0], efficiencies[1]);
        ics_curve_scale(bias, best * (largest > 0 ? largest : 1) / area);
        return ICESTREAM_OK;
    }
    for (size_t i = 0; i < bias->count; ++i) {
        double most = 0;
        for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
            most = fmax(most, efficiencies[k] * ratio_at(builder, k, bias->x[i]));
        }
        bias->y[i] *= factor * most;
    }
    return ICESTREAM_OK;
}

int ics_light_make_bias(ics_light_builder *builder, const ice_detector *detector, double efficiency)
{
    ICS_TRY(make_bias(builder, detector));
    ICS_TRY(read_ratio(builder));
    ICS_TRY(keep_parts(builder, efficiency));
    return finish_bias(builder, detector, detector->angular.maximum * efficiency);
}
