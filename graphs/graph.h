/* A schedule made concrete for one device: it takes batches of emissions and gives arrivals.
 *
 * One graph belongs to one thread at a time; a run makes one for every CPU thread.
 */
#ifndef IS_GRAPH_H
#define IS_GRAPH_H

#include "kernels/stage.h"
#include "kernels/tables.h"
#include "stages/photon.h"
#include "stages/variants.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum is_schedule {
    IS_SCHEDULE_AUTO,
    IS_SCHEDULE_WAVEFRONT,
    IS_SCHEDULE_FUSED,
    IS_SCHEDULE_MONOLITHIC,
    IS_SCHEDULE_JOB_QUEUE,
    IS_SCHEDULE_THREAD_PER_STEP,
    IS_SCHEDULE_COUNT
} is_schedule;

/* The name that a schedule has in YAML, never NULL. */
const char *is_schedule_name(is_schedule schedule);
/* Finds a schedule by its name; false: unknown. */
bool is_schedule_find(const char *name, is_schedule *out);
/* Whether the CPU has this schedule (AUTO: yes, it means wavefront there). */
bool is_schedule_on_cpu(is_schedule schedule);

/* Results of graph functions. */
enum {
    IS_GRAPH_OK = 0,
    IS_GRAPH_NO_MEMORY = -1,
    IS_GRAPH_UNSUPPORTED = -2,
    IS_GRAPH_CANCELLED = -3
};

typedef struct is_graph_options {
    is_schedule schedule;
    ice_variants variants;         /* which variant of every stage, see stages/variants.h */
    const char *custom[IS_STAGES]; /* the user's stage headers, NULL: none; they take the place of
                                      the variant and are compiled, see kernels/cpu/custom.h */
    uint32_t pool;                 /* photon slots, 0: chosen by the graph */
    const char *instruction_set;   /* "auto", "baseline", "avx2" or "avx512" */
    const atomic_bool *cancel;     /* when it becomes true, is_graph_run gives up; may be NULL */
} is_graph_options;

typedef struct is_graph is_graph;

/* Arrivals of one batch, in no particular order. Zero-initialise; is_arrivals_free when done. */
typedef struct is_arrivals {
    ice_arrival *items; /* [count] */
    size_t count, capacity;
} is_arrivals;

void is_arrivals_free(is_arrivals *arrivals);
/* Grows the list; IS_GRAPH_OK or IS_GRAPH_NO_MEMORY. Fits is_arrival_sink.put. */
int is_arrivals_put(void *arrivals, const ice_arrival *arrival);

/* Puts ICE_STAGE_custom where there is a header of the user's. */
void is_custom_variants(const char *const custom[IS_STAGES], ice_variants *variants);

/* Makes a graph on the calling thread's CPU. `tables` must outlive it. On failure `why` says in one
 * sentence what is not possible, or what the compiler said about a header, with file and line: a
 * few thousand characters. IS_GRAPH_NO_MEMORY, IS_GRAPH_UNSUPPORTED. */
int is_graph_create(const is_graph_options *options, const is_tables *tables, is_graph **out,
                    char *why, size_t why_size);
/* Accepts NULL. */
void is_graph_destroy(is_graph *graph);

/* Carries every photon of the emissions to its end. Appends to `arrivals`, adds to `account`.
 * IS_GRAPH_NO_MEMORY, IS_GRAPH_CANCELLED (the batch is then to be thrown away). */
int is_graph_run(is_graph *graph, const ice_emission *emissions, uint32_t count,
                 is_arrivals *arrivals, ice_account *account);

/* What the graph settled on, for reports. */
is_schedule is_graph_schedule(const is_graph *graph);
uint32_t is_graph_pool(const is_graph *graph);
const char *is_graph_instruction_set(const is_graph *graph);
/* Bytes of state per photon slot. */
size_t is_graph_slot_bytes(const is_graph *graph);

#endif
