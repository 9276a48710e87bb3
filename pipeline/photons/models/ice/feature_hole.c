/* Hole ice: refrozen columns around the strings (physics.md 8.7). */
#include "pipeline/photons/models/ice/features.h"

static const ics_schema_field fields[] = {
    ICS_ICE_FILE_NUMBER("hole.radius", medium.hole.radius, 0, 20, "0"),
    ICS_ICE_FILE_NUMBER("hole.effective_scattering", medium.hole.effective_scattering, 1e-6, 1e6,
                        "0.03"),
    ICS_ICE_FILE_NUMBER("hole.absorption", medium.hole.absorption, 1e-6, 1e6, "100"),
    ICS_ICE_FILE_NUMBER("hole.mean_cosine", medium.hole.mean_cosine, -0.9999, 0.9999, "0.9"),
    ICS_ICE_FILE_NUMBER("hole.liu_fraction", medium.hole.liu_fraction, 0, 1, "0.35"),
};

/* Without a radius the other values have no effect, and the same ice shall have the same digest. */
static void convert(ics_ice_file *file)
{
    if (!(file->medium.hole.radius > 0)) {
        file->medium.hole = (ice_hole){0};
    }
}

static void remove_hole(ice_medium *medium, ics_layer_list *layers)
{
    (void)layers;
    medium->hole = (ice_hole){0};
}

static void describe(const ice_medium *medium, FILE *out)
{
    const ice_hole *hole = &medium->hole;
    fprintf(out,
            "  holes    radius %.4g m, effective scattering %.4g m, absorption %.4g m, mean "
            "cosine %.6g\n",
            hole->radius, hole->effective_scattering, hole->absorption, hole->mean_cosine);
}

static bool is_on(const icestream_config *config)
{
    return config->ice.hole_ice != ICS_HOLE_ICE_NO;
}

const ics_ice_feature ics_ice_feature_hole = {
    .name = "hole ice",
    .is_on = is_on,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .convert = convert,
    .remove = remove_hole,
    .describe = describe,
};
