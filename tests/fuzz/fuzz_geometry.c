/* Fuzzes geometries. Input: '0' and a geo-f2k file, or '1' and CSV. Every accepted module must be
 * finite and in range. Good inputs are in corpus/geometry. */
#include "pipeline/photons/models/detector/module_grid.h"
#include "pipeline/photons/models/detector/module_list.h"
#include "tests/fuzz/fuzz_target.h"

#include <math.h>
#include <stdlib.h>

/* Puts modules with a minimum distance into a grid, and lets the grid find the two closest ones. */
static void check_distances(const ics_module_list *list)
{
    const double least = 0.3302;
    ice_module *modules = malloc(list->count * sizeof *modules);
    require(modules != NULL);
    for (size_t i = 0; i < list->count; ++i) {
        modules[i] = list->items[i].module;
    }
    ics_module_grid *grid = ics_module_grid_create(modules, list->count, least);
    require(grid != NULL);
    size_t kept = 0;
    ice_module *apart = malloc(list->count * sizeof *apart);
    require(apart != NULL);
    for (size_t i = 0; i < list->count; ++i) {
        double distance;
        if (ics_module_grid_nearest(grid, i, &distance) != SIZE_MAX) {
            require(distance < least);
            continue;
        }
        ics_module_grid_insert(grid, i);
        apart[kept++] = modules[i];
    }
    double closest;
    require(ics_module_grid_closest(apart, kept, &closest, NULL) == ICESTREAM_OK);
    require(kept < 2 ? isinf(closest) : isfinite(closest));
    require(closest >= least);
    ics_module_grid_destroy(grid);
    free(apart);
    free(modules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || (data[0] != '0' && data[0] != '1')) {
        return 0;
    }
    ics_text text = ics_text_borrow("fuzz", (const char *)data + 1, size - 1);
    ics_module_list list;
    icestream_error error = {0};
    int status = data[0] == '0' ? ics_module_list_geo(&text, &list, &error)
                                : ics_module_list_csv(&text, NULL, &list, &error);
    require((status == ICESTREAM_OK) == (error.status == ICESTREAM_OK));
    require(status == ICESTREAM_OK || list.count == 0);
    for (size_t i = 0; i < list.count; ++i) {
        const ice_module *m = &list.items[i].module;
        require(fabs(m->x) <= 1e4 && fabs(m->y) <= 1e4 && fabs(m->z) <= 1e4);
        require(m->efficiency > 0 && m->efficiency <= 100);
    }
    if (list.count > 0) {
        check_distances(&list);
    }
    ics_module_list_free(&list);
    return 0;
}
