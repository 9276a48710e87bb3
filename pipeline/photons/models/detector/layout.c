#include "pipeline/photons/models/detector/layout.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/detector/detx.h"
#include "pipeline/photons/models/detector/sensors.h"
#include "pipeline/photons/models/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char geo_name[] = "geo-f2k";

/* ---- which file ------------------------------------------------------------------------------ */

/* Rejects options of hex86 if the modules come from the folder of the ice. */
static int check_options(const icestream_config *config, const char *path, icestream_error *error)
{
    const struct {
        const char *key;
        bool given;
    } options[] = {{"detector.jitter", config->detector.jitter},
                   {"detector.dense", config->detector.dense}};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
        if (options[i].given) {
            status = ics_config_error(config, options[i].key, error,
                                      "is for layout: hex86, and the detector is %s; expected "
                                      "detector.layout: hex86, or no such key",
                                      path);
        }
    }
    return status;
}

int ics_detector_layout_path(const icestream_config *config, char **out, icestream_error *error)
{
    const char *layout = config->detector.layout;
    *out = NULL;
    if (config->detector.file != NULL) {
        *out = strdup(config->detector.file);
        return *out != NULL ? ICESTREAM_OK : ics_error_no_memory(error, "detector");
    }
    ICS_FREES char *path = NULL;
    if (strcmp(layout, "auto") == 0) {
        ICS_TRY(ics_model_file_find(config, layout, geo_name, &path, error));
    }
    if (path != NULL) {
        ICS_TRY(check_options(config, path, error));
    }
    *out = path;
    path = NULL;
    return ICESTREAM_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads DETX. The only type of the configuration, if there is one, gives the sphere and the windows
 * of the PMTs. */
static int read_detx(const ics_text *text, const icestream_config *config, ics_types *types,
                     ics_module_list *out, icestream_error *error)
{
    if (types == NULL) {
        return ics_detx_read(text, NULL, 0, NULL, out, error);
    }
    if (types->count == 0) {
        char name[] = "detx";
        const ice_module_type sphere = {.name = name,
                                        .radius = config->detector.radius,
                                        .oversize = config->detector.oversize,
                                        .beta = 1};
        return ics_detx_read(text, &sphere, 0, types, out, error);
    }
    if (types->count > 1 || types->items[0].shape != ICE_SHAPE_SPHERE) {
        return ics_config_error(config, "detector.types", error,
                                "found %zu types, expected one sphere, because %s gives the PMTs",
                                types->count, text->name);
    }
    /* The types of the file take the place of the given one. */
    ICS_CLEANUP(ics_type_free) ice_module_type given = types->items[0];
    types->count = 0;
    return ics_detx_read(text, &given, types->pmt_radius[0], types, out, error);
}

/* `tail`: in any case. */
static bool ends_with(const char *path, const char *tail)
{
    const size_t length = strlen(path), tail_length = strlen(tail);
    return length >= tail_length && strcasecmp(path + length - tail_length, tail) == 0;
}

double ics_detector_layout_height(const char *name)
{
    return ends_with(name, geo_name) ? -ICE_DETECTOR_DEPTH : 0;
}

int ics_detector_layout_read(const char *path, const icestream_config *config, ics_types *types,
                             ics_module_list *out, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    *out = (ics_module_list){0};
    if (ends_with(path, ".datx")) {
        ICS_CLEANUP(ics_text_free) ics_text file = {0};
        ICS_TRY(ics_text_read_bytes(path, &file, error));
        ICS_TRY(ics_datx_text(&file, &text, error));
        return read_detx(&text, config, types, out, error);
    }
    ICS_TRY(ics_text_read(path, &text, error));
    if (ends_with(path, geo_name)) {
        ICS_TRY(ics_module_list_geo(&text, out, error));
    } else if (ends_with(path, ".detx")) {
        ICS_TRY(read_detx(&text, config, types, out, error));
    } else if (ics_module_list_is_prometheus(&text)) {
        ICS_TRY(ics_module_list_prometheus(&text, out, error));
    } else {
        ICS_TRY(ics_module_list_csv(&text, types, out, error));
    }
    return out->count > 0
               ? ICESTREAM_OK
               : ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: found no modules in the deep ice, expected string > 0 "
                               "and module 1 .. 60, or string > 86",
                               path);
}

size_t ics_detector_layout_line(const ice_detector *detector, const ice_module *module)
{
    ICS_CLEANUP(ics_module_list_free) ics_module_list list = {0};
    icestream_error unused = {.status = ICESTREAM_OK};
    if (strcmp(detector->name, "hex86") == 0 ||
        ics_detector_layout_read(detector->name, NULL, NULL, &list, &unused) != ICESTREAM_OK) {
        return 0;
    }
    for (size_t i = 0; i < list.count; ++i) {
        if (ics_sensors_identity(&list.items[i].module) == ics_sensors_identity(module)) {
            return list.items[i].line;
        }
    }
    return 0;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static int compare_listed(const void *a, const void *b)
{
    const uint32_t left = ics_sensors_identity(&((const ics_listed_module *)a)->module);
    const uint32_t right = ics_sensors_identity(&((const ics_listed_module *)b)->module);
    return (left > right) - (left < right);
}

/* Both lists are sorted by string and module. */
static void compare_modules(const ice_detector *detector, const ics_module_list *list,
                            ics_layout_difference *out)
{
    size_t k = 0;
    for (size_t i = 0; i < detector->module_count; ++i) {
        const ics_listed_module wanted = {.module = detector->modules[i]};
        while (k < list->count && compare_listed(&list->items[k], &wanted) < 0) {
            ++k;
        }
        if (k == list->count || compare_listed(&list->items[k], &wanted) != 0) {
            continue;
        }
        const ice_module *here = &wanted.module, *there = &list->items[k].module;
        const double distance =
            hypot(hypot(here->x - there->x, here->y - there->y), here->z - there->z);
        ++out->shared;
        if (distance > ICS_LAYOUT_TOLERANCE && out->moved++ == 0) {
            out->string = here->string;
            out->module = here->module;
            out->distance = distance;
        }
    }
}

static bool is_same_file(const char *path, const char *other)
{
    struct stat first, second;
    return stat(path, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

int ics_detector_layout_compare(const ice_detector *detector, const char *path,
                                ics_layout_difference *out, icestream_error *error)
{
    const char *slash = strrchr(path, '/');
    const int folder = slash != NULL ? (int)(slash - path + 1) : 0;
    ICS_CLEANUP(ics_module_list_free) ics_module_list list = {0};
    ICS_FREES char *file = NULL;
    struct stat about;
    *out = (ics_layout_difference){0};
    if (asprintf(&file, "%.*s%s", folder, path, geo_name) < 0) {
        file = NULL;
        return ics_error_no_memory(error, "detector");
    }
    if (stat(file, &about) != 0 || is_same_file(file, detector->name) ||
        is_same_file(file, path)) { /* the reader of lists refuses the latter */
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_detector_layout_read(file, NULL, NULL, &list, error));
    qsort(list.items, list.count, sizeof *list.items, compare_listed);
    compare_modules(detector, &list, out);
    out->file = file;
    file = NULL;
    return ICESTREAM_OK;
}
