/* schedule: monolithic, on a CPU core. One photon after the other, each through all its bounces. */
#include "graphs/cpu.h"

int is_run_monolithic(is_graph *graph, const ice_emission *emissions, uint32_t count,
                      is_arrival_sink *sink, ice_account *account)
{
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t k = 0; k < emissions[i].photons; ++k) {
            if (is_graph_cancelled(graph))
                return IS_GRAPH_CANCELLED;
            if (graph->kernels->carry(&graph->options.variants, graph->tables, emissions, i,
                                      emissions[i].first_photon + k, sink, account))
                return IS_GRAPH_NO_MEMORY;
        }
    return IS_GRAPH_OK;
}
