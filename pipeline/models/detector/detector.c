#include "pipeline/models/detector/detector.h"

#include "base/error.h"
#include "pipeline/models/detector/module_grid.h"
#include "pipeline/models/detector/module_list.h"
#include "pipeline/models/detector/sensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- order and labels ------------------------------------------------------------------------ */

static int compare_labels(const void *a, const void *b)
{
    const ics_listed_module *left = a, *right = b;
    uint32_t l = ics_sensors_label(&left->module), r = ics_sensors_label(&right->module);
    if (l != r) {
        return l < r ? -1 : 1;
    }
    return left->line < right->line ? -1 : left->line > right->line;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Names the place of a module for messages: "file:line". A module of the built-in layout has no
 * line. Then it is the place of detector.radius, because only a larger radius causes a fault. */
static const char *place_of(const icestream_config *config, size_t line, char *place, size_t size)
{
    if (line == 0) {
        return ics_config_place(config, "detector.radius", place, size);
    }
    snprintf(place, size, "%s:%zu", config->detector.file, line);
    return place;
}

static int check_duplicates(const icestream_config *config, const ics_module_list *list,
                            icestream_error *error)
{
    int status = ICESTREAM_OK;
    size_t first = 0;
    char place[512];
    for (size_t i = 1; i < list->count; ++i) {
        const ice_module *module = &list->items[i].module;
        if (ics_sensors_label(module) != ics_sensors_label(&list->items[first].module)) {
            first = i;
            continue;
        }
        status = ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: found string %u, module %u again (first on line %zu), "
                               "expected every module once",
                               place_of(config, list->items[i].line, place, sizeof place),
                               module->string, module->module, list->items[first].line);
    }
    return status;
}

static int check_overlaps(const icestream_config *config, const ics_module_list *list,
                          const ice_module *modules, icestream_error *error)
{
    double least = 2 * config->detector.radius;
    ics_module_grid *grid = ics_module_grid_create(modules, list->count, least);
    if (grid == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "detector: error: out of memory");
    }
    int status = ICESTREAM_OK;
    char place[512], line[48];
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
        ics_error_add(error, ICESTREAM_E_CONFIG,
                      "%s: error: string %u, module %u: found %.6g m from string %u, module %u%s, "
                      "expected at least %.6g m, twice detector.radius",
                      place_of(config, list->items[i].line, place, sizeof place), modules[i].string,
                      modules[i].module, distance, modules[other].string, modules[other].module,
                      line, least);
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
        ics_module_label label = config->detector.excluded[i];
        ice_module *module = ics_sensors_find_module(detector, label);
        char place[512];
        if (module != NULL) {
            module->absorbs = true;
        } else {
            status =
                ics_error_add(error, ICESTREAM_E_CONFIG,
                              "%s: error: detector.excluded: found [%u, %u], expected a module "
                              "of %s",
                              ics_config_place(config, "detector.excluded", place, sizeof place),
                              label.string, label.module, detector->name);
        }
    }
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool ends_with_geo_f2k(const char *path)
{
    static const char ending[] = "geo-f2k";
    size_t length = strlen(path), tail = sizeof ending - 1;
    return length >= tail && strcmp(path + length - tail, ending) == 0;
}

static int read_list(const icestream_config *config, ics_module_list *list, icestream_error *error)
{
    *list = (ics_module_list){0};
    const char *path = config->detector.file;
    char place[512];
    if (path == NULL) {
        const char *layout = config->detector.layout;
        if (strcmp(layout, "hex86") != 0) {
            ics_error_add(error, ICESTREAM_E_CONFIG,
                          "%s: error: detector.layout: found '%s', expected hex86",
                          ics_config_place(config, "detector.layout", place, sizeof place), layout);
            return ICESTREAM_E_CONFIG;
        }
        if (ics_module_list_hex86(config->detector.jitter, config->detector.dense, list) !=
            ICESTREAM_OK) {
            ics_error_add(error, ICESTREAM_E_MEMORY, "detector: error: out of memory");
            return ICESTREAM_E_MEMORY;
        }
        return ICESTREAM_OK;
    }
    ics_text text;
    int status = ics_text_read(path, &text, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    status = ends_with_geo_f2k(path) ? ics_module_list_geo(&text, list, error)
                                     : ics_module_list_csv(&text, list, error);
    ics_text_free(&text);
    if (status == ICESTREAM_OK && list->count == 0) {
        ics_error_add(error, ICESTREAM_E_CONFIG,
                      "%s: error: found no modules in the deep ice, expected string > 0 and module "
                      "1 .. 60",
                      path);
        return ICESTREAM_E_CONFIG;
    }
    return status;
}

/* Makes a detector from a list with at least one module. NULL: out of memory. */
static ice_detector *allocate(const char *name, const ics_module_list *list)
{
    ice_detector *detector = calloc(1, sizeof *detector);
    if (detector == NULL) {
        return NULL;
    }
    detector->name = strdup(name);
    detector->modules = calloc(list->count, sizeof *detector->modules);
    if (detector->name == NULL || detector->modules == NULL) {
        ics_detector_destroy(detector);
        return NULL;
    }
    detector->module_count = list->count;
    for (size_t i = 0; i < list->count; ++i) {
        detector->modules[i] = list->items[i].module;
    }
    return detector;
}

/* Checks the modules and fills in what they detect. All errors are reported together. */
static int complete(const icestream_config *config, const ics_module_list *list,
                    ice_detector *detector, ics_warnings *warnings, icestream_error *error)
{
    /* A module that is listed twice overlaps itself: one of the two messages is enough. */
    int status = check_duplicates(config, list, error);
    if (status == ICESTREAM_OK) {
        status = check_overlaps(config, list, detector->modules, error);
    }
    int result = mark_excluded(config, detector, error);
    status = status ? status : result;
    /* The files of the sensors refer to modules by string and module number, which must be unique.
     */
    if (status == ICESTREAM_OK) {
        status = ics_sensors_create(config, detector, warnings, error);
    }
    return status;
}

static int warn_if_nothing_records(const icestream_config *config, const ice_detector *detector,
                                   ics_warnings *warnings, icestream_error *error)
{
    if (config->detector.excluded_count < detector->module_count) {
        return ICESTREAM_OK;
    }
    for (size_t i = 0; i < detector->module_count; ++i) {
        if (!detector->modules[i].absorbs) {
            return ICESTREAM_OK;
        }
    }
    if (ics_warnings_add(warnings,
                         "detector.excluded: all %zu modules are excluded, "
                         "nothing can be recorded",
                         detector->module_count) != ICESTREAM_OK) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "detector: error: out of memory");
    }
    return ICESTREAM_OK;
}

int ics_detector_create(const icestream_config *config, ice_detector **out, ics_warnings *warnings,
                        icestream_error *error)
{
    ics_module_list list;
    *out = NULL;
    int status = read_list(config, &list, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    if (list.count > 1) {
        qsort(list.items, list.count, sizeof *list.items, compare_labels);
    }
    ice_detector *detector = allocate(
        config->detector.file != NULL ? config->detector.file : config->detector.layout, &list);
    if (detector == NULL) {
        ics_module_list_free(&list);
        return ics_error_add(error, ICESTREAM_E_MEMORY, "detector: error: out of memory");
    }
    detector->radius = config->detector.radius;
    detector->oversize = config->detector.oversize;
    detector->keep_hit_photons = config->detector.keep_hit_photons;
    status = complete(config, &list, detector, warnings, error);
    ics_module_list_free(&list);
    if (status == ICESTREAM_OK) {
        status = warn_if_nothing_records(config, detector, warnings, error);
    }
    if (status != ICESTREAM_OK) {
        ics_detector_destroy(detector);
        return status;
    }
    *out = detector;
    return ICESTREAM_OK;
}

void ics_detector_destroy(ice_detector *detector)
{
    if (detector == NULL) {
        return;
    }
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

double ics_detector_efficiency(const ice_detector *detector)
{
    double by_acceptance[ICE_ACCEPTANCES], largest = 0;
    ics_detector_efficiencies(detector, by_acceptance);
    for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
        largest = by_acceptance[k] > largest ? by_acceptance[k] : largest;
    }
    return largest > 0 ? largest : 1;
}
