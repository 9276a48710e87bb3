/* A unit as a source and a sink of the engine (pipeline/engine). */
#include "base/error.h"
#include "pipeline/units/sources.h"
#include "pipeline/units/unit.h"

uint64_t ics_unit_photons(const ics_unit *unit)
{
    return unit->input->source->repeats ? unit->summary.photons : UINT64_MAX;
}

int ics_unit_read(void *user, icestream_step *steps, size_t capacity, size_t *got,
                  icestream_error *error)
{
    ics_unit *unit = user;
    if (unit->work->propagation.skips) {
        *got = 0;
        return unit->input->source->skip(unit, error);
    }
    return unit->input->source->read(unit, steps, capacity, got, error);
}

void ics_unit_pass_over(void *user, ics_step_cursor *cursor)
{
    ics_unit_pass_over_finished(((const ics_unit *)user)->work, cursor);
}

int ics_unit_store(void *user, ics_batch *batch, icestream_error *error)
{
    ics_unit *unit = user;
    if (ics_unit_open_collector(unit, error) == ICESTREAM_OK) {
        ics_unit_save_batch(unit, batch);
        const ics_photon_interval photons = {batch->first_photon,
                                             batch->first_photon + batch->photons};
        ics_collector_add_photons(unit->work->collector, batch->photon_cells, batch->large_cells,
                                  batch->steps, batch->emissions, batch->count);
        ics_collector_add_batch(unit->work->collector, batch->hits, batch->hit_count, photons,
                                error);
        batch->hits = NULL;
        ics_unit_give_way(unit, error);
    }
    if (error->status != ICESTREAM_E_MEMORY) { /* else the collector lacks hits */
        ics_unit_save_if_due(unit);
    }
    return error->status;
}
