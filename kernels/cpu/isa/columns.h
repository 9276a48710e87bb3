/* How the vector loops load photons and bounces from a wave and store them. The columns `length`,
 * `absorption`, `height` and `flags` hold the ice_bounce of a slot. */
#ifndef ICS_KERNELS_CPU_ISA_COLUMNS_H
#define ICS_KERNELS_CPU_ISA_COLUMNS_H

#include "kernels/cpu/kernels.h"

static int ics_put_arrival(ics_arrival_sink *sink, const ice_arrival *arrival)
{
    return sink->put(sink->self, arrival);
}
#define ICE_PUT_ARRIVAL(sink, tables, arrival) ics_put_arrival(sink, arrival)

ICE_FN void ics_count_segment(const ics_arrival_sink *sink, const ice_photon *photon, float height,
                              float length)
{
    if (sink->count_segment != NULL) {
        sink->count_segment(sink->counter, ice_segment_end_of(photon, height, length));
    }
}
#define ICE_COUNT_SEGMENT(sink, tables, photon, height, length)                                    \
    ics_count_segment(sink, photon, height, length)
#include "stages/bounce.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* The iterations of the next loop are independent: columns do not overlap. With checks they are
 * not: all record the first fault. */
#if defined(ICE_CHECK)
#define ICS_VECTOR_LOOP
#else
#define ICS_VECTOR_LOOP _Pragma("omp simd")
#endif

/* Returns how many slots a vector loop over `count` photons goes through: whole vectors, because
 * the compiler computes the photons of an incomplete one singly. The columns have room for them
 * (ICS_WAVE_ALIGNMENT). Slots behind the last photon hold photons that have ended, or zeros, and
 * what is computed for them is not used. With checks they are left out, because they could have
 * faults, and without wide vectors, because they would cost time. */
ICE_FN uint32_t ics_whole_vectors(uint32_t count)
{
#if defined(ICE_CHECK) || !defined(__AVX2__)
    return count;
#else
    return (count + (ICS_WAVE_ALIGNMENT - 1)) & ~(ICS_WAVE_ALIGNMENT - 1);
#endif
}

/* Bits of the column `flags`. */
enum {
    ICS_FLAG_LEAVES_LAYER = 1, /* used only within propagate */
    ICS_FLAG_LEAVES_WORLD = 2,
    ICS_FLAG_MAY_COLLIDE = 4
};

/* Loads a photon. The compiler leaves out the members that a loop does not read. */
ICE_FN ice_photon ics_load_photon(const ics_wave *wave, uint32_t i)
{
    ice_photon photon;
#define X(type, name) photon.name = wave->name[i];
    ICS_WAVE_PHOTON(X)
#undef X
    return photon;
}

/* The same for a slot that comes from the queue: gathers take indices with a sign. */
ICE_FN ice_photon ics_load_photon_at(const ics_wave *wave, int32_t i)
{
    ice_photon photon;
#define X(type, name) photon.name = wave->name[i];
    ICS_WAVE_PHOTON(X)
#undef X
    return photon;
}

ICE_FN void ics_store_photon(const ics_wave *wave, uint32_t i, const ice_photon *photon)
{
#define X(type, name) wave->name[i] = photon->name;
    ICS_WAVE_PHOTON(X)
#undef X
}

/* Stores the position and the path. */
ICE_FN void ics_store_position(const ics_wave *wave, uint32_t i, const ice_photon *photon)
{
#define X(type, name) wave->name[i] = photon->name;
    ICS_WAVE_POSITION(X)
#undef X
}

ICE_FN void ics_store_direction(const ics_wave *wave, uint32_t i, ice_direction n)
{
    wave->dx[i] = n.x;
    wave->dy[i] = n.y;
    wave->dz[i] = n.z;
}

ICE_FN ice_optics ics_load_optics(const ics_wave *wave, uint32_t i)
{
    const ice_optics optics = {wave->optics_scattering[i], wave->optics_dust[i],
                               wave->optics_ice[i], 0.0f};
    return optics;
}

/* Puts the slots whose flags have a bit of `mask` into the queue, in ascending order, and returns
 * their number. */
static uint32_t ics_queue_flagged(const ics_wave *wave, uint32_t mask)
{
    const ics_wave w = *wave;
    uint32_t queued = 0, i = 0;
#if defined(__AVX512F__)
    /* Sixteen slots at a time: compilers do not make this of the loop below. What is stored behind
     * the chosen slots is overwritten, and never lies behind slot i + 15. */
    const __m512i bits = _mm512_set1_epi32((int32_t)mask);
    __m512i slots = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; i + 16 <= w.count; i += 16) {
        const __mmask16 chosen = _mm512_test_epi32_mask(_mm512_loadu_si512(&w.flags[i]), bits);
        _mm512_storeu_si512(&w.queue[queued], _mm512_maskz_compress_epi32(chosen, slots));
        queued += (uint32_t)__builtin_popcount(chosen);
        slots = _mm512_add_epi32(slots, _mm512_set1_epi32(16));
    }
#endif
    for (; i < w.count; ++i) {
        w.queue[queued] = i;
        queued += (w.flags[i] & mask) != 0;
    }
    return queued;
}

/* Returns the flags of a slot. Only a living photon may collide. */
ICE_FN uint32_t ics_flags_pack(const ice_bounce *bounce, uint32_t fate)
{
    return (bounce->leaves_world ? ICS_FLAG_LEAVES_WORLD : 0u) |
           (bounce->may_collide && fate == ICE_ALIVE ? ICS_FLAG_MAY_COLLIDE : 0u);
}

/* Loads the bounce of a slot, as it is between collide and scatter, without `height`. */
ICE_FN ice_bounce ics_load_bounce(const ice_tables *tables, const ics_wave *wave, uint32_t i)
{
    ice_bounce bounce = {.length = wave->length[i], .absorption = wave->absorption[i]};
    bounce.leaves_world = (int32_t)(wave->flags[i] & ICS_FLAG_LEAVES_WORLD);
    bounce.may_collide = (int32_t)(wave->flags[i] & ICS_FLAG_MAY_COLLIDE);
    bounce.is_last = ice_is_last_bounce(tables, wave->scatters[i]);
    return bounce;
}

#endif
