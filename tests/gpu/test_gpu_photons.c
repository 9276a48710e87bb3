/* The histograms of photons on a GPU: in portable maths every schedule counts every photon and
 * every segment in the cell in which the CPU counts it, in worlds of all kinds, also if photons
 * wait for room in the hit buffer, and if batches are cut. Hits and account are those without
 * histograms. In fast maths every histogram has all photons, or all segments.
 *
 * How to join: a new quantity joins in the table `axes`; schedules and worlds need nothing here. */
#include "stages/histograms/photon_end.h"
#include "tests/gpu/gpu_light.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHOTONS = 30000, LEAST = 2000, WAYS = 2 };

/* Bins of equal width from 0 on. */
static const struct {
    ice_photon_quantity quantity;
    uint32_t bins;
    float width;
} axes[] = {
    {ICE_PHOTON_BOUNCES, 64, 3.0f},
    {ICE_PHOTON_DELAY, 40, 50.0f},
    {ICE_PHOTON_LAYERS, 8, 1.0f},
    {ICE_PHOTON_CANDIDATES, 5, 2.0f},
};
enum { AXES = sizeof axes / sizeof *axes };

/* The first `count` of them. */
static ice_photon_axes make_axes(uint32_t count)
{
    ice_photon_axes made = {.count = count};
    for (uint32_t i = 0; i < count; ++i) {
        ice_photon_axis *axis = &made.items[i];
        axis->quantity = axes[i].quantity;
        axis->bins = axes[i].bins;
        made.cells += axis->bins + 2;
        for (uint32_t k = 0; k <= axis->bins; ++k) {
            const float edge = axes[i].width * (float)k;
            const bool is_word =
                axis->quantity == ICE_PHOTON_PATH || axis->quantity == ICE_PHOTON_DELAY;
            axis->edges[k] = is_word ? ice_photon_word_of(edge) : (uint32_t)edge;
        }
    }
    return made;
}

/* Counts the light with schedule monolithic of the CPU, on one thread. */
static void count_on_cpu(const stage_world *world, const gpu_load *load, uint64_t *cells)
{
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_MONOLITHIC,
                                       .variants = world_variants(),
                                       .instruction_set = "auto",
                                       .photons = make_axes(AXES)};
    ics_graph *graph = NULL;
    ics_arrivals arrivals = {0};
    ice_account account = {0};
    ck_assert_int_eq(ics_graph_create(&options, world->tables, &graph, NULL), ICESTREAM_OK);
    ck_assert_int_eq(
        ics_graph_run(graph, load->emissions, (uint32_t)load->count, &arrivals, &account),
        ICESTREAM_OK);
    memcpy(cells, ics_graph_photon_cells(graph), ICE_PHOTON_CELLS * sizeof *cells);
    ics_graph_arrivals_free(&arrivals);
    ics_graph_destroy(graph);
}

/* Every histogram has all photons, or all segments. */
static void expect_all_photons(const uint64_t *cells, uint32_t count, const ice_account *account,
                               const char *name)
{
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t expected =
            ice_counts_segments(axes[i].quantity) ? account->bounces : account->created;
        uint64_t found = 0;
        for (uint32_t k = 0; k < axes[i].bins + 2; ++k) {
            found += *cells++;
        }
        ck_assert_msg(found == expected, "%s: histogram %u: found %llu in all, expected %llu", name,
                      i, (unsigned long long)found, (unsigned long long)expected);
    }
}

static void count_on_gpu(const stage_world *world, ics_gpu_options options, gpu_load load,
                         const world_result *expected, const uint64_t *expected_cells)
{
    uint64_t cells[ICE_PHOTON_CELLS] = {0};
    char name[128];
    snprintf(name, sizeof name, "%s, %s, %u histograms", ics_graph_schedule_name(options.schedule),
             gpu_math_name(options.math), options.photons.count);
    load.photon_cells = cells;
    world_result result = gpu_run(world, &options, &load);
    expect_all_photons(cells, options.photons.count, &result.account, name);
    for (uint32_t i = 0; options.math == ICS_MATH_PORTABLE && i < options.photons.cells; ++i) {
        ck_assert_msg(cells[i] == expected_cells[i], "%s: cell %u: found %llu, expected %llu", name,
                      i, (unsigned long long)cells[i], (unsigned long long)expected_cells[i]);
    }
    if (options.math == ICS_MATH_PORTABLE) {
        gpu_expect_same(&result, expected, name);
    }
    world_result_free(&result);
}

START_TEST(photons_count_where_the_cpu_counts_them)
{
    if (gpu_is_of_another_part(_i)) {
        return;
    }
    const gpu_place place = (gpu_place)(_i / 2);
    const ics_math math = gpu_maths[_i % 2];
    stage_world world = gpu_place_create(place);
    gpu_load load = {0};
    ice_emission *emissions =
        gpu_light_create(GPU_LIGHT_MIXED, gpu_scaled(PHOTONS, LEAST), &load.count);
    load.emissions = emissions;
    uint64_t cells[ICE_PHOTON_CELLS];
    count_on_cpu(&world, &load, cells);
    for (size_t i = 0; i < GPU_SCHEDULES; ++i) {
        ics_gpu_options options = gpu_options(gpu_schedules[i], math);
        world_result expected = gpu_cpu_run(&world, &options, emissions, load.count);
        expect_all_photons(cells, AXES, &expected.account, "cpu");
        for (int way = 0; way < WAYS; ++way) {
            options.photons = make_axes(1); /* bounces alone */
            if (way == 1) {                 /* little room for hits, in many batches */
                options.photons = make_axes(AXES);
                options.hits = 64;
                load.batch_photons = 3000;
            }
            count_on_gpu(&world, options, load, &expected, cells);
        }
        load.batch_photons = 0;
        world_result_free(&expected);
    }
    printf("%s, %s: the counts of all schedules\n", gpu_place_name(place), gpu_math_name(math));
    free(emissions);
    stage_world_destroy(&world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu photons");
    TCase *tests = tcase_create("photons");
    tcase_add_loop_test(tests, photons_count_where_the_cpu_counts_them, 0, 2 * GPU_PLACES);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
