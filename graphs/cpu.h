/* The CPU counterpart of a CUDA graph, shared by the CPU schedules. */
#ifndef ICS_GRAPHS_CPU_H
#define ICS_GRAPHS_CPU_H

#include "graphs/graph.h"
#include "kernels/cpu/custom.h"

struct ics_graph {
    ics_graph_options options;
    const ice_tables *tables;
    const ics_cpu_kernels *kernels;
    ics_custom_kernels *custom; /* their owner, NULL: they are part of the program */
    ics_wave wave;              /* wavefront only */
    void *wave_memory;          /* behind its columns */
};

/* Slots of a wave when the configuration does not say: 128 bytes each, well inside a core's second
 * level cache and long enough for the vector loops. */
#define ICS_WAVE_SLOTS_DEFAULT 1024u

/* The schedules. */
int ics_cpu_run_wavefront(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                          ics_arrival_sink *sink, ice_account *account);
int ics_cpu_run_monolithic(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                           ics_arrival_sink *sink, ice_account *account);

/* Whether the graph was told to give up. */
bool ics_graph_is_cancelled(const ics_graph *graph);

#endif
