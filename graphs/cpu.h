/* The CPU counterpart of a CUDA graph, shared by the CPU schedules. */
#ifndef IS_GRAPH_CPU_H
#define IS_GRAPH_CPU_H

#include "graphs/graph.h"
#include "kernels/cpu/custom.h"

struct is_graph {
    is_graph_options options;
    const ice_tables *tables;
    const is_cpu_kernels *kernels;
    is_custom_kernels *custom; /* their owner, NULL: they are part of the program */
    is_wave wave;              /* wavefront only */
    void *wave_memory;         /* behind its columns */
};

/* Slots of a wave when the configuration does not say: 128 bytes each, well inside a core's second
 * level cache and long enough for the vector loops. */
#define IS_WAVE_SLOTS_DEFAULT 1024u

/* The schedules. */
int is_run_wavefront(is_graph *graph, const ice_emission *emissions, uint32_t count,
                     is_arrival_sink *sink, ice_account *account);
int is_run_monolithic(is_graph *graph, const ice_emission *emissions, uint32_t count,
                      is_arrival_sink *sink, ice_account *account);

/* Whether the graph was told to give up. */
bool is_graph_cancelled(const is_graph *graph);

#endif
