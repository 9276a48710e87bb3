/* The loop of walk.h. It is compiled once for every instruction set with the options of the
 * kernels. WALK_SYMBOL is the name of its one function. */
#include "tests/propagation/walk.h"

void WALK_SYMBOL(const walk_job *job, walk_block *block);

#define WALK_VECTOR_LOOP _Pragma("omp simd")

static void create(const walk_job *job, walk_block *b, uint32_t first, uint32_t count)
{
    const ice_tables t = *job->tables;
    const ice_emission emission = *job->emission;
    const uint32_t begin = b->count, end = begin + count;
    WALK_VECTOR_LOOP
    for (uint32_t i = begin; i < end; ++i) {
        const ice_photon photon =
            ice_create(ICE_create_cherenkov, &t, &emission, 0, first + (i - begin));
        const ice_optics optics = ice_optics_at(&t, photon.wavelength);
        b->random[i] = ice_random_of(&t, ice_identity_of(&emission, photon.photon_id));
        b->photon_id[i] = photon.photon_id;
        b->scatters[i] = photon.scatters;
        b->x[i] = photon.x;
        b->y[i] = photon.y;
        b->z[i] = photon.z;
        b->dx[i] = photon.dx;
        b->dy[i] = photon.dy;
        b->dz[i] = photon.dz;
        b->path[i] = photon.path;
        b->absorption[i] = photon.absorption;
        b->wavelength[i] = photon.wavelength;
        b->optics_scattering[i] = optics.scattering;
        b->optics_dust[i] = optics.dust;
        b->optics_ice[i] = optics.ice;
    }
    b->count = end;
}

static void propagate(const walk_job *job, walk_block *b)
{
    const ice_tables t = *job->tables;
    float depth[WALK_WIDTH];
    WALK_VECTOR_LOOP
    for (uint32_t i = 0; i < b->count; ++i) {
        depth[i] = ice_depth_of(b->random[i]);
        const ice_segment_start start = {
            b->z[i],
            b->dz[i],
            depth[i],
            b->absorption[i],
            {b->optics_scattering[i], b->optics_dust[i], b->optics_ice[i], 0.0f}};
        int32_t leaves;
        const ice_segment segment = ice_segment_in_layer(&t, start, &leaves);
        b->length[i] = segment.length;
        b->absorption[i] = leaves ? b->absorption[i] : segment.absorption;
        b->leaves[i] = (uint32_t)leaves;
    }
    for (uint32_t i = 0; i < b->count; ++i) {
        if (!b->leaves[i]) {
            continue;
        }
        const ice_segment_start start = {
            b->z[i],
            b->dz[i],
            depth[i],
            b->absorption[i],
            {b->optics_scattering[i], b->optics_dust[i], b->optics_ice[i], 0.0f}};
        const ice_segment segment = ice_propagate_beyond(job->variants.propagate, &t, start);
        b->length[i] = segment.length;
        b->absorption[i] = segment.absorption;
    }
}

ICE_FN void fly_and_scatter(ice_variant variant, const ice_tables *tables, walk_block *b)
{
    const ice_scatter_constants constants = tables->scatter;
    WALK_VECTOR_LOOP
    for (uint32_t i = 0; i < b->count; ++i) {
        const ice_direction n = {b->dx[i], b->dy[i], b->dz[i]};
        b->x[i] = fmaf(b->length[i], n.x, b->x[i]);
        b->y[i] = fmaf(b->length[i], n.y, b->y[i]);
        b->z[i] = fmaf(b->length[i], n.z, b->z[i]);
        b->path[i] += b->length[i];
        const ice_scatter_draw draw = ice_draw_scatter(&b->random[i]);
        const ice_direction turned = ice_deflect_or_turn(
            n, ice_scatter(variant, &constants, draw.angle), ice_azimuth_of(draw.azimuth), 1);
        b->dx[i] = turned.x;
        b->dy[i] = turned.y;
        b->dz[i] = turned.z;
        b->scatters[i] += 1;
    }
}

/* One loop for every scatter variant, chosen outside of it. */
#define WALK_CASE(stage, name, yaml, text)                                                         \
    case ICE_scatter_##name:                                                                       \
        fly_and_scatter(ICE_scatter_##name, tables, b);                                            \
        break;
static void scatter(ice_variant variant, const ice_tables *tables, walk_block *b)
{
    switch (variant) {
    default:
        ICE_SCATTER_VARIANTS(WALK_CASE)
    }
}

/* Moves photons from the back into the slots of photons that have ended. */
static void compact(const walk_job *job, walk_block *b)
{
    for (uint32_t i = 0; i < b->count;) {
        if (!walk_absorbed(b, i) && b->path[i] < job->path_limit &&
            b->scatters[i] < job->scatter_limit) {
            ++i;
            continue;
        }
        const uint32_t last = --b->count;
        b->random[i] = b->random[last];
        b->photon_id[i] = b->photon_id[last];
        b->scatters[i] = b->scatters[last];
        b->x[i] = b->x[last];
        b->y[i] = b->y[last];
        b->z[i] = b->z[last];
        b->dx[i] = b->dx[last];
        b->dy[i] = b->dy[last];
        b->dz[i] = b->dz[last];
        b->path[i] = b->path[last];
        b->absorption[i] = b->absorption[last];
        b->wavelength[i] = b->wavelength[last];
        b->optics_scattering[i] = b->optics_scattering[last];
        b->optics_dust[i] = b->optics_dust[last];
        b->optics_ice[i] = b->optics_ice[last];
    }
}

void WALK_SYMBOL(const walk_job *job, walk_block *block)
{
    uint32_t next = job->first_photon;
    uint32_t waiting = job->photons;
    block->count = 0;
    while (block->count > 0 || waiting > 0) {
        const uint32_t room = WALK_WIDTH - block->count;
        const uint32_t started = waiting < room ? waiting : room;
        create(job, block, next, started);
        next += started;
        waiting -= started;
        propagate(job, block);
        job->visit(job->user, block);
        scatter(job->variants.scatter, job->tables, block);
        compact(job, block);
    }
}
