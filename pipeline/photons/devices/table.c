#include "pipeline/photons/devices/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Sets the axes of a source. Azimuth 0 is where the vertical lies, as in clsim; for a vertical
 * source it is +x. */
static void set_axes(const double direction[3], ice_tabulate_origin *out)
{
    const double norm = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                             direction[2] * direction[2]);
    const double x = direction[0] / norm, y = direction[1] / norm, z = direction[2] / norm;
    const double across = hypot(x, y);
    double u[3] = {1.0, 0.0, 0.0};
    if (across > 0.0) {
        u[0] = -x * z / across;
        u[1] = -y * z / across;
        u[2] = across;
    }
    out->wx = (float)x;
    out->wy = (float)y;
    out->wz = (float)z;
    out->ux = (float)u[0];
    out->uy = (float)u[1];
    out->uz = (float)u[2];
    out->vx = (float)(y * u[2] - z * u[1]);
    out->vy = (float)(z * u[0] - x * u[2]);
    out->vz = (float)(x * u[1] - y * u[0]);
}

static int check_step(const icestream_step *step, const ice_emission *emission, double weight,
                      icestream_error *error)
{
    if ((emission->flags & ICE_EMISSION_PULSE) != 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "event_id %" PRIu64 ", step_id %u: found a pulse in flags, expected "
                             "none, because stages.tabulate knows no times of pulses",
                             step->event_id, step->step_id);
    }
    if (!(weight >= 0.0 && weight <= (double)ICE_TABULATE_WEIGHT_MAX)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "event_id %" PRIu64 ", step_id %u: found weight %g, expected 0 to %g "
                             "for a table",
                             step->event_id, step->step_id, weight,
                             (double)ICE_TABULATE_WEIGHT_MAX);
    }
    return ICESTREAM_OK;
}

static int order(const void *key, const void *item)
{
    const icestream_step *step = key;
    const ics_device_table_emitter *emitter = item;
    if (step->event_id != emitter->event) {
        return step->event_id < emitter->event ? -1 : 1;
    }
    return (step->source_id > emitter->source) - (step->source_id < emitter->source);
}

/* Sets the origin of a step to the emitter of its source. */
static int set_origin(const ics_device_table_source *source, const icestream_step *step,
                      ice_tabulate_origin *out, icestream_error *error)
{
    const ics_device_table_emitter *emitter =
        bsearch(step, source->emitters, source->emitter_count, sizeof *emitter, order);
    if (emitter == NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "event_id %" PRIu64 ", step_id %u: found source_id %" PRIu64
                             ", expected that "
                             "of a particle of the list",
                             step->event_id, step->step_id, step->source_id);
    }
    const double direction[3] = {emitter->direction[0], emitter->direction[1],
                                 emitter->direction[2]};
    out->x = emitter->position[0];
    out->y = emitter->position[1];
    out->z = emitter->position[2];
    out->time = (float)(step->t - emitter->time);
    set_axes(direction, out);
    return ICESTREAM_OK;
}

int ics_device_table_origins(const ics_device_table *table, const ics_device_table_light *from,
                             ice_tabulate_origin *out, icestream_error *error)
{
    const icestream_step *steps = from->steps;
    const ice_emission *emissions = from->emissions;
    const ics_device_table_source *source = &table->source;
    for (uint32_t i = 0; i < from->count; ++i) {
        const double weight = (double)steps[i].weight * ics_batch_thinning(from->light, &steps[i]);
        ICS_TRY(check_step(&steps[i], &emissions[i], weight, error));
        ICS_TRY(ics_batch_check_light(from->light, &steps[i], error));
        out[i] = (ice_tabulate_origin){.weight = (float)weight};
        if (source->emitter_count > 0) {
            ICS_TRY(set_origin(source, &steps[i], &out[i], error));
        } else if (source->is_step) {
            const double direction[3] = {emissions[i].dx, emissions[i].dy, emissions[i].dz};
            out[i].x = steps[i].x;
            out[i].y = steps[i].y;
            out[i].z = steps[i].z;
            set_axes(direction, &out[i]);
        } else {
            out[i].x = (float)source->position[0];
            out[i].y = (float)source->position[1];
            out[i].z = (float)source->position[2];
            out[i].time = (float)((double)steps[i].t - source->time);
            set_axes(source->direction, &out[i]);
        }
    }
    return ICESTREAM_OK;
}

int ics_device_table_prepare(const ics_device_table *table, const ics_device_table_light *from,
                             ics_device_table_memory *memory, icestream_error *error)
{
    if (from->count > memory->capacity) {
        free(memory->origins);
        memory->origins = calloc(from->count, sizeof *memory->origins);
        memory->capacity = memory->origins != NULL ? from->count : 0;
    }
    if (memory->origins == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %u steps of a table",
                             from->count);
    }
    return ics_device_table_origins(table, from, memory->origins, error);
}

int ics_device_table_overflow(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "stages.tabulate: a sum of the table is above 2^31 = 2147483648 in "
                         "weights, which 64 bits cannot hold; make several tables of fewer "
                         "photons, or give the steps smaller weights");
}

int ics_device_table_fill(ics_device_table *table, ics_graph *graph,
                          const ics_device_table_light *from, ics_device_table_memory *memory,
                          ice_account *account, icestream_error *error)
{
    uint64_t samples = 0;
    ICS_TRY(ics_device_table_prepare(table, from, memory, error));
    const int status =
        ics_graph_tabulate(graph, from->emissions, memory->origins, from->count, &samples, account);
    atomic_fetch_add_explicit(&table->samples, samples, memory_order_relaxed);
    return status != ICESTREAM_E_FAILED ? status : ics_device_table_overflow(error);
}
