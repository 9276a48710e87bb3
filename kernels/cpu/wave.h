/* A wave: the pool of one CPU thread, with one array, called a column, for every member of a
 * photon.
 *
 * Slots 0 .. count - 1 hold living photons. A wave is small enough to stay in the cache of a core.
 * All columns are in one aligned block of memory.
 */
#ifndef ICS_KERNELS_CPU_WAVE_H
#define ICS_KERNELS_CPU_WAVE_H

#include "stages/variants.h"

/* The columns, as X(type, name). The first ones are the members of ice_photon. */
#define ICS_WAVE_POSITION(X)                                                                       \
    X(float, x)                                                                                    \
    X(float, y)                                                                                    \
    X(float, z)                                                                                    \
    X(float, path)
#define ICS_WAVE_DIRECTION(X)                                                                      \
    X(float, dx)                                                                                   \
    X(float, dy)                                                                                   \
    X(float, dz)
#define ICS_WAVE_PHOTON(X)                                                                         \
    ICS_WAVE_POSITION(X)                                                                           \
    ICS_WAVE_DIRECTION(X)                                                                          \
    X(float, absorption)                                                                           \
    X(float, wavelength)                                                                           \
    X(uint32_t, emission)                                                                          \
    X(uint32_t, photon_id)                                                                         \
    X(uint32_t, scatters)

/* The columns of a photon: what ice_active_photon holds. */
#define ICS_WAVE_COLUMNS(X)                                                                        \
    ICS_WAVE_PHOTON(X)                                                                             \
    X(uint64_t, random)                                                                            \
    X(float, optics_scattering)                                                                    \
    X(float, optics_dust)                                                                          \
    X(float, optics_ice)                                                                           \
    X(uint32_t, fate)

/* Columns of a photon that only a wave with a table has; in other waves they are NULL. */
#define ICS_WAVE_TABLE(X)                                                                          \
    X(float, table_offset)                                                                         \
    X(float, table_delay)

/* Columns that are written and read within one bounce. Their content does not move with a photon
 * when a wave is compacted. What scratch_a to scratch_d mean is different in every function that
 * uses them. */
#define ICS_WAVE_SCRATCH(X)                                                                        \
    X(float, depth)                                                                                \
    X(float, distance)                                                                             \
    X(float, height)                                                                               \
    X(float, factor)                                                                               \
    X(float, scratch_a)                                                                            \
    X(float, scratch_b)                                                                            \
    X(float, scratch_c)                                                                            \
    X(float, scratch_d)                                                                            \
    X(float, length)                                                                               \
    X(uint32_t, flags)                                                                             \
    X(uint32_t, queue)

typedef struct ics_wave {
    uint32_t capacity;            /* slots, a multiple of ICS_WAVE_ALIGNMENT */
    uint32_t count;               /* living photons */
#define X(type, name) type *name; /* [capacity] */
    ICS_WAVE_COLUMNS(X)
    ICS_WAVE_SCRATCH(X)
    ICS_WAVE_TABLE(X)
#undef X
} ics_wave;

#define ICS_WAVE_ALIGNMENT 16u

/* Returns the column with the heights of the photons among the layers (m), which propagate fills.
 */
ICE_FN const float *ics_heights(const ice_tables *tables, const ics_wave *wave)
{
    return ICE_HAS(tables, ICE_HAS_TILT) ? wave->height : wave->z;
}

/* Bytes of one slot in all columns. */
enum {
    ICS_WAVE_SLOT_BYTES = 0
#define X(type, name) +sizeof(type)
    ICS_WAVE_COLUMNS(X) ICS_WAVE_SCRATCH(X)
#undef X
};

#endif
