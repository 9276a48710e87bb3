#include "pipeline/models/detector/detector_layout.h"

#include "base/error.h"
#include "pipeline/models/detector/detx.h"

#include <errno.h>
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
    char place[512];
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
        if (options[i].given) {
            status = ics_error_add(
                error, ICESTREAM_E_CONFIG,
                "%s: error: %s: is for layout: hex86, and the detector is %s; expected "
                "detector.layout: hex86, or no such key",
                ics_config_place(config, options[i].key, place, sizeof place), options[i].key,
                path);
        }
    }
    return status;
}

int ics_detector_layout_path(const icestream_config *config, char **out, icestream_error *error)
{
    const char *layout = config->detector.layout;
    struct stat about;
    char *path = NULL;
    *out = NULL;
    if (config->detector.file != NULL) {
        path = strdup(config->detector.file);
    } else if (strcmp(layout, "auto") != 0 || config->ice.directory == NULL) {
        return ICESTREAM_OK;
    } else if (asprintf(&path, "%s/%s", config->ice.directory, geo_name) < 0) {
        path = NULL;
    }
    if (path == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "detector: error: out of memory");
    }
    if (config->detector.file == NULL) {
        if (stat(path, &about) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
            free(path);
            return ICESTREAM_OK;
        }
        const int status = check_options(config, path, error);
        if (status != ICESTREAM_OK) {
            free(path);
            return status;
        }
    }
    *out = path;
    return ICESTREAM_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads DETX. The only type of the configuration, if there is one, gives the sphere and the windows
 * of the PMTs. */
static int read_detx(const ics_text *text, const icestream_config *config, ics_types *types,
                     ics_module_list *out, icestream_error *error)
{
    if (types == NULL) {
        return ics_detx_read(text, NULL, NULL, out, error);
    }
    ics_detx_shape shape = {.name = "detx",
                            .radius = config->detector.radius,
                            .oversize = config->detector.oversize,
                            .beta = 1};
    ice_module_type given = {0};
    if (types->count > 0) {
        const ice_module_type *type = &types->items[0];
        char place[512];
        if (types->count > 1 || type->shape != ICE_SHAPE_SPHERE) {
            return ics_error_add(error, ICESTREAM_E_CONFIG,
                                 "%s: error: detector.types: found %zu types, expected one sphere, "
                                 "because %s gives the PMTs",
                                 ics_config_place(config, "detector.types", place, sizeof place),
                                 types->count, text->name);
        }
        shape = (ics_detx_shape){.name = type->name,
                                 .radius = type->radius,
                                 .oversize = type->oversize,
                                 .pmt_radius = types->pmt_radius[0],
                                 .beta = type->beta,
                                 .given = &given};
        given = *type; /* which the list of types no longer owns */
        types->items[0] = (ice_module_type){0};
        ics_types_free(types);
    }
    const int status = ics_detx_read(text, &shape, types, out, error);
    ics_type_free(&given);
    return status;
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
    ics_text text;
    *out = (ics_module_list){0};
    int status = ics_text_read(path, &text, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    status = ends_with(path, geo_name)              ? ics_module_list_geo(&text, out, error)
             : ends_with(path, ".detx")             ? read_detx(&text, config, types, out, error)
             : ics_module_list_is_prometheus(&text) ? ics_module_list_prometheus(&text, out, error)
                                                    : ics_module_list_csv(&text, types, out, error);
    ics_text_free(&text);
    if (status == ICESTREAM_OK && out->count == 0) {
        ics_error_add(error, ICESTREAM_E_CONFIG,
                      "%s: error: found no modules in the deep ice, expected string > 0 and module "
                      "1 .. 60, or string > 86",
                      path);
        return ICESTREAM_E_CONFIG;
    }
    return status;
}

size_t ics_detector_layout_line(const ice_detector *detector, const ice_module *module)
{
    ics_module_list list;
    icestream_error unused = {.status = ICESTREAM_OK};
    size_t line = 0;
    if (strcmp(detector->name, "hex86") == 0 ||
        ics_detector_layout_read(detector->name, NULL, NULL, &list, &unused) != ICESTREAM_OK) {
        return 0;
    }
    for (size_t i = 0; i < list.count && line == 0; ++i) {
        const ice_module *other = &list.items[i].module;
        if (other->string == module->string && other->module == module->module) {
            line = list.items[i].line;
        }
    }
    ics_module_list_free(&list);
    return line;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static int compare_listed(const void *a, const void *b)
{
    const ice_module *left = &((const ics_listed_module *)a)->module;
    const ice_module *right = &((const ics_listed_module *)b)->module;
    if (left->string != right->string) {
        return left->string < right->string ? -1 : 1;
    }
    return (left->module > right->module) - (left->module < right->module);
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
    ics_module_list list;
    struct stat about;
    *out = (ics_layout_difference){0};
    if (asprintf(&out->file, "%.*s%s", folder, path, geo_name) < 0) {
        out->file = NULL;
        return ics_error_add(error, ICESTREAM_E_MEMORY, "detector: error: out of memory");
    }
    if (stat(out->file, &about) != 0 || is_same_file(out->file, detector->name) ||
        is_same_file(out->file, path)) { /* the reader of lists refuses the latter */
        free(out->file);
        out->file = NULL;
        return ICESTREAM_OK;
    }
    const int status = ics_detector_layout_read(out->file, NULL, NULL, &list, error);
    if (status != ICESTREAM_OK) {
        free(out->file);
        out->file = NULL;
        return status;
    }
    qsort(list.items, list.count, sizeof *list.items, compare_listed);
    compare_modules(detector, &list, out);
    ics_module_list_free(&list);
    return ICESTREAM_OK;
}
