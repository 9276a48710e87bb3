/* Anisotropy of absorption: a power of the scattering anisotropy (physics.md 6.2), and the factors
 * K (6.3). */
#include "pipeline/photons/models/ice/features.h"

#include <math.h>
#include <string.h>

static const ics_schema_field fields[] = {
    ICS_ICE_FILE_NUMBER("absorption_exponent", medium.absorption_exponent, -10, 10, "1"),
    ICS_ICE_FILE_NUMBERS("absorption_anisotropy", absorption_anisotropy, -3, 3),
};

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

static void convert(ics_ice_file *file)
{
    ics_ice_absorption_anisotropy_scale(file->absorption_anisotropy,
                                        file->medium.absorption_anisotropy);
}

static void remove_anisotropy(ice_medium *medium, ics_layer_list *layers)
{
    (void)layers;
    memset(medium->absorption_anisotropy, 0, sizeof medium->absorption_anisotropy);
    medium->absorption_exponent = 0;
}

static void describe(const ice_medium *medium, FILE *out)
{
    const double *k = medium->absorption_anisotropy;
    if (k[0] != 0 || k[1] != 0 || k[2] != 0) {
        fprintf(out, "  absorbs  K %.6g along, %.6g across the flow, %.6g vertically\n", exp(k[0]),
                exp(k[1]), exp(k[2]));
    }
    if (medium->absorption_exponent != 0) {
        fprintf(out, "  absorbs  as k1, k2 to the power of %.4g\n", medium->absorption_exponent);
    }
}

static bool is_on(const icestream_config *config)
{
    return config->ice.anisotropy;
}

const ics_ice_feature ics_ice_feature_absorption = {
    .name = "absorption anisotropy",
    .is_on = is_on,
    .has_flow = true,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .convert = convert,
    .remove = remove_anisotropy,
    .describe = describe,
};
