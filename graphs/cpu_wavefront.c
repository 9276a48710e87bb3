/* Schedule wavefront on a CPU core. A small wave of photons stays in the cache of the core. Each
 * stage in turn is a loop over all photons of the wave, until no photon is left to create and the
 * wave is empty. */
#include "graphs/cpu.h"

/* The photons that are still to be created: an index into the list of emissions. */
typedef struct source {
    const ice_emission *emissions;
    uint32_t count;
    uint32_t emission; /* the next photon: its emission and its number within the emission */
    uint32_t photon;
} source;

/* Writes the identities of the next photons into the free slots behind the living photons. Returns
 * the number of these slots. */
static uint32_t refill(source *from, const ics_wave *wave)
{
    uint32_t slot = wave->count;
    while (slot < wave->capacity && from->emission < from->count) {
        const ice_emission *emission = &from->emissions[from->emission];
        while (slot < wave->capacity && from->photon < emission->photons) {
            wave->emission[slot] = from->emission;
            wave->photon_id[slot++] = emission->first_photon + from->photon++;
        }
        if (from->photon == emission->photons) {
            ++from->emission;
            from->photon = 0;
        }
    }
    return slot - wave->count;
}

/* Between propagate and collide: scatter adds a bounce and the length of a segment to every photon.
 * A photon that propagate has dropped has no segment, so the number of its bounces goes down by 1
 * here (modulo 2^32), and the length becomes 0. Nothing else reads them any more. */
static void uncount_dropped(const ics_wave *wave)
{
    for (uint32_t i = 0; i < wave->count; ++i) {
        if (wave->fate[i] != ICE_ALIVE) {
            wave->scatters[i] -= 1;
            wave->length[i] = 0.0f;
        }
    }
}

/* Between collide and scatter: counts the segments of all photons but those that propagate has
 * dropped. Only these have left before scatter. */
static void count_segments(ics_graph *graph)
{
    const ics_wave *wave = &graph->wave;
    const float *heights = ics_heights(graph->tables, wave);
    for (uint32_t i = 0; graph->segments.axes != NULL && i < wave->count; ++i) {
        if (wave->fate[i] != ICE_LEFT) {
            const ice_segment_end segment = {wave->x[i], wave->y[i],
                                             wave->z[i], {wave->dx[i], wave->dy[i], wave->dz[i]},
                                             heights[i], wave->length[i]};
            ics_segments_count(&graph->segments, segment);
        }
    }
}

/* Before compact: counts the photons that have ended in the histograms of photons. */
static void count_ends(ics_graph *graph)
{
    const ics_wave *wave = &graph->wave;
    for (uint32_t i = 0; i < wave->count; ++i) {
        if (wave->fate[i] != ICE_ALIVE) {
            ics_cpu_count_end(
                graph, (ice_photon_end){wave->scatters[i], wave->path[i], wave->wavelength[i]});
        }
    }
}

int ics_cpu_run_wavefront(ics_graph *graph, const ice_emission *emissions, uint32_t count,
                          ics_arrival_sink *sink, ice_account *account)
{
    const ics_cpu_kernels *kernels = graph->kernels;
    const ice_tables *tables = graph->tables;
    const ice_variants *variants = &graph->options.variants;
    ics_wave *wave = &graph->wave;
    ics_tabulate_job *job = ics_cpu_table(graph);
    source from = {emissions, count, 0, 0};
    wave->count = 0;
    for (;;) {
        /* The wave is refilled when an eighth of it is free, so that create has many photons to
         * work on, too. */
        if (wave->capacity - wave->count >= wave->capacity / 8 && from.emission < from.count) {
            const uint32_t begin = wave->count;
            kernels->create(variants->create, tables, emissions, wave, refill(&from, wave));
            if (job != NULL) {
                kernels->begin_table(job->table, tables, emissions, wave, begin);
            }
        }
        if (wave->count == 0) {
            if (from.emission == from.count) {
                return ICESTREAM_OK;
            }
            continue; /* all emissions so far had no photons */
        }
        if (ics_cpu_is_cancelled(graph)) {
            return ICESTREAM_E_INTERRUPTED;
        }
        if (job != NULL) {
            kernels->remember(job, wave);
        }
        kernels->propagate(variants->propagate, tables, wave);
        if (ics_cpu_counts_photons(graph)) {
            uncount_dropped(wave);
        }
        if (job != NULL) {
            kernels->tabulate(job, tables, wave, account);
        } else if (kernels->collide(variants->collide, tables, wave, sink, account)) {
            return ICESTREAM_E_MEMORY;
        }
        count_segments(graph);
        kernels->scatter(variants->scatter, tables, wave);
        if (ics_cpu_counts_photons(graph)) {
            count_ends(graph);
        }
        kernels->compact(variants->compact, wave, account);
    }
}
