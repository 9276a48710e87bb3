/* schedule: wavefront. A kernel for each stage; photons wait in the pool between them.
 *
 * Slot and thread coincide, and memory traffic is what a wave costs. So a stage touches only what
 * it needs: the label (wavelength, identity) stays as create wrote it, because its last word is not
 * the number of scatters but the wave in which the photon was born, and the number of a wave is
 * known to all (`trips` of the loop so far and the wave's place in the trip).
 *
 * A bounce leaves its segment in the pool for the next stages: length, absorption left, angle,
 * azimuth. What else they need to know hides in values that these cannot have: a length of
 * ICS_NO_PHOTON, the slot is free; ICS_DROPPED, the photon cannot reach a module; a negative angle,
 * the segment leaves the world; the sign bit of the azimuth, it is the photon's last by the bounce
 * limit; an azimuth of 2 + fate, collide ended the photon (2 + ICE_ALIVE: it waits for a place in
 * the hit buffer, and its bounce is to be done again). A photon that waits has a negative
 * wavelength.
 */
#include "kernels/cuda/device/run.h"

#define ICS_NO_PHOTON (-2.0f)
#define ICS_DROPPED   (-1.0f)

/* The number of a wave, modulo 2^32; `wave`: its place in the trip. */
ICE_FN uint32_t gpu_wave_number(const ics_lane_memory *lane, uint32_t wave)
{
    return lane->progress->trips * ICS_WAVES_PER_TRIP + wave;
}

#define ICS_SCATTERS_AT_BIRTH(lane) gpu_wave_number(lane, 0)
#include "kernels/cuda/device/pool.h"

ICE_FN float gpu_signed_if(float value, bool negative)
{
    return negative ? -value : value; /* also of 0 */
}

/* A photon's words in the pool; all are asked for at once, whether there is a photon or not. */
typedef struct gpu_slot_words {
    float4 place, course, label;
} gpu_slot_words;

ICE_FN gpu_slot_words gpu_words_at(const ics_lane_memory *lane, uint32_t slot)
{
    const gpu_slot_words words = {lane->place[slot], lane->course[slot], lane->label[slot]};
    return words;
}

/* The photon that they are in this wave. */
ICE_FN ice_photon gpu_photon_of(const ics_lane_memory *lane, gpu_slot_words words, uint32_t wave)
{
    ice_photon photon = gpu_unpack(words.place, words.course, words.label);
    photon.wavelength = fabsf(words.label.x);
    photon.scatters = gpu_wave_number(lane, wave) - __float_as_uint(words.label.w);
    return photon;
}

/* propagate: the segment's end. Says for every slot whether its segment may meet a module. */
ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK, ICS_RUN_BLOCKS)
    gpu_propagate(const __grid_constant__ ice_tables given,
                  const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    const uint32_t slot = chain.first + blockIdx.x * ICS_RUN_BLOCK + threadIdx.x;
    const gpu_slot_words words = gpu_words_at(&lane, slot);
    if (slot - threadIdx.x >= lane.progress->slots) {
        return;
    }
    bool collides = false;
    if (__float_as_uint(words.label.y) == ICS_NOBODY) {
        lane.segment[slot].x = ICS_NO_PHOTON;
    } else {
        const ice_tables tables = gpu_run_tables(&given);
        const ice_photon photon = gpu_photon_of(&lane, words, chain.wave);
        const ice_optics optics = ice_optics_at(&tables, photon.wavelength);
        const ice_identity identity = gpu_identity(&lane, photon.emission, photon.photon_id);
        ice_leg leg;
        float4 segment = make_float4(ICS_DROPPED, 0.0f, 1.0f, 0.0f);
        if (ice_fly(ICS_RUN_PROPAGATE, &tables, identity, optics, &photon, &leg)) {
            const bool last = photon.scatters + 1 >= tables.bounce_limit;
            segment = make_float4(leg.length, leg.absorption,
                                  gpu_signed_if(leg.chance.angle, leg.leaves_world),
                                  gpu_signed_if(leg.chance.azimuth, last));
            collides = leg.may_collide;
        }
        lane.segment[slot] = segment;
    }
    const uint32_t those = __ballot_sync(0xffffffffu, collides);
    if (threadIdx.x % 32 == 0) {
        lane.candidates[slot / 32] = those;
    }
}

/* Slots that a block of collide looks after: with a fifth of them candidates, about a thread each.
 */
#define ICS_COLLIDE_STRETCH (ICS_COLLIDE_SLOTS * ICS_RUN_BLOCK)

/* collide: the segments that may meet a module, listed block by block. */
ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK, ICS_RUN_BLOCKS)
    gpu_collide(const __grid_constant__ ice_tables given,
                const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    __shared__ uint32_t list[ICS_COLLIDE_STRETCH];
    __shared__ uint32_t entries;
    __shared__ uint32_t counts[ICS_BLOCK_COUNTS];
    const uint32_t begin = chain.first + blockIdx.x * ICS_COLLIDE_STRETCH;
    const uint32_t behind = min(begin + ICS_COLLIDE_STRETCH, lane.progress->slots);
    if (begin >= behind) {
        return;
    }
    if (threadIdx.x == 0) {
        entries = 0;
    }
    gpu_counts_clear(counts);
    for (uint32_t slot = begin + 32 * threadIdx.x; slot < behind; slot += 32 * ICS_RUN_BLOCK) {
        gpu_list_bits(lane.candidates[slot / 32], slot, list, &entries);
    }
    __syncthreads();
    const ice_tables tables = gpu_run_tables(&given);
    gpu_hit_sink sink = {lane.launch, lane.progress, counts};
    for (uint32_t entry = threadIdx.x; entry < entries; entry += ICS_RUN_BLOCK) {
        const uint32_t slot = list[entry];
        const gpu_slot_words words = gpu_words_at(&lane, slot);
        const float length = lane.segment[slot].x;
        const ice_photon photon = gpu_photon_of(&lane, words, chain.wave);
        uint32_t met = words.label.x < 0.0f ? lane.met[slot] : 0;
        uint32_t fate = ICE_ALIVE;
        if (ice_meet_on(ICS_RUN_COLLIDE, &tables, length, &photon, &sink, &fate, &met) < 0) {
            lane.met[slot] = met;
            lane.segment[slot].w = 2.0f + (float)ICE_ALIVE;
        } else {
            if (words.label.x < 0.0f) {
                lane.label[slot].x = -words.label.x;
            }
            if (fate != ICE_ALIVE) {
                lane.segment[slot].w = 2.0f + (float)fate;
            }
        }
    }
    gpu_counts_add(counts, &lane);
}

/* scatter: to the segment's end, and on in a new direction; or the photon has come to its end. */
ICS_KERNEL __launch_bounds__(ICS_RUN_BLOCK, ICS_RUN_BLOCKS)
    gpu_scatter(const __grid_constant__ ice_tables given,
                const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    __shared__ uint32_t counts[ICS_BLOCK_COUNTS];
    const uint32_t slot = chain.first + blockIdx.x * ICS_RUN_BLOCK + threadIdx.x;
    const float4 segment = lane.segment[slot], place = lane.place[slot], course = lane.course[slot];
    if (slot - threadIdx.x >= lane.progress->slots) {
        return;
    }
    gpu_counts_clear(counts);
    const bool occupied = segment.x != ICS_NO_PHOTON;
    bool ended = false, waits = false;
    if (occupied) {
        waits = segment.w == 2.0f + (float)ICE_ALIVE;
        if (waits) {
            /* As if it had been born a wave later: it has not flown in this one. */
            float4 label = lane.label[slot];
            label.x = -fabsf(label.x);
            label.w = __uint_as_float(__float_as_uint(label.w) + 1);
            lane.label[slot] = label;
        } else {
            const ice_tables tables = gpu_run_tables(&given);
            ice_photon photon = gpu_unpack(place, course, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
            uint32_t fate = ICE_LEFT;
            if (segment.x != ICS_DROPPED) {
                const bool last = __float_as_int(segment.w) < 0;
                ice_leg leg = {
                    segment.x, segment.y,        {fabsf(segment.z), fabsf(segment.w), {0, 0}},
                    place.z,   segment.z < 0.0f, 0};
                fate = segment.w >= 2.0f ? (uint32_t)(segment.w - 2.0f) : (uint32_t)ICE_ALIVE;
                photon.scatters = last ? tables.bounce_limit - 1 : 0;
                if (ICS_RUN_FEATURES & (ICE_HAS_BIREFRINGENCE | ICE_HAS_SCATTERING_ANISOTROPY)) {
                    leg.height = ice_height(&tables, place.x, place.y, place.z);
                }
                if (ICS_RUN_FEATURES & ICE_HAS_BIREFRINGENCE) {
                    const gpu_slot_words words = {place, course, lane.label[slot]};
                    const ice_photon whole = gpu_photon_of(&lane, words, chain.wave);
                    leg.chance.spare = ice_spare_of(
                        ice_draw_of(&tables, gpu_identity(&lane, whole.emission, whole.photon_id),
                                    ICE_BLOCK_BOUNCE + whole.scatters));
                }
                ice_turn(ICS_RUN_SCATTER, &tables, &leg, &photon, &fate);
            }
            ended = fate != ICE_ALIVE;
            if (ended) {
                const float4 label = lane.label[slot];
                const uint32_t flown = gpu_wave_number(&lane, chain.wave) -
                                       __float_as_uint(label.w) + (segment.x != ICS_DROPPED);
                gpu_count_end(counts, __float_as_uint(label.y), fate, flown);
                gpu_free_slot(&lane, slot);
            } else {
                lane.place[slot] = make_float4(photon.x, photon.y, photon.z, photon.path);
                lane.course[slot] = make_float4(photon.dx, photon.dy, photon.dz, photon.absorption);
            }
        }
    }
    const uint32_t vacant = __ballot_sync(0xffffffffu, ended || !occupied);
    if (threadIdx.x % 32 == 0) {
        lane.vacant[slot / 32] = vacant;
    }
    const int ends = __syncthreads_count(ended);
    const int waiting = __syncthreads_count(waits);
    if (ends == 0 && waiting == 0) {
        return; /* for all threads of the block: nothing to add */
    }
    if (threadIdx.x == 0) {
        gpu_pool_add(&lane, 0u - (uint32_t)ends, (uint32_t)waiting);
    }
    gpu_counts_add(counts, &lane);
}
