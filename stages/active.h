/* A photon on its way, with all that its bounces need, and how a kernel of a GPU saves it during a
 * search. */
#ifndef ICS_STAGES_ACTIVE_H
#define ICS_STAGES_ACTIVE_H

#include "stages/birefringence.h"
#include "stages/compact_partition.h"
#include "stages/optics.h"
#include "stages/photon.h"
#include "stages/random.h"
#include "stages/reach.h"
#include "stages/shape.h"

/* 1: the segment of a photon that a module ends is cut at the module, so that its path is that to
 * the module. Kernels of a GPU that count no paths define 0, and have no instruction for it. */
#ifndef ICE_CUTS_SEGMENT
#define ICE_CUTS_SEGMENT 1
#endif

/* A segment of a photon has ended at `length` (m), before the photon moves; `height` (m) is that of
 * its start among the layers, and `sink` is where arrivals go. Only kernels that count segments
 * define this (stages/histograms/photon_end.h). */
#ifndef ICE_COUNT_SEGMENT
#define ICE_COUNT_SEGMENT(sink, tables, photon, height, length) ((void)0)
#endif

/* The candidates of a segment are those that its first search has tested, or, for a segment that is
 * not searched as it is, those up to `length` (m). Only kernels of a GPU that count candidates
 * define these (stages/histograms/candidates.h); a segment without a search has no candidates. */
#ifndef ICE_COUNT_TESTED
#define ICE_COUNT_TESTED(sink, photon, tested)             ((void)(tested))
#define ICE_COUNT_CANDIDATES(sink, tables, photon, length) ((void)0)
#endif

/* What is known of a bounce before its scatter. */
typedef struct ice_bounce {
    float length;     /* length of the segment, m */
    float absorption; /* absorption depth left at the end of the segment */
    float height;     /* height of the start among the layers, m; read only if the ice is
                         birefringent or anisotropic */
    ice_birefringence_sum birefringence; /* strengths over the segment; 0 in other ice */
    int32_t leaves_world;                /* 1: the segment ends at a boundary of the world */
    int32_t may_collide;                 /* 0: the segment comes near to no module */
    int32_t is_last; /* 1: the bounce limit stops the photon at the end of the segment */
} ice_bounce;

/* A photon with all that its bounces need. */
typedef struct ice_active_photon {
    ice_photon photon;
    ice_optics optics;
    ice_random random; /* state before its next bounce */
    uint32_t fate;     /* ice_fate; a kernel may add further states */
    ice_site site;     /* site of the position */
} ice_active_photon;

/* Returns a photon before its next bounce. */
ICE_FN ice_active_photon ice_activate(const ice_tables *tables, ice_random random,
                                      ice_photon photon)
{
    const ice_active_photon active = {photon, ice_optics_at(tables, photon.wavelength), random,
                                      ICE_ALIVE, ice_site_of(tables, photon.x, photon.y, photon.z)};
    return active;
}

/* ---- a saved photon ------------------------------------------------------------------------- */

/* The search in a mesh is a function that is called, because most photons never need it, and it
 * uses nearly all registers. A compiler then keeps what the photon needs after the call in local
 * memory, and does so in the whole loop over bounces, for photons far from all modules, too. So the
 * few photons that come near to a module are saved in local memory before the search, and restored
 * after it: no register has to survive the call, and the loop keeps its photons in registers.
 *
 * ICE_SAVES: whether this compilation saves photons. */
#if defined(GPU_SPECIAL_FEATURES)
#define ICE_SAVES ((GPU_SPECIAL_FEATURES & ICE_HAS_SHAPE(ICE_SHAPE_MESH)) != 0)
#else
#define ICE_SAVES 0
#endif

/* What is saved: all but the fate, which the search may change, and may_collide. A new member
 * of these structures belongs here, too. */
#define ICE_SAVED(FLOAT, WORD, FLAG)                                                               \
    FLOAT(active->photon.x)                                                                        \
    FLOAT(active->photon.y)                                                                        \
    FLOAT(active->photon.z)                                                                        \
    FLOAT(active->photon.dx)                                                                       \
    FLOAT(active->photon.dy)                                                                       \
    FLOAT(active->photon.dz)                                                                       \
    FLOAT(active->photon.path)                                                                     \
    FLOAT(active->photon.absorption)                                                               \
    FLOAT(active->photon.wavelength)                                                               \
    WORD(active->photon.emission)                                                                  \
    WORD(active->photon.photon_id)                                                                 \
    WORD(active->photon.scatters)                                                                  \
    FLOAT(active->optics.scattering)                                                               \
    FLOAT(active->optics.dust)                                                                     \
    FLOAT(active->optics.ice)                                                                      \
    FLOAT(active->optics.clearest)                                                                 \
    FLOAT(active->site.height)                                                                     \
    FLOAT(active->site.near.axis_x)                                                                \
    FLOAT(active->site.near.axis_y)                                                                \
    FLOAT(active->site.near.others)                                                                \
    FLOAT(bounce->length)                                                                          \
    FLOAT(bounce->absorption)                                                                      \
    FLOAT(bounce->height)                                                                          \
    FLOAT(bounce->birefringence.diffusion)                                                         \
    FLOAT(bounce->birefringence.mean)                                                              \
    FLAG(bounce->leaves_world)                                                                     \
    FLAG(bounce->is_last)

#define ICE_SAVED_COUNT(member) +1
#define ICE_SAVED_SKIP(member)
typedef struct ice_saved {
    uint64_t random;
    float floats[0 ICE_SAVED(ICE_SAVED_COUNT, ICE_SAVED_SKIP, ICE_SAVED_SKIP)];
    uint32_t words[0 ICE_SAVED(ICE_SAVED_SKIP, ICE_SAVED_COUNT, ICE_SAVED_SKIP)];
    int32_t flags[0 ICE_SAVED(ICE_SAVED_SKIP, ICE_SAVED_SKIP, ICE_SAVED_COUNT)];
} ice_saved;
#undef ICE_SAVED_COUNT
#undef ICE_SAVED_SKIP

/* `saved` is volatile, because the compiler would keep the values in registers otherwise. */
ICE_FN void ice_save(volatile ice_saved *saved, const ice_active_photon *active,
                     const ice_bounce *bounce)
{
    volatile float *floats = saved->floats;
    volatile uint32_t *words = saved->words;
    volatile int32_t *flags = saved->flags;
    saved->random = active->random.state;
#define ICE_SAVED_FLOAT(member) *floats++ = member;
#define ICE_SAVED_WORD(member)  *words++ = member;
#define ICE_SAVED_FLAG(member)  *flags++ = member;
    ICE_SAVED(ICE_SAVED_FLOAT, ICE_SAVED_WORD, ICE_SAVED_FLAG)
#undef ICE_SAVED_FLOAT
#undef ICE_SAVED_WORD
#undef ICE_SAVED_FLAG
}

/* Replaces all that was saved. The values are those of ice_save(), but the compiler does
 * not know. */
ICE_FN void ice_restore(const volatile ice_saved *saved, ice_active_photon *active,
                        ice_bounce *bounce)
{
    const volatile float *floats = saved->floats;
    const volatile uint32_t *words = saved->words;
    const volatile int32_t *flags = saved->flags;
    active->random.state = saved->random;
#define ICE_SAVED_FLOAT(member) member = *floats++;
#define ICE_SAVED_WORD(member)  member = *words++;
#define ICE_SAVED_FLAG(member)  member = *flags++;
    ICE_SAVED(ICE_SAVED_FLOAT, ICE_SAVED_WORD, ICE_SAVED_FLAG)
#undef ICE_SAVED_FLOAT
#undef ICE_SAVED_WORD
#undef ICE_SAVED_FLAG
}

#endif
