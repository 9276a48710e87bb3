/* The CPU kernels of one instruction set: compiled several times with different target options and
 * ICS_KERNELS_SYMBOL, ICS_KERNELS_NAME (cmake/CpuKernels.cmake).
 *
 * The loops over a wave are written for the vectoriser: straight-line stage functions, columns, no
 * calls; what branches (crossing a layer, meeting a module) is queued and done apart. How they
 * vectorised: bench/vectorisation.sh.
 */
#include "kernels/cpu/kernels.h"

static int put_arrival(ics_arrival_sink *sink, const ice_arrival *arrival)
{
    return sink->put(sink->self, arrival);
}
#define ICE_PUT_ARRIVAL(sink, arrival) put_arrival(sink, arrival)
#include "stages/bounce.h"

extern const ics_cpu_kernels ICS_KERNELS_SYMBOL;

/* Iterations are independent: columns do not overlap. */
#define ICS_VECTOR_LOOP _Pragma("omp simd")

/* Bits of the scratch column `flag`. */
enum { FLAG_LEAVES_LAYER = 1, FLAG_LEAVES_WORLD = 2, FLAG_COLLIDES = 4 };

/* ---- create --------------------------------------------------------------------------------- */

/* Inlined with a constant variant, one loop for each (see the tables at the end); of the features,
 * those that matter here. */
ICE_FN void create_with(ice_variant variant, uint32_t features, const ice_tables *tables,
                        const ice_emission *emissions, ics_wave *wave, uint32_t count)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.features = features;
    const uint32_t begin = w.count, end = begin + count;
    ICS_VECTOR_LOOP
    for (uint32_t i = begin; i < end; ++i) {
        const ice_emission *emission = &emissions[w.emission[i]];
        const ice_photon photon = ice_create(variant, &t, emission, w.emission[i], w.photon_id[i]);
        const ice_optics optics = ice_optics_at(&t, photon.wavelength);
        w.x[i] = photon.x;
        w.y[i] = photon.y;
        w.z[i] = photon.z;
        w.path[i] = photon.path;
        w.dx[i] = photon.dx;
        w.dy[i] = photon.dy;
        w.dz[i] = photon.dz;
        w.absorption[i] = photon.absorption;
        w.wavelength[i] = photon.wavelength;
        w.scatters[i] = photon.scatters;
        w.key_high[i] = t.seed_high ^ emission->event_high;
        w.event_low[i] = emission->event_low;
        w.step_id[i] = emission->step_id;
        w.optics_scattering[i] = optics.scattering;
        w.optics_dust[i] = optics.dust;
        w.optics_ice[i] = optics.ice;
        w.fate[i] = ICE_ALIVE;
    }
    wave->count = end;
}

/* ---- propagate ------------------------------------------------------------------------------ */

ICE_FN void draw_with(const ice_tables *tables, const ics_wave *wave, bool bends)
{
    const ics_wave w = *wave;
    const uint32_t key_low = tables->seed_low;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const ice_block block = ice_draw(key_low, w.key_high[i], w.event_low[i], w.step_id[i],
                                         w.photon_id[i], ICE_BLOCK_BOUNCE + w.scatters[i]);
        const ice_chance chance = ice_chance_of(block);
        w.scattering[i] = ice_exponential(block.a);
        w.angle[i] = chance.angle;
        w.azimuth[i] = chance.azimuth;
        if (bends) {
            const ice_normal g = ice_normals(chance.spare);
            w.normal_a[i] = g.a;
            w.normal_b[i] = g.b;
            w.normal_c[i] = g.c;
            w.normal_d[i] = g.d;
        }
    }
}

static void draw(const ice_tables *tables, const ics_wave *wave)
{
    if (tables->features & ICE_HAS_BIREFRINGENCE) {
        draw_with(tables, wave, true);
    } else {
        draw_with(tables, wave, false);
    }
}

/* Places among the layers, where those are tilted. */
static void level(const ice_tables *tables, const ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    if (t.features & ICE_HAS_TILT_MAP) {
        for (uint32_t i = 0; i < w.count; ++i) {
            w.height[i] = ice_height(&t, w.x[i], w.y[i], w.z[i]);
        }
        return;
    }
    /* The position among the stations first, added up stretch by stretch as ice_tilt_position()
     * does.
     */
    for (uint32_t i = 0; i < w.count; ++i) {
        w.height[i] = 0.0f;
    }
    for (int32_t k = 0; k < t.tilt.nodes_u - 1; ++k) {
        const ice_tilt_stretch stretch = t.tilt.stretches[k];
        ICS_VECTOR_LOOP
        for (uint32_t i = 0; i < w.count; ++i) {
            w.height[i] +=
                ice_tilt_share(&t.tilt, stretch, k, ice_tilt_place(&t.tilt, w.x[i], w.y[i]));
        }
    }
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        w.height[i] = w.z[i] - ice_shift_in_cell(&t.tilt, w.height[i], w.z[i]);
    }
}

static void cull(const ice_tables *tables, const ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    const float *height = t.features & ICE_HAS_TILT ? w.height : w.z;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const float clearance = ice_clearance(&t, w.x[i], w.y[i]);
        const ice_optics optics = {w.optics_scattering[i], w.optics_dust[i], w.optics_ice[i]};
        const int32_t drop = t.reach_cull & ice_out_of_reach(&t, clearance, w.x[i], w.y[i], w.z[i],
                                                             height[i], optics, w.absorption[i]);
        w.clearance[i] = clearance;
        w.fate[i] = drop ? ICE_LEFT : ICE_ALIVE;
    }
}

ICE_FN ice_flight flight_of(const ics_wave *w, const float *height, uint32_t i)
{
    const ice_flight flight = {height[i],
                               w->dz[i],
                               w->scattering[i],
                               w->absorption[i],
                               {w->optics_scattering[i], w->optics_dust[i], w->optics_ice[i]}};
    return flight;
}

/* Where absorption depends on the direction: depths as the layers count them, and back again. */
ICE_FN void direct_with(const ice_tables *tables, const ics_wave *wave, const float *height,
                        uint32_t features)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.features = features;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const ice_direction n = {w.dx[i], w.dy[i], w.dz[i]};
        const ice_slant slant = ice_slant_along(&t, height[i], n);
        w.factor[i] = slant.factor;
        w.absorption[i] *= slant.inverse;
    }
}

static void direct_absorption(const ice_tables *tables, const ics_wave *wave, const float *height)
{
    const uint32_t features = tables->features & ICE_HAS_DIRECTIONS;
    if (features == ICE_HAS_ABSORPTION_ANISOTROPY) {
        direct_with(tables, wave, height, ICE_HAS_ABSORPTION_ANISOTROPY);
    } else if (features == ICE_HAS_OLD_ABSORPTION_ANISOTROPY) {
        direct_with(tables, wave, height, ICE_HAS_OLD_ABSORPTION_ANISOTROPY);
    } else {
        direct_with(tables, wave, height, ICE_HAS_DIRECTIONS);
    }
}

static void restore_absorption(const ics_wave *wave)
{
    const ics_wave w = *wave;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        w.absorption[i] *= w.factor[i];
    }
}

/* Hole ice: photon by photon. */
static void propagate_each(ice_variant variant, const ice_tables *tables, const ics_wave *wave,
                           const float *height)
{
    const ics_wave w = *wave;
    for (uint32_t i = 0; i < w.count; ++i) {
        if (w.fate[i] != ICE_ALIVE) {
            continue;
        }
        const ice_direction n = {w.dx[i], w.dy[i], w.dz[i]};
        const ice_segment segment = ice_find_segment(variant, tables, flight_of(&w, height, i),
                                                     w.x[i], w.y[i], n, w.clearance[i]);
        w.length[i] = segment.length;
        w.absorption[i] = segment.absorption;
    }
}

static void propagate(ice_variant variant, const ice_tables *tables, ics_wave *wave)
{
    draw(tables, wave);
    if (tables->features & ICE_HAS_TILT) {
        level(tables, wave);
    }
    cull(tables, wave);
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    const float *height = t.features & ICE_HAS_TILT ? w.height : w.z;
    if (t.features & ICE_HAS_HOLES) {
        propagate_each(variant, tables, wave, height);
        return;
    }
    if (t.features & ICE_HAS_DIRECTIONS) {
        direct_absorption(tables, wave, height);
    }
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        int32_t leaves;
        const ice_segment segment = ice_segment_in_layer(&t, flight_of(&w, height, i), &leaves);
        w.length[i] = segment.length;
        /* A flight that leaves its layer keeps the depth it starts with for the second pass. */
        w.absorption[i] = leaves ? w.absorption[i] : segment.absorption;
        w.flag[i] = leaves ? FLAG_LEAVES_LAYER : 0;
    }
    uint32_t queued = 0;
    for (uint32_t i = 0; i < w.count; ++i) {
        w.queue[queued] = i;
        queued += w.flag[i] & (w.fate[i] == ICE_ALIVE);
    }
    for (uint32_t k = 0; k < queued; ++k) {
        const uint32_t i = w.queue[k];
        const ice_segment segment = ice_propagate_on(variant, &t, flight_of(&w, height, i));
        w.length[i] = segment.length;
        w.absorption[i] = segment.absorption;
    }
    if (t.features & ICE_HAS_DIRECTIONS) {
        restore_absorption(wave);
    }
}

/* ---- collide -------------------------------------------------------------------------------- */

static int collide(ice_variant variant, const ice_tables *tables, ics_wave *wave,
                   ics_arrival_sink *sink, ice_account *account)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        float length = w.length[i];
        const int32_t cut = ice_cut_at_boundary(&t, w.z[i], w.dz[i], &length);
        const int32_t near =
            ice_may_collide(&t, w.clearance[i], w.z[i], w.dx[i], w.dy[i], w.dz[i], length);
        w.length[i] = length;
        w.flag[i] = (cut ? FLAG_LEAVES_WORLD : 0u) | (near ? FLAG_COLLIDES : 0u);
    }
    uint32_t queued = 0, flown = 0;
    for (uint32_t i = 0; i < w.count; ++i) {
        const uint32_t alive = w.fate[i] == ICE_ALIVE;
        w.queue[queued] = i;
        queued += alive & ((w.flag[i] & FLAG_COLLIDES) != 0);
        flown += alive;
    }
    account->bounces += flown;
    for (uint32_t k = 0; k < queued; ++k) {
        const uint32_t i = w.queue[k];
        const ice_photon photon = {.path = w.path[i],
                                   .wavelength = w.wavelength[i],
                                   .emission = w.emission[i],
                                   .photon_id = w.photon_id[i],
                                   .scatters = w.scatters[i]};
        ice_probe probe = {w.x[i], w.y[i], w.z[i], {w.dx[i], w.dy[i], w.dz[i]}, w.length[i], -1, 0};
        uint32_t met = 0;
        const int32_t hits = ice_meet(variant, &t, &probe, &photon, sink, &w.fate[i], &met);
        if (hits < 0) {
            return -1;
        }
        account->hits += (uint32_t)hits;
    }
    return 0;
}

/* ---- scatter -------------------------------------------------------------------------------- */

ICE_FN void scatter_with(ice_variant variant, const ice_tables *tables, ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_scatter_constants constants = tables->scatter;
    const uint32_t bounce_limit = tables->bounce_limit;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const float length = w.length[i];
        const ice_direction flight = {w.dx[i], w.dy[i], w.dz[i]};
        w.x[i] = fmaf(length, flight.x, w.x[i]);
        w.y[i] = fmaf(length, flight.y, w.y[i]);
        w.z[i] = fmaf(length, flight.z, w.z[i]);
        w.path[i] += length;
        const ice_direction turned =
            ice_deflect(flight, ice_scatter(variant, &constants, w.angle[i]), w.azimuth[i]);
        w.dx[i] = turned.x;
        w.dy[i] = turned.y;
        w.dz[i] = turned.z;
        w.fate[i] = ice_fate_at_end(w.fate[i], (int32_t)(w.flag[i] & FLAG_LEAVES_WORLD),
                                    w.absorption[i], w.scatters[i], bounce_limit);
        w.scatters[i] += 1;
    }
}

/* In parts what ice_turn does at once, so that each is a loop over photons. First to the segments'
 * ends, bent or not; what is left of a segment for scatter_with is a direction and no length. The
 * column `height` is that of the end from here on. */
static void arrive_straight(const ics_wave *wave, const float *height)
{
    const ics_wave w = *wave;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const float length = w.length[i];
        w.height[i] = fmaf(length, w.dz[i], height[i]);
        w.x[i] = fmaf(length, w.dx[i], w.x[i]);
        w.y[i] = fmaf(length, w.dy[i], w.y[i]);
        w.z[i] = fmaf(length, w.dz[i], w.z[i]);
        w.path[i] += length;
        w.length[i] = 0.0f;
    }
}

/* Into the columns `scattering` and `factor`, of which nobody has further use in this bounce. */
ICE_FN void integrate_bending_with(const ice_tables *tables, const ics_wave *wave,
                                   const float *height, uint32_t features)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.features = features;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const ice_bending over = ice_bending_over(&t, height[i], w.dz[i], w.length[i]);
        w.scattering[i] = over.diffusion;
        w.factor[i] = over.mean;
    }
}

static void integrate_bending(const ice_tables *tables, const ics_wave *wave, const float *height)
{
    if (tables->features & ICE_HAS_MEAN_BENDING) {
        integrate_bending_with(tables, wave, height, ICE_HAS_MEAN_BENDING);
    } else {
        integrate_bending_with(tables, wave, height, 0);
    }
}

static void arrive_bent(const ice_tables *tables, const ics_wave *wave, const float *height)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    for (uint32_t i = 0; i < w.count; ++i) {
        const float length = w.length[i];
        const ice_direction n = {w.dx[i], w.dy[i], w.dz[i]};
        const ice_bending over = {w.scattering[i], w.factor[i]};
        const ice_normal g = {w.normal_a[i], w.normal_b[i], w.normal_c[i], w.normal_d[i]};
        const ice_bent bent = ice_bend_segment(&t, n, over, length, g);
        w.height[i] = fmaf(length, n.z, height[i]);
        const ice_direction straight = {fmaf(length, n.x, w.x[i]), fmaf(length, n.y, w.y[i]),
                                        fmaf(length, n.z, w.z[i])};
        const ice_direction end = ice_add_turning(&t, straight, bent.place);
        const ice_direction turned = ice_add_turning(&t, n, bent.direction);
        w.x[i] = end.x;
        w.y[i] = end.y;
        w.z[i] = end.z;
        w.dx[i] = turned.x;
        w.dy[i] = turned.y;
        w.dz[i] = turned.z;
        w.path[i] += length;
        w.length[i] = 0.0f;
    }
}

/* Into the frame in which scattering is the same in all directions, or back. */
ICE_FN void stretch_with(const ice_tables *tables, const ics_wave *wave, bool back)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.features &= ~(uint32_t)ICE_HAS_EVEN_ANISOTROPY; /* rows are there in any case */
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        const ice_anisotropy_row row = ice_anisotropy_at(&t, w.height[i]);
        const ice_direction n = {w.dx[i], w.dy[i], w.dz[i]};
        const ice_direction m = ice_unit(ice_stretch(back ? &row.back : &row.to, n));
        w.dx[i] = m.x;
        w.dy[i] = m.y;
        w.dz[i] = m.z;
    }
}

static void arrive(const ice_tables *tables, const ics_wave *wave)
{
    const float *height = tables->features & ICE_HAS_TILT ? wave->height : wave->z;
    if (tables->features & ICE_HAS_BIREFRINGENCE) {
        integrate_bending(tables, wave, height);
        arrive_bent(tables, wave, height);
    } else {
        arrive_straight(wave, height);
    }
    if (tables->features & ICE_HAS_SCATTERING_ANISOTROPY) {
        stretch_with(tables, wave, false);
    }
}

static void leave(const ice_tables *tables, const ics_wave *wave)
{
    if (tables->features & ICE_HAS_SCATTERING_ANISOTROPY) {
        stretch_with(tables, wave, true);
    }
}

/* Hole ice: photon by photon. */
static void turn_each(ice_variant variant, const ice_tables *tables, const ics_wave *wave)
{
    const ics_wave w = *wave;
    const float *height = tables->features & ICE_HAS_TILT ? w.height : w.z;
    for (uint32_t i = 0; i < w.count; ++i) {
        const ice_block draw =
            ice_draw(tables->seed_low, w.key_high[i], w.event_low[i], w.step_id[i], w.photon_id[i],
                     ICE_BLOCK_BOUNCE + w.scatters[i]);
        const ice_leg leg = {.length = w.length[i],
                             .absorption = w.absorption[i],
                             .chance = ice_chance_of(draw),
                             .height = height[i],
                             .leaves_world = (w.flag[i] & FLAG_LEAVES_WORLD) != 0};
        ice_photon photon = {.x = w.x[i],
                             .y = w.y[i],
                             .z = w.z[i],
                             .path = w.path[i],
                             .dx = w.dx[i],
                             .dy = w.dy[i],
                             .dz = w.dz[i],
                             .scatters = w.scatters[i]};
        ice_turn(variant, tables, &leg, &photon, &w.fate[i]);
        w.x[i] = photon.x;
        w.y[i] = photon.y;
        w.z[i] = photon.z;
        w.path[i] = photon.path;
        w.dx[i] = photon.dx;
        w.dy[i] = photon.dy;
        w.dz[i] = photon.dz;
        w.scatters[i] = photon.scatters;
    }
}

/* ---- compact -------------------------------------------------------------------------------- */

static void compact(ice_variant variant, ics_wave *wave, ice_account *account)
{
    (void)variant; /* there is one */
    const ics_wave w = *wave;
    uint32_t absorbed = 0, detected = 0, left = 0, stopped = 0;
    _Pragma("omp simd reduction(+ : absorbed, detected, left, stopped)") for (uint32_t i = 0;
                                                                              i < w.count; ++i)
    {
        absorbed += w.fate[i] == ICE_ABSORBED ? 1 : 0;
        detected += w.fate[i] == ICE_DETECTED ? 1 : 0;
        left += w.fate[i] == ICE_LEFT ? 1 : 0;
        stopped += w.fate[i] == ICE_STOPPED ? 1 : 0;
    }
    ice_count_fate(account, ICE_ABSORBED, absorbed);
    ice_count_fate(account, ICE_DETECTED, detected);
    ice_count_fate(account, ICE_LEFT, left);
    ice_count_fate(account, ICE_STOPPED, stopped);

    uint32_t front = 0, back = w.count;
    while (ice_compact_partition(w.fate, &front, &back)) {
        --back;
#define X(type, name) w.name[front] = w.name[back];
        ICS_WAVE_COLUMNS(X)
#undef X
        ++front;
    }
    wave->count = back;
}

/* ---- one photon ----------------------------------------------------------------------------- */

static int carry(const ice_variants *variants, const ice_tables *tables,
                 const ice_emission *emissions, uint32_t emission, uint32_t photon_id,
                 ics_arrival_sink *sink, ice_account *account)
{
    ice_photon photon =
        ice_create(variants->create, tables, &emissions[emission], emission, photon_id);
    const ice_optics optics = ice_optics_at(tables, photon.wavelength);
    const ice_identity identity = ice_identity_of(&emissions[emission], photon_id);
    uint32_t fate = ICE_ALIVE, hits = 0, met = 0;
    while (fate == ICE_ALIVE) {
        if (ice_bounce(variants, tables, identity, optics, &photon, sink, &fate, &hits, &met)) {
            return -1;
        }
    }
    account->hits += hits;
    account->bounces += photon.scatters;
    ice_count_fate(account, fate, 1);
    return 0;
}

/* ---- one vector loop for every variant of create and scatter --------------------------------- */

#define ICE_VARIANT(stage, name, yaml, text) LOOP_##stage(name)
#define LOOP_propagate(name)
#define LOOP_collide(name)
#define LOOP_compact(name)

#define LOOP_create(name)                                                                          \
    static void create_##name(const ice_tables *tables, const ice_emission *emissions,             \
                              ics_wave *wave, uint32_t count)                                      \
    {                                                                                              \
        if (tables->features & ICE_HAS_SPECTRAL_OPTICS)                                            \
            create_with(ICE_create_##name, ICE_HAS_SPECTRAL_OPTICS, tables, emissions, wave,       \
                        count);                                                                    \
        else                                                                                       \
            create_with(ICE_create_##name, 0, tables, emissions, wave, count);                     \
    }
#define LOOP_scatter(name)                                                                         \
    static void scatter_##name(const ice_tables *tables, ics_wave *wave)                           \
    {                                                                                              \
        scatter_with(ICE_scatter_##name, tables, wave);                                            \
    }
#include "stages/compiled.def"
#undef LOOP_create
#undef LOOP_scatter

static void create(ice_variant variant, const ice_tables *tables, const ice_emission *emissions,
                   ics_wave *wave, uint32_t count)
{
#define LOOP_create(name)                                                                          \
    case ICE_create_##name:                                                                        \
        create_##name(tables, emissions, wave, count);                                             \
        break;
#define LOOP_scatter(name)
    switch (variant) {
    default:
#include "stages/compiled.def"
    }
#undef LOOP_create
#undef LOOP_scatter
}

static void scatter(ice_variant variant, const ice_tables *tables, ics_wave *wave)
{
    const uint32_t turning = ICE_HAS_BIREFRINGENCE | ICE_HAS_SCATTERING_ANISOTROPY;
    if (tables->features & ICE_HAS_HOLES) {
        turn_each(variant, tables, wave);
        return;
    }
    if (tables->features & turning) {
        arrive(tables, wave);
    }
#define LOOP_create(name)
#define LOOP_scatter(name)                                                                         \
    case ICE_scatter_##name:                                                                       \
        scatter_##name(tables, wave);                                                              \
        break;
    switch (variant) {
    default:
#include "stages/compiled.def"
    }
#undef LOOP_create
#undef LOOP_scatter
    if (tables->features & turning) {
        leave(tables, wave);
    }
}

const ics_cpu_kernels ICS_KERNELS_SYMBOL = {
    .name = ICS_KERNELS_NAME,
    .create = create,
    .propagate = propagate,
    .collide = collide,
    .scatter = scatter,
    .compact = compact,
    .carry = carry,
};
