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

/* What the words of a segment say. `bounce` lacks height, depth, spare and may_collide. */
typedef struct gpu_segment {
    bool has_segment; /* false: the photon was dropped */
    uint32_t fate;    /* after collide: ice_fate or GPU_WAITS; ICE_LEFT if it was dropped */
    ice_bounce bounce;
} gpu_segment;

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

/* Of a slot that is not free. */
ICE_FN gpu_segment gpu_segment_unpack(ics_word words)
{
    gpu_segment segment;
    const uint32_t by_module =
        words.w >= GPU_AZIMUTH_FATE ? (uint32_t)(words.w - GPU_AZIMUTH_FATE) : (uint32_t)ICE_ALIVE;
    segment.has_segment = words.x != GPU_LENGTH_DROPPED;
    segment.fate = segment.has_segment ? by_module : (uint32_t)ICE_LEFT;
    segment.bounce.length = words.x;
    segment.bounce.absorption = words.y;
    segment.bounce.height = 0.0f;
    segment.bounce.draw.depth = 0.0f;
    segment.bounce.draw.angle = fabsf(words.z);
    segment.bounce.draw.azimuth = fabsf(words.w);
    segment.bounce.draw.spare.word = segment.bounce.draw.spare.rest = 0;
    segment.bounce.leaves_world = words.z < 0.0f;
    segment.bounce.may_collide = 0;
    segment.bounce.is_last = __float_as_int(words.w) < 0;
    return segment;
}

#endif
