/* schedule: wavefront. One kernel for each stage; photons are in the pool between the kernels.
 *
 * Each thread has the slot with its number, and a wave costs as much as its memory traffic. So a
 * stage reads and writes only the words that it needs. The identity of a photon does not change
 * from wave to wave: it holds the number of the wave in which the photon was created, and all
 * kernels know the number of the present wave (the trips of the loop so far, and the index of the
 * wave in its trip). propagate reads half of the identity, the extract; only hits and the ends of
 * photons need the other half. segment_words.h says how a segment is passed from kernel to kernel.
 *
 * The kernels are short, and most of their time is waiting for memory. So a thread asks for all
 * words of its slot at once (gpu_ask_first()), warps do not wait for each other, and what a thread
 * counts it adds to the counts of the lane at once.
 *
 * Few photons have something to collide with, but collide takes nearly as long as the other
 * kernels, because its threads wait for memory many times in a row. So collide runs in parallel
 * with the kernels that follow it. Its photons are parked meanwhile: the scatter of the wave and
 * the propagate of the next wave leave them alone. The scatter of the next wave waits for collide
 * and then moves them. A parked photon loses one wave, and collide counts its first wave as one
 * later. In the last wave of a trip no photon is parked, because scatter waits for the collide of
 * its wave.
 *
 * With graph.join: [scatter, propagate], one kernel is scatter of a wave and propagate of the next
 * one, and photons stay in registers between the two. A trip still begins with propagate and ends
 * with scatter, so that the pool between two trips is the same.
 */
#include "kernels/cuda/device/pool.h"

/* A kernel calls this after its loads and before its first branch, with all threads of the warp.
 * The compiler does not move loads across it. Otherwise it would move a load behind a branch that
 * does not need it, and the thread would wait for the memory once more. */
ICE_FN void gpu_ask_first(void)
{
    __syncwarp();
}

/* ---- propagate ------------------------------------------------------------------------------- */

/* Whether scatter needs the height of a segment's start among the layers. */
#define GPU_KEEPS_HEIGHT                                                                           \
    ((GPU_SPECIAL_FEATURES & (ICE_HAS_BIREFRINGENCE | ICE_HAS_SCATTERING_ANISOTROPY)) != 0)

/* The layers of a segment that propagate has found and collide does not see; ice_common_word() for
 * all other slots, and in kernels that do not count segments. */
typedef uint32_t gpu_flown;
#if defined(GPU_SPECIAL_SEGMENTS)
/* In a list of the histograms of segments: adds the layers of the warp. Most of them are in the
 * same few cells, so that one thread adds all that are in the same one. */
#define GPU_COUNT_FLOWN(quantity, bins, first_cell, first_edge, in_row)                            \
    if (quantity == ICE_PHOTON_LAYERS) {                                                           \
        const uint32_t cell = first_cell + GPU_SEGMENT_CELL(bins, first_edge, in_row, flown);      \
        const uint32_t peers =                                                                     \
            __match_any_sync(0xffffffffu, counts ? batch * GPU_PHOTON_CELLS + cell : ICS_NOBODY);  \
        if (counts && (peers & gpu_threads_before()) == 0) {                                       \
            atomicAdd(&gpu_photon_cells_of(lane, batch)[cell], (unsigned long long)__popc(peers)); \
        }                                                                                          \
    }
#endif

/* Counts the layers of the segments of a warp. All threads of the warp. */
ICE_FN void gpu_count_flown(const ics_lane_memory *lane, gpu_flown flown, uint32_t slot)
{
#if defined(GPU_SPECIAL_SEGMENTS)
    const bool counts = flown != ice_common_word(ICE_PHOTON_LAYERS);
    if (__any_sync(0xffffffffu, counts)) {
        const uint32_t batch = counts ? gpu_batch_of(__float_as_uint(lane->identity[slot].y)) : 0;
        const uint32_t *edges = gpu_photon_edges;
        (void)edges, (void)batch;
        GPU_SPECIAL_SEGMENTS(GPU_COUNT_FLOWN)
    }
#else
    (void)lane, (void)flown, (void)slot;
#endif
}

/* The stage propagate of the photon in a slot: stores its segment, and its way at the end of the
 * segment. Returns whether the segment may touch a module. */
ICE_FN bool gpu_propagate_photon(const ics_lane_memory *lane, const ice_tables *given,
                                 const ice_photon *photon, ice_random random, uint32_t slot,
                                 gpu_flown *flown)
{
    const ice_tables tables = gpu_special_tables(given);
    const ice_optics optics = ice_optics_at(&tables, photon->wavelength);
    ice_bounce bounce;
    if (!ice_start_bounce(GPU_SPECIAL_PROPAGATE, &tables, random, optics, photon,
                          ice_site_of(&tables, photon->x, photon->y, photon->z), &bounce)) {
        lane->segment[slot] = gpu_segment_end(GPU_DROPPED);
        return false;
    }
    lane->segment[slot] = gpu_segment_pack(&bounce);
    gpu_ways(lane)[slot] = gpu_way_of(photon->path + bounce.length, bounce.absorption);
    if (bounce.may_collide) {
        const float left = (GPU_SPECIAL_FEATURES & ICE_HAS_ENTRIES) != 0
                               ? ice_left_of(bounce.leaves_world, bounce.absorption)
                               : 0.0f;
        lane->begin[slot] =
            gpu_begin_pack(gpu_way_of(photon->path, photon->absorption), bounce.length, left);
    }
    if (GPU_KEEPS_HEIGHT) {
        lane->height[slot] = bounce.height;
    }
    if (GPU_COUNTS_SEGMENTS && !bounce.may_collide) {
        *flown = ice_layers_of(&tables, ice_segment_end_of(photon, bounce.height, bounce.length));
    }
    return bounce.may_collide;
}

/* The word of bits for the warp of a slot, one bit for each slot: its segment in this wave may
 * touch a module. Two waves that follow each other have different words. */
ICE_FN uint32_t *gpu_candidates_of(const ics_lane_memory *lane, uint32_t slot, uint32_t wave)
{
    return &lane->candidates[2 * (slot / 32) + wave % 2];
}

/* Stores the word. All threads of the warp. */
ICE_FN void gpu_store_candidates(const ics_lane_memory *lane, uint32_t slot, uint32_t wave,
                                 bool may_collide)
{
    const uint32_t candidates = __ballot_sync(0xffffffffu, may_collide);
    if (threadIdx.x % 32 == 0) {
        *gpu_candidates_of(lane, slot, wave) = candidates;
    }
}

/* Whether the photons that collide in this wave, by its index in the trip, are parked. */
ICE_FN bool gpu_wave_parks(uint32_t wave)
{
    return wave + 1 < ICS_WAVES_PER_TRIP;
}

/* The bits of the photons that are parked after propagate of this wave. */
ICE_FN uint32_t gpu_parked_bits(const ics_lane_memory *lane, uint32_t slot, uint32_t wave)
{
    return gpu_wave_parks(wave) ? *gpu_candidates_of(lane, slot, wave) : 0;
}

/* Whether the thread's slot has its bit. */
ICE_FN bool gpu_has_bit(uint32_t bits)
{
    return bits >> threadIdx.x % 32 & 1;
}

/* propagate: finds the segments, and sets a bit for every slot whose segment may touch a module. */
ICS_KERNEL GPU_BOUNDS_PROPAGATE gpu_propagate(const __grid_constant__ ice_tables given,
                                              const __grid_constant__ ics_lane_memory lane,
                                              const ics_chain chain)
{
    const uint32_t slot = chain.first + blockIdx.x * GPU_THREADS_PROPAGATE + threadIdx.x;
    const gpu_wave_words words = gpu_load_wave_words(&lane, slot);
    const ics_pair extract = lane.extract[slot];
    const uint32_t slots = lane.progress->slots;
    const uint32_t wave = gpu_wave_number(&lane, chain.wave);
    const uint32_t parked = chain.wave > 0 ? gpu_parked_bits(&lane, slot, chain.wave - 1) : 0;
    gpu_ask_first();
    if (slot - threadIdx.x >= slots) {
        return;
    }
    bool may_collide = false;
    gpu_flown flown = ice_common_word(ICE_PHOTON_LAYERS);
    if (!gpu_extract_is_vacant(extract) && !gpu_has_bit(parked)) {
        const ice_photon photon = gpu_extract_unpack(extract, wave, gpu_wave_unpack(words));
        may_collide =
            gpu_propagate_photon(&lane, &given, &photon, gpu_wave_random(words), slot, &flown);
    }
    gpu_count_flown(&lane, flown, slot);
    gpu_store_candidates(&lane, slot, chain.wave, may_collide);
}

/* ---- collide --------------------------------------------------------------------------------- */

/* Slots for which a warp of collide is responsible, and the words of bits of these slots, of which
 * a thread has at most one. */
#define GPU_COLLIDE_SLOTS (32 * ICS_COLLIDE_PER_THREAD)
ICS_STATIC_ASSERT(ICS_COLLIDE_PER_THREAD <= 32, "the threads of a warp read all words of its bits");

/* Stores an identity that has changed, and the extract with it. */
ICE_FN void gpu_store_identity(const ics_lane_memory *lane, uint32_t slot, ics_word identity)
{
    lane->identity[slot] = identity;
    lane->extract[slot] = gpu_extract_of(identity);
}

/* The stage collide of the photon in a slot. `wave`: the index of the wave in the trip. A photon
 * that waits gets the way back that it had before the segment. */
ICE_FN void gpu_collide_photon(const ics_lane_memory *lane, const ice_tables *tables,
                               gpu_hit_sink *sink, uint32_t slot, uint32_t wave)
{
    const ics_word begin = lane->begin[slot], identity = lane->identity[slot];
    const gpu_wave_words words = {lane->position[slot], lane->direction[slot],
                                  gpu_begin_way(begin)};
    const ice_photon photon =
        gpu_wave_identify(identity, gpu_wave_number(lane, wave), gpu_wave_unpack(words));
    float length = gpu_begin_length(begin);
    uint32_t recorded = gpu_wave_waits(identity) ? lane->recorded[slot] : 0;
    uint32_t fate = ICE_ALIVE;
    const bool waits = ice_record_hits(GPU_SPECIAL_COLLIDE, tables, &length, gpu_begin_left(begin),
                                       &photon, sink, &fate, &recorded) < 0;
    if (waits) {
        lane->recorded[slot] = recorded;
        gpu_ways(lane)[slot] = words.way;
        fate = GPU_WAITS;
    }
    if (fate != ICE_ALIVE) {
        lane->segment[slot] = gpu_segment_end(fate);
        if (GPU_COUNTS_WAYS && !waits) {
            gpu_ways(lane)[slot] = gpu_way_of(photon.path + length, 0.0f);
        }
    }
#if defined(GPU_SPECIAL_SEGMENTS)
    if (!waits) {
        gpu_count_segment(sink, tables, &photon, ice_height(tables, photon.x, photon.y, photon.z),
                          length);
    }
#endif
    if (gpu_wave_parks(wave) || (gpu_wave_waits(identity) && !waits)) {
        const ics_word now = waits ? identity : gpu_wave_identity_end_wait(identity);
        gpu_store_identity(lane, slot, gpu_wave_identity_later(now, gpu_wave_parks(wave)));
    }
}

/* collide: each warp lists the segments that may touch a module, and works through the list. */
ICS_KERNEL GPU_BOUNDS_COLLIDE gpu_collide(const __grid_constant__ ice_tables given,
                                          const __grid_constant__ ics_lane_memory lane,
                                          const ics_chain chain)
{
    __shared__ uint32_t lists[GPU_THREADS_COLLIDE / 32][GPU_COLLIDE_SLOTS];
    __shared__ uint32_t counts[GPU_THREADS_COLLIDE / 32];
    const uint32_t warp = threadIdx.x / 32, thread = threadIdx.x % 32;
    uint32_t *list = lists[warp], *entries = &counts[warp];
    const uint32_t slot = chain.first +
                          (blockIdx.x * (GPU_THREADS_COLLIDE / 32) + warp) * GPU_COLLIDE_SLOTS +
                          32 * thread;
    uint32_t candidates =
        thread < ICS_COLLIDE_PER_THREAD ? *gpu_candidates_of(&lane, slot, chain.wave) : 0;
    if (slot >= lane.progress->slots) {
        candidates = 0;
    }
    if (thread == 0) {
        *entries = 0;
    }
    if (__ballot_sync(0xffffffffu, candidates != 0) == 0) {
        return;
    }
    __syncwarp();
    gpu_list_bits(candidates, slot, list, entries);
    __syncwarp();
    const ice_tables tables = gpu_special_tables(&given);
    gpu_hit_sink sink = {&lane, NULL};
    for (uint32_t entry = thread; entry < *entries; entry += 32) {
        gpu_collide_photon(&lane, &tables, &sink, list[entry], chain.wave);
    }
}

/* ---- scatter --------------------------------------------------------------------------------- */

/* What scatter reads of every slot. Where the photon is parked, collide may change the segment, the
 * way and the identity at the same time. */
typedef struct gpu_scatter_input {
    uint32_t parked; /* bits of the warp */
    uint32_t segment;
    gpu_wave_words words; /* words, except the way, which scatter does not change */
    float height; /* height of the start of the segment; no content unless GPU_KEEPS_HEIGHT */
} gpu_scatter_input;

/* `wave`: that of the scatter, as its index in the trip. */
ICE_FN gpu_scatter_input gpu_load_scatter_input(const ics_lane_memory *lane, uint32_t slot,
                                                uint32_t wave)
{
    gpu_scatter_input input;
    input.parked = gpu_parked_bits(lane, slot, wave);
    input.segment = lane->segment[slot];
    input.words.position = lane->position[slot];
    input.words.direction = lane->direction[slot];
    input.words.way = gpu_way_of(0.0f, 0.0f);
    input.height = GPU_KEEPS_HEIGHT ? lane->height[slot] : 0.0f;
    return input;
}

/* The stage scatter of a photon that continues: stores it at the end of its segment. *photon is the
 * photon at the start of its segment, and then at its end, where *random is its state. */
ICE_FN void gpu_scatter_photon(const ics_lane_memory *lane, const ice_tables *given,
                               const gpu_scatter_input *input, uint32_t slot, ice_photon *photon,
                               ice_random *random)
{
    const ice_tables tables = gpu_special_tables(given);
    ice_bounce bounce = gpu_segment_unpack(input->segment, photon->absorption, input->height);
    ice_find_birefringence(&tables, photon, &bounce);
    uint32_t fate = ICE_ALIVE; /* it stays so: propagate knew of every other end */
    ice_site site;
    ice_end_bounce(GPU_SPECIAL_SCATTER, &tables, &bounce, photon, random, &fate, &site);
    const gpu_wave_words words = gpu_wave_pack(photon, *random);
    lane->position[slot] = words.position;
    lane->direction[slot] = words.direction;
}

/* Counts a photon that has ended in a wave, and frees its slot. A photon that was dropped had no
 * bounce in this wave. */
ICE_FN void gpu_end_photon(const ics_lane_memory *lane, const ice_tables *given, ics_word identity,
                           const gpu_scatter_input *input, uint32_t slot, uint32_t wave)
{
    const uint32_t segment = input->segment;
    const uint32_t bounces = gpu_wave_scatters(identity, wave + !gpu_segment_is_dropped(segment));
    const float path = GPU_COUNTS_WAYS ? gpu_way_path(gpu_ways(lane)[slot]) : 0.0f;
    const ice_photon_end end = {bounces, path, fabsf(identity.x)};
    const ice_tables tables = gpu_special_tables(given);
    gpu_count_end(NULL, lane, &tables, __float_as_uint(identity.y), gpu_segment_fate(segment), end);
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

/* What scatter finds in a slot: at most one of these. None: the photon is parked. */
typedef struct gpu_scatter_state {
    bool vacant, continues, waits, ended;
    ics_word identity; /* identity of a photon that ended */
} gpu_scatter_state;

/* The identity of a photon that ended is asked for before the others of the warp continue. */
ICE_FN gpu_scatter_state gpu_scatter_state_of(const ics_lane_memory *lane,
                                              const gpu_scatter_input *input, uint32_t slot)
{
    const bool parked = gpu_has_bit(input->parked);
    gpu_scatter_state state;
    state.vacant = !parked && gpu_segment_is_vacant(input->segment);
    const bool takes_part = !parked && !state.vacant;
    state.continues = takes_part && gpu_segment_continues(input->segment);
    state.waits = takes_part && gpu_segment_waits(input->segment);
    state.ended = takes_part && !state.continues && !state.waits;
    state.identity = gpu_identity_vacant();
    if (state.ended) {
        state.identity = lane->identity[slot];
    }
    return state;
}

/* Adds how many photons of the warp ended and wait to the counts of the pool. All threads of the
 * warp. */
ICE_FN void gpu_scatter_count(const ics_lane_memory *lane, bool ended, bool waits)
{
    const uint32_t ends = (uint32_t)__popc(__ballot_sync(0xffffffffu, ended));
    const uint32_t waiting = (uint32_t)__popc(__ballot_sync(0xffffffffu, waits));
    if (threadIdx.x % 32 == 0) {
        gpu_pool_add(lane, 0u - ends, waiting);
    }
}

/* scatter: takes the photons to the ends of their segments and gives them new directions, or counts
 * those that have ended. */
ICS_KERNEL GPU_BOUNDS_SCATTER gpu_scatter(const __grid_constant__ ice_tables given,
                                          const __grid_constant__ ics_lane_memory lane,
                                          const ics_chain chain)
{
    const uint32_t slot = chain.first + blockIdx.x * GPU_THREADS_SCATTER + threadIdx.x;
    const gpu_scatter_input input = gpu_load_scatter_input(&lane, slot, chain.wave);
    const uint32_t slots = lane.progress->slots;
    gpu_ask_first();
    if (slot - threadIdx.x >= slots) {
        return;
    }
    const gpu_scatter_state state = gpu_scatter_state_of(&lane, &input, slot);
    if (state.continues) {
        ice_photon photon = gpu_wave_unpack(input.words);
        ice_random random = gpu_wave_random(input.words);
        gpu_scatter_photon(&lane, &given, &input, slot, &photon, &random);
    } else if (state.waits) {
        (void)gpu_wait(&lane, slot);
    }
    if (state.ended) {
        gpu_end_photon(&lane, &given, state.identity, &input, slot,
                       gpu_wave_number(&lane, chain.wave));
    }
    const uint32_t vacant = __ballot_sync(0xffffffffu, state.ended || state.vacant);
    if (threadIdx.x % 32 == 0) {
        lane.vacant[slot / 32] = vacant;
    }
    gpu_scatter_count(&lane, state.ended, state.waits);
}

/* ---- scatter and propagate joined ------------------------------------------------------------ */

/* scatter of the wave before chain.wave, and propagate of chain.wave. Both are waves of one trip,
 * so that slots which become free stay free until create looks for them after the last scatter. */
ICS_KERNEL GPU_BOUNDS_SCATTER_PROPAGATE
gpu_scatter_propagate(const __grid_constant__ ice_tables given,
                      const __grid_constant__ ics_lane_memory lane, const ics_chain chain)
{
    const uint32_t slot = chain.first + blockIdx.x * GPU_THREADS_SCATTER_PROPAGATE + threadIdx.x;
    gpu_scatter_input input = gpu_load_scatter_input(&lane, slot, chain.wave - 1);
    ics_pair extract = lane.extract[slot];
    input.words.way = gpu_ways(&lane)[slot];
    const uint32_t slots = lane.progress->slots;
    const uint32_t wave = gpu_wave_number(&lane, chain.wave);
    gpu_ask_first();
    if (slot - threadIdx.x >= slots) {
        return;
    }
    const gpu_scatter_state state = gpu_scatter_state_of(&lane, &input, slot);
    bool may_collide = false;
    gpu_flown flown = ice_common_word(ICE_PHOTON_LAYERS);
    if (state.continues || state.waits) {
        ice_photon photon = gpu_wave_unpack(input.words);
        ice_random random = gpu_wave_random(input.words);
        if (state.waits) {
            extract = gpu_wait(&lane, slot);
        } else {
            gpu_scatter_photon(&lane, &given, &input, slot, &photon, &random);
            photon.path = gpu_way_path(input.words.way);
        }
        photon = gpu_extract_unpack(extract, wave, photon);
        may_collide = gpu_propagate_photon(&lane, &given, &photon, random, slot, &flown);
    }
    gpu_count_flown(&lane, flown, slot);
    if (state.ended) {
        gpu_end_photon(&lane, &given, state.identity, &input, slot, wave - 1);
    }
    gpu_store_candidates(&lane, slot, chain.wave, may_collide);
    gpu_scatter_count(&lane, state.ended, state.waits);
}

/* ---- copies of counts ------------------------------------------------------------------------ */

#if defined(GPU_SPECIAL_LARGE_CELLS)
/* At the end of a launch: adds the copies of the counts of histograms with many bins to these
 * counts, and zeroes them. A grid of any size. */
ICS_KERNEL gpu_add_copies(const __grid_constant__ ice_tables given,
                          const __grid_constant__ ics_lane_memory lane)
{
    (void)given;
    uint32_t *copies = gpu_large_copies(&lane);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < GPU_COPY_COUNTS;
         i += gridDim.x * blockDim.x) {
        unsigned long long sum = 0;
        for (uint32_t copy = 0; copy < ICS_COUNT_COPIES; ++copy) {
            sum += copies[copy * GPU_COPY_COUNTS + i];
            copies[copy * GPU_COPY_COUNTS + i] = 0;
        }
        const uint32_t batch = i / GPU_SPECIAL_LARGE_CELLS, cell = i % GPU_SPECIAL_LARGE_CELLS;
        lane.photon_cells[batch * GPU_BATCH_COUNTS + GPU_LARGE_FIRST + cell] += sum;
    }
}
#endif
