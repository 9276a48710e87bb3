/* How the vector loops load photons and bounces from a wave and store them. The columns `angle`,
 * `azimuth`, `length`, `absorption`, `height` and `flags` hold the ice_bounce of a slot. */
#ifndef ICS_KERNELS_CPU_ISA_COLUMNS_H
#define ICS_KERNELS_CPU_ISA_COLUMNS_H

#include "kernels/cpu/kernels.h"

static int ics_put_arrival(ics_arrival_sink *sink, const ice_arrival *arrival)
{
    return sink->put(sink->self, arrival);
}
#define ICE_PUT_ARRIVAL(sink, arrival) ics_put_arrival(sink, arrival)
#include "stages/bounce.h"

/* The iterations of the next loop are independent: columns do not overlap. With checks they are
 * not: all record the first fault. */
#if defined(ICE_CHECK)
#define ICS_VECTOR_LOOP
#else
#define ICS_VECTOR_LOOP _Pragma("omp simd")
#endif

/* Bits of the column `flags`. */
enum {
    ICS_FLAG_LEAVES_LAYER = 1, /* used only within propagate */
    ICS_FLAG_LEAVES_WORLD = 2,
    ICS_FLAG_MAY_COLLIDE = 4
};

/* Loads a photon. The compiler leaves out the members that a loop does not read. */
ICE_FN ice_photon ics_load_photon(const ics_wave *wave, uint32_t i)
{
    ice_photon photon;
#define X(type, name) photon.name = wave->name[i];
    ICS_WAVE_PHOTON(X)
#undef X
    return photon;
}

ICE_FN void ics_store_photon(const ics_wave *wave, uint32_t i, const ice_photon *photon)
{
#define X(type, name) wave->name[i] = photon->name;
    ICS_WAVE_PHOTON(X)
#undef X
}

/* Stores the position and the path. */
ICE_FN void ics_store_position(const ics_wave *wave, uint32_t i, const ice_photon *photon)
{
#define X(type, name) wave->name[i] = photon->name;
    ICS_WAVE_POSITION(X)
#undef X
}

ICE_FN void ics_store_direction(const ics_wave *wave, uint32_t i, ice_direction n)
{
    wave->dx[i] = n.x;
    wave->dy[i] = n.y;
    wave->dz[i] = n.z;
}

ICE_FN ice_optics ics_load_optics(const ics_wave *wave, uint32_t i)
{
    const ice_optics optics = {wave->optics_scattering[i], wave->optics_dust[i],
                               wave->optics_ice[i]};
    return optics;
}

/* Returns the column with the heights of the photons among the layers (m). */
static const float *ics_heights(const ice_tables *tables, const ics_wave *wave)
{
    return tables->features & ICE_HAS_TILT ? wave->height : wave->z;
}

ICE_FN uint32_t ics_flags_pack(const ice_bounce *bounce)
{
    return (bounce->leaves_world ? ICS_FLAG_LEAVES_WORLD : 0u) |
           (bounce->may_collide ? ICS_FLAG_MAY_COLLIDE : 0u);
}

/* Loads the bounce of a slot, as it is between collide and scatter, without `height` and the random
 * numbers of birefringence. */
ICE_FN ice_bounce ics_load_bounce(const ice_tables *tables, const ics_wave *wave, uint32_t i)
{
    ice_bounce bounce = {.length = wave->length[i],
                         .absorption = wave->absorption[i],
                         .draw = {.angle = wave->angle[i], .azimuth = wave->azimuth[i]}};
    bounce.leaves_world = (int32_t)(wave->flags[i] & ICS_FLAG_LEAVES_WORLD);
    bounce.may_collide = (int32_t)(wave->flags[i] & ICS_FLAG_MAY_COLLIDE);
    bounce.is_last = ice_is_last_bounce(tables, wave->scatters[i]);
    return bounce;
}

#endif
