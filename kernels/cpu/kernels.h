/* The CPU kernels: loops that run the stages over photons, compiled once per instruction set.
 *
 * All instruction sets give the same bits. They differ in the number of photons that one
 * instruction handles.
 */
#ifndef ICS_KERNELS_CPU_KERNELS_H
#define ICS_KERNELS_CPU_KERNELS_H

#include "kernels/cpu/wave.h"
#include "stages/histograms/photon_end.h"
#include "stages/tabulate/tabulate.h"

/* Where arrivals go. Kernels call `put` for every recorded hit. It returns 0, or -1 if there is no
 * memory; the kernel then stops and returns -1 as well. */
typedef struct ics_arrival_sink {
    int (*put)(void *self, const ice_arrival *arrival);
    void *self;
    /* `carry` calls this for every segment of its photon. NULL: segments are not counted. */
    void (*count_segment)(void *counter, ice_segment_end segment);
    void *counter;
} ics_arrival_sink;

/* A table that kernels fill, instead of recording hits. */
typedef struct ics_tabulate_job {
    const ice_tabulation *table;        /* its sums may be shared by threads */
    const ice_tabulate_origin *origins; /* one for every emission */
    float *absorption; /* [capacity of the wave], absorption depths at the starts of segments */
    uint64_t samples;  /* added by this thread */
    bool is_alone;     /* no other thread adds to the table */
    bool overflows;    /* a sum was 2^63 units or more */
} ics_tabulate_job;

/* Photons that are carried one by one. */
typedef struct ics_carried {
    ice_account *account; /* the photons are added to it */
    ice_photon_end end;   /* end of the last photon */
} ics_carried;

typedef struct ics_cpu_kernels {
    const char *name; /* "baseline", "avx2", "avx512" */
    /* Of the header that the user gave for tables (stages/tabulate/tabulate_custom.h); 0: there is
     * none. */
    int32_t table_coordinates;

    /* Creates photons in slots wave->count .. wave->count + count - 1, whose columns `emission` and
     * `photon_id` are filled already, and adds `count` to wave->count. The sum must not exceed the
     * capacity. */
    void (*create)(ice_variant variant, const ice_tables *tables, const ice_emission *emissions,
                   ics_wave *wave, uint32_t count);
    /* Draws the random numbers of a bounce, drops photons that cannot reach a module, and finds the
     * ends of the segments. */
    void (*propagate)(ice_variant variant, const ice_tables *tables, ics_wave *wave);
    /* Tests the segments that may touch a module, records hits, and sets the fates of photons that
     * a module stops. Returns 0, or -1 if the sink has no memory. */
    int (*collide)(ice_variant variant, const ice_tables *tables, ics_wave *wave,
                   ics_arrival_sink *sink, ice_account *account);
    /* Moves the photons to the ends of their segments, sets their fates, and gives them new
     * directions. */
    void (*scatter)(ice_variant variant, const ice_tables *tables, ics_wave *wave);
    /* Counts the fates of photons that have ended, and moves the living ones to the front. */
    void (*compact)(ice_variant variant, ics_wave *wave, ice_account *account);

    /* Computes one photon from its start to its end. Returns 0, or -1 if the sink has no memory;
     * carried->end has no content then. */
    int (*carry)(const ice_variants *variants, const ice_tables *tables,
                 const ice_emission *emissions, uint32_t emission, uint32_t photon_id,
                 ics_arrival_sink *sink, ics_carried *carried);

    /* Three kernels for a table. begin_table is called after create: it sets the absorption depths
     * of photons `begin` to wave->count - 1 to that of the table. remember is called before
     * propagate. tabulate is called after propagate, instead of collide: it adds the samples of all
     * segments, and ends photons at their first sample outside the table. */
    void (*begin_table)(const ice_tabulation *table, const ice_tables *tables,
                        const ice_emission *emissions, ics_wave *wave, uint32_t begin);
    void (*remember)(const ics_tabulate_job *job, const ics_wave *wave);
    void (*tabulate)(ics_tabulate_job *job, const ice_tables *tables, ics_wave *wave,
                     ice_account *account);
    /* Computes one photon from its start to its end, and tabulates it. */
    void (*carry_tabulated)(ics_tabulate_job *job, const ice_variants *variants,
                            const ice_tables *tables, const ice_emission *emissions,
                            uint32_t emission, uint32_t photon_id, ice_account *account);

    /* Returns what one call of the stage scatter returns: 1 - cos of the scattering angle. */
    float (*one_minus_cosine)(ice_variant variant, const ice_scatter_constants *constants, float u);

    /* Returns the fault of the calling thread, which the caller zeroes before kernels run and reads
     * afterwards. NULL: these kernels check nothing. */
    ice_fault *(*fault)(void);
} ics_cpu_kernels;

/* Returns the kernels of an instruction set; "auto" means the widest one that this machine has.
 * Returns NULL if the name is unknown or this machine lacks the instruction set. */
const ics_cpu_kernels *ics_kernels_find(const char *name);

#endif
