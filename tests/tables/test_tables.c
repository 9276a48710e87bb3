/* Promise: the tables hold the numbers of the models and are one block of memory, and a model that
 * they cannot represent is refused.
 *
 * How to join: a new table joins in one_block, a new reason to refuse a model in
 * models_without_sense_are_refused. */
#include "stages/optics.h"
#include "stages/propagate_cumulative.h"
#include "tables/tables.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static stage_world small_world(void)
{
    static const double positions[3][3] = {{1, 2, 3}, {4, 5, 6}, {-7, 8, -9}};
    return stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                              world_detector(positions, 3, 5.0), world_light_line(400.0));
}

START_TEST(what_a_run_sets)
{
    stage_world world = small_world();
    world.options.seed = UINT64_C(0x123456789abcdef0);
    world.options.bounce_limit = 77;
    world.options.reach_cull = false;
    world.detector->keep_hit_photons = true;
    world.detector->modules[1].absorbs = true;
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert_uint_eq(tables->seed_low, ice_key_low(world.options.seed));
    ck_assert_uint_eq(tables->seed_high, 0x12345678);
    ck_assert_uint_eq(tables->bounce_limit, 77);
    ck_assert_int_eq(tables->reach_cull, 0);
    ck_assert_int_eq(tables->keep_hit_photons, 1);
    ck_assert_uint_eq(tables->module_count, 3);
    ck_assert_uint_eq(tables->spectrum_count, 2);
    ck_assert(tables->radius == 0.1651f);
    ck_assert(tables->modules[2].x == -7.0f && tables->modules[2].y == 8.0f &&
              tables->modules[2].z == -9.0f);
    ck_assert(tables->modules[0].oversize == 5.0f && tables->modules[1].oversize == 1.0f);
    ck_assert(tables->absorbs[0] == 0 && tables->absorbs[1] == 1);
    /* `low` and `high` are the heights of the lowest and of the highest module, with the widened
     * radius. */
    const float low = tables->middle - tables->half_height;
    const float high = tables->middle + tables->half_height;
    ck_assert(low <= -9.0f - 0.8255f && low > -10.0f);
    ck_assert(high >= 6.0f + 0.8255f && high < 7.0f);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(scattering_constants)
{
    static const double pairs[][2] = {{0.9, 0.35}, {0.0, 0.0}, {-0.5, 1.0}};
    for (size_t i = 0; i < 3; ++i) {
        const double g = pairs[i][0], f = pairs[i][1];
        stage_world world = small_world();
        world.medium->mean_cosine = g;
        world.medium->liu_fraction = f;
        const ice_scatter_constants c = stage_world_tables(&world)->scatter;
        ck_assert_double_eq_tol(c.g, g, 1e-7);
        ck_assert_double_eq_tol(c.one_minus_g_squared, (1.0 - g) * (1.0 - g), 1e-7);
        ck_assert_double_eq_tol(c.liu_exponent, (1.0 - g) / (1.0 + g), 2e-7);
        ck_assert_double_eq_tol(c.liu_fraction, f, 1e-7);
        ck_assert_double_eq_tol(c.inverse_liu, f > 0.0 ? 1.0 / f : 0.0, 1e-6);
        ck_assert_double_eq_tol(c.inverse_henyey, f < 1.0 ? 1.0 / (1.0 - f) : 0.0, 1e-6);
        stage_world_destroy(&world);
    }
}
END_TEST

START_TEST(totals_of_the_built_in_ice)
{
    /* physics.md 13.1: S_total(400 nm) = 894.158 scatters top to bottom, Tad = 25.0364,
     * Tti = 1812.42 m. */
    stage_world world = stage_world_from_config(NULL, "detector.oversize=1", NULL);
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert_int_eq(tables->layer_count, 171);
    const ice_optics dust = {1.0f, 1.0f, 0.0f, 0.0f}, ice = {1.0f, 0.0f, 1.0f, 0.0f};
    ck_assert_double_eq_tol(ice_scattering_between(tables, dust, 0, 171), 894.158, 6e-4);
    ck_assert_double_eq_tol(ice_absorption_between(tables, dust, 0, 171), 25.0364, 6e-5);
    ck_assert_double_eq_tol(ice_absorption_between(tables, ice, 0, 171), 1812.42, 6e-3);
    ck_assert_double_eq_tol(ice_scattering_between(tables, dust, 171, 0), -894.158, 6e-4);
    /* Neighbouring sums differ by the coefficient of a layer times 10 m, in single precision. */
    for (int32_t i = 0; i < 171; ++i) {
        const double depth = ice_scattering_between(tables, dust, i, i + 1);
        ck_assert_double_eq_tol(depth / (10.0 * (double)tables->layers[i].scattering), 1.0, 3e-7);
        const double absorbed = ice_absorption_between(tables, dust, i, i + 1);
        ck_assert_double_eq_tol(absorbed / (10.0 * (double)tables->layers[i].dust), 1.0, 3e-7);
    }
    ck_assert(tables->bottom == -855.0f && tables->thickness == 10.0f);
    stage_world_destroy(&world);
}
END_TEST

/* Returns whether an array of the tables is inside their block and aligned to a cache line. */
static void expect_inside(const ics_tables *tables, const void *array, size_t bytes)
{
    const char *block = tables->memory, *begin = array;
    ck_assert(begin >= block && begin + bytes <= block + tables->bytes);
    ck_assert_uint_eq((uintptr_t)begin % 64, 0);
}

/* The sizes of rows are part of the contract with kernels, which read rows in words of 8 or 16
 * bytes. An alignment before the wrong member would change the sizes. */
START_TEST(rows_are_whole_words)
{
    ck_assert_uint_eq(sizeof(ice_layer_row), 32);
    ck_assert_uint_eq(sizeof(ice_depth_row), 32);
    ck_assert_uint_eq(sizeof(ice_string), 32);
    ck_assert_uint_eq(sizeof(ice_sphere), 16);
    ck_assert_uint_eq(sizeof(ice_near_row), 8);
}
END_TEST

START_TEST(one_block)
{
    stage_world world = stage_world_from_config(NULL, "detector.layout=hex86", NULL);
    const ice_tables *t = stage_world_tables(&world);
    const size_t modules = t->module_count;
    expect_inside(world.tables, t->layers, (size_t)t->layer_count * sizeof *t->layers);
    expect_inside(world.tables, t->cumulative,
                  ((size_t)t->layer_count + 1) * sizeof *t->cumulative);
    expect_inside(world.tables, t->wavelengths,
                  t->spectrum_count * sizeof(float) * (size_t)ICE_WAVELENGTH_TABLE);
    expect_inside(world.tables, t->modules, modules * sizeof *t->modules);
    expect_inside(world.tables, t->absorbs, modules);
    expect_inside(world.tables, t->near_axes,
                  (size_t)t->clearance_nx * (size_t)t->clearance_ny * sizeof(uint16_t));
    expect_inside(world.tables, t->axes, (size_t)t->string_count * sizeof *t->axes);
    expect_inside(world.tables, t->nearest,
                  (size_t)t->clearance_nx * (size_t)t->clearance_ny * sizeof *t->nearest);
    expect_inside(world.tables, t->strings, t->string_count * sizeof *t->strings);
    expect_inside(world.tables, t->string_modules, modules * sizeof(uint32_t));
    expect_inside(world.tables, t->string_spheres, modules * sizeof(ice_sphere));
    const ice_grid *grids[] = {&t->string_grid, &t->cell_grid};
    for (int k = 0; k < 2; ++k) {
        const size_t cells = (size_t)grids[k]->nx * (size_t)grids[k]->ny * (size_t)grids[k]->nz;
        expect_inside(world.tables, grids[k]->offsets, (cells + 1) * sizeof(uint32_t));
        expect_inside(world.tables, grids[k]->items, grids[k]->offsets[cells] * sizeof(uint32_t));
        ck_assert_uint_eq(grids[k]->offsets[0], 0);
        for (size_t c = 0; c < cells; ++c) {
            ck_assert_uint_le(grids[k]->offsets[c], grids[k]->offsets[c + 1]);
            for (uint32_t i = grids[k]->offsets[c]; i < grids[k]->offsets[c + 1]; ++i) {
                ck_assert_uint_lt(grids[k]->items[i], k == 0 ? t->string_count : t->module_count);
            }
        }
    }
    ck_assert_int_eq(t->string_grid.nz, 1);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(every_module_is_on_one_string)
{
    static const char *const layouts[] = {"detector.jitter=false", "detector.jitter=true"};
    for (size_t k = 0; k < 2; ++k) {
        stage_world world = stage_world_from_config(NULL, layouts[k], NULL);
        const ice_tables *t = stage_world_tables(&world);
        ck_assert_uint_eq(t->string_count, 86);
        unsigned char *seen = calloc(t->module_count, 1);
        ck_assert_ptr_nonnull(seen);
        uint32_t next = 0;
        for (uint32_t s = 0; s < t->string_count; ++s) {
            const ice_string *string = &t->strings[s];
            ck_assert_uint_eq(string->first, next);
            next += string->count;
            for (uint32_t i = string->first; i < next; ++i) {
                const uint32_t index = t->string_modules[i];
                const ice_sphere *module = &t->modules[index];
                ck_assert_uint_eq(seen[index]++, 0);
                const ice_sphere *sphere = &t->string_spheres[i];
                ck_assert_mem_eq(sphere, module, sizeof *sphere);
                ck_assert(i == string->first || sphere->z >= (sphere - 1)->z);
                ck_assert(module->z >= string->low && module->z <= string->high);
                const double off = hypot((double)module->x - (double)string->x,
                                         (double)module->y - (double)string->y);
                ck_assert_double_le(off + (double)(t->radius * module->oversize), string->radius);
            }
        }
        ck_assert_uint_eq(next, t->module_count);
        free(seen);
        stage_world_destroy(&world);
    }
}
END_TEST

START_TEST(wide_strings_are_divided)
{
    /* One string number for four modules 300 m apart, two of them above each other. */
    static const double positions[4][3] = {{0, 0, 0}, {300, 0, 0}, {0, 300, 5}, {1, 301, 50}};
    stage_world world = small_world();
    stage_world_set_detector(&world, world_detector(positions, 4, 1.0));
    for (size_t i = 0; i < 4; ++i) {
        world.detector->modules[i].string = 1;
        world.detector->modules[i].module = (uint16_t)i;
    }
    const ice_tables *t = stage_world_tables(&world);
    ck_assert_uint_eq(t->string_count, 3);
    for (uint32_t s = 0; s < 3; ++s) {
        ck_assert(t->strings[s].radius < 2.0f);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(arrival_times)
{
    /* physics.md 4.1: 100 m at 400 nm take 452.348 ns; 9: t = path / group velocity to 1e-3 ns. */
    stage_world world = small_world();
    const ice_tables *tables = stage_world_tables(&world);
    const ice_emission emission = {.beta = 1.0f, .spectrum = 1};
    ice_arrival arrival = {.path = 100.0f, .wavelength = 400.0f};
    ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &emission, &arrival), 452.348, 6e-4);
    arrival.wavelength = 350.0f;
    ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &emission, &arrival), 458.430, 6e-4);
    arrival.wavelength = 500.0f;
    ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &emission, &arrival), 445.526, 6e-4);
    stage_world_destroy(&world);
}
END_TEST

/* ---- what is refused ------------------------------------------------------------------------- */

static void expect_refused(stage_world *world, const char *sentence)
{
    icestream_error error = {.status = ICESTREAM_OK};
    ics_tables *tables = NULL;
    ck_assert_int_eq(ics_tables_create(world->medium, world->detector, world->light,
                                       &world->options, &tables, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_int_eq(error.status, ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(tables);
    ck_assert_msg(strstr(error.text, sentence) != NULL, "said: %s", error.text);
    stage_world_destroy(world);
}

typedef struct all_bytes {
    unsigned char *bytes;
    size_t size;
} all_bytes;

static void append_bytes(void *user, const void *bytes, size_t size)
{
    all_bytes *all = user;
    all->bytes = realloc(all->bytes, all->size + size);
    ck_assert_ptr_nonnull(all->bytes);
    memcpy(all->bytes + all->size, bytes, size);
    all->size += size;
}

/* Tables that share the part of their detector have the bytes of tables that do not, also after the
 * part is gone. */
START_TEST(part_of_a_detector_changes_nothing)
{
    static const char *const settings[] = {"detector.layout=hex86", "detector.oversize=5",
                                           "ice.model=uniform"};
    const ics_table_options options = {.seed = 12, .bounce_limit = 34, .reach_cull = true};
    stage_world world = stage_world_from_config(NULL, settings[_i], NULL);
    all_bytes found[2] = {{NULL, 0}, {NULL, 0}};
    ics_detector_part *part = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_int_eq(ics_tables_part_create(world.detector, &part, &error), ICESTREAM_OK);
    for (int i = 0; i < 2; ++i) {
        ics_tables *tables = NULL;
        ck_assert_int_eq(ics_tables_create_with(world.medium, world.detector, i == 0 ? NULL : part,
                                                world.light, &options, &tables, &error),
                         ICESTREAM_OK);
        if (i == 1) {
            ics_tables_part_destroy(part);
        }
        ics_tables_visit(tables, append_bytes, &found[i]);
        ics_tables_destroy(tables);
    }
    ck_assert_uint_eq(found[0].size, found[1].size);
    ck_assert(memcmp(found[0].bytes, found[1].bytes, found[0].size) == 0);
    free(found[0].bytes);
    free(found[1].bytes);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(models_without_sense_are_refused)
{
    stage_world world = small_world();
    world.medium->layers[0].effective_scattering = 0.0;
    expect_refused(&world, "layer 0");
    world = small_world();
    world.medium->layers[0].effective_scattering = NAN;
    expect_refused(&world, "layer 0");
    world = small_world();
    world.medium->layers[0].dust_absorption = -1.0;
    expect_refused(&world, "layer 0");
    world = small_world();
    world.medium->layers[0].delta_tau = -100.0;
    expect_refused(&world, "layer 0");

    world = small_world();
    ice_spectrum *spectrum = &world.light->spectra[1];
    spectrum->count = 2;
    spectrum->wavelength = realloc(spectrum->wavelength, 2 * sizeof(double));
    spectrum->density = realloc(spectrum->density, 2 * sizeof(double));
    ck_assert(spectrum->wavelength && spectrum->density);
    spectrum->wavelength[1] = 500.0;
    spectrum->density[0] = spectrum->density[1] = 0.0;
    expect_refused(&world, "zero everywhere");
}
END_TEST

ICS_TEST_MAIN("tables")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, what_a_run_sets);
    tcase_add_test(all, scattering_constants);
    tcase_add_test(all, totals_of_the_built_in_ice);
    tcase_add_test(all, rows_are_whole_words);
    tcase_add_test(all, one_block);
    tcase_add_test(all, every_module_is_on_one_string);
    tcase_add_test(all, wide_strings_are_divided);
    tcase_add_test(all, arrival_times);
    tcase_add_loop_test(all, part_of_a_detector_changes_nothing, 0, 3);
    tcase_add_test(all, models_without_sense_are_refused);
    suite_add_tcase(suite, all);
}
