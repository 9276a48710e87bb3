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

enum { PHOTONS = 30000, LEAST = 2000 };

/* Which histograms the kernels have: bounces alone; all of `axes`, with little room for hits, in
 * many batches; many bins alone; few and many bins, in many batches. */
typedef enum way { ONE, ALL, MANY_BINS, BOTH_KINDS, WAYS } way;

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

/* Those with many bins: bounces, one a bin; paths; delays in a logarithm. */
enum { BOUNCES = 500, LENGTHS = ICE_LARGE_BINS, DELAYS = 5000 };
enum { LARGE_CELLS = BOUNCES + LENGTHS + DELAYS + 6 };

static ics_large_axes make_large(void)
{
    ics_large_axes made = {.count = 0};
    ics_large_axes_add(&made, ICE_PHOTON_BOUNCES, (ics_bin_edges){0.0, BOUNCES, BOUNCES, false});
    ics_large_axes_add(&made, ICE_PHOTON_PATH, (ics_bin_edges){0.0, 640.0, LENGTHS, false});
    ics_large_axes_add(&made, ICE_PHOTON_DELAY, (ics_bin_edges){0.1, 1e4, DELAYS, true});
    ck_assert_uint_eq(made.cells, LARGE_CELLS);
    return made;
}

/* The counts of all photons. */
typedef struct counted {
    uint64_t cells[ICE_PHOTON_CELLS], large[LARGE_CELLS];
} counted;

/* Counts the light with schedule monolithic of the CPU, on one thread. */
static void count_on_cpu(const stage_world *world, const gpu_load *load, counted *out)
{
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_MONOLITHIC,
                                       .variants = world_variants(),
                                       .instruction_set = "auto",
                                       .photons = make_axes(AXES),
                                       .large = make_large()};
    ics_graph *graph = NULL;
    ics_arrivals arrivals = {0};
    ice_account account = {0};
    ck_assert_int_eq(ics_graph_create(&options, world->tables, &graph, NULL), ICESTREAM_OK);
    ck_assert_int_eq(
        ics_graph_run(graph, load->emissions, (uint32_t)load->count, &arrivals, &account),
        ICESTREAM_OK);
    memcpy(out->cells, ics_graph_photon_cells(graph), sizeof out->cells);
    memcpy(out->large, ics_graph_large_cells(graph), sizeof out->large);
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

/* The same of those with many bins. */
static void expect_all_in_large(const uint64_t *cells, const ics_large_axes *large,
                                const ice_account *account, const char *name)
{
    for (uint32_t i = 0; i < large->count; ++i) {
        uint64_t found = 0;
        for (uint32_t k = 0; k < large->items[i].search.bins + 2; ++k) {
            found += *cells++;
        }
        ck_assert_msg(found == account->created,
                      "%s: many bins, %u: found %llu in all, expected %llu", name, i,
                      (unsigned long long)found, (unsigned long long)account->created);
    }
}

static void expect_same_cells(const uint64_t *cells, const uint64_t *expected, uint32_t count,
                              const char *name)
{
    for (uint32_t i = 0; i < count; ++i) {
        ck_assert_msg(cells[i] == expected[i], "%s: cell %u of %u: found %llu, expected %llu", name,
                      i, count, (unsigned long long)cells[i], (unsigned long long)expected[i]);
    }
}

static void count_on_gpu(const stage_world *world, ics_gpu_options options, gpu_load load,
                         const world_result *expected, const counted *expected_cells)
{
    static counted found;
    char name[128];
    snprintf(name, sizeof name, "%s, %s, %u histograms, %u with many bins",
             ics_graph_schedule_name(options.schedule), gpu_math_name(options.math),
             options.photons.count, options.large.count);
    memset(&found, 0, sizeof found);
    load.photon_cells = found.cells;
    load.large_cells = options.large.count > 0 ? found.large : NULL;
    load.large_count = options.large.cells;
    world_result result = gpu_run(world, &options, &load);
    expect_all_photons(found.cells, options.photons.count, &result.account, name);
    expect_all_in_large(found.large, &options.large, &result.account, name);
    if (options.math == ICS_MATH_PORTABLE) {
        expect_same_cells(found.cells, expected_cells->cells, options.photons.cells, name);
        expect_same_cells(found.large, expected_cells->large, options.large.cells, name);
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
    static counted cells;
    count_on_cpu(&world, &load, &cells);
    for (size_t i = 0; i < GPU_SCHEDULES; ++i) {
        ics_gpu_options options = gpu_options(gpu_schedules[i], math);
        world_result expected = gpu_cpu_run(&world, &options, emissions, load.count);
        const ics_large_axes large = make_large(), none = {.count = 0};
        const uint32_t hits = options.hits;
        expect_all_photons(cells.cells, AXES, &expected.account, "cpu");
        expect_all_in_large(cells.large, &large, &expected.account, "cpu");
        for (way which = ONE; which < WAYS; ++which) {
            const bool in_many_batches = which == ALL || which == BOTH_KINDS;
            options.photons = make_axes(which == ALL ? AXES : which == MANY_BINS ? 0 : 1);
            options.large = which >= MANY_BINS ? large : none;
            options.hits = in_many_batches ? 64 : hits;
            load.batch_photons = in_many_batches ? 3000 : 0;
            count_on_gpu(&world, options, load, &expected, &cells);
        }
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
