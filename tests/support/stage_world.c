#include "tests/support/stage_world.h"

#include "pipeline/photons/models/detector/detector.h"
#include "pipeline/photons/models/ice/ice.h"
#include "pipeline/photons/models/light/light.h"

#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SETS_MAX = 32 };

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    ck_assert_ptr_nonnull(memory);
    return memory;
}

static char *copy_name(const char *name)
{
    char *copy = strdup(name);
    ck_assert_ptr_nonnull(copy);
    return copy;
}

/* ---- parts ---------------------------------------------------------------------------------- */

static ice_medium *medium_of(double bottom, double thickness, size_t count, double g, double f)
{
    ice_medium *medium = allocate(1, sizeof *medium);
    medium->name = copy_name("test ice");
    medium->layers = allocate(count, sizeof *medium->layers);
    medium->layer_count = count;
    medium->bottom = bottom;
    medium->thickness = thickness;
    medium->alpha = 0.8986;
    medium->kappa = 1.0841;
    medium->absorption_a = 0.0;
    medium->absorption_b = 6617.75;
    medium->mean_cosine = g;
    medium->liu_fraction = f;
    medium->absorb_above = INFINITY;
    medium->absorb_below = -INFINITY;
    return medium;
}

ice_medium *world_medium_uniform(double lambda_s, double g, double liu_fraction, double lambda_a)
{
    ice_medium *medium = medium_of(-1000.0, 2000.0, 1, g, liu_fraction);
    medium->layers[0].effective_scattering = (1.0 - g) / lambda_s;
    medium->layers[0].dust_absorption = 1.0 / lambda_a;
    return medium;
}

ice_medium *world_medium_layered(double bottom, double thickness, size_t count, const double *b,
                                 const double *a)
{
    const double g = 0.9;
    ice_medium *medium = medium_of(bottom, thickness, count, g, 0.35);
    for (size_t i = 0; i < count; ++i) {
        medium->layers[i].effective_scattering = b[i] * (1.0 - g);
        medium->layers[i].dust_absorption = a[i];
    }
    return medium;
}

static void add_tilt(ice_tilt *tilt, bool map)
{
    tilt->kind = map ? ICE_TILT_MAP : ICE_TILT_LINE;
    tilt->first_depth = 1100.0;
    tilt->depth_step = 50.0;
    tilt->depth_count = 40;
    tilt->azimuth = 3.9;
    tilt->origin = 3.0;
    tilt->station_count = 5;
    tilt->stations = allocate(tilt->station_count, sizeof *tilt->stations);
    for (size_t k = 0; k < tilt->station_count; ++k) {
        tilt->stations[k] = -500.0 + 200.0 * (double)k + 20.0 * (double)(k * k);
    }
    tilt->axes[0] = (ice_tilt_axis){9.3 * M_PI / 180.0, -609.975, 125.154, 11, 6};
    tilt->axes[1] = (ice_tilt_axis){129.3 * M_PI / 180.0, -549.188, 125.402, 10, 5};
    const size_t nodes = map ? tilt->axes[0].count * tilt->axes[1].count : tilt->station_count;
    tilt->shifts = allocate(tilt->depth_count * nodes, sizeof *tilt->shifts);
    for (size_t i = 0; i < tilt->depth_count * nodes; ++i) {
        tilt->shifts[i] = 20.0 * sin(0.05 * (double)(i / nodes) + 0.2 * (double)(i % nodes)) +
                          20.0 * sin(0.7 * (double)(i % nodes));
    }
}

void world_medium_add(ice_medium *medium, uint32_t features)
{
    medium->flow_azimuth = 130.0 * M_PI / 180.0;
    if (features & ICE_HAS_TILT) {
        add_tilt(&medium->tilt, (features & ICE_HAS_TILT_MAP) != 0);
    }
    for (size_t i = 0; i < medium->layer_count; ++i) {
        ice_layer *layer = &medium->layers[i];
        if (features & (ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY)) {
            layer->anisotropy_along = i % 5 == 4 ? 0.0 : log(0.85);
            layer->anisotropy_across = i % 5 == 4 ? 0.0 : log(1.1);
        }
        if (features & ICE_HAS_BIREFRINGENCE) {
            layer->birefringence = 0.5 * (double)(i % 5);
            layer->birefringence_mean = 0.5 * (double)(i % 4);
        }
    }
    if (features & ICE_HAS_OLD_ABSORPTION_ANISOTROPY) {
        medium->absorption_exponent = 0.8;
    }
    if (features & ICE_HAS_ABSORPTION_ANISOTROPY) {
        static const double scaled[3] = {1.6954500, 0.6893185, 0.6893185}; /* physics.md 6.3 */
        for (int i = 0; i < 3; ++i) {
            medium->absorption_anisotropy[i] = log(scaled[i]);
        }
    }
    if (features & ICE_HAS_BIREFRINGENCE) { /* set v2 of physics.md 6.4 */
        medium->birefringence = (ice_birefringence){{0.076795, 544284.545166, 2.229494, 0.002624},
                                                    {0.077381, 1547618.883526, 2.449589, 0.002505},
                                                    {0.000995, 0.248264, 2.354436, 1.680717}};
    }
    if (features & ICE_HAS_HOLES) {
        medium->hole = (ice_hole){.radius = 0.6,
                                  .effective_scattering = 1.0,
                                  .absorption = 20.0,
                                  .mean_cosine = 0.8,
                                  .liu_fraction = 0.5};
    }
}

ice_detector *world_detector(const double (*positions)[3], size_t count, double oversize)
{
    ice_detector *detector = allocate(1, sizeof *detector);
    detector->name = copy_name("test detector");
    detector->modules = allocate(count, sizeof *detector->modules);
    detector->module_count = count;
    detector->radius = ICE_MODULE_RADIUS;
    detector->oversize = oversize;
    for (size_t i = 0; i < count; ++i) {
        detector->modules[i] = (ice_module){.x = positions[i][0],
                                            .y = positions[i][1],
                                            .z = positions[i][2],
                                            .string = (uint16_t)(i + 1),
                                            .module = 1,
                                            .efficiency = 1.0};
    }
    return detector;
}

ice_detector *world_detector_leaning(size_t rows, double oversize)
{
    enum { MODULES = 5 };
    static double at[WORLD_LEANING_ROWS * WORLD_LEANING_ROWS * MODULES][3];
    ck_assert_uint_le(rows, WORLD_LEANING_ROWS);
    const size_t count = rows * rows * MODULES;
    for (size_t i = 0; i < count; ++i) {
        const size_t string = i / MODULES, module = i % MODULES;
        at[i][0] = 40.0 * (double)(string % rows) + (string % 2 ? 0.9 : 0.0) * (double)module;
        at[i][1] = 40.0 * (double)(string / rows);
        at[i][2] = 20.0 * (double)module;
    }
    ice_detector *detector = world_detector((const double(*)[3])at, count, oversize);
    for (size_t i = 0; i < count; ++i) {
        detector->modules[i].string = (uint16_t)(1 + i / MODULES);
        detector->modules[i].module = (uint16_t)(1 + i % MODULES);
    }
    return detector;
}

ice_detector *world_detector_far(void)
{
    static const double far[1][3] = {{9000.0, 9000.0, 9000.0}};
    return world_detector(far, 1, 1.0);
}

ice_detector *world_detector_rings(const world_ring *rings, size_t count, double oversize)
{
    static double positions[WORLD_RING_MODULES][3];
    size_t modules = 0;
    for (size_t k = 0; k < count; ++k) {
        ck_assert_uint_le(modules + rings[k].modules, WORLD_RING_MODULES);
        for (size_t i = 0; i < rings[k].modules; ++i) {
            /* A spiral with equal areas; the golden angle keeps modules apart. */
            const double z = 1.0 - (2.0 * (double)i + 1.0) / (double)rings[k].modules;
            const double across = sqrt(1.0 - z * z), azimuth = 2.399963 * (double)i;
            positions[modules][0] = rings[k].radius * across * cos(azimuth);
            positions[modules][1] = rings[k].radius * across * sin(azimuth);
            positions[modules++][2] = rings[k].radius * z;
        }
    }
    ice_detector *detector = world_detector(positions, modules, oversize);
    detector->keep_hit_photons = true;
    return detector;
}

ice_light *world_light_line(double wavelength)
{
    ice_light *light = allocate(1, sizeof *light);
    light->count = 2;
    light->spectra = allocate(light->count, sizeof *light->spectra);
    for (size_t i = 0; i < light->count; ++i) {
        ice_spectrum *spectrum = &light->spectra[i];
        spectrum->name = copy_name("line");
        spectrum->wavelength = allocate(1, sizeof *spectrum->wavelength);
        spectrum->density = allocate(1, sizeof *spectrum->density);
        spectrum->wavelength[0] = wavelength;
        spectrum->density[0] = 1.0;
        spectrum->count = 1;
    }
    light->photons_per_metre = 1.0;
    return light;
}

/* ---- worlds --------------------------------------------------------------------------------- */

static const ics_table_options usual_options = {.seed = 1, .bounce_limit = 10000, .reach_cull = 1};

stage_world stage_world_create(ice_medium *medium, ice_detector *detector, ice_light *light)
{
    stage_world world = {
        .medium = medium, .detector = detector, .light = light, .options = usual_options};
    return world;
}

stage_world stage_world_from_config(const char *yaml, ...)
{
    const char *sets[SETS_MAX];
    size_t count = 0;
    va_list list;
    va_start(list, yaml);
    for (const char *set = va_arg(list, const char *); set != NULL;
         set = va_arg(list, const char *)) {
        ck_assert_uint_lt(count, SETS_MAX);
        sets[count++] = set;
    }
    va_end(list);

    icestream_error error = {0};
    icestream_config *config = NULL;
    const char *text = yaml != NULL ? yaml : "{}";
    ics_config_load_text("test.yaml", text, strlen(text), sets, count, &config, &error);
    ck_assert_msg(config != NULL, "%s", error.text);
    stage_world world = {.options = usual_options};
    ics_models_create(config, &world.models, &error);
    icestream_config_destroy(config);
    ck_assert_msg(world.models != NULL, "%s", error.text);
    world.medium = world.models->medium;
    world.detector = world.models->detector;
    world.light = world.models->light;
    return world;
}

/* The models own their parts, so they must get the new one. */
void stage_world_set_detector(stage_world *world, ice_detector *detector)
{
    if (world->models != NULL) {
        world->models->detector = detector;
    }
    ics_detector_destroy(world->detector);
    world->detector = detector;
}

void stage_world_set_medium(stage_world *world, ice_medium *medium)
{
    if (world->models != NULL) {
        world->models->medium = medium;
    }
    ics_ice_destroy(world->medium);
    world->medium = medium;
}

const ice_tables *stage_world_tables(stage_world *world)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ics_tables_destroy(world->tables);
    world->tables = NULL;
    ics_tables_create(world->medium, world->detector, world->light, &world->options, &world->tables,
                      &error);
    ck_assert_msg(world->tables != NULL, "%s", error.text);
    return &world->tables->device;
}

double world_clearance(const ice_tables *tables, double x, double y)
{
    double nearest = INFINITY;
    for (uint32_t i = 0; i < tables->module_count; ++i) {
        const ice_sphere *module = &tables->modules[i];
        const double distance = hypot((double)module->x - x, (double)module->y - y);
        nearest = fmin(nearest, distance - (double)tables->radius * (double)module->oversize);
    }
    return fmax(nearest, 0.0);
}

void stage_world_destroy(stage_world *world)
{
    ics_tables_destroy(world->tables);
    if (world->models != NULL) {
        ics_models_destroy(world->models);
    } else {
        ics_ice_destroy(world->medium);
        ics_detector_destroy(world->detector);
        ics_light_destroy(world->light);
    }
    *world = (stage_world){0};
}

/* ---- runs ----------------------------------------------------------------------------------- */

ice_variants world_variants(void)
{
    const ice_variants variants = {ICE_create_cherenkov, ICE_propagate_cumulative,
                                   ICE_collide_string_grid, ICE_scatter_hg_sl,
                                   ICE_compact_partition};
    return variants;
}

static int compare_arrivals(const void *left, const void *right)
{
    const ice_arrival *a = left, *b = right;
    if (a->emission != b->emission) {
        return a->emission < b->emission ? -1 : 1;
    }
    if (a->photon_id != b->photon_id) {
        return a->photon_id < b->photon_id ? -1 : 1;
    }
    if (a->path != b->path) {
        return a->path < b->path ? -1 : 1;
    }
    return (a->module > b->module) - (a->module < b->module);
}

void world_sort(ics_arrivals *arrivals)
{
    if (arrivals->count) {
        qsort(arrivals->items, arrivals->count, sizeof *arrivals->items, compare_arrivals);
    }
}

world_result world_run(const stage_world *world, ics_schedule schedule,
                       const ice_variants *variants, const char *instruction_set, uint32_t pool,
                       const ice_emission *emissions, uint32_t count)
{
    const ics_graph_options options = {.schedule = schedule,
                                       .variants = *variants,
                                       .pool = pool,
                                       .instruction_set = instruction_set};
    icestream_error why;
    ics_graph *graph = NULL;
    ics_graph_create(&options, world->tables, &graph, &why);
    ck_assert_msg(graph != NULL, "%s", why.text);
    world_result result = {{0}, {0}};
    ck_assert_int_eq(ics_graph_run(graph, emissions, count, &result.arrivals, &result.account), 0);
    ics_graph_destroy(graph);
    world_sort(&result.arrivals);
    return result;
}

void world_result_free(world_result *result)
{
    ics_graph_arrivals_free(&result->arrivals);
    *result = (world_result){{0}, {0}};
}
