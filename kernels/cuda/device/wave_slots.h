/* The slots of a pool of wavefront: how its kernels load and store photons, and what create stores
 * of a new one. slot_words.h and segment_words.h say what is in a slot. */
#ifndef ICS_KERNELS_CUDA_DEVICE_WAVE_SLOTS_H
#define ICS_KERNELS_CUDA_DEVICE_WAVE_SLOTS_H

#include "kernels/cuda/device/run.h"
#include "kernels/cuda/device/segment_words.h"

/* The number of a wave, modulo 2^32. `wave` is its index in the trip. */
ICE_FN uint32_t gpu_wave_number(const ics_lane_memory *lane, uint32_t wave)
{
    return lane->progress->trips * ICS_WAVES_PER_TRIP + wave;
}

/* The column of the ways of photons (slot_words.h). */
ICE_FN ics_pair *gpu_ways(const ics_lane_memory *lane)
{
    return (ics_pair *)lane->random;
}

ICE_FN gpu_wave_words gpu_load_wave_words(const ics_lane_memory *lane, uint32_t slot)
{
    const gpu_wave_words words = {lane->position[slot], lane->direction[slot],
                                  gpu_ways(lane)[slot]};
    return words;
}

ICE_FN void gpu_store_wave_words(const ics_lane_memory *lane, uint32_t slot, gpu_wave_words words)
{
    lane->position[slot] = words.position;
    lane->direction[slot] = words.direction;
    gpu_ways(lane)[slot] = words.way;
}

/* Stores the extract of a slot. A free slot has no segment. */
ICE_FN void gpu_set_extract(const ics_lane_memory *lane, uint32_t slot, ics_word identity)
{
    lane->extract[slot] = gpu_extract_of(identity);
    if (gpu_is_vacant(identity)) {
        lane->segment[slot] = GPU_STATE_VACANT;
    }
}

/* Stores a photon that has had no bounce yet. `wave`: the index in the trip of its first wave. */
ICE_FN void gpu_store_new_wave_photon(const ics_lane_memory *lane, uint32_t slot,
                                      const ice_photon *photon, ice_random random, uint32_t wave)
{
    const ics_word identity = gpu_wave_identity_pack(photon, gpu_wave_number(lane, wave));
    gpu_store_wave_words(lane, slot, gpu_wave_pack(photon, random));
    lane->identity[slot] = identity;
    gpu_set_extract(lane, slot, identity);
}

#endif
