/* schedule: wavefront. One kernel for each stage; photons are in the pool between the kernels.
 *
 * Each thread has the slot with its number, and a wave costs as much as its memory traffic. So a
 * stage reads and writes only the words that it needs. The identity of a photon does not change
 * from wave to wave: it holds the number of the wave in which the photon was created, and all
 * kernels know the number of the present wave (the trips of the loop so far, and the index of the
 * wave in its trip). propagate reads half of the identity, the extract; only hits and the ends of
 * photons need the other half. segment_words.h says how a segment is passed from kernel to kernel.
 *
 * With graph.join: [scatter, propagate], one kernel is scatter of a wave and propagate of the next
 * one, and photons stay in registers between the two. A trip still begins with propagate and ends
 * with scatter, so that the pool between two trips is the same.
 */
#include "kernels/cuda/device/run.h"
#include "kernels/cuda/device/segment_words.h"

/* The number of a wave, modulo 2^32. `wave` is its index in the trip. */
ICE_FN uint32_t gpu_wave_number(const ics_lane_memory *lane, uint32_t wave)
{
    return lane->progress->trips * ICS_WAVES_PER_TRIP + wave;
}

#define GPU_PACK_NEW_PHOTON(lane, photon)     gpu_wave_photon_pack(photon, gpu_wave_number(lane, 0))
#define GPU_SET_EXTRACT(lane, slot, identity) gpu_set_extract(lane, slot, identity)

/* Stores the extract of a slot. A free slot has no segment. */
ICE_FN void gpu_set_extract(const ics_lane_memory *lane, uint32_t slot, ics_word identity)
{
    lane->extract[slot] = gpu_extract_of(identity);
    if (gpu_is_vacant(identity)) {
        gpu_segment_set_vacant(&lane->segment[slot]);
    }
}

#include "kernels/cuda/device/pool.h"

/* ---- propagate ------------------------------------------------------------------------------- */

/* Whether scatter needs the height of a segment's start among the layers. */
#define GPU_KEEPS_HEIGHT                                                                           \
    ((GPU_SPECIAL_FEATURES & (ICE_HAS_BIREFRINGENCE | ICE_HAS_SCATTERING_ANISOTROPY)) != 0)

/* The stage propagate of the photon in a slot: stores its segment. Returns whether the segment may
 * touch a module. */
ICE_FN bool gpu_propagate_photon(const ics_lane_memory *lane, const ice_tables *given,
                                 const ice_photon *photon, ice_random random, uint32_t slot)
{
    const ice_tables tables = gpu_special_tables(given);
    const ice_optics optics = ice_optics_at(&tables, photon->wavelength);
    ice_bounce bounce;
    if (!ice_start_bounce(GPU_SPECIAL_PROPAGATE, &tables, random, optics, photon, &bounce)) {
        lane->segment[slot] = gpu_segment_pack_dropped();
        return false;
    }
    lane->segment[slot] = gpu_segment_pack(&bounce);
    if (GPU_KEEPS_HEIGHT) {
        lane->height[slot] = bounce.height;
    }
    return bounce.may_collide;
}

/* Stores a bit for every slot of the warp: its segment may touch a module. All threads of the warp.
 */
ICE_FN void gpu_store_candidates(const ics_lane_memory *lane, uint32_t slot, bool may_collide)
{
    const uint32_t candidates = __ballot_sync(0xffffffffu, may_collide);
    if (threadIdx.x % 32 == 0) {
        lane->candidates[slot / 32] = candidates;
    }
}

/* propagate: finds the segments, and sets a bit for every slot whose segment may touch a module. */
ICS_KERNEL __launch_bounds__(GPU_SPECIAL_BLOCK, GPU_SPECIAL_BLOCKS)
    gpu_propagate(const __grid_constant__ ice_tables given,
                  const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    const uint32_t slot = chain.first + blockIdx.x * GPU_SPECIAL_BLOCK + threadIdx.x;
    gpu_photon_words words;
    words.position = lane.position[slot];
    words.direction = lane.direction[slot];
    words.identity = gpu_identity_vacant();
    const ice_random random = lane.random[slot];
    const ics_pair extract = lane.extract[slot];
    if (slot - threadIdx.x >= lane.progress->slots) {
        return;
    }
    bool may_collide = false;
    if (!gpu_extract_is_vacant(extract)) {
        const ice_photon photon = gpu_extract_unpack(extract, gpu_wave_number(&lane, chain.wave),
                                                     gpu_photon_unpack(words));
        may_collide = gpu_propagate_photon(&lane, &given, &photon, random, slot);
    }
    gpu_store_candidates(&lane, slot, may_collide);
}

/* ---- collide --------------------------------------------------------------------------------- */

/* Slots for which a block of collide is responsible. About a fifth of them are candidates, so each
 * thread has about one. */
#define GPU_COLLIDE_SLOTS (ICS_COLLIDE_PER_THREAD * GPU_SPECIAL_BLOCK)

/* Stores an identity that has changed, and the extract with it. */
ICE_FN void gpu_store_identity(const ics_lane_memory *lane, uint32_t slot, ics_word identity)
{
    lane->identity[slot] = identity;
    lane->extract[slot] = gpu_extract_of(identity);
}

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
        gpu_store_identity(lane, slot, gpu_wave_identity_end_wait(words.identity));
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

/* ---- scatter --------------------------------------------------------------------------------- */

/* What scatter reads of every slot. */
typedef struct gpu_scatter_input {
    ics_pair segment;
    ics_word position, direction;
    ice_random random;
    float height; /* of the start of the segment; no content unless GPU_KEEPS_HEIGHT */
} gpu_scatter_input;

ICE_FN gpu_scatter_input gpu_load_scatter_input(const ics_lane_memory *lane, uint32_t slot)
{
    gpu_scatter_input input;
    input.segment = lane->segment[slot];
    input.position = lane->position[slot];
    input.direction = lane->direction[slot];
    input.random = lane->random[slot];
    input.height = GPU_KEEPS_HEIGHT ? lane->height[slot] : 0.0f;
    return input;
}

/* The photon at the start of its segment, without its identity. */
ICE_FN ice_photon gpu_scatter_photon_of(const gpu_scatter_input *input)
{
    const gpu_photon_words words = {input->position, input->direction, gpu_identity_vacant()};
    return gpu_photon_unpack(words);
}

/* The stage scatter of a photon that continues: stores it at the end of its segment. */
ICE_FN void gpu_scatter_photon(const ics_lane_memory *lane, const ice_tables *given,
                               gpu_scatter_input *input, uint32_t slot, ice_photon *photon)
{
    const ice_tables tables = gpu_special_tables(given);
    const ice_bounce bounce = gpu_segment_unpack(input->segment, input->height);
    uint32_t fate = ICE_ALIVE; /* it stays so: propagate knew of every other end */
    ice_end_bounce(GPU_SPECIAL_SCATTER, &tables, &bounce, photon, &input->random, &fate);
    const gpu_photon_words words = gpu_photon_pack(photon, false);
    lane->position[slot] = words.position;
    lane->direction[slot] = words.direction;
    lane->random[slot] = input->random;
}

/* Counts a photon that has ended in a wave, and frees its slot. A photon that was dropped had no
 * bounce in this wave. */
ICE_FN void gpu_end_photon(const ics_lane_memory *lane, uint32_t *counts, ics_pair segment,
                           uint32_t slot, uint32_t wave)
{
    const ics_word identity = lane->identity[slot];
    const uint32_t bounces = gpu_wave_scatters(identity, wave + !gpu_segment_is_dropped(segment));
    gpu_count_end(counts, __float_as_uint(identity.y), gpu_segment_fate(segment), bounces);
    gpu_free_slot(lane, slot);
    gpu_set_extract(lane, slot, gpu_identity_vacant());
}

/* Stores that the photon in a slot waits for room in the hit buffer. Returns its extract. */
ICE_FN ics_pair gpu_wait(const ics_lane_memory *lane, uint32_t slot)
{
    const ics_word identity = gpu_wave_identity_wait(lane->identity[slot]);
    gpu_store_identity(lane, slot, identity);
    return gpu_extract_of(identity);
}

/* Adds up how many photons of the block ended and wait. All threads of the block. */
ICE_FN void gpu_scatter_count(const ics_lane_memory *lane, const uint32_t *counts, bool ended,
                              bool waits)
{
    const int ends = __syncthreads_count(ended);
    const int waiting = __syncthreads_count(waits);
    if (ends == 0 && waiting == 0) {
        return; /* all threads of the block: there is nothing to add */
    }
    if (threadIdx.x == 0) {
        gpu_pool_add(lane, 0u - (uint32_t)ends, (uint32_t)waiting);
    }
    gpu_counts_add(counts, lane);
}

/* scatter: takes the photons to the ends of their segments and gives them new directions, or counts
 * those that have ended. */
ICS_KERNEL __launch_bounds__(GPU_SPECIAL_BLOCK, GPU_SPECIAL_BLOCKS)
    gpu_scatter(const __grid_constant__ ice_tables given,
                const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    const uint32_t slot = chain.first + blockIdx.x * GPU_SPECIAL_BLOCK + threadIdx.x;
    gpu_scatter_input input = gpu_load_scatter_input(&lane, slot);
    if (slot - threadIdx.x >= lane.progress->slots) {
        return;
    }
    gpu_counts_clear(counts);
    const bool occupied = !gpu_segment_is_vacant(input.segment);
    const bool waits = occupied && gpu_segment_waits(input.segment);
    const bool continues = occupied && gpu_segment_continues(input.segment);
    const bool ended = occupied && !waits && !continues;
    if (continues) {
        ice_photon photon = gpu_scatter_photon_of(&input);
        gpu_scatter_photon(&lane, &given, &input, slot, &photon);
    } else if (ended) {
        gpu_end_photon(&lane, counts, input.segment, slot, gpu_wave_number(&lane, chain.wave));
    } else if (waits) {
        (void)gpu_wait(&lane, slot);
    }
    const uint32_t vacant = __ballot_sync(0xffffffffu, ended || !occupied);
    if (threadIdx.x % 32 == 0) {
        lane.vacant[slot / 32] = vacant;
    }
    gpu_scatter_count(&lane, counts, ended, waits);
}

/* ---- scatter and propagate joined ------------------------------------------------------------ */

/* scatter of the wave before chain.wave, and propagate of chain.wave. Both are waves of one trip,
 * so that slots which become free stay free until create looks for them after the last scatter. */
ICS_KERNEL __launch_bounds__(GPU_SPECIAL_BLOCK, GPU_SPECIAL_BLOCKS)
    gpu_scatter_propagate(const __grid_constant__ ice_tables given,
                          const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    __shared__ uint32_t counts[GPU_BLOCK_COUNTS];
    const uint32_t slot = chain.first + blockIdx.x * GPU_SPECIAL_BLOCK + threadIdx.x;
    gpu_scatter_input input = gpu_load_scatter_input(&lane, slot);
    ics_pair extract = lane.extract[slot];
    if (slot - threadIdx.x >= lane.progress->slots) {
        return;
    }
    gpu_counts_clear(counts);
    const uint32_t wave = gpu_wave_number(&lane, chain.wave);
    const bool occupied = !gpu_segment_is_vacant(input.segment);
    const bool waits = occupied && gpu_segment_waits(input.segment);
    const bool continues = occupied && gpu_segment_continues(input.segment);
    const bool ended = occupied && !waits && !continues;
    bool may_collide = false;
    if (ended) {
        gpu_end_photon(&lane, counts, input.segment, slot, wave - 1);
    } else if (occupied) {
        ice_photon photon = gpu_scatter_photon_of(&input);
        if (waits) {
            extract = gpu_wait(&lane, slot);
        } else {
            gpu_scatter_photon(&lane, &given, &input, slot, &photon);
        }
        photon = gpu_extract_unpack(extract, wave, photon);
        may_collide = gpu_propagate_photon(&lane, &given, &photon, input.random, slot);
    }
    gpu_store_candidates(&lane, slot, may_collide);
    gpu_scatter_count(&lane, counts, ended, waits);
}
