/* The instructions are described in the Intel 64 and IA-32 Architectures Software Developer's
 * Manual, volume 2 (SHA256RNDS2, SHA256MSG1, SHA256MSG2), the algorithm and its constants in FIPS
 * 180-4. */
#include "pipeline/photons/files/format/sha256_lanes.h"

#include "base/error.h"

#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1")))

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

bool ics_sha256_lanes_work(void)
{
    enum { SSSE3 = 1 << 9, SSE41 = 1 << 19, SHA = 1 << 29 };
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & SSSE3) != 0 && (c & SSE41) != 0 &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & SHA) != 0;
}

/* A state in the order of the instructions. */
typedef struct ordered_state {
    __m128i abef, cdgh;
} ordered_state;

WITH_SHA static ordered_state order_state(const uint32_t state[8])
{
    const __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)state);
    const __m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(state + 4));
    const __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1), efgh = _mm_shuffle_epi32(hgfe, 0x1B);
    return (ordered_state){.abef = _mm_alignr_epi8(cdab, efgh, 8),
                           .cdgh = _mm_blend_epi16(efgh, cdab, 0xF0)};
}

WITH_SHA static void store_state(const ordered_state *ordered, uint32_t state[8])
{
    const __m128i feba = _mm_shuffle_epi32(ordered->abef, 0x1B);
    const __m128i dchg = _mm_shuffle_epi32(ordered->cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

/* Adds blocks to `count` lanes. `count` is a constant where this is called, so that the loops over
 * lanes and rounds unroll, and the instructions of different lanes stand next to each other. */
WITH_SHA static inline __attribute__((always_inline)) void
add_blocks(ics_sha256_lane *lanes, size_t count, const unsigned char *const *bytes, size_t blocks)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    ordered_state states[ICS_SHA256_LANES];
    for (size_t k = 0; k < count; ++k) {
        states[k] = order_state(lanes[k].state);
    }
    for (size_t block = 0; block < blocks; ++block) {
        ordered_state before[ICS_SHA256_LANES];
        __m128i words[ICS_SHA256_LANES][4]; /* the last 16 words of the schedule */
        memcpy(before, states, sizeof before);
#pragma GCC unroll 16
        for (int round = 0; round < 16; ++round) { /* four rounds each */
            const __m128i constant =
                _mm_loadu_si128((const __m128i *)(const void *)(constants + (size_t)4 * round));
#pragma GCC unroll 3
            for (size_t k = 0; k < count; ++k) {
                __m128i *w = words[k];
                if (round < 4) {
                    const unsigned char *at = bytes[k] + block * ICS_SHA256_BLOCK;
                    w[round] = _mm_shuffle_epi8(
                        _mm_loadu_si128((const __m128i *)(const void *)(at + (size_t)16 * round)),
                        swap);
                } else {
                    const __m128i later = w[(round + 3) & 3], earlier = w[(round + 2) & 3];
                    const __m128i sum =
                        _mm_add_epi32(_mm_sha256msg1_epu32(w[round & 3], w[(round + 1) & 3]),
                                      _mm_alignr_epi8(later, earlier, 4));
                    w[round & 3] = _mm_sha256msg2_epu32(sum, later);
                }
                const __m128i message = _mm_add_epi32(w[round & 3], constant);
                ordered_state *s = &states[k];
                s->cdgh = _mm_sha256rnds2_epu32(s->cdgh, s->abef, message);
                s->abef = _mm_sha256rnds2_epu32(s->abef, s->cdgh, _mm_shuffle_epi32(message, 0x0E));
            }
        }
        for (size_t k = 0; k < count; ++k) {
            states[k].abef = _mm_add_epi32(states[k].abef, before[k].abef);
            states[k].cdgh = _mm_add_epi32(states[k].cdgh, before[k].cdgh);
        }
    }
    for (size_t k = 0; k < count; ++k) {
        store_state(&states[k], lanes[k].state);
    }
}

WITH_SHA static void add_to_one(ics_sha256_lane *lanes, const unsigned char *const *bytes,
                                size_t blocks)
{
    add_blocks(lanes, 1, bytes, blocks);
}

WITH_SHA static void add_to_two(ics_sha256_lane *lanes, const unsigned char *const *bytes,
                                size_t blocks)
{
    add_blocks(lanes, 2, bytes, blocks);
}

WITH_SHA static void add_to_three(ics_sha256_lane *lanes, const unsigned char *const *bytes,
                                  size_t blocks)
{
    add_blocks(lanes, 3, bytes, blocks);
}

void ics_sha256_lanes_add(ics_sha256_lane *lanes, size_t count, const unsigned char *const *bytes,
                          size_t blocks)
{
    (count == 1 ? add_to_one : count == 2 ? add_to_two : add_to_three)(lanes, bytes, blocks);
    for (size_t k = 0; k < count; ++k) {
        lanes[k].bytes += blocks * ICS_SHA256_BLOCK;
    }
}
#else
bool ics_sha256_lanes_work(void)
{
    return false;
}

void ics_sha256_lanes_add(ics_sha256_lane *lanes, size_t count, const unsigned char *const *bytes,
                          size_t blocks)
{
    (void)lanes, (void)count, (void)bytes, (void)blocks;
}
#endif

void ics_sha256_lane_begin(ics_sha256_lane *lane)
{
    *lane = (ics_sha256_lane){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                        0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void ics_sha256_lane_end(ics_sha256_lane *lane, const unsigned char *bytes, size_t size,
                         char text[ICS_DIGEST_TEXT])
{
    enum { LENGTH = 8 }; /* bytes of the number of bits at the end of the last block */
    unsigned char padded[2 * ICS_SHA256_BLOCK] = {0};
    const unsigned char *at = padded;
    const size_t blocks = size + 1 + LENGTH > ICS_SHA256_BLOCK ? 2 : 1;
    const uint64_t bits = 8 * (lane->bytes + size);
    memcpy(padded, bytes, size);
    padded[size] = 0x80;
    for (size_t i = 0; i < LENGTH; ++i) {
        padded[blocks * ICS_SHA256_BLOCK - 1 - i] = (unsigned char)(bits >> (8 * i));
    }
    ics_sha256_lanes_add(lane, 1, &at, blocks);
    for (size_t i = 0; i < 8; ++i) {
        snprintf(text + 8 * i, 9, "%08x", lane->state[i]);
    }
}
