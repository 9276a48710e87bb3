/* How wavefront packs a segment into one word of its slot between propagate and scatter:
 *
 *   segment     length, absorption depth left, angle, azimuth
 *
 * What else the kernels need to know is in values that these numbers cannot have. Only this file
 * packs and unpacks them; tests/kernels/test_slot_words.c checks that nothing is lost on the way.
 */
#ifndef ICS_KERNELS_CUDA_DEVICE_SEGMENT_WORDS_H
#define ICS_KERNELS_CUDA_DEVICE_SEGMENT_WORDS_H

#include "kernels/cuda/device/slot_words.h"
#include "stages/bounce.h"

/* States of a photon besides its ice_fate. */
enum {
    GPU_IDLE = ICE_FATES, /* there is no photon */
    GPU_WAITS             /* there was no room for a hit */
};

/* Lengths that no segment has. */
#define GPU_LENGTH_VACANT  (-2.0f)
#define GPU_LENGTH_DROPPED (-1.0f)
/* Azimuths are below 1. GPU_AZIMUTH_FATE + fate replaces one where collide ended the photon. */
#define GPU_AZIMUTH_FATE 2.0f

ICE_FN float gpu_negative_if(float value, bool negative)
{
    return negative ? -value : value; /* also of 0 */
}

/* The angle is negative if the segment leaves the world. The azimuth has its sign bit set if the
 * segment is the last one of the photon. */
ICE_FN ics_word gpu_segment_pack(const ice_bounce *bounce)
{
    return make_float4(bounce->length, bounce->absorption,
                       gpu_negative_if(bounce->draw.angle, bounce->leaves_world),
                       gpu_negative_if(bounce->draw.azimuth, bounce->is_last));
}

ICE_FN ics_word gpu_segment_pack_dropped(void)
{
    return make_float4(GPU_LENGTH_DROPPED, 0.0f, 1.0f, 0.0f);
}

/* In a pool, as the next two: the slot is free. The other three words keep their content. */
ICE_FN void gpu_segment_set_vacant(ics_word *segment)
{
    segment->x = GPU_LENGTH_VACANT;
}

/* fate: not ICE_ALIVE. */
ICE_FN void gpu_segment_set_fate(ics_word *segment, uint32_t fate)
{
    segment->w = GPU_AZIMUTH_FATE + (float)fate;
}

ICE_FN float gpu_segment_length(const ics_word *segment)
{
    return segment->x;
}

ICE_FN bool gpu_segment_is_vacant(ics_word segment)
{
    return segment.x == GPU_LENGTH_VACANT;
}

/* There was no room for a hit of the segment. This function and the next three are for slots that
 * are not free. */
ICE_FN bool gpu_segment_waits(ics_word segment)
{
    return segment.w == GPU_AZIMUTH_FATE + (float)GPU_WAITS;
}

/* The photon was dropped: it has no segment. */
ICE_FN bool gpu_segment_is_dropped(ics_word segment)
{
    return segment.x == GPU_LENGTH_DROPPED;
}

/* The fate that collide gave the photon (or GPU_WAITS), ICE_ALIVE if it gave none. */
ICE_FN uint32_t gpu_segment_fate(ics_word segment)
{
    return segment.w >= GPU_AZIMUTH_FATE ? (uint32_t)(segment.w - GPU_AZIMUTH_FATE)
                                         : (uint32_t)ICE_ALIVE;
}

/* The bounce of a photon that was not dropped. It lacks height, depth, spare and may_collide. */
ICE_FN ice_bounce gpu_segment_unpack(ics_word segment)
{
    ice_bounce bounce;
    bounce.length = segment.x;
    bounce.absorption = segment.y;
    bounce.height = 0.0f;
    bounce.draw.depth = 0.0f;
    bounce.draw.angle = fabsf(segment.z);
    bounce.draw.azimuth = fabsf(segment.w);
    bounce.draw.spare.word = bounce.draw.spare.rest = 0;
    bounce.leaves_world = segment.z < 0.0f;
    bounce.may_collide = 0;
    bounce.is_last = __float_as_int(segment.w) < 0;
    return bounce;
}

#endif
