/* A graph on the CPU: it takes batches of emissions and gives arrivals. Its counterpart on a GPU is
 * graphs/gpu.h.
 *
 * The room in a page:
 *   options.h   what a user may choose; the list of schedules
 *   graph.h     a graph on the CPU: graph.c makes it, cpu_wavefront.c and cpu_monolithic.c run it
 *   gpu.h       a graph on a GPU: cuda/gpu.c (a device and its lanes), cuda/lane.h (one lane),
 *               cuda/loop.c (the CUDA graph of a loop; read its head first), cuda/settings.h
 *               (defaults), cuda/trials.c (auto), cuda/choice.h (the earlier choices of auto),
 *               cuda/plan.c (plan, installation)
 *   gpu_table.h a table on a GPU: cuda/table.c
 *   gpu_none.c  the two interfaces of a GPU in a build without CUDA: there is no device
 *   schedule.h  a row for each schedule of a GPU
 *
 * A graph belongs to one thread at a time; a run makes one for every CPU thread.
 */
#ifndef ICS_GRAPHS_GRAPH_H
#define ICS_GRAPHS_GRAPH_H

#include "base/icestream_error.h"
#include "graphs/options.h"
#include "kernels/stage.h"
#include "stages/histograms/photon_histogram.h"
#include "stages/photon.h"
#include "stages/tabulate/tabulate.h"
#include "stages/variants.h"
#include "tables/large_axes.h"
#include "tables/tables.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ics_graph_options {
    ics_schedule schedule;
    ice_variants variants;          /* which variant of every stage, see stages/variants.h */
    const char *custom[ICS_STAGES]; /* the user's stage headers, which replace the variants and are
                                      compiled (kernels/cpu/custom.h); NULL: none */
    bool check;                     /* check what every stage returns; compiles the kernels */
    uint32_t pool;                  /* photon slots, 0: chosen by the graph */
    const char *instruction_set;    /* "auto", "baseline", "avx2" or "avx512" */
    const ice_tabulation *table;    /* filled by all graphs that have it; NULL: hits are recorded */
    bool fills_table_alone;         /* no other thread adds to the table while this graph runs */
    ice_photon_axes photons;        /* the histograms of photons, */
    ics_large_axes large;           /* and those with more bins than ICE_PHOTON_BINS */
    const atomic_bool *cancel;      /* when it becomes true, ics_graph_run gives up; may be NULL */
    ics_stage_compiling compiling;  /* when a compiler begins to run for `custom` or `check` */
} ics_graph_options;

typedef struct ics_graph ics_graph;

/* Arrivals of one batch, in no particular order. Zero-initialise; ics_graph_arrivals_free when
 * done. */
typedef struct ics_arrivals {
    ice_arrival *items; /* [count] */
    size_t count, capacity;
} ics_arrivals;

void ics_graph_arrivals_free(ics_arrivals *arrivals);
/* Makes room for `more` arrivals. ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_graph_arrivals_reserve(ics_arrivals *arrivals, size_t more);
/* Appends an arrival to an ics_arrivals; has the form of ics_arrival_sink.put. Returns ICESTREAM_OK
 * or ICESTREAM_E_MEMORY. */
int ics_graph_arrivals_put(void *arrivals, const ice_arrival *arrival);

/* Sets the variant of every stage that has a header of the user to ICE_STAGE_custom. */
void ics_graph_custom_variants(const char *const custom[ICS_STAGES], ice_variants *variants);

/* Makes a graph on the CPU of the calling thread. `tables` must outlive it. ICESTREAM_E_MEMORY;
 * ICESTREAM_E_CONFIG: what was asked for is impossible, or a stage header does not compile (the
 * message has the compiler's lines with file and line number). */
int ics_graph_create(const ics_graph_options *options, const ics_tables *tables, ics_graph **out,
                     icestream_error *error);
/* Accepts NULL. */
void ics_graph_destroy(ics_graph *graph);

/* Computes every photon of the emissions to its end. Appends to `arrivals`, adds to `account`.
 * Returns ICESTREAM_OK, ICESTREAM_E_MEMORY, ICESTREAM_E_INTERRUPTED (after `cancel`: drop the
 * arrivals of this batch), or ICESTREAM_E_CONFIG: with options.check, a stage returned what it must
 * not; ics_graph_fault() says what. */
int ics_graph_run(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                  ics_arrivals *arrivals, ice_account *account);

/* Returns the histograms of the photons of the last ics_graph_run(): [ICE_PHOTON_CELLS], of which
 * the first options.photons.cells are counts, and the others 0. Only after ICESTREAM_OK. */
const uint64_t *ics_graph_photon_cells(const ics_graph *graph);
/* The same of options.large: [options.large.cells]; NULL: there are none. */
const uint64_t *ics_graph_large_cells(const ics_graph *graph);

/* As ics_graph_run(), for a graph with a table: adds samples to the table, and no arrivals to
 * anything. `origins`: [count], of the emissions, all without a pulse. *samples: how many samples
 * were added. ICESTREAM_E_FAILED: a sum of the table was 2^63 units or more, and the table has no
 * meaning. */
int ics_graph_tabulate(ics_graph *graph, const ice_emission *emissions,
                       const ice_tabulate_origin *origins, uint32_t count, uint64_t *samples,
                       ice_account *account);

/* Returns the fault that the last ics_graph_run() on the calling thread found. */
ice_fault ics_graph_fault(const ics_graph *graph);

/* Returns the mean cosine of the graph's scatter stage, accurate to 1e-3; NaN if the stage returns
 * NaN. */
double ics_graph_mean_cosine(const ics_graph *graph);

/* What the graph uses, for reports. */
ics_schedule ics_graph_schedule(const ics_graph *graph);
uint32_t ics_graph_pool(const ics_graph *graph);
const char *ics_graph_instruction_set(const ics_graph *graph);
/* Bytes of state per photon slot. */
size_t ics_graph_slot_bytes(const ics_graph *graph);

#endif
