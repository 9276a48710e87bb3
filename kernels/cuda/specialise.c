#include "kernels/cuda/specialise.h"

#include <stdio.h>

int ics_specialise(const ice_tables *tables, const ics_special_options *options, char *text,
                   size_t size)
{
    const ice_variants *variants = &options->variants;
    const int length = snprintf(
        text, size,
        "#define ICS_RUN_CREATE ((ice_variant)%d)\n"
        "#define ICS_RUN_PROPAGATE ((ice_variant)%d)\n"
        "#define ICS_RUN_COLLIDE ((ice_variant)%d)\n"
        "#define ICS_RUN_SCATTER ((ice_variant)%d)\n"
        "#define ICS_RUN_LAYERS %d\n"
        "#define ICS_RUN_SPECTRA %u\n"
        "#define ICS_RUN_CLEARANCE_NX %d\n"
        "#define ICS_RUN_CLEARANCE_NY %d\n"
        "#define ICS_RUN_KEEP_HIT_PHOTONS %d\n"
        "#define ICS_RUN_REACH_CULL %d\n"
        "#define ICS_RUN_BOUNDED %d\n"
        "#define ICS_RUN_FEATURES %uu\n"
        "#define ICS_RUN_TILT_ROWS %d\n"
        "#define ICS_RUN_TILT_U %d\n"
        "#define ICS_RUN_TILT_V %d\n"
        "#define ICS_RUN_TILT_CLAMP %d\n"
        "#define ICS_RUN_BLOCK %u\n"
        "#define ICS_RUN_BLOCKS %u\n"
        "#define ICS_RUN_BOUNCES %u\n"
        "#define ICS_RUN_REFILL %u\n"
        "#define ICS_RUN_START_SHIFT %u\n",
        (int)variants->create, (int)variants->propagate, (int)variants->collide,
        (int)variants->scatter, (int)tables->layer_count, tables->spectrum_count,
        (int)tables->clearance_nx, (int)tables->clearance_ny, tables->keep_hit_photons ? 1 : 0,
        tables->reach_cull ? 1 : 0, tables->bounded ? 1 : 0, tables->features,
        (int)tables->tilt.depth_rows, (int)tables->tilt.nodes_u, (int)tables->tilt.nodes_v,
        (int)tables->tilt.clamp, options->block, options->blocks_per_processor,
        options->bounces_per_wave, options->refill, options->start_shift);
    return length > 0 && (size_t)length < size ? 0 : -1;
}
