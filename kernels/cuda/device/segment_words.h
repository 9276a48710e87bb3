/* How wavefront packs a segment into 4 bytes of its slot between propagate and scatter: the length
 * of the segment if the photon continues at its end, otherwise the reason why the photon does not.
 * What collide needs of the few segments that may touch a module is in another column. Only this
 * file packs and unpacks segments; tests/kernels/test_slot_words.c checks that nothing is lost on
 * the way.
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

/* The states of a photon that does not continue: GPU_STATE_FIRST and an ice_fate, GPU_WAITS or
 * GPU_DROPPED. As numbers these bits are NaNs, which no computation of a GPU has as its result. All
 * bits of the state of a free slot are set, as they are in a new pool. */
#define GPU_STATE_FIRST  0xffffff00u
#define GPU_STATE_VACANT 0xffffffffu

/* fate: an ice_fate other than ICE_ALIVE, GPU_WAITS or GPU_DROPPED. */
ICE_FN uint32_t gpu_segment_end(uint32_t fate)
{
    return GPU_STATE_FIRST + fate;
}

/* The segment of a photon that was not dropped. The minimum only keeps a length that is no number,
 * from a stage of a user, from looking like a state. */
ICE_FN uint32_t gpu_segment_pack(const ice_bounce *bounce)
{
    const uint32_t fate =
        ice_fate_at_end(ICE_ALIVE, bounce->leaves_world, bounce->absorption, bounce->is_last);
    const uint32_t length = __float_as_uint(bounce->length);
    return fate != ICE_ALIVE          ? gpu_segment_end(fate)
           : length < GPU_STATE_FIRST ? length
                                      : GPU_STATE_FIRST - 1;
}

ICE_FN bool gpu_segment_is_vacant(uint32_t segment)
{
    return segment == GPU_STATE_VACANT;
}

/* Whether the photon continues at the end of the segment. This function and the next ones are for
 * slots that are not free. */
ICE_FN bool gpu_segment_continues(uint32_t segment)
{
    return segment < GPU_STATE_FIRST;
}

/* There was no room for a hit of the segment. */
ICE_FN bool gpu_segment_waits(uint32_t segment)
{
    return segment == gpu_segment_end(GPU_WAITS);
}

/* The photon was dropped: it has no segment. */
ICE_FN bool gpu_segment_is_dropped(uint32_t segment)
{
    return segment == gpu_segment_end(GPU_DROPPED);
}

/* The fate of a photon that neither continues nor waits. */
ICE_FN uint32_t gpu_segment_fate(uint32_t segment)
{
    return gpu_segment_is_dropped(segment) ? (uint32_t)ICE_LEFT : segment - GPU_STATE_FIRST;
}

/* The bounce of a photon that continues. `height` is that of propagate. `absorption` is the
 * absorption depth that is left at the end of the segment; it has no meaning in the kernel scatter,
 * which does not read the way of a photon. */
ICE_FN ice_bounce gpu_segment_unpack(uint32_t segment, float absorption, float height)
{
    ice_bounce bounce;
    bounce.length = __uint_as_float(segment);
    bounce.absorption = absorption;
    bounce.height = height;
    bounce.birefringence.diffusion = bounce.birefringence.mean = 0.0f; /* not known here */
    bounce.leaves_world = 0;
    bounce.may_collide = 0;
    bounce.is_last = 0;
    return bounce;
}

/* ---- segments that may touch a module or are counted ------------------------------------------
 */

/* The begin of such a segment: the way of the photon before it, the length of the segment, and what
 * ice_left_of() says of its end. */
ICE_FN ics_word gpu_begin_pack(ics_pair way, float length, float left)
{
    return make_float4(way.x, way.y, length, left);
}

ICE_FN ics_pair gpu_begin_way(ics_word begin)
{
    return gpu_way_of(begin.x, begin.y);
}

ICE_FN float gpu_begin_length(ics_word begin)
{
    return begin.z;
}

ICE_FN float gpu_begin_left(ics_word begin)
{
    return begin.w;
}

#endif
