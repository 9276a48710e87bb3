/* The state of a graph on the CPU, shared by the schedules of the CPU. */
#ifndef ICS_GRAPHS_CPU_H
#define ICS_GRAPHS_CPU_H

#include "graphs/graph.h"
#include "kernels/cpu/custom.h"
#include "kernels/cpu/large_counts.h"
#include "kernels/cpu/segments.h"
#include "kernels/stage_guard.h"
#include "stages/histograms/photon_end.h"

struct ics_graph {
    ics_graph_options options;
    const ice_tables *tables;
    const ics_cpu_kernels *kernels;
    ics_custom_kernels *custom; /* owns `kernels`; NULL: the kernels are part of the program */
    char headers[ICS_STAGE_GUARD_TEXT];      /* ics_stage_guard_names() of the kernels */
    ics_wave wave;                           /* wavefront only */
    void *wave_memory;                       /* memory of the columns of `wave` */
    ics_tabulate_job table;                  /* table.table NULL: hits are recorded */
    uint64_t photon_cells[ICE_PHOTON_CELLS]; /* counts of photons that ended in this run */
    ics_large_counts large;                  /* the same in histograms with many bins */
    ics_segment_counter segments; /* segments.axes NULL: no histogram is one of segments */
};

/* Default number of slots of a wave. A slot has 128 bytes, so that a wave fits into the second
 * level cache of a core and is still long enough for the vector loops. */
#define ICS_WAVE_SLOTS_DEFAULT 1024u

/* The schedules. They return what ics_graph_run() returns. */
int ics_cpu_run_wavefront(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                          ics_arrival_sink *sink, ice_account *account);
int ics_cpu_run_monolithic(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                           ics_arrival_sink *sink, ice_account *account);

/* The table that the graph fills; NULL: it records hits. */
static inline ics_tabulate_job *ics_cpu_table(ics_graph *graph)
{
    return graph->table.table != NULL ? &graph->table : NULL;
}

/* Whether there are histograms of photons. */
static inline bool ics_cpu_counts_photons(const ics_graph *graph)
{
    return graph->options.photons.count + graph->options.large.count > 0;
}

/* Counts a photon that has ended in the histograms of photons. */
static inline void ics_cpu_count_end(ics_graph *graph, ice_photon_end end)
{
    ice_count_end(graph->tables, &graph->options.photons, end, graph->photon_cells);
    ics_large_counts_add(&graph->large, graph->tables, end);
}

/* Whether the run shall stop. */
static inline bool ics_cpu_is_cancelled(const ics_graph *graph)
{
    return graph->options.cancel != NULL &&
           atomic_load_explicit(graph->options.cancel, memory_order_relaxed);
}

#endif
