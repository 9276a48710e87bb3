/* Anisotropy of scattering: k1 and k2 of each layer (physics.md 6.2). */
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/light/region.h"

static const ics_schema_field fields[] = {
    ICS_ICE_FILE_NUMBERS("anisotropy", anisotropy, -3, 3),
};

/* A CSV table of layers has the anisotropy in its rows. */
static void convert(ics_ice_file *file)
{
    for (size_t i = 0; i < file->layers.count && file->table == NULL; ++i) {
        file->layers.rows[i].layer.anisotropy_along = file->anisotropy[0];
        file->layers.rows[i].layer.anisotropy_across = file->anisotropy[1];
    }
}

static void remove_anisotropy(ice_medium *medium, ics_layer_list *layers)
{
    (void)medium;
    for (size_t i = 0; i < layers->count; ++i) {
        layers->rows[i].layer.anisotropy_along = layers->rows[i].layer.anisotropy_across = 0;
    }
}

static void describe(const ice_medium *medium, FILE *out)
{
    ics_range along = ics_range_empty, across = ics_range_empty;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        ics_range_add(&along, exp(medium->layers[i].anisotropy_along));
        ics_range_add(&across, exp(medium->layers[i].anisotropy_across));
    }
    fprintf(out, "  scatters k1 %.4g .. %.4g along, k2 %.4g .. %.4g across the flow\n", along.low,
            along.high, across.low, across.high);
}

static bool is_on(const icestream_config *config)
{
    return config->ice.anisotropy;
}

const ics_ice_feature ics_ice_feature_anisotropy = {
    .name = "scattering anisotropy",
    .is_on = is_on,
    .has_flow = true,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .convert = convert,
    .remove = remove_anisotropy,
    .describe = describe,
};
