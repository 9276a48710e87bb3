/* The segments of a wave for the stage tabulate, and where their samples lie
 * (stages/tabulate/tabulate.h).
 */
#ifndef ICS_KERNELS_CPU_ISA_WAYS_H
#define ICS_KERNELS_CPU_ISA_WAYS_H

#include "kernels/cpu/isa/columns.h"
#include "stages/tabulate/tabulate_custom.h"

/* Samples that are handled at a time. Without wide vectors a strip that is not full wastes more. */
#if defined(__AVX2__)
enum { ICS_TABULATE_STRIP = 16 };
#else
enum { ICS_TABULATE_STRIP = 4 };
#endif

enum {
    ICS_TABULATE_WAYS = 256, /* segments whose samples are found at a time */
    ICS_TABULATE_ROOM = ICS_TABULATE_WAYS + ICS_TABULATE_STRIP
};

/* The members of ice_tabulate_way. */
#define ICS_TABULATE_WAY(X)                                                                        \
    X(float, x)                                                                                    \
    X(float, y)                                                                                    \
    X(float, z)                                                                                    \
    X(float, dx)                                                                                   \
    X(float, dy)                                                                                   \
    X(float, dz)                                                                                   \
    X(float, time)                                                                                 \
    X(float, slowness)                                                                             \
    X(float, weight)                                                                               \
    X(float, impact)                                                                               \
    X(float, first)                                                                                \
    X(float, length)                                                                               \
    X(int32_t, count)                                                                              \
    X(float, coefficient)                                                                          \
    X(float, entered)                                                                              \
    X(float, depth)                                                                                \
    X(float, leaves)                                                                               \
    X(float, through)                                                                              \
    X(float, factor)                                                                               \
    X(int32_t, layer)                                                                              \
    X(int32_t, up)                                                                                 \
    X(float, dust)                                                                                 \
    X(float, ice)

/* Segments, with one array for each member of ice_tabulate_way. The arrays have room for whole
 * vectors behind the last segment. */
typedef struct ics_tabulate_ways {
#define X(type, name) type name[ICS_TABULATE_ROOM];
    ICS_TABULATE_WAY(X)
#undef X
    /* what `coefficient` and `leaves` are in the second layer of the segment */
    float second_coefficient[ICS_TABULATE_ROOM];
    float second_leaves[ICS_TABULATE_ROOM];
    /* of a segment with samples, after ics_tabulate_pack(): its number before */
    uint32_t original[ICS_TABULATE_ROOM];
} ics_tabulate_ways;

ICE_FN void ics_tabulate_store_way(ics_tabulate_ways *ways, uint32_t i, ice_tabulate_way way)
{
#define X(type, name) ways->name[i] = way.name;
    ICS_TABULATE_WAY(X)
#undef X
}

#if defined(ICE_CUSTOM_tabulate)
ICE_FN ice_tabulate_way ics_tabulate_load_way(const ics_tabulate_ways *ways, int32_t i)
{
    ice_tabulate_way way;
#define X(type, name) way.name = ways->name[i];
    ICS_TABULATE_WAY(X)
#undef X
    return way;
}
#endif

/* Finds where segments leave their second layers, and the coefficients there. The outermost layers
 * are never left. */
static void ics_tabulate_look_ahead(const ice_tables *tables, uint32_t count,
                                    ics_tabulate_ways *ways)
{
    const ice_tables t = *tables;
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < count; ++i) {
        /* What is computed of the numbers behind the last segment is not used.
         * NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
        const float leaves = ways->leaves[i], beyond = leaves + ways->through[i];
        ice_tabulate_way next = {.layer = ways->layer[i],
                                 .up = ways->up[i],
                                 .factor = ways->factor[i],
                                 .dust = ways->dust[i],
                                 .ice = ways->ice[i]};
        const int32_t last = next.up ? t.layer_count - 1 : 0;
        const int32_t ends = next.layer == last ? 1 : 0;
        next.layer += next.up ? 1 - ends : ends - 1;
        ways->leaves[i] = ice_select(ends, ICE_INFINITY, leaves);
        ways->second_coefficient[i] = ice_tabulate_coefficient(&t, &next);
        ways->second_leaves[i] = ice_select(next.layer == last ? 1 : 0, ICE_INFINITY, beyond);
    }
}

/* The segments of a wave from `begin` on. */
typedef struct ics_tabulate_range {
    const ics_wave *wave;
    const float *heights;
    uint32_t begin, count;
} ics_tabulate_range;

/* Returns whether all photons of the range have the same source and the same weight. */
static bool ics_tabulate_has_one_origin(const ice_tabulate_origin *origins,
                                        ics_tabulate_range range)
{
    const uint32_t *emission = range.wave->emission + range.begin;
    uint32_t last = emission[0];
    for (uint32_t k = 1; k < range.count; ++k) {
        if (emission[k] != last) {
            last = emission[k];
            /* Equal numbers with different bits only cost time.
             * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
            if (memcmp(&origins[last], &origins[emission[0]], sizeof *origins) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* The callers pass constants for `features`, those that matter here, and for `has_one`: whether all
 * photons have the origin of the first one. */
ICE_FN void ics_tabulate_begin_at(const ics_tabulate_job *job, const ice_tables *tables,
                                  uint32_t features, bool has_one, ics_tabulate_range range,
                                  ics_tabulate_ways *ways)
{
    const ics_wave w = *range.wave;
    const ice_tabulation table = *job->table;
    const ice_tabulate_origin *origins = job->origins;
    const int32_t first = (int32_t)w.emission[range.begin];
    const float *heights = range.heights, *depths = job->absorption;
    ice_tables t = *tables;
    t.features = features;
    /* Other photons than those of the wave may have emissions that do not exist. */
    const uint32_t count = has_one ? ics_whole_vectors(range.count) : range.count;
    ICS_VECTOR_LOOP
    for (uint32_t k = 0; k < count; ++k) {
        const uint32_t i = range.begin + k;
        const ice_direction n = {w.dx[i], w.dy[i], w.dz[i]};
        ice_tabulate_segment segment;
        segment.photon = ics_load_photon(&w, i);
        segment.photon.absorption = depths[i];
        segment.start.offset = w.table_offset[i];
        segment.start.delay = w.table_delay[i];
        segment.optics = ics_load_optics(&w, i);
        segment.height = heights[i];
        segment.length = w.length[i];
        segment.factor = ice_tabulate_factor(&t, heights[i], n);
        /* Gathers take indices with a sign. */
        const int32_t emission = has_one ? first : (int32_t)w.emission[i];
        ice_tabulate_way way = ice_tabulate_begin(&table, &t, &origins[emission], segment);
        way.count = w.fate[i] == ICE_ALIVE ? way.count : 0;
        ics_tabulate_store_way(ways, k, way);
    }
}

/* One function for each case: in one large function the compiler does not see that the features are
 * constants, and leaves the loop scalar. */
#define ICS_TABULATE_BEGIN(name, features, has_one)                                                \
    __attribute__((noinline)) static void ics_tabulate_begin_##name(                               \
        const ics_tabulate_job *job, const ice_tables *tables, ics_tabulate_range range,           \
        ics_tabulate_ways *ways)                                                                   \
    {                                                                                              \
        ics_tabulate_begin_at(job, tables, features, has_one, range, ways);                        \
    }
#define ICS_TABULATE_OTHER_FEATURES                                                                \
    ICE_HAS(tables, ICE_HAS_DIRECTIONS | ICE_HAS_EVEN_ANISOTROPY | ICE_HAS_SPECTRAL_OPTICS)
ICS_TABULATE_BEGIN(plain, 0, true)
ICS_TABULATE_BEGIN(spectral, ICE_HAS_SPECTRAL_OPTICS, true)
ICS_TABULATE_BEGIN(directed, ICE_HAS_ABSORPTION_ANISOTROPY, true)
ICS_TABULATE_BEGIN(other, ICS_TABULATE_OTHER_FEATURES, true)
ICS_TABULATE_BEGIN(plain_mixed, 0, false)
ICS_TABULATE_BEGIN(spectral_mixed, ICE_HAS_SPECTRAL_OPTICS, false)
ICS_TABULATE_BEGIN(directed_mixed, ICE_HAS_ABSORPTION_ANISOTROPY, false)
ICS_TABULATE_BEGIN(other_mixed, ICS_TABULATE_OTHER_FEATURES, false)

/* Finds the samples of segments of a wave. Photons that have ended have none. */
static void ics_tabulate_begin(const ics_tabulate_job *job, const ice_tables *tables,
                               const ics_wave *wave, uint32_t begin, uint32_t count,
                               ics_tabulate_ways *ways)
{
    const ics_tabulate_range range = {wave, ics_heights(tables, wave), begin, count};
    const bool has_one = ics_tabulate_has_one_origin(job->origins, range);
    const uint32_t features = ICS_TABULATE_OTHER_FEATURES;
    if (features == 0) {
        (has_one ? ics_tabulate_begin_plain : ics_tabulate_begin_plain_mixed)(job, tables, range,
                                                                              ways);
    } else if (features == ICE_HAS_SPECTRAL_OPTICS) {
        (has_one ? ics_tabulate_begin_spectral : ics_tabulate_begin_spectral_mixed)(job, tables,
                                                                                    range, ways);
    } else if ((features & ~(uint32_t)ICE_HAS_EVEN_ANISOTROPY) == ICE_HAS_ABSORPTION_ANISOTROPY) {
        (has_one ? ics_tabulate_begin_directed : ics_tabulate_begin_directed_mixed)(job, tables,
                                                                                    range, ways);
    } else {
        (has_one ? ics_tabulate_begin_other : ics_tabulate_begin_other_mixed)(job, tables, range,
                                                                              ways);
    }
}

/* Multiplies the weights of segments by the acceptance of a module, if the table has one. */
static void ics_tabulate_accept(const ice_tabulation *table, uint32_t count,
                                ics_tabulate_ways *ways)
{
    const ice_tabulation t = *table;
    if (!t.has_acceptance) {
        return;
    }
    ICS_VECTOR_LOOP
    for (uint32_t i = 0; i < count; ++i) {
        ways->weight[i] *= ice_tabulate_accepted(&t, ways->impact[i]);
    }
}

/* The arrays of segments that adding samples reads. */
#define ICS_TABULATE_PACKED(X)                                                                     \
    X(first)                                                                                       \
    X(length)                                                                                      \
    X(count)                                                                                       \
    X(coefficient)                                                                                 \
    X(entered)                                                                                     \
    X(depth)                                                                                       \
    X(leaves)                                                                                      \
    X(x)                                                                                           \
    X(y)                                                                                           \
    X(z)                                                                                           \
    X(dx)                                                                                          \
    X(dy)                                                                                          \
    X(dz)                                                                                          \
    X(time)                                                                                        \
    X(slowness)                                                                                    \
    X(impact)                                                                                      \
    X(weight)                                                                                      \
    X(through)                                                                                     \
    X(factor)                                                                                      \
    X(layer)                                                                                       \
    X(up)                                                                                          \
    X(dust)                                                                                        \
    X(ice)

#if defined(__AVX512F__)
/* Moves the chosen ones of sixteen elements of 4 bytes from `i` on to `kept`. */
ICE_FN void ics_tabulate_pack_column(void *column, uint32_t i, uint32_t kept, __mmask16 chosen)
{
    uint32_t *elements = column;
    _mm512_storeu_si512(&elements[kept],
                        _mm512_maskz_compress_epi32(chosen, _mm512_loadu_si512(&elements[i])));
}
#endif

/* Moves the segments that have samples to the front, in the same order, and returns their number.
 * After that, sixteen samples in a row belong to at most sixteen segments in a row. */
static uint32_t ics_tabulate_pack(uint32_t count, ics_tabulate_ways *ways)
{
    uint32_t kept = 0, i = 0;
#if defined(__AVX512F__)
    /* What is stored behind the chosen segments is overwritten, and never lies behind i + 15. */
    __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; i < count; i += 16) {
        const __m512i samples = _mm512_loadu_si512(&ways->count[i]);
        const __mmask16 exist = (__mmask16)(count - i < 16 ? (1u << (count - i)) - 1u : 0xffffu);
        const __mmask16 chosen =
            _mm512_mask_cmpgt_epi32_mask(exist, samples, _mm512_setzero_si512());
        _mm512_storeu_si512(&ways->original[kept], _mm512_maskz_compress_epi32(chosen, numbers));
#define X(name) ics_tabulate_pack_column(ways->name, i, kept, chosen);
        ICS_TABULATE_PACKED(X)
#undef X
        kept += (uint32_t)__builtin_popcount(chosen);
        numbers = _mm512_add_epi32(numbers, _mm512_set1_epi32(16));
    }
#else
    for (; i < count; ++i) {
        const uint32_t has_samples = ways->count[i] > 0 ? 1 : 0;
        ways->original[kept] = i;
#define X(name) ways->name[kept] = ways->name[i];
        ICS_TABULATE_PACKED(X)
#undef X
        kept += has_samples;
    }
#endif
    /* Loops over whole vectors read these layers. */
    memset(&ways->layer[kept], 0, ICS_TABULATE_STRIP * sizeof *ways->layer);
    memset(&ways->up[kept], 0, ICS_TABULATE_STRIP * sizeof *ways->up);
    return kept;
}

#endif
