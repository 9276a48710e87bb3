/* A table that a device fills with samples of photons instead of recording hits (tabulate.md). All
 * threads of a device add to the same sums. */
#ifndef ICS_PHOTONS_DEVICES_TABLE_H
#define ICS_PHOTONS_DEVICES_TABLE_H

#include "pipeline/photons/devices/batch.h"
#include "stages/tabulate/tabulate.h"

#include <stdatomic.h>

/* A source of several steps, which have its event_id and source_id. */
typedef struct ics_device_table_emitter {
    uint64_t event;
    uint64_t source;
    double time;        /* ns, as of the steps */
    float position[3];  /* m */
    float direction[3]; /* not 0 */
} ics_device_table_emitter;

/* Where the source of a photon is: the origin of the coordinates of a table. */
typedef struct ics_device_table_source {
    /* [emitter_count], ascending by event and source, not owned: if there are any, nothing else
     * here counts, and every step has one. */
    const ics_device_table_emitter *emitters;
    size_t emitter_count;
    bool is_step;        /* each step is the source of its photons, and nothing below counts */
    double position[3];  /* m */
    double direction[3]; /* not 0 */
    double time;         /* ns */
} ics_device_table_source;

typedef struct ics_device_table {
    ice_tabulation stage; /* stage, and memory for its sums */
    ics_device_table_source source;
    _Atomic uint64_t samples; /* added so far */
} ics_device_table;

/* What a thread keeps from batch to batch. Zero-initialise. */
typedef struct ics_device_table_memory {
    ice_tabulate_origin *origins; /* [capacity]; the owner frees them */
    uint32_t capacity;
} ics_device_table_memory;

/* Light for a table. */
typedef struct ics_device_table_light {
    const icestream_step *steps;   /* [count], the steps of the emissions */
    const ice_emission *emissions; /* [count] */
    uint32_t count;
    const ice_light *light;
} ics_device_table_light;

/* Makes room for the origins of the light in memory->origins, and makes them. ICESTREAM_E_MEMORY,
 * and the errors of ics_device_table_origins(). */
int ics_device_table_prepare(const ics_device_table *table, const ics_device_table_light *from,
                             ics_device_table_memory *memory, icestream_error *error);

/* Fills `error`: a sum of the table is 2^63 units or more. Returns ICESTREAM_E_CONFIG, because no
 * other device could hold this sum, either. */
int ics_device_table_overflow(icestream_error *error);

/* Computes all photons of the light and adds their samples to the table. The results of
 * ics_graph_tabulate(), with ics_device_table_overflow() for ICESTREAM_E_FAILED, and those of
 * ics_device_table_prepare(). `error` is filled except after ICESTREAM_E_INTERRUPTED and after
 * ICESTREAM_E_MEMORY of the graph. */
int ics_device_table_fill(ics_device_table *table, ics_graph *graph,
                          const ics_device_table_light *from, ics_device_table_memory *memory,
                          ice_account *account, icestream_error *error);

/* Makes the origins of the emissions: [from->count]. ICESTREAM_E_INPUT: a weight that is not
 * from 0 to ICE_TABULATE_WEIGHT_MAX, a step with a pulse, or one without an emitter. */
int ics_device_table_origins(const ics_device_table *table, const ics_device_table_light *from,
                             ice_tabulate_origin *out, icestream_error *error);

#endif
