/* Schedule monolithic on a CPU core: one photon after the other, each through all its bounces. */
#include "graphs/cpu.h"

int ics_cpu_run_monolithic(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                           ics_arrival_sink *sink, ice_account *account)
{
    ics_tabulate_job *job = ics_cpu_table(graph);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < emissions[i].photons; ++k) {
            if (ics_cpu_is_cancelled(graph)) {
                return ICESTREAM_E_INTERRUPTED;
            }
            const uint32_t photon_id = emissions[i].first_photon + k;
            if (job != NULL) {
                graph->kernels->carry_tabulated(job, &graph->options.variants, graph->tables,
                                                emissions, i, photon_id, account);
                continue;
            }
            ics_carried carried = {.account = account};
            if (graph->kernels->carry(&graph->options.variants, graph->tables, emissions, i,
                                      photon_id, sink, &carried)) {
                return ICESTREAM_E_MEMORY;
            }
            ics_cpu_count_end(graph, carried.end);
        }
    }
    return ICESTREAM_OK;
}
