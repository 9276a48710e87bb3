/* Birefringence: deflection of light by ice crystals between two scatters (physics.md 6.4). */
#include "base/error.h"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/light/region.h"
#include "stages/birefringence.h"

#include <math.h>

/* ---- physics --------------------------------------------------------------------------------- */

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
    /* The number is a part of the definition, because published tables were made with it. */
    enum { CELLS = 100 };
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

/* ---- the feature ----------------------------------------------------------------------------- */

/* As ics_subtraction, without "auto", which means what the file says. */
static const char *subtractions(const char *path, size_t index)
{
    static const char *const names[] = {"none", "constant", "scaled"};
    (void)path;
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

/* clang-format off */
static const ics_schema_field fields[] = {
    ICS_ICE_FILE_NUMBERS("birefringence.along", medium.birefringence.along, -1e12, 1e12),
    ICS_ICE_FILE_NUMBERS("birefringence.across", medium.birefringence.across, -1e12, 1e12),
    ICS_ICE_FILE_NUMBERS("birefringence.mean", medium.birefringence.mean, -1e12, 1e12),
    {.path = "birefringence.subtraction", .type = ICS_SCHEMA_CHOICE, .choice = subtractions,
     ICS_SCHEMA_AT(ics_ice_file, subtraction), .fallback = "none"},
};
/* clang-format on */

/* Checks all three functions together, at the first one that the file gives. */
static int check(const ics_ice_file *file, const ics_ice_keys *keys, icestream_error *error)
{
    char place[512];
    for (size_t i = 0; i < 3; ++i) {
        const ics_yaml_node *node = ics_ice_file_given(keys, fields[i].path);
        if (node != NULL) {
            return ics_ice_birefringence_check(ics_yaml_place(node, place, sizeof place),
                                               &file->medium.birefringence, error);
        }
    }
    return ICESTREAM_OK;
}

static void remove_birefringence(ice_medium *medium, ics_layer_list *layers)
{
    (void)layers;
    medium->birefringence = (ice_birefringence){0};
}

static void describe(const ice_medium *medium, FILE *out)
{
    static const char *const taken[] = {
        [ICE_TAKEN_NOTHING] = "nothing (none)",
        [ICE_TAKEN_CONSTANT] = "the same at every wavelength (constant)",
        [ICE_TAKEN_SCALED] = "the amount at 400 nm, scaled like dust (scaled)",
    };
    ics_range strength = ics_range_empty;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        ics_range_add(&strength, medium->layers[i].birefringence);
    }
    fprintf(out,
            "  crystals birefringence of strength %.4g .. %.4g, scatters %.6g 1/m at strength 1\n",
            strength.low, strength.high, ics_ice_birefringence_scattering(&medium->birefringence));
    fprintf(out, "           subtracted from the scattering for it: %s\n", taken[medium->taken]);
}

static bool is_on(const icestream_config *config)
{
    return config->ice.birefringence;
}

const ics_ice_feature ics_ice_feature_birefringence = {
    .name = "birefringence",
    .is_on = is_on,
    .has_flow = true,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .check = check,
    .remove = remove_birefringence,
    .describe = describe,
};
