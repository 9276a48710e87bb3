#include "pipeline/models/ice/ice_features.h"

#include "base/error.h"
#include "pipeline/models/ice/ice_tilt.h"
#include "stages/birefringence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

unsigned ics_ice_features(const ice_medium *medium)
{
    const double *absorption = medium->absorption_anisotropy;
    bool scattering = false, birefringent = false;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        scattering |= layer->anisotropy_along != 0 || layer->anisotropy_across != 0;
        birefringent |= layer->birefringence > 0;
    }
    unsigned found = 0;
    if (medium->tilt.kind != ICE_TILT_NONE) {
        found |= ICS_ICE_TILT;
    }
    if (scattering) {
        found |= ICS_ICE_SCATTERING_ANISOTROPY;
    }
    if (absorption[0] != 0 || absorption[1] != 0 || absorption[2] != 0 ||
        medium->absorption_exponent != 0) {
        found |= ICS_ICE_ABSORPTION_ANISOTROPY;
    }
    if (birefringent) {
        found |= ICS_ICE_BIREFRINGENCE;
    }
    if (medium->hole.radius > 0) {
        found |= ICS_ICE_HOLE;
    }
    if (medium->spectral != NULL) {
        found |= ICS_ICE_SPECTRAL;
    }
    return found;
}

const char *ics_ice_features_text(const ice_medium *medium, char *buffer, size_t size)
{
    static const struct {
        unsigned feature;
        const char *name;
    } features[] = {
        {ICS_ICE_TILT, "tilt"},
        {ICS_ICE_SCATTERING_ANISOTROPY, "scattering anisotropy"},
        {ICS_ICE_ABSORPTION_ANISOTROPY, "absorption anisotropy"},
        {ICS_ICE_BIREFRINGENCE, "birefringence"},
        {ICS_ICE_HOLE, "hole ice"},
    };
    const unsigned found = ics_ice_features(medium);
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < sizeof features / sizeof *features && used < size; ++i) {
        if (found & features[i].feature) {
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : " with ",
                                     features[i].name);
        }
    }
    return buffer;
}

int ics_ice_warn(const ice_medium *medium, ics_warnings *warnings)
{
    enum { FAR_OFF = 100 }; /* m, more than any ice is known to tilt (physics.md 14.4) */
    double low, high;
    ics_ice_tilt_range(&medium->tilt, &low, &high);
    if (fmax(-low, high) <= FAR_OFF) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(warnings, "the tilt shifts layers by up to %.4g m", fmax(-low, high));
}

void ics_ice_switch_off(const icestream_config *config, ice_medium *properties,
                        ics_layer_list *layers)
{
    if (!config->ice.anisotropy) {
        memset(properties->absorption_anisotropy, 0, sizeof properties->absorption_anisotropy);
        properties->absorption_exponent = 0;
    }
    if (!config->ice.birefringence) {
        properties->birefringence = (ice_birefringence){0};
    }
    if (!config->ice.hole_ice) {
        properties->hole = (ice_hole){0};
    }
    for (size_t i = 0; i < layers->count && !config->ice.anisotropy; ++i) {
        layers->rows[i].layer.anisotropy_along = layers->rows[i].layer.anisotropy_across = 0;
    }
}

/* ---- absorption anisotropy ------------------------------------------------------------------- */

void ics_ice_absorption_anisotropy_scale(const double given[3], double scaled[3])
{
    memcpy(scaled, given, 3 * sizeof *scaled);
    if (given[0] < given[1] || given[1] != given[2]) {
        return;
    }
    /* The mean is asinh(s) / (s K2) with s^2 = (K1 / K2)^2 - 1. */
    double s = sqrt(expm1(2 * (given[0] - given[1])));
    double mean = s > 0 ? log(asinh(s) / s) : 0;
    for (int i = 0; i < 3; ++i) {
        scaled[i] = given[i] - given[1] + mean;
    }
}

/* ---- birefringence --------------------------------------------------------------------------- */

static ics_deflection raw_deflection(const ice_birefringence *birefringence, double cosine)
{
    const double sine = sqrt(1 - cosine * cosine);
    return (ics_deflection){.along = ice_rms_deflection(birefringence->along, sine),
                            .across = ice_rms_deflection(birefringence->across, sine),
                            .mean = ice_mean_deflection(birefringence->mean, sine, cosine)};
}

ics_deflection ics_ice_birefringence_at(const ice_birefringence *birefringence, double cosine)
{
    ics_deflection raw = raw_deflection(birefringence, cosine);
    return (ics_deflection){fmax(0, raw.along), fmax(0, raw.across), fmax(0, raw.mean)};
}

double ics_ice_birefringence_scattering(const ice_birefringence *birefringence)
{
    enum { CELLS = 100 }; /* part of the definition: tables were made with them */
    double sum = 0;
    for (int i = 0; i < CELLS; ++i) {
        ics_deflection d = ics_ice_birefringence_at(birefringence, (i + 0.5) / CELLS);
        sum += d.along * d.along + d.across * d.across + d.mean * d.mean;
    }
    return 0.5 * sum / CELLS;
}

int ics_ice_birefringence_check(const char *place, const ice_birefringence *birefringence,
                                icestream_error *error)
{
    enum { POINTS = 1000 };
    static const char *const names[] = {"along", "across", "mean"};
    static const char *const units[] = {"rad/sqrt(m)", "rad/sqrt(m)", "rad/m"};
    const double most = 10;
    for (int i = 0; i <= POINTS; ++i) {
        double cosine = (double)i / POINTS;
        ics_deflection raw = raw_deflection(birefringence, cosine);
        const double values[] = {raw.along, raw.across, raw.mean};
        for (int k = 0; k < 3; ++k) {
            if (!(fabs(values[k]) <= most)) { /* also NaN */
                return ics_error_add(error, ICESTREAM_E_CONFIG,
                                     "%s: error: birefringence: found a deflection '%s' of %.4g %s "
                                     "at cosine %g to the flow, expected at most %g",
                                     place, names[k], values[k], units[k], cosine, most);
            }
        }
    }
    return ICESTREAM_OK;
}

void ics_ice_birefringence_subtract(ics_subtraction subtraction, ice_medium *medium)
{
    double scattering = ics_ice_birefringence_scattering(&medium->birefringence);
    medium->taken = subtraction == ICS_SUBTRACTION_CONSTANT ? ICE_TAKEN_CONSTANT
                    : subtraction == ICS_SUBTRACTION_SCALED ? ICE_TAKEN_SCALED
                                                            : ICE_TAKEN_NOTHING;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        ice_layer *layer = &medium->layers[i];
        double done = layer->birefringence * scattering;
        if (subtraction == ICS_SUBTRACTION_CONSTANT) {
            layer->bubbles -= done;
        } else if (subtraction == ICS_SUBTRACTION_SCALED) {
            layer->effective_scattering -= done;
        }
    }
}
