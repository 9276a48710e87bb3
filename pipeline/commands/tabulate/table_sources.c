#include "pipeline/commands/tabulate/table_sources.h"

#include "base/error.h"
#include "pipeline/photons/generator/workload.h"
#include "pipeline/photons/particles/events.h"
#include "pipeline/photons/particles/light_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- particles ------------------------------------------------------------------------------- */

typedef struct emitter_list {
    ics_device_table_emitter *items; /* [count], room for `capacity` */
    size_t count, capacity;
} emitter_list;

static int add_emitter(emitter_list *list, const ics_light_setup *setup,
                       const ics_listed_particle *listed, icestream_error *error)
{
    ics_light_parts parts;
    char message[ICS_PARTICLE_MESSAGE];
    if (!ics_light_parts_begin(&parts, setup, listed, message)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "tabulate: error: %s", message);
    }
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        ics_device_table_emitter *items = reallocarray(list->items, capacity, sizeof *items);
        if (items == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu sources",
                                 capacity);
        }
        list->items = items;
        list->capacity = capacity;
    }
    const ics_light_part *model = &parts.model;
    list->items[list->count++] = (ics_device_table_emitter){
        .event = listed->event,
        .source = listed->number,
        .time = model->t,
        .position = {(float)model->x, (float)model->y, (float)model->z},
        .direction = {(float)model->axis.x, (float)model->axis.y, (float)model->axis.z}};
    return ICESTREAM_OK;
}

/* Reads the particles again: a step does not say where its particle begins. */
static int read_emitters(const icestream_config *config, const ics_models *models,
                         emitter_list *list, icestream_error *error)
{
    const ics_light_setup setup = ics_light_setup_of(config, models);
    ics_particle_source *source = NULL;
    ics_particle_events_reader *events = NULL;
    bool found = true;
    int status = ICESTREAM_OK;
    ICS_TRY(ics_particle_source_open(config, -1, &source, error));
    ICS_TRY(ics_particle_events_create(source, &setup.track, &events, error));
    while (status == ICESTREAM_OK && found) {
        ics_listed_particle particle;
        status = ics_particle_events_next(events, &particle, &found, error);
        if (status == ICESTREAM_OK && found) {
            particle.track_losses = ICS_LOSSES_NOT_NEEDED; /* the start of the track counts */
            status = add_emitter(list, &setup, &particle, error);
        }
    }
    ics_particle_events_destroy(events);
    return status;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static bool are_alike(const icestream_step *a, const icestream_step *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z && a->t == b->t && a->dx == b->dx &&
           a->dy == b->dy && a->dz == b->dz;
}

/* Steps that are parts of one source have directions of emitters, or lie along a track: a table
 * around each of them is not the table of the source. */
static int check_steps(const ics_step_list *list, icestream_error *error)
{
    for (size_t i = 1; i < list->count; ++i) {
        const icestream_step *a = &list->steps[i - 1], *b = &list->steps[i];
        if (a->event_id == b->event_id && a->source_id == b->source_id && !are_alike(a, b)) {
            return ics_error_set(
                error, ICESTREAM_E_INPUT,
                "%s: table.source: found steps %u and %u of source %" PRIu64 " in event %" PRIu64
                " with different starts or directions, expected that every step is a whole source: "
                "a table around parts of a source is not that of the source; give "
                "table.source: fixed with the position and direction of the source, or tabulate "
                "the particles themselves",
                list->origin, a->step_id, b->step_id, a->source_id, a->event_id);
        }
    }
    return ICESTREAM_OK;
}

int ics_table_sources_find(const icestream_config *config, const ics_models *models,
                           const ics_step_list *steps, ics_device_table_source *out,
                           ics_device_table_emitter **emitters, icestream_error *error)
{
    const bool is_auto = config->table.source == ICS_TABULATE_AUTO;
    *emitters = NULL;
    *out = (ics_device_table_source){.is_step = true};
    if (config->table.source == ICS_TABULATE_FIXED) {
        out->is_step = false;
        out->time = config->table.time;
        memcpy(out->position, config->table.position, sizeof out->position);
        memcpy(out->direction, config->table.direction, sizeof out->direction);
        return ICESTREAM_OK;
    }
    if (!is_auto || !steps->generated) {
        return check_steps(steps, error);
    }
    if (!ics_config_has_particles(config)) {
        out->is_step = !ics_workload_source(config, out->position, out->direction);
        return ICESTREAM_OK;
    }
    emitter_list list = {0};
    const int status = read_emitters(config, models, &list, error);
    *emitters = list.items;
    out->emitters = list.items;
    out->emitter_count = list.count;
    return status;
}
