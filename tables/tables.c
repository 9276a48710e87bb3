#include "base/error.h"
#include "physics/detect/arrival_time.h"
#include "physics/light/light_flasher.h"
#include "tables/internal.h"

#include <stdlib.h>

static int build(ics_table_builder *builder, const ice_medium *medium, const ice_detector *detector,
                 const ics_detector_part *part, const ice_light *light)
{
    ICS_TRY(ics_tables_build_ice(builder, medium));
    ICS_TRY(ics_tables_build_light(builder, light));
    if (part != NULL) {
        ics_tables_share_arrays(builder, part);
    } else {
        ICS_TRY(ics_tables_build_detector(builder, detector));
    }
    return ics_tables_build_features(builder, medium, detector);
}

int ics_tables_create_with(const ice_medium *medium, const ice_detector *detector,
                           const ics_detector_part *part, const ice_light *light,
                           const ics_table_options *options, ics_tables **out,
                           icestream_error *error)
{
    *out = NULL;
    ics_tables *result = calloc(1, sizeof *result);
    if (result == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for tables");
    }
    ics_table_builder builder = {.tables = &result->device, .error = error};
    ice_tables *tables = &result->device;
    if (part != NULL) {
        ics_tables_copy_part(tables, part);
    }
    tables->seed_low = ice_key_low(options->seed);
    tables->seed_high = ice_key_high(options->seed, 0);
    tables->bounce_limit = options->bounce_limit;
    tables->reach_cull = options->reach_cull;
    int status = build(&builder, medium, detector, part, light);
    if (status == ICESTREAM_OK) {
        status = ics_tables_pack(&builder, result);
    }
    ics_tables_free_arrays(&builder);
    if (status != ICESTREAM_OK) {
        free(result);
        return status;
    }
    *out = result;
    return ICESTREAM_OK;
}

int ics_tables_create(const ice_medium *medium, const ice_detector *detector,
                      const ice_light *light, const ics_table_options *options, ics_tables **out,
                      icestream_error *error)
{
    return ics_tables_create_with(medium, detector, NULL, light, options, out, error);
}

void ics_tables_destroy(ics_tables *tables)
{
    if (tables == NULL) {
        return;
    }
    free(tables->memory);
    free(tables);
}

ice_tables ics_tables_at(const ics_tables *tables, const void *base)
{
    ice_tables moved = tables->device;
    for (size_t i = 0; i < tables->pointer_count; ++i) {
        const char *pointer;
        memcpy(&pointer, (const char *)&moved + tables->pointers[i], sizeof pointer);
        pointer = (const char *)base + (pointer - (const char *)tables->memory);
        memcpy((char *)&moved + tables->pointers[i], &pointer, sizeof pointer);
    }
    return moved;
}

void ics_tables_visit(const ics_tables *tables,
                      void (*visit)(void *user, const void *bytes, size_t size), void *user)
{
    char device[sizeof tables->device];
    memcpy(device, &tables->device, sizeof device);
    for (size_t i = 0; i < tables->pointer_count; ++i) {
        memset(device + tables->pointers[i], 0, sizeof(void *));
    }
    visit(user, device, sizeof device);
    visit(user, tables->pointers, tables->pointer_count * sizeof *tables->pointers);
    visit(user, tables->memory, tables->bytes);
}

/* Returns the time (ns) from the time of the step to the start of a photon of its pulse. */
static double pulse_delay(const ice_tables *tables, const ice_emission *emission,
                          uint32_t photon_id)
{
    const ice_pulse_shape shape = ice_pulse_of_flags(emission->flags);
    const ice_pulse pulse = shape == ICE_PULSE_LED ? ice_led_pulse(emission->length)
                                                   : (ice_pulse){.plateau = emission->length};
    ice_stream stream = {.key_low = tables->seed_low,
                         .key_high = tables->seed_high ^ emission->event_high,
                         .item = photon_id,
                         .source = emission->step_id,
                         .event = emission->event_low,
                         .block = ICE_BLOCK_PULSE};
    return ice_pulse_time(&pulse, &stream);
}

double ics_tables_arrival_delay(const ice_tables *tables, const ice_emission *emission,
                                const ice_arrival *arrival)
{
    const double pulse =
        ice_emission_has_pulse(emission) ? pulse_delay(tables, emission, arrival->photon_id) : 0.0;
    return pulse + ice_arrival_travel_time(tables, emission, arrival);
}
