/* schedule: wavefront. One kernel for each stage; photons are in the pool between the kernels.
 *
 * Each thread has the slot with its number, and a wave costs as much as its memory traffic. So a
 * stage reads and writes only the words that it needs. The identity of a photon does not change
 * from wave to wave: it holds the number of the wave in which the photon was created, and all
 * kernels know the number of the present wave (the trips of the loop so far, and the index of the
 * wave in its trip). segment_words.h says how a segment is passed from kernel to kernel.
 */
#include "kernels/cuda/device/run.h"
#include "kernels/cuda/device/segment_words.h"

/* The number of a wave, modulo 2^32. `wave` is its index in the trip. */
ICE_FN uint32_t gpu_wave_number(const ics_lane_memory *lane, uint32_t wave)
{
    return lane->progress->trips * ICS_WAVES_PER_TRIP + wave;
}

#define GPU_PACK_NEW_PHOTON(lane, photon) gpu_wave_photon_pack(photon, gpu_wave_number(lane, 0))
#include "kernels/cuda/device/pool.h"

/* propagate: finds the segments, and sets a bit for every slot whose segment may touch a module. */
ICS_KERNEL __launch_bounds__(GPU_SPECIAL_BLOCK, GPU_SPECIAL_BLOCKS)
    gpu_propagate(const __grid_constant__ ice_tables given,
                  const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    const uint32_t slot = chain.first + blockIdx.x * GPU_SPECIAL_BLOCK + threadIdx.x;
    const gpu_photon_words words = gpu_load_words(&lane, slot);
    if (slot - threadIdx.x >= lane.progress->slots) {
        return;
    }
    bool may_collide = false;
    if (gpu_is_vacant(words.identity)) {
        gpu_segment_set_vacant(&lane.segment[slot]);
    } else {
        const ice_tables tables = gpu_special_tables(&given);
        const ice_photon photon = gpu_wave_photon_unpack(words, gpu_wave_number(&lane, chain.wave));
        const ice_optics optics = ice_optics_at(&tables, photon.wavelength);
        const ice_identity identity = gpu_identity(&lane, photon.emission, photon.photon_id);
        ice_bounce bounce;
        ics_word segment = gpu_segment_pack_dropped();
        if (ice_start_bounce(GPU_SPECIAL_PROPAGATE, &tables, identity, optics, &photon, &bounce)) {
            segment = gpu_segment_pack(&bounce);
            may_collide = bounce.may_collide;
        }
        lane.segment[slot] = segment;
    }
    const uint32_t candidates = __ballot_sync(0xffffffffu, may_collide);
    if (threadIdx.x % 32 == 0) {
        lane.candidates[slot / 32] = candidates;
    }
}

/* Slots for which a block of collide is responsible. About a fifth of them are candidates, so each
 * thread has about one. */
#define GPU_COLLIDE_SLOTS (ICS_COLLIDE_PER_THREAD * GPU_SPECIAL_BLOCK)

/* The stage collide of the photon in a slot. */
ICE_FN void gpu_collide_photon(const ics_lane_memory *lane, const ice_tables *tables,
                               gpu_hit_sink *sink, uint32_t slot, uint32_t wave)
{
    const gpu_photon_words words = gpu_load_words(lane, slot);
    const float length = gpu_segment_length(&lane->segment[slot]);
    const ice_photon photon = gpu_wave_photon_unpack(words, gpu_wave_number(lane, wave));
    uint32_t recorded = gpu_wave_waits(words.identity) ? lane->recorded[slot] : 0;
    uint32_t fate = ICE_ALIVE;
    if (ice_record_hits(GPU_SPECIAL_COLLIDE, tables, length, &photon, sink, &fate, &recorded) < 0) {
        lane->recorded[slot] = recorded;
        gpu_segment_set_fate(&lane->segment[slot], GPU_WAITS);
        return;
    }
    if (gpu_wave_waits(words.identity)) {
        gpu_wave_end_wait(&lane->identity[slot], words.identity);
    }
    if (fate != ICE_ALIVE) {
        gpu_segment_set_fate(&lane->segment[slot], fate);
    }
}

/* collide: each block lists the segments that may touch a module, and works through the list. */
ICS_KERNEL __launch_bounds__(GPU_SPECIAL_BLOCK, GPU_SPECIAL_BLOCKS)
    gpu_collide(const __grid_constant__ ice_tables given,
                const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    __shared__ uint32_t list[GPU_COLLIDE_SLOTS];
    __shared__ uint32_t entries;
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    const uint32_t begin = chain.first + blockIdx.x * GPU_COLLIDE_SLOTS;
    const uint32_t end = min(begin + GPU_COLLIDE_SLOTS, lane.progress->slots);
    if (begin >= end) {
        return;
    }
    if (threadIdx.x == 0) {
        entries = 0;
    }
    gpu_counts_clear(counts);
    for (uint32_t slot = begin + 32 * threadIdx.x; slot < end; slot += 32 * GPU_SPECIAL_BLOCK) {
        gpu_list_bits(lane.candidates[slot / 32], slot, list, &entries);
    }
    __syncthreads();
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {lane.launch, lane.progress, counts};
    for (uint32_t entry = threadIdx.x; entry < entries; entry += GPU_SPECIAL_BLOCK) {
        gpu_collide_photon(&lane, &tables, &sink, list[entry], chain.wave);
    }
    gpu_counts_add(counts, &lane);
}

/* Adds to an unpacked bounce what its word does not hold and the ice needs: the height of the start
 * and the random numbers of birefringence. `photon` is at the start of its segment. */
ICE_FN void gpu_complete_bounce(const ics_lane_memory *lane, const ice_tables *tables,
                                const ice_photon *photon, uint32_t slot, uint32_t wave,
                                ice_bounce *bounce)
{
    if (GPU_SPECIAL_FEATURES & (ICE_HAS_BIREFRINGENCE | ICE_HAS_SCATTERING_ANISOTROPY)) {
        bounce->height = ice_height(tables, photon->x, photon->y, photon->z);
    }
    if (GPU_SPECIAL_FEATURES & ICE_HAS_BIREFRINGENCE) {
        const ics_word identity = lane->identity[slot];
        const uint32_t scatters = gpu_wave_scatters(identity, gpu_wave_number(lane, wave));
        bounce->draw.spare = ice_spare_of(ice_draw_of(
            tables, gpu_identity(lane, __float_as_uint(identity.y), __float_as_uint(identity.z)),
            ICE_BLOCK_BOUNCE + scatters));
    }
}

/* The stage scatter of the photon in a slot, which does not wait: stores the photon at the end of
 * its segment, or counts its end and frees the slot. Returns whether the photon has ended. `words`
 * lack the identity. */
ICE_FN bool gpu_scatter_photon(const ics_lane_memory *lane, const ice_tables *given,
                               uint32_t *counts, gpu_photon_words words, ics_word segment,
                               uint32_t slot, uint32_t wave)
{
    const ice_tables tables = gpu_special_tables(given);
    const bool dropped = gpu_segment_is_dropped(segment);
    uint32_t fate = ICE_LEFT;
    words.identity = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    ice_photon photon = gpu_photon_unpack(words);
    if (!dropped) {
        ice_bounce bounce = gpu_segment_unpack(segment);
        fate = gpu_segment_fate(segment);
        gpu_complete_bounce(lane, &tables, &photon, slot, wave, &bounce);
        ice_end_bounce(GPU_SPECIAL_SCATTER, &tables, &bounce, &photon, &fate);
    }
    const bool ended = fate != ICE_ALIVE;
    if (ended) {
        /* A photon that was dropped had no bounce in this wave. */
        const ics_word identity = lane->identity[slot];
        const uint32_t bounces =
            gpu_wave_scatters(identity, gpu_wave_number(lane, wave) + !dropped);
        gpu_count_end(counts, __float_as_uint(identity.y), fate, bounces);
        gpu_free_slot(lane, slot);
    } else {
        words = gpu_photon_pack(&photon, false);
        lane->position[slot] = words.position;
        lane->direction[slot] = words.direction;
    }
    return ended;
}

/* scatter: takes the photons to the ends of their segments and gives them new directions, or counts
 * those that have ended. */
ICS_KERNEL __launch_bounds__(GPU_SPECIAL_BLOCK, GPU_SPECIAL_BLOCKS)
    gpu_scatter(const __grid_constant__ ice_tables given,
                const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    const uint32_t slot = chain.first + blockIdx.x * GPU_SPECIAL_BLOCK + threadIdx.x;
    const ics_word segment = lane.segment[slot];
    gpu_photon_words words;
    words.position = lane.position[slot];
    words.direction = lane.direction[slot];
    if (slot - threadIdx.x >= lane.progress->slots) {
        return;
    }
    gpu_counts_clear(counts);
    const bool occupied = !gpu_segment_is_vacant(segment);
    const bool waits = occupied && gpu_segment_waits(segment);
    bool ended = false;
    if (waits) {
        lane.identity[slot] = gpu_wave_identity_wait(lane.identity[slot]);
    } else if (occupied) {
        ended = gpu_scatter_photon(&lane, &given, counts, words, segment, slot, chain.wave);
    }
    const uint32_t vacant = __ballot_sync(0xffffffffu, ended || !occupied);
    if (threadIdx.x % 32 == 0) {
        lane.vacant[slot / 32] = vacant;
    }
    const int ends = __syncthreads_count(ended);
    const int waiting = __syncthreads_count(waits);
    if (ends == 0 && waiting == 0) {
        return; /* all threads of the block: there is nothing to add */
    }
    if (threadIdx.x == 0) {
        gpu_pool_add(&lane, 0u - (uint32_t)ends, (uint32_t)waiting);
    }
    gpu_counts_add(counts, &lane);
}
