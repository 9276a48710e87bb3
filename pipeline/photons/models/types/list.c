#include "pipeline/photons/models/types/list.h"

#include "pipeline/photons/models/types/pmt_acceptance.h"
#include "pipeline/photons/models/types/pmt_areas.h"
#include "pipeline/photons/models/types/transit_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ics_type_free(ice_module_type *type)
{
    free(type->name);
    free(type->mesh.vertices);
    free(type->mesh.triangles);
    free(type->mesh.parts);
    free(type->pmts);
    ics_pmt_areas_free(&type->table);
    ics_pmt_acceptance_free(&type->acceptance);
    for (size_t k = 0; k < type->own_count; ++k) {
        ics_pmt_acceptance_free(&type->own_acceptances[k]);
    }
    free(type->own_acceptances);
    ics_transit_times_free(&type->transit);
    for (size_t k = 0; k < type->own_transit_count; ++k) {
        ics_transit_times_free(&type->own_transits[k]);
    }
    free(type->own_transits);
    *type = (ice_module_type){0};
}

void ics_types_free(ics_types *types)
{
    for (size_t i = 0; i < types->count; ++i) {
        ics_type_free(&types->items[i]);
    }
    types->count = 0;
}

size_t ics_types_find(const ics_types *types, const char *name, size_t length)
{
    for (size_t i = 0; i < types->count; ++i) {
        if (strlen(types->items[i].name) == length &&
            memcmp(types->items[i].name, name, length) == 0) {
            return i;
        }
    }
    return types->count;
}

const char *ics_types_names(const ics_types *types, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = 0;
    for (size_t i = 0; i < types->count && used < size; ++i) {
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "",
                                 types->items[i].name);
    }
    return buffer;
}
