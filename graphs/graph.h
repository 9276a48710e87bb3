/* A schedule made concrete for one device: it takes batches of emissions and gives arrivals.
 *
 * One graph belongs to one thread at a time; a run makes one for every CPU thread.
 */
#ifndef ICS_GRAPHS_GRAPH_H
#define ICS_GRAPHS_GRAPH_H

#include "kernels/stage.h"
#include "stages/photon.h"
#include "stages/variants.h"
#include "tables/tables.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ics_schedule {
    ICS_SCHEDULE_AUTO,
    ICS_SCHEDULE_WAVEFRONT,
    ICS_SCHEDULE_FUSED,
    ICS_SCHEDULE_MONOLITHIC,
    ICS_SCHEDULE_JOB_QUEUE,
    ICS_SCHEDULE_THREAD_PER_STEP,
    ICS_SCHEDULE_COUNT
} ics_schedule;

/* The name that a schedule has in YAML, never NULL. */
const char *ics_graph_schedule_name(ics_schedule schedule);
/* Finds a schedule by its name; false: unknown. */
bool ics_graph_schedule_find(const char *name, ics_schedule *out);
/* Whether the CPU has this schedule (AUTO: yes, it means wavefront there). */
bool ics_graph_schedule_on_cpu(ics_schedule schedule);

/* Results of graph functions. */
enum {
    ICS_GRAPH_OK = 0,
    ICS_GRAPH_NO_MEMORY = -1,
    ICS_GRAPH_UNSUPPORTED = -2,
    ICS_GRAPH_CANCELLED = -3
};

typedef struct ics_graph_options {
    ics_schedule schedule;
    ice_variants variants;          /* which variant of every stage, see stages/variants.h */
    const char *custom[ICS_STAGES]; /* the user's stage headers, NULL: none; they take the place of
                                      the variant and are compiled, see kernels/cpu/custom.h */
    uint32_t pool;                  /* photon slots, 0: chosen by the graph */
    const char *instruction_set;    /* "auto", "baseline", "avx2" or "avx512" */
    const atomic_bool *cancel;      /* when it becomes true, ics_graph_run gives up; may be NULL */
} ics_graph_options;

typedef struct ics_graph ics_graph;

/* Arrivals of one batch, in no particular order. Zero-initialise; ics_graph_arrivals_free when
 * done. */
typedef struct ics_arrivals {
    ice_arrival *items; /* [count] */
    size_t count, capacity;
} ics_arrivals;

void ics_graph_arrivals_free(ics_arrivals *arrivals);
/* Grows the list; ICS_GRAPH_OK or ICS_GRAPH_NO_MEMORY. Fits ics_arrival_sink.put. */
int ics_graph_arrivals_put(void *arrivals, const ice_arrival *arrival);

/* Puts ICE_STAGE_custom where there is a header of the user's. */
void ics_custom_variants(const char *const custom[ICS_STAGES], ice_variants *variants);

/* Makes a graph on the calling thread's CPU. `tables` must outlive it. On failure `why` says in one
 * sentence what is not possible, or what the compiler said about a header, with file and line: a
 * few thousand characters. ICS_GRAPH_NO_MEMORY, ICS_GRAPH_UNSUPPORTED. */
int ics_graph_create(const ics_graph_options *options, const ics_tables *tables, ics_graph **out,
                     char *why, size_t why_size);
/* Accepts NULL. */
void ics_graph_destroy(ics_graph *graph);

/* Carries every photon of the emissions to its end. Appends to `arrivals`, adds to `account`.
 * ICS_GRAPH_NO_MEMORY, ICS_GRAPH_CANCELLED (the batch is then to be thrown away). */
int ics_graph_run(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                  ics_arrivals *arrivals, ice_account *account);

/* What the graph settled on, for reports. */
ics_schedule ics_graph_schedule(const ics_graph *graph);
uint32_t ics_graph_pool(const ics_graph *graph);
const char *ics_graph_instruction_set(const ics_graph *graph);
/* Bytes of state per photon slot. */
size_t ics_graph_slot_bytes(const ics_graph *graph);

#endif
