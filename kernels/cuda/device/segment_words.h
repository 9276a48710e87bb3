/* How wavefront packs a segment into 8 bytes of its slot between propagate and scatter:
 *
 *   segment     length, state
 *
 * The state of a photon that continues at the end of its segment is the absorption depth that it
 * has left then, which has no sign. Every other state has the bit of the sign, and says why the
 * photon does not continue. Only this file packs and unpacks segments;
 * tests/kernels/test_slot_words.c checks that nothing is lost on the way.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_SEGMENT_WORDS_H
#define ICS_KERNELS_CUDA_DEVICE_SEGMENT_WORDS_H

#include "kernels/cuda/device/slot_words.h"
#include "stages/bounce.h"

/* States of a photon besides its ice_fate. */
enum {
    GPU_IDLE = ICE_FATES, /* there is no photon */
    GPU_WAITS,            /* there was no room for a hit */
    GPU_DROPPED           /* the photon left without a segment */
};

/* The state of a photon that does not continue: this bit and an ice_fate, GPU_WAITS or GPU_DROPPED.
 * In the state of a free slot all bits are set, as they are in a new pool. */
#define GPU_STATE_ENDS   0x80000000u
#define GPU_STATE_VACANT 0xffffffffu

ICE_FN ics_pair gpu_segment_of(float length, uint32_t state)
{
    return make_float2(length, __uint_as_float(state));
}

ICE_FN uint32_t gpu_segment_state(ics_pair segment)
{
    return __float_as_uint(segment.y);
}

/* The segment of a photon that was not dropped. The absorption depth of a photon that continues is
 * positive, so that fabsf() only keeps a number that is none, from a stage of a user, from looking
 * like another state. */
ICE_FN ics_pair gpu_segment_pack(const ice_bounce *bounce)
{
    const uint32_t fate =
        ice_fate_at_end(ICE_ALIVE, bounce->leaves_world, bounce->absorption, bounce->is_last);
    return gpu_segment_of(bounce->length, fate == ICE_ALIVE
                                              ? __float_as_uint(fabsf(bounce->absorption))
                                              : GPU_STATE_ENDS | fate);
}

ICE_FN ics_pair gpu_segment_pack_dropped(void)
{
    return gpu_segment_of(0.0f, GPU_STATE_ENDS | (uint32_t)GPU_DROPPED);
}

/* In a pool, as the next one: the slot is free. */
ICE_FN void gpu_segment_set_vacant(ics_pair *segment)
{
    segment->y = __uint_as_float(GPU_STATE_VACANT);
}

ICE_FN void gpu_segment_set_length(ics_pair *segment, float length)
{
    segment->x = length;
}

/* fate: that of a photon which a module ended, or GPU_WAITS. The length stays. */
ICE_FN void gpu_segment_set_fate(ics_pair *segment, uint32_t fate)
{
    segment->y = __uint_as_float(GPU_STATE_ENDS | fate);
}

ICE_FN float gpu_segment_length(const ics_pair *segment)
{
    return segment->x;
}

ICE_FN bool gpu_segment_is_vacant(ics_pair segment)
{
    return gpu_segment_state(segment) == GPU_STATE_VACANT;
}

/* Whether the photon continues at the end of the segment. This function and the next ones are for
 * slots that are not free. */
ICE_FN bool gpu_segment_continues(ics_pair segment)
{
    return (gpu_segment_state(segment) & GPU_STATE_ENDS) == 0;
}

/* There was no room for a hit of the segment. */
ICE_FN bool gpu_segment_waits(ics_pair segment)
{
    return gpu_segment_state(segment) == (GPU_STATE_ENDS | (uint32_t)GPU_WAITS);
}

/* The photon was dropped: it has no segment. */
ICE_FN bool gpu_segment_is_dropped(ics_pair segment)
{
    return gpu_segment_state(segment) == (GPU_STATE_ENDS | (uint32_t)GPU_DROPPED);
}

/* The fate of a photon that neither continues nor waits. */
ICE_FN uint32_t gpu_segment_fate(ics_pair segment)
{
    return gpu_segment_is_dropped(segment) ? (uint32_t)ICE_LEFT
                                           : gpu_segment_state(segment) & ~GPU_STATE_ENDS;
}

/* The bounce of a photon that continues. `height` is that of propagate. */
ICE_FN ice_bounce gpu_segment_unpack(ics_pair segment, float height)
{
    ice_bounce bounce;
    bounce.length = segment.x;
    bounce.absorption = segment.y;
    bounce.height = height;
    bounce.leaves_world = 0;
    bounce.may_collide = 0;
    bounce.is_last = 0;
    return bounce;
}

#endif
