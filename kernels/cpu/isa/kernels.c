/* The CPU kernels of one instruction set. This file is compiled several times, each time with other
 * target options and with other definitions of ICS_KERNELS_SYMBOL and ICS_KERNELS_NAME
 * (cmake/CpuKernels.cmake).
 *
 * The loops over a wave are written so that the compiler can vectorise them: they read and write
 * columns, and the parts of stages in them have no branches and are inlined. Photons that need
 * branches, because they leave a layer or may reach a module, are queued and computed one by one.
 * bench/vectorisation.sh shows which loops the compiler vectorised.
 */
#include "kernels/cpu/isa/scatter.h"

extern const ics_cpu_kernels ICS_KERNELS_SYMBOL;

/* ---- create --------------------------------------------------------------------------------- */

/* The callers pass constants for `variant` and for the features that matter here, so that there is
 * one loop for each of their combinations. */
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
        ics_store_position(&w, i, &photon);
        ics_store_direction(&w, i, ice_direction_of(&photon));
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

/* ---- collide -------------------------------------------------------------------------------- */

/* Finds which segments leave the world and which may touch a module. */
static void limit_segments(const ice_tables *tables, const ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        ice_bounce bounce = {.length = w.length[i]};
        const ice_photon photon = ics_load_photon(&w, i);
        ice_limit_segment(&t, &photon, w.clearance[i], &bounce);
        w.length[i] = bounce.length;
        w.flags[i] = ics_flags_pack(&bounce);
    }
}

static int collide(ice_variant variant, const ice_tables *tables, ics_wave *wave,
                   ics_arrival_sink *sink, ice_account *account)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    limit_segments(tables, wave);
    uint32_t queued = 0, bounces = 0;
    for (uint32_t i = 0; i < w.count; ++i) {
        const uint32_t alive = w.fate[i] == ICE_ALIVE;
        w.queue[queued] = i;
        queued += alive & ((w.flags[i] & ICS_FLAG_MAY_COLLIDE) != 0);
        bounces += alive;
    }
    account->bounces += bounces;
    for (uint32_t k = 0; k < queued; ++k) {
        const uint32_t i = w.queue[k];
        const ice_photon photon = ics_load_photon(&w, i);
        uint32_t recorded = 0;
        const int32_t hits =
            ice_record_hits(variant, &t, w.length[i], &photon, sink, &w.fate[i], &recorded);
        if (hits < 0) {
            return -1;
        }
        account->hits += (uint32_t)hits;
    }
    return 0;
}

/* ---- compact -------------------------------------------------------------------------------- */

static void compact(ice_variant variant, ics_wave *wave, ice_account *account)
{
    (void)variant; /* there is only one variant */
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
    ice_active_photon active = ice_activate(
        tables, ice_identity_of(&emissions[emission], photon_id),
        ice_create(variants->create, tables, &emissions[emission], emission, photon_id));
    uint32_t hits = 0, recorded = 0;
    while (active.fate == ICE_ALIVE) {
        if (ice_bounce_photon(variants, tables, &active, sink, &hits, &recorded)) {
            return -1;
        }
    }
    account->hits += hits;
    account->bounces += active.photon.scatters;
    ice_count_fate(account, active.fate, 1);
    return 0;
}

/* ---- one vector loop for every variant of create and scatter --------------------------------- */

#define CREATE_LOOP(stage, name, yaml, text)                                                       \
    static void create_##name(const ice_tables *tables, const ice_emission *emissions,             \
                              ics_wave *wave, uint32_t count)                                      \
    {                                                                                              \
        if (tables->features & ICE_HAS_SPECTRAL_OPTICS)                                            \
            create_with(ICE_create_##name, ICE_HAS_SPECTRAL_OPTICS, tables, emissions, wave,       \
                        count);                                                                    \
        else                                                                                       \
            create_with(ICE_create_##name, 0, tables, emissions, wave, count);                     \
    }
ICE_CREATE_COMPILED(CREATE_LOOP)

#define CREATE_CASE(stage, name, yaml, text)                                                       \
    case ICE_create_##name:                                                                        \
        create_##name(tables, emissions, wave, count);                                             \
        break;
static void create(ice_variant variant, const ice_tables *tables, const ice_emission *emissions,
                   ics_wave *wave, uint32_t count)
{
    switch (variant) {
    default:
        ICE_CREATE_COMPILED(CREATE_CASE)
    }
}

#define SCATTER_LOOP(stage, name, yaml, text)                                                      \
    static void scatter_##name(const ice_tables *tables, const ics_wave *wave, bool advances)      \
    {                                                                                              \
        if (advances)                                                                              \
            ics_scatter_with(ICE_scatter_##name, true, tables, wave);                              \
        else                                                                                       \
            ics_scatter_with(ICE_scatter_##name, false, tables, wave);                             \
    }
ICE_SCATTER_COMPILED(SCATTER_LOOP)

#define SCATTER_CASE(stage, name, yaml, text)                                                      \
    case ICE_scatter_##name:                                                                       \
        scatter_##name(tables, wave, advances);                                                    \
        break;
static void change_directions(ice_variant variant, const ice_tables *tables, const ics_wave *wave,
                              bool advances)
{
    switch (variant) {
    default:
        ICE_SCATTER_COMPILED(SCATTER_CASE)
    }
}

static void scatter(ice_variant variant, const ice_tables *tables, ics_wave *wave)
{
    const uint32_t features = tables->features;
    const bool stretches = (features & ICE_HAS_SCATTERING_ANISOTROPY) != 0;
    if (features & ICE_HAS_HOLES) {
        ics_scatter_in_holes(variant, tables, wave);
        return;
    }
    if (!stretches && !(features & ICE_HAS_BIREFRINGENCE)) {
        change_directions(variant, tables, wave, true);
        return;
    }
    ics_advance(tables, wave);
    if (stretches) {
        ics_stretch_in(tables, wave);
    }
    change_directions(variant, tables, wave, false);
    if (stretches) {
        ics_stretch_out(tables, wave);
    }
}

static float one_minus_cosine(ice_variant variant, const ice_scatter_constants *constants, float u)
{
    return ice_scatter(variant, constants, u);
}

#if defined(ICE_CHECK)
static ice_fault *find_fault(void)
{
    return &ice_fault_found;
}
#endif

const ics_cpu_kernels ICS_KERNELS_SYMBOL = {
    .name = ICS_KERNELS_NAME,
    .create = create,
    .propagate = ics_propagate,
    .collide = collide,
    .scatter = scatter,
    .compact = compact,
    .carry = carry,
    .one_minus_cosine = one_minus_cosine,
#if defined(ICE_CHECK)
    .fault = find_fault,
#endif
};
