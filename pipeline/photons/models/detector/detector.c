#include "pipeline/photons/models/detector/detector.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/memory.h"
#include "pipeline/photons/models/detector/layout.h"
#include "pipeline/photons/models/detector/module_grid.h"
#include "pipeline/photons/models/detector/module_list.h"
#include "pipeline/photons/models/detector/parts.h"
#include "pipeline/photons/models/detector/sensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- order and identities -------------------------------------------------------------------- */

static int compare_identities(const void *a, const void *b)
{
    const ics_listed_module *left = a, *right = b;
    uint32_t l = ics_sensors_identity(&left->module), r = ics_sensors_identity(&right->module);
    if (l != r) {
        return l < r ? -1 : 1;
    }
    return left->line < right->line ? -1 : left->line > right->line;
}

/* Sorts the modules by their identities. Most files are in this order already. */
static void sort_identities(ics_module_list *list)
{
    bool sorted = true;
    for (size_t i = 1; i < list->count && sorted; ++i) {
        sorted = compare_identities(&list->items[i - 1], &list->items[i]) <= 0;
    }
    if (!sorted) {
        qsort(list->items, list->count, sizeof *list->items, compare_identities);
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Names the place of a module for messages: "file:line". A module of the built-in layout has no
 * line. Then it is the place of detector.radius, because only a larger radius causes a fault. */
static const char *place_of(const icestream_config *config, const char *name, size_t line,
                            char *place, size_t size)
{
    if (line == 0) {
        return ics_config_place(config, "detector.radius", place, size);
    }
    snprintf(place, size, "%s:%zu", name, line);
    return place;
}

static int check_duplicates(const icestream_config *config, const ics_module_list *list,
                            const char *name, icestream_error *error)
{
    int status = ICESTREAM_OK;
    size_t first = 0, faults = 0;
    char place[512];
    for (size_t i = 1; i < list->count; ++i) {
        const ice_module *module = &list->items[i].module;
        if (ics_sensors_identity(module) != ics_sensors_identity(&list->items[first].module)) {
            first = i;
            continue;
        }
        status = ics_error_add_counted(
            error, &faults, ICESTREAM_E_CONFIG, name,
            "%s: error: found string %u, module %u again (first on line %zu), "
            "expected every module once",
            place_of(config, name, list->items[i].line, place, sizeof place), module->string,
            module->module, list->items[first].line);
    }
    return status;
}

/* Finds out how close the modules are to each other. Only a list with a fault needs the grid, which
 * finds the modules that the messages name. */
static int check_overlaps(const icestream_config *config, const ics_module_list *list,
                          ice_detector *detector, icestream_error *error)
{
    const double least = 2 * detector->radius;
    const ice_module *modules = detector->modules;
    ICS_TRY(ics_module_grid_closest(modules, list->count, &detector->closest, error));
    if (detector->closest >= least) {
        return ICESTREAM_OK;
    }
    ics_module_grid *grid = ics_module_grid_create(modules, list->count, least);
    if (grid == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    int status = ICESTREAM_OK;
    char place[512], line[48];
    size_t faults = 0;
    for (size_t i = 0; i < list->count; ++i) {
        double distance;
        size_t other = ics_module_grid_nearest(grid, i, &distance);
        if (other == SIZE_MAX) {
            /* Only modules without a fault enter the grid, so that a cell never fills up. */
            ics_module_grid_insert(grid, i);
            continue;
        }
        line[0] = 0;
        if (list->items[other].line > 0) {
            snprintf(line, sizeof line, " (line %zu)", list->items[other].line);
        }
        ics_error_add_counted(
            error, &faults, ICESTREAM_E_CONFIG, detector->name,
            "%s: error: string %u, module %u: found %.6g m from string %u, module %u%s, "
            "expected at least %.6g m, twice %s",
            place_of(config, detector->name, list->items[i].line, place, sizeof place),
            modules[i].string, modules[i].module, distance, modules[other].string,
            modules[other].module, line, least,
            detector->type_count > 0 ? "the reach of the largest type" : "detector.radius");
        status = ICESTREAM_E_CONFIG;
    }
    ics_module_grid_destroy(grid);
    return status;
}

static int mark_excluded(const icestream_config *config, ice_detector *detector,
                         icestream_error *error)
{
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < config->detector.excluded_count; ++i) {
        ics_module_identity identity = config->detector.excluded[i];
        ice_module *module = ics_sensors_find_module(detector, identity);
        if (module != NULL) {
            module->absorbs = true;
        } else {
            status = ics_config_error(config, "detector.excluded", error,
                                      "found [%u, %u], expected a module of %s", identity.string,
                                      identity.module, detector->name);
        }
    }
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads the modules from a file; `path` NULL: makes those of hex86. */
static int read_list(const icestream_config *config, const char *path, ics_types *types,
                     ics_module_list *list, icestream_error *error)
{
    *list = (ics_module_list){0};
    if (path != NULL) {
        return ics_detector_layout_read(path, config, types, list, error);
    }
    return ics_module_list_hex86(config->detector.jitter, config->detector.dense, list, error);
}

static void destroy_at(ice_detector **detector)
{
    ics_detector_destroy(*detector);
}

/* Makes a detector from a list with at least one module. */
static int allocate(const icestream_config *config, const char *name, const ics_module_list *list,
                    ice_detector **out, icestream_error *error)
{
    ICS_CLEANUP(destroy_at) ice_detector *detector = calloc(1, sizeof *detector);
    if (detector == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    const bool is_entry = config->detector.crossing == ICS_CROSSING_ENTRY;
    const bool is_auto = config->detector.keep_hit_photons == ICS_KEEP_HIT_AUTO;
    const bool is_wide = config->detector.oversize > 1;
    *detector = (ice_detector){
        .name = strdup(name),
        .modules = ics_memory_zeros(list->count, sizeof *detector->modules),
        .module_count = list->count,
        .surroundings = list->surroundings,
        .stated_radius = list->radius,
        .radius = config->detector.radius,
        .oversize = config->detector.oversize,
        .crossing = is_entry ? ICE_CROSSING_ENTRY : ICE_CROSSING_DISC,
        .keep_hit_photons =
            is_auto ? is_wide && !is_entry : config->detector.keep_hit_photons == ICS_KEEP_HIT_YES,
        .ends_at_true_size = is_auto && is_wide,
    };
    if (detector->name == NULL || detector->modules == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    for (size_t i = 0; i < list->count; ++i) {
        detector->modules[i] = list->items[i].module;
    }
    *out = detector;
    detector = NULL;
    return ICESTREAM_OK;
}

/* Checks the modules and fills in what they detect. All errors are reported together. */
static int complete(const icestream_config *config, ics_types *types, const ics_module_list *list,
                    ice_detector *detector, ics_warnings *warnings, icestream_error *error)
{
    ICS_TRY(ics_module_types_apply(config, types, list, detector, error));
    /* A module that is listed twice overlaps itself: one of the two messages is enough. */
    int status = check_duplicates(config, list, detector->name, error);
    if (status == ICESTREAM_OK) {
        status = check_overlaps(config, list, detector, error);
    }
    status = ics_error_first(status, mark_excluded(config, detector, error));
    /* The files of the sensors refer to modules by string and module number, which must be unique.
     */
    ICS_TRY(status);
    ICS_TRY(ics_sensors_create(config, detector, warnings, error));
    ICS_TRY(ics_om_acceptances_read(config, detector, warnings, error));
    ICS_TRY(ics_detector_acceptance_create(config, detector, warnings, error));
    ICS_TRY(ics_sensors_angular_create(config, detector, warnings, error));
    return ics_string_cables_create(config, detector, error);
}

/* Warns of what is odd in the file of the modules. */
static void warn_of_oddities(const ics_module_list *list, const char *name, ics_warnings *warnings)
{
    const struct {
        const ics_listed_oddity *oddity;
        const char *what, *meaning;
    } all[] = {
        {&list->deep, "module%s with numbers above 60 deep in the ice",
         "left out: in geo-f2k modules 61 to 64 of strings up to 86 are those of the surface; for "
         "all modules, write them as CSV (detector.file)"},
        {&list->low, "module%s of string 0 or with number 0",
         "left out, as in ppc: in geo-f2k strings and modules count from 1; for all modules, "
         "number them from 1, or write them as CSV (detector.file)"},
        {&list->plain, "module%s with an empty field for the efficiency", "taken as efficiency 1"},
        {&list->parts, "module%s with a row for each PMT",
         "one module in the middle of its PMTs; detector.types says where PMTs are"},
        {&list->status, "PMT%s with a status that is not 0 (1: disabled)",
         "taken as good: the status has no effect here"},
        {&list->skipped, "line%s before the header of the file, as a broken comment leaves them",
         "skipped"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        const ics_listed_oddity *oddity = all[i].oddity;
        char what[128];
        snprintf(what, sizeof what, all[i].what, oddity->count == 1 ? "" : "s");
        if (oddity->count > 0) {
            ics_warnings_add(warnings, "%s:%zu: found %zu %s, which %s %s", name, oddity->line,
                             oddity->count, what, oddity->count == 1 ? "is" : "are",
                             all[i].meaning);
        }
    }
}

static void warn_if_nothing_records(const icestream_config *config, const ice_detector *detector,
                                    ics_warnings *warnings)
{
    bool has_off = false;
    char place[512] = "";
    for (size_t i = 0; i < detector->module_count; ++i) {
        if (!detector->modules[i].absorbs && !detector->modules[i].is_off) {
            return;
        }
        has_off |= detector->modules[i].is_off;
    }
    if (has_off) {
        const bool is_auto = strcmp(config->detector.voltages, "auto") == 0;
        ics_config_place(config, is_auto ? "ice.directory" : "detector.voltages", place,
                         sizeof place);
    }
    ics_warnings_add(
        warnings, "%s%sdetector.%s: all %zu modules are %s, nothing can be recorded", place,
        has_off ? ": " : "", has_off ? "voltages" : "excluded", detector->module_count,
        has_off ? "off (a voltage of 0, or no row in the file) or excluded" : "excluded");
}

int ics_detector_create(const icestream_config *config, ice_detector **out, ics_warnings *warnings,
                        icestream_error *error)
{
    ICS_CLEANUP(destroy_at) ice_detector *detector = NULL;
    ICS_CLEANUP(ics_module_list_free) ics_module_list list = {0};
    ICS_CLEANUP(ics_types_free) ics_types types = {0};
    ICS_FREES char *path = NULL;
    *out = NULL;
    ICS_TRY(ics_detector_layout_path(config, &path, error));
    ICS_TRY(ics_types_read(config, &types, warnings, error));
    ICS_TRY(read_list(config, path, &types, &list, error));
    sort_identities(&list);
    ICS_TRY(allocate(config, path != NULL ? path : "hex86", &list, &detector, error));
    ICS_TRY(complete(config, &types, &list, detector, warnings, error));
    warn_of_oddities(&list, detector->name, warnings);
    warn_if_nothing_records(config, detector, warnings);
    ICS_TRY(ics_warnings_status(warnings, error));
    *out = detector;
    detector = NULL;
    return ICESTREAM_OK;
}

void ics_detector_destroy(ice_detector *detector)
{
    if (detector == NULL) {
        return;
    }
    for (size_t i = 0; i < detector->type_count; ++i) {
        ics_type_free(&detector->types[i]);
    }
    free(detector->types);
    free(detector->acceptance_wavelengths);
    free(detector->acceptance);
    free(detector->orientations);
    free(detector->cables);
    free(detector->name);
    free(detector->modules);
    free(detector);
}

void ics_detector_efficiencies(const ice_detector *detector, double largest[ICE_ACCEPTANCES])
{
    for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
        largest[k] = 0;
    }
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        if (!module->absorbs && !module->is_off &&
            module->efficiency > largest[module->acceptance]) {
            largest[module->acceptance] = module->efficiency;
        }
    }
}
