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
#include "kernels/cpu/isa/tabulate.h"
#include "stages/hole_ice/column.h"

/* 0: kernels with a header that make no table (kernels/cpu/custom.c), for which the compiler needs
 * a quarter less time. */
#ifndef ICS_KERNELS_TABULATE
#define ICS_KERNELS_TABULATE 1
#endif

extern const ics_cpu_kernels ICS_KERNELS_SYMBOL;

/* ---- create --------------------------------------------------------------------------------- */

/* Creates one photon of the wave. The callers pass a constant for `has_profiles`. */
ICE_FN void create_one(ice_variant variant, bool has_profiles, const ice_tables *t,
                       const ice_emission *emission, const ics_wave *wave, uint32_t i)
{
    const ics_wave w = *wave;
    const ice_photon photon =
        has_profiles ? ice_create(variant, t, emission, w.emission[i], w.photon_id[i])
                     : ice_create_plain(variant, t, emission, w.emission[i], w.photon_id[i]);
    const ice_optics optics = ice_optics_at(t, photon.wavelength);
    ics_store_position(&w, i, &photon);
    ics_store_direction(&w, i, ice_direction_of(&photon));
    w.absorption[i] = photon.absorption;
    w.wavelength[i] = photon.wavelength;
    w.scatters[i] = photon.scatters;
    w.random[i] = ice_random_of(t, ice_identity_of(emission, w.photon_id[i])).state;
    w.optics_scattering[i] = optics.scattering;
    w.optics_dust[i] = optics.dust;
    w.optics_ice[i] = optics.ice;
    w.fate[i] = ICE_ALIVE;
}

/* Returns whether one of these photons belongs to an emission with a profile. */
static bool find_profile(const ice_emission *emissions, const ics_wave *wave, uint32_t begin,
                         uint32_t end)
{
    uint32_t flags = 0;
    for (uint32_t i = begin; i < end; ++i) {
        flags |= emissions[wave->emission[i]].flags;
    }
    return (flags & ICE_EMISSION_PROFILE) != 0;
}

/* The callers pass constants for `variant` and for the features that matter here, so that there is
 * one loop for each of their combinations. Photons of profiles need branches, and their loop is not
 * vectorised. */
ICE_FN void create_with(ice_variant variant, uint32_t features, const ice_tables *tables,
                        const ice_emission *emissions, ics_wave *wave, uint32_t count)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.features = features;
    const uint32_t begin = w.count, end = begin + count;
    if (find_profile(emissions, wave, begin, end)) {
        for (uint32_t i = begin; i < end; ++i) {
            create_one(variant, true, &t, &emissions[w.emission[i]], wave, i);
        }
    } else {
        ICS_VECTOR_LOOP
        for (uint32_t i = begin; i < end; ++i) {
            create_one(variant, false, &t, &emissions[w.emission[i]], &w, i);
        }
    }
    wave->count = end;
}

/* ---- collide -------------------------------------------------------------------------------- */

/* Finds which segments leave the world and which may touch a module. `bounded` is a constant: in a
 * world without boundaries the loop is one comparison. */
ICE_FN void limit_segments_with(const ice_tables *tables, const ics_wave *wave, int32_t bounded)
{
    const ics_wave w = *wave;
    ice_tables t = *tables;
    t.bounded = bounded;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < w.count; ++i) {
        ice_bounce bounce = {.length = w.length[i]};
        const ice_photon photon = ics_load_photon(&w, i);
        ice_limit_segment(&t, &photon, w.distance[i], &bounce);
        w.length[i] = bounce.length;
        w.flags[i] = ics_flags_pack(&bounce, w.fate[i]);
    }
}

static void limit_segments(const ice_tables *tables, const ics_wave *wave)
{
    if (tables->bounded) {
        limit_segments_with(tables, wave, 1);
    } else {
        limit_segments_with(tables, wave, 0);
    }
}

/* Puts the photons whose segments are candidates for a hit into the queue, and returns their
 * number. */
static uint32_t queue_candidates(const ice_tables *tables, const ics_wave *wave)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    const uint32_t queued = ics_queue_flagged(&w, ICS_FLAG_MAY_COLLIDE);
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < queued; ++k) {
        const int32_t i = (int32_t)w.queue[k]; /* gathers take indices with a sign */
        const ice_photon photon = ics_load_photon_at(&w, i);
        const ice_surroundings near = ice_surroundings_at(&t, photon.x, photon.y);
        const int32_t is_candidate = ice_is_aimed_at_module(&t, near, &photon, w.length[i]) &
                                     ice_is_candidate(&t, near, &photon, w.length[i]);
        w.scratch_a[k] = is_candidate ? 1.0f : 0.0f;
    }
    uint32_t candidates = 0;
    for (uint32_t k = 0; k < queued; ++k) {
        w.queue[candidates] = w.queue[k];
        candidates += w.scratch_a[k] > 0.0f;
    }
    return candidates;
}

static int collide(ice_variant variant, const ice_tables *tables, ics_wave *wave,
                   ics_arrival_sink *sink, ice_account *account)
{
    const ics_wave w = *wave;
    const ice_tables t = *tables;
    limit_segments(tables, wave);
    uint32_t bounces = 0;
    _Pragma("omp simd reduction(+ : bounces)") for (uint32_t i = 0; i < w.count; ++i)
    {
        bounces += w.fate[i] == ICE_ALIVE ? 1 : 0;
    }
    account->bounces += bounces;
    const uint32_t queued = queue_candidates(&t, &w);
    for (uint32_t k = 0; k < queued; ++k) {
        const uint32_t i = w.queue[k];
        const ice_photon photon = ics_load_photon(&w, i);
        uint32_t recorded = 0;
        const float left =
            ice_left_of((int32_t)(w.flags[i] & ICS_FLAG_LEAVES_WORLD), w.absorption[i]);
        const int32_t hits =
            ice_record_hits(variant, &t, &w.length[i], left, &photon, sink, &w.fate[i], &recorded);
        if (hits < 0) {
            return -1;
        }
        account->hits += (uint32_t)hits;
    }
    return 0;
}

/* ---- tabulate ------------------------------------------------------------------------------- */

static void begin_table(const ice_tabulation *table, const ice_tables *tables,
                        const ice_emission *emissions, ics_wave *wave, uint32_t begin)
{
    for (uint32_t i = begin; i < wave->count; ++i) {
        const ice_tabulate_start start =
            ice_tabulate_start_of(tables, &emissions[wave->emission[i]], wave->photon_id[i]);
        wave->absorption[i] = ics_tabulate_depth(table, wave->absorption[i]);
        wave->table_offset[i] = start.offset;
        wave->table_delay[i] = start.delay;
    }
}

/* The column of absorption depths holds those at the ends of the segments when samples are made. */
static void remember(const ics_tabulate_job *job, const ics_wave *wave)
{
    memcpy(job->absorption, wave->absorption, wave->count * sizeof *job->absorption);
}

#if ICS_KERNELS_TABULATE
static void tabulate(ics_tabulate_job *job, const ice_tables *tables, ics_wave *wave,
                     ice_account *account)
{
    const ics_wave w = *wave;
    ics_tabulate_block block;
    uint32_t bounces = 0;
    limit_segments(tables, wave);
    _Pragma("omp simd reduction(+ : bounces)") for (uint32_t i = 0; i < w.count; ++i)
    {
        bounces += w.fate[i] == ICE_ALIVE ? 1 : 0;
    }
    account->bounces += bounces;
    for (uint32_t begin = 0; begin < w.count; begin += ICS_TABULATE_WAYS) {
        const uint32_t rest = w.count - begin;
        const uint32_t count = rest < ICS_TABULATE_WAYS ? rest : ICS_TABULATE_WAYS;
        ics_tabulate_begin(job, tables, wave, begin, count, &block.ways);
        block.emissions = w.emission + begin;
        ics_tabulate_add_ways(job, tables, w.fate + begin, count, &block);
    }
}
#endif

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
        if (w.table_offset != NULL) {
            ICS_WAVE_TABLE(X)
        }
#undef X
        ++front;
    }
    wave->count = back;
}

/* ---- one photon ----------------------------------------------------------------------------- */

/* Computes the photon's bounces inside a column of hole ice, as far as they are the next ones. */
static void bounce_in_column(const ice_variants *variants, const ice_tables *tables,
                             ice_active_photon *active, ics_arrival_sink *sink)
{
    ice_column_stay stay;
    if (ICE_HAS_COLUMN_STAYS(ICE_HAS(tables, 0xffffffffu)) &&
        ice_column_stay_of(tables, &active->photon, &stay)) {
        while (ice_bounce_in_column(variants->scatter, tables, &stay, active, sink)) {
        }
    }
}

static int carry(const ice_variants *variants, const ice_tables *tables,
                 const ice_emission *emissions, uint32_t emission, uint32_t photon_id,
                 ics_arrival_sink *sink, ics_carried *carried)
{
    ice_account *account = carried->account;
    ice_active_photon active = ice_activate(
        tables, ice_random_of(tables, ice_identity_of(&emissions[emission], photon_id)),
        ice_create(variants->create, tables, &emissions[emission], emission, photon_id));
    uint32_t hits = 0, recorded = 0;
    while (active.fate == ICE_ALIVE) {
        bounce_in_column(variants, tables, &active, sink);
        if (ice_bounce_photon(variants, tables, &active, sink, &hits, &recorded)) {
            return -1;
        }
    }
    account->hits += hits;
    account->bounces += active.photon.scatters;
    ice_count_fate(account, active.fate, 1);
    carried->end =
        (ice_photon_end){active.photon.scatters, active.photon.path, active.photon.wavelength};
    return 0;
}

#if ICS_KERNELS_TABULATE
static void carry_tabulated(ics_tabulate_job *job, const ice_variants *variants,
                            const ice_tables *tables, const ice_emission *emissions,
                            uint32_t emission, uint32_t photon_id, ice_account *account)
{
    const ice_emission *from = &emissions[emission];
    ice_active_photon active =
        ice_activate(tables, ice_random_of(tables, ice_identity_of(from, photon_id)),
                     ice_create(variants->create, tables, from, emission, photon_id));
    active.photon.absorption = ics_tabulate_depth(job->table, active.photon.absorption);
    const ice_tabulate_start start = ice_tabulate_start_of(tables, from, photon_id);
    ics_tabulate_block block;
    block.emissions = &emission;
    while (active.fate == ICE_ALIVE) {
        ice_bounce bounce;
        if (!ice_start_bounce(variants->propagate, tables, active.random, active.optics,
                              &active.photon, active.site, &bounce)) {
            active.fate = ICE_LEFT;
            break;
        }
        const float factor =
            ice_tabulate_factor(tables, bounce.height, ice_direction_of(&active.photon));
        const ice_tabulate_segment segment = {active.photon, start,         active.optics,
                                              bounce.height, bounce.length, factor};
        ics_tabulate_store_way(
            &block.ways, 0,
            ice_tabulate_begin(job->table, tables, &job->origins[emission], segment));
        ics_tabulate_add_ways(job, tables, &active.fate, 1, &block);
        ice_end_bounce(variants->scatter, tables, &bounce, &active.photon, &active.random,
                       &active.fate, &active.site);
    }
    account->bounces += active.photon.scatters;
    ice_count_fate(account, active.fate, 1);
}
#endif

/* ---- one vector loop for every variant of create and scatter --------------------------------- */

#define CREATE_LOOP(stage, name, yaml, text)                                                       \
    static void create_##name(const ice_tables *tables, const ice_emission *emissions,             \
                              ics_wave *wave, uint32_t count)                                      \
    {                                                                                              \
        if (ICE_HAS(tables, ICE_HAS_SPECTRAL_OPTICS))                                              \
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
    switch (ICE_ONLY_create(variant)) {
    default:
        ICE_CREATE_COMPILED(CREATE_CASE)
    }
}

#define SCATTER_LOOP(stage, name, yaml, text)                                                      \
    static void scatter_##name(const ice_tables *tables, const ics_wave *wave, bool advances)      \
    {                                                                                              \
        if (advances)                                                                              \
            ics_scatter_with(ICE_scatter_##name, true, false, tables, wave);                       \
        else if (ICE_HAS(tables, ICE_HAS_SCATTERING_ANISOTROPY))                                   \
            ics_scatter_with(ICE_scatter_##name, false, true, tables, wave);                       \
        else                                                                                       \
            ics_scatter_with(ICE_scatter_##name, false, false, tables, wave);                      \
    }
ICE_SCATTER_COMPILED(SCATTER_LOOP)

#define SCATTER_CASE(stage, name, yaml, text)                                                      \
    case ICE_scatter_##name:                                                                       \
        scatter_##name(tables, wave, advances);                                                    \
        break;
static void change_directions(ice_variant variant, const ice_tables *tables, const ics_wave *wave,
                              bool advances)
{
    switch (ICE_ONLY_scatter(variant)) {
    default:
        ICE_SCATTER_COMPILED(SCATTER_CASE)
    }
}

static void scatter(ice_variant variant, const ice_tables *tables, ics_wave *wave)
{
    const uint32_t features = ICE_HAS(tables, 0xffffffffu);
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
#if defined(ICE_CUSTOM_tabulate)
    .table_coordinates = ICE_TABULATE_COORDINATES,
#endif
    .create = create,
    .propagate = ics_propagate,
    .collide = collide,
    .scatter = scatter,
    .compact = compact,
    .carry = carry,
    .begin_table = begin_table,
    .remember = remember,
#if ICS_KERNELS_TABULATE
    .tabulate = tabulate,
    .carry_tabulated = carry_tabulated,
#endif
    .one_minus_cosine = one_minus_cosine,
#if defined(ICE_CHECK)
    .fault = find_fault,
#endif
};
