#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/detector/parts.h"
#include "pipeline/photons/models/types/direction.h"
#include "pipeline/photons/models/types/types.h"

#include <stdlib.h>
#include <string.h>

static bool is_given(const ice_orientation *turn)
{
    return turn->w != 0 || turn->x != 0 || turn->y != 0 || turn->z != 0;
}

static bool are_equal(const ice_orientation *a, const ice_orientation *b)
{
    return a->w == b->w && a->x == b->x && a->y == b->y && a->z == b->z;
}

/* ---- types ----------------------------------------------------------------------------------- */

static int read_map(const icestream_config *config, const ics_types *types, ice_detector *detector,
                    bool *found, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_TRY(ics_types_om_file(config, config->detector.om_map, "om.map", &text, error));
    *found = text.name != NULL;
    return *found ? ics_types_read_om_map(&text, types, detector, error) : ICESTREAM_OK;
}

/* Checks that every module has a type. */
static int check_types(const ics_types *types, const ics_module_list *list,
                       const ice_detector *detector, icestream_error *error)
{
    char names[256];
    size_t faults = 0;
    int status = ICESTREAM_OK;
    for (size_t i = 0; types->count > 1 && i < list->count; ++i) {
        if (!list->items[i].has_type) {
            status = ics_error_add_counted(
                error, &faults, ICESTREAM_E_CONFIG, detector->name,
                "%s: error: string %u, module %u: found no type, expected one of %s in the column "
                "type",
                detector->name, detector->modules[i].string, detector->modules[i].module,
                ics_types_names(types, names, sizeof names));
        }
    }
    return status;
}

/* ---- orientations ---------------------------------------------------------------------------- */

/* Makes the list of orientations. Neighbours that hang alike share an entry. */
static int set_orientations(const ics_types *types, const ics_module_list *list,
                            ice_detector *detector, icestream_error *error)
{
    ice_orientation *turns = malloc((list->count + 1) * sizeof *turns);
    if (turns == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    size_t count = 1;
    turns[0] = ics_upright;
    for (size_t i = 0; i < list->count; ++i) {
        ice_module *module = &detector->modules[i];
        const ice_orientation *turn =
            is_given(&list->items[i].turn) ? &list->items[i].turn : &types->turns[module->type];
        if (are_equal(turn, &ics_upright)) {
            module->orientation = 0;
            continue;
        }
        if (count == 1 || !are_equal(turn, &turns[count - 1])) {
            turns[count++] = *turn;
        }
        module->orientation = (uint32_t)(count - 1);
    }
    if (count == 1) {
        free(turns); /* all are upright */
        return ICESTREAM_OK;
    }
    detector->orientations = turns;
    detector->orientation_count = count;
    return ICESTREAM_OK;
}

/* ---- all together ---------------------------------------------------------------------------- */

/* Without types an orientation would have no effect. */
static int check_no_turns(const ics_module_list *list, const ice_detector *detector,
                          icestream_error *error)
{
    for (size_t i = 0; i < list->count; ++i) {
        if (is_given(&list->items[i].turn)) {
            return ics_error_add(error, ICESTREAM_E_CONFIG,
                                 "%s:%zu: error: found an orientation, and there are no types of "
                                 "modules; expected detector.types, or no columns of orientations",
                                 detector->name, list->items[i].line);
        }
    }
    return ICESTREAM_OK;
}

int ics_module_types_apply(const icestream_config *config, ics_types *types,
                           const ics_module_list *list, ice_detector *detector,
                           icestream_error *error)
{
    bool has_map = false;
    if (types->count == 0) {
        return check_no_turns(list, detector, error);
    }
    ICS_TRY(read_map(config, types, detector, &has_map, error));
    if (!has_map) {
        ICS_TRY(check_types(types, list, detector, error));
    }
    ICS_TRY(set_orientations(types, list, detector, error));
    detector->types = malloc(types->count * sizeof *detector->types);
    if (detector->types == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    memcpy(detector->types, types->items, types->count * sizeof *detector->types);
    detector->type_count = types->count;
    detector->radius = 0;
    for (size_t i = 0; i < types->count; ++i) {
        detector->radius = fmax(detector->radius, detector->types[i].reach);
    }
    types->count = 0;
    return ICESTREAM_OK;
}
