#include "pipeline/models/ice_features.h"

#include "pipeline/error.h"
#include "pipeline/models/ice_tilt.h"
#include "stages/birefringence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

unsigned is_medium_features(const ice_medium *medium)
{
    const double *absorption = medium->absorption_anisotropy;
    bool scattering = false, birefringent = false;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        scattering |= layer->anisotropy_along != 0 || layer->anisotropy_across != 0;
        birefringent |= layer->birefringence > 0;
    }
    unsigned found = 0;
    if (medium->tilt.kind != ICE_TILT_NONE)
        found |= IS_ICE_TILT;
    if (scattering)
        found |= IS_ICE_SCATTERING_ANISOTROPY;
    if (absorption[0] != 0 || absorption[1] != 0 || absorption[2] != 0 ||
        medium->absorption_exponent != 0)
        found |= IS_ICE_ABSORPTION_ANISOTROPY;
    if (birefringent)
        found |= IS_ICE_BIREFRINGENCE;
    if (medium->hole.radius > 0)
        found |= IS_ICE_HOLE;
    if (medium->spectral)
        found |= IS_ICE_SPECTRAL;
    return found;
}

const char *is_medium_features_text(const ice_medium *medium, char *buffer, size_t size)
{
    static const struct {
        unsigned feature;
        const char *name;
    } features[] = {
        {IS_ICE_TILT, "tilt"},
        {IS_ICE_SCATTERING_ANISOTROPY, "scattering anisotropy"},
        {IS_ICE_ABSORPTION_ANISOTROPY, "absorption anisotropy"},
        {IS_ICE_BIREFRINGENCE, "birefringence"},
        {IS_ICE_HOLE, "hole ice"},
    };
    const unsigned found = is_medium_features(medium);
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < sizeof features / sizeof *features && used < size; ++i)
        if (found & features[i].feature)
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : " with ",
                                     features[i].name);
    return buffer;
}

int is_medium_warn(const ice_medium *medium, is_warnings *warnings)
{
    enum { FAR_OFF = 100 }; /* m, more than any ice is known to tilt (physics.md 14.4) */
    double low, high;
    is_tilt_range(&medium->tilt, &low, &high);
    if (fmax(-low, high) <= FAR_OFF)
        return IS_OK;
    return is_warnings_add(warnings, "the tilt shifts layers by up to %.4g m", fmax(-low, high));
}

void is_ice_switch_off(const is_config *config, ice_medium *properties, is_layer_list *layers)
{
    if (!config->ice.anisotropy) {
        memset(properties->absorption_anisotropy, 0, sizeof properties->absorption_anisotropy);
        properties->absorption_exponent = 0;
    }
    if (!config->ice.birefringence)
        properties->birefringence = (ice_birefringence){0};
    if (!config->ice.hole_ice)
        properties->hole = (ice_hole){0};
    for (size_t i = 0; i < layers->count && !config->ice.anisotropy; ++i)
        layers->rows[i].layer.anisotropy_along = layers->rows[i].layer.anisotropy_across = 0;
}

/* ---- absorption anisotropy ------------------------------------------------------------------- */

void is_absorption_anisotropy_scale(const double given[3], double scaled[3])
{
    memcpy(scaled, given, 3 * sizeof *scaled);
    if (given[0] < given[1] || given[1] != given[2])
        return;
    /* The mean is asinh(s) / (s K2) with s^2 = (K1 / K2)^2 - 1. */
    double s = sqrt(expm1(2 * (given[0] - given[1])));
    double mean = s > 0 ? log(asinh(s) / s) : 0;
    for (int i = 0; i < 3; ++i)
        scaled[i] = given[i] - given[1] + mean;
}

/* ---- birefringence --------------------------------------------------------------------------- */

static is_deflection raw_deflection(const ice_birefringence *birefringence, double cosine)
{
    const double sine = sqrt(1 - cosine * cosine);
    return (is_deflection){.along = ice_rms_deflection(birefringence->along, sine),
                           .across = ice_rms_deflection(birefringence->across, sine),
                           .mean = ice_mean_deflection(birefringence->mean, sine, cosine)};
}

is_deflection is_birefringence_at(const ice_birefringence *birefringence, double cosine)
{
    is_deflection raw = raw_deflection(birefringence, cosine);
    return (is_deflection){fmax(0, raw.along), fmax(0, raw.across), fmax(0, raw.mean)};
}

double is_birefringence_scattering(const ice_birefringence *birefringence)
{
    enum { CELLS = 100 }; /* part of the definition: tables were made with them */
    double sum = 0;
    for (int i = 0; i < CELLS; ++i) {
        is_deflection d = is_birefringence_at(birefringence, (i + 0.5) / CELLS);
        sum += d.along * d.along + d.across * d.across + d.mean * d.mean;
    }
    return 0.5 * sum / CELLS;
}

int is_birefringence_check(const char *place, const ice_birefringence *birefringence,
                           is_error *error)
{
    enum { POINTS = 1000 };
    static const char *const names[] = {"along", "across", "mean"};
    static const char *const units[] = {"rad/sqrt(m)", "rad/sqrt(m)", "rad/m"};
    const double most = 10;
    for (int i = 0; i <= POINTS; ++i) {
        double cosine = (double)i / POINTS;
        is_deflection raw = raw_deflection(birefringence, cosine);
        const double values[] = {raw.along, raw.across, raw.mean};
        for (int k = 0; k < 3; ++k)
            if (!(fabs(values[k]) <= most)) /* also NaN */
                return is_error_add(error, IS_E_CONFIG,
                                    "%s: error: birefringence: found a deflection '%s' of %.4g %s "
                                    "at cosine %g to the flow, expected at most %g",
                                    place, names[k], values[k], units[k], cosine, most);
    }
    return IS_OK;
}

void is_birefringence_subtract(is_subtraction subtraction, ice_medium *medium)
{
    double scattering = is_birefringence_scattering(&medium->birefringence);
    medium->taken = subtraction == IS_SUBTRACTION_CONSTANT ? ICE_TAKEN_CONSTANT
                    : subtraction == IS_SUBTRACTION_SCALED ? ICE_TAKEN_SCALED
                                                           : ICE_TAKEN_NOTHING;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        ice_layer *layer = &medium->layers[i];
        double done = layer->birefringence * scattering;
        if (subtraction == IS_SUBTRACTION_CONSTANT)
            layer->bubbles -= done;
        else if (subtraction == IS_SUBTRACTION_SCALED)
            layer->effective_scattering -= done;
    }
}
