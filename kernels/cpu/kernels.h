/* The CPU kernels: loops that run stages over photons, compiled once per instruction set.
 *
 * All instruction sets give the same bits; they differ in how many photons go into one instruction.
 */
#ifndef ICS_KERNELS_CPU_KERNELS_H
#define ICS_KERNELS_CPU_KERNELS_H

#include "kernels/cpu/wave.h"

/* Where arrivals go. Kernels call `put` for every recorded hit. It returns 0, or -1 if there is no
 * memory; the kernel then stops and returns -1 as well. */
typedef struct ics_arrival_sink {
    int (*put)(void *self, const ice_arrival *arrival);
    void *self;
} ics_arrival_sink;

typedef struct ics_cpu_kernels {
    const char *name; /* "baseline", "avx2", "avx512" */

    /* Creates photons in slots wave->count .. wave->count + count - 1, whose columns `emission` and
     * `photon_id` are filled already, and adds `count` to wave->count. The sum must not exceed the
     * capacity. */
    void (*create)(ice_variant variant, const ice_tables *tables, const ice_emission *emissions,
                   ics_wave *wave, uint32_t count);
    /* Draws the bounce's random numbers, drops photons that are out of reach, finds every
     * segment's end. */
    void (*propagate)(ice_variant variant, const ice_tables *tables, ics_wave *wave);
    /* Tests the segments that could reach a module; records hits and ends photons. */
    int (*collide)(ice_variant variant, const ice_tables *tables, ics_wave *wave,
                   ics_arrival_sink *sink, ice_account *account);
    /* Moves the photons to their segments' ends and gives them new directions. */
    void (*scatter)(ice_variant variant, const ice_tables *tables, ics_wave *wave);
    /* Moves the living photons to the front, and counts the fates of the others. */
    void (*compact)(ice_variant variant, ics_wave *wave, ice_account *account);

    /* One photon from its start to its end, all stages in turn. */
    int (*carry)(const ice_variants *variants, const ice_tables *tables,
                 const ice_emission *emissions, uint32_t emission, uint32_t photon_id,
                 ics_arrival_sink *sink, ice_account *account);
} ics_cpu_kernels;

/* The kernels of an instruction set, by its name; "auto" means the widest that this machine runs.
 * NULL if the name is unknown or this machine lacks the instruction set. */
const ics_cpu_kernels *ics_kernels_find(const char *name);

#endif
