/* Graphs on the CPU agree: every schedule, instruction set, pool and way to look for modules gives
 * the same arrivals, bit for bit, with every feature of the ice, and every photon is in the photon
 * account.
 *
 * How to join: a new feature of the ice joins in the table `features`, a new variant in
 * every_variant_gives_the_same_in_both_schedules. */
#include "graphs/graph.h"
#include "tests/graphs/graph_world.h"
#include "tests/support/shape_world.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static const char *const instruction_sets[] = {"baseline", "avx2", "avx512"};

/* Whether this machine runs the instruction set. If not, prints why. */
static bool has(const stage_world *world, const char *instruction_set)
{
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT,
                                       .variants = world_variants(),
                                       .instruction_set = instruction_set};
    icestream_error why;
    ics_graph *graph = NULL;
    const int status = ics_graph_create(&options, world->tables, &graph, &why);
    ics_graph_destroy(graph);
    if (status) {
        printf("skipped: %s\n", why.text);
    }
    return status == 0;
}

START_TEST(schedules_instruction_sets_and_pools_agree)
{
    static const uint32_t pools[] = {16, 17, 100, 1024, 5000};
    for (int keep = 0; keep < 2; ++keep) {
        stage_world world = graph_world(keep);
        ice_emission emissions[GRAPH_STEPS];
        graph_make_steps(emissions);
        const ice_variants variants = world_variants();
        world_result expected = world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0,
                                          emissions, GRAPH_STEPS);
        graph_expect_closed(&expected.account, graph_photons(emissions, GRAPH_STEPS));
        ck_assert_uint_gt(expected.arrivals.count, 20);
        ck_assert_uint_gt(expected.account.left, 0);
        ck_assert_uint_gt(expected.account.absorbed, 0);
        ck_assert_uint_gt(expected.account.stopped, 0);
        ck_assert_uint_eq(expected.account.hits, expected.arrivals.count);
        if (!keep) {
            ck_assert_uint_eq(expected.account.detected, expected.arrivals.count);
        }
        for (size_t set = 0; set < 3; ++set) {
            if (!has(&world, instruction_sets[set])) {
                continue;
            }
            world_result result = world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants,
                                            instruction_sets[set], 0, emissions, GRAPH_STEPS);
            graph_expect_same(&result, &expected, instruction_sets[set]);
            world_result_free(&result);
            for (size_t pool = 0; pool < sizeof pools / sizeof *pools; ++pool) {
                char name[64];
                snprintf(name, sizeof name, "wavefront, %s, pool %u", instruction_sets[set],
                         pools[pool]);
                result = world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, instruction_sets[set],
                                   pools[pool], emissions, GRAPH_STEPS);
                graph_expect_same(&result, &expected, name);
                world_result_free(&result);
            }
        }
        world_result_free(&expected);
        stage_world_destroy(&world);
    }
}
END_TEST

/* ---- ice beyond flat layers ------------------------------------------------------------------ */

static const uint32_t features[] = {
    ICE_HAS_TILT_LINE,
    ICE_HAS_TILT_MAP,
    ICE_HAS_SCATTERING_ANISOTROPY,
    ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY,
    ICE_HAS_ABSORPTION_ANISOTROPY,
    ICE_HAS_BIREFRINGENCE,
    ICE_HAS_HOLES,
    ICE_HAS_TILT_LINE | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY |
        ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE | ICE_HAS_HOLES,
    ICE_HAS_TILT_MAP | ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_ABSORPTION_ANISOTROPY |
        ICE_HAS_BIREFRINGENCE | ICE_HAS_HOLES,
};
enum { FEATURES = sizeof features / sizeof *features };

/* The hits do not depend on the schedule, the instruction set or the pool. They do not depend on
 * photons that are dropped because they cannot reach a module. */
START_TEST(features_agree)
{
    stage_world world = graph_world(_i % 2);
    world_medium_add(world.medium, features[_i]);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    const ice_variants variants = world_variants();
    /* Two more features may follow from the numbers of the layers, and one from the detector. */
    const uint32_t found = stage_world_tables(&world)->features;
    ck_assert_uint_eq(
        found & ~(uint32_t)(ICE_HAS_MEAN_BIREFRINGENCE | ICE_HAS_EVEN_ANISOTROPY | ICE_HAS_ENTRIES),
        features[_i]);
    world_result expected = world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0,
                                      emissions, GRAPH_STEPS);
    graph_expect_closed(&expected.account, graph_photons(emissions, GRAPH_STEPS));
    ck_assert_uint_gt(expected.arrivals.count, 20);
    for (size_t set = 0; set < 3; ++set) {
        if (!has(&world, instruction_sets[set])) {
            continue;
        }
        for (uint32_t pool = 17; pool < 5000; pool *= 10) {
            char name[64];
            snprintf(name, sizeof name, "%s, pool %u, features %u", instruction_sets[set], pool,
                     features[_i]);
            world_result result = world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants,
                                            instruction_sets[set], pool, emissions, GRAPH_STEPS);
            graph_expect_same(&result, &expected, name);
            world_result_free(&result);
        }
    }
    const uint64_t dropped = expected.account.left;
    world.options.reach_cull = 0;
    stage_world_tables(&world);
    world_result whole =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, GRAPH_STEPS);
    ck_assert_uint_eq(whole.arrivals.count, expected.arrivals.count);
    ck_assert_mem_eq(whole.arrivals.items, expected.arrivals.items,
                     expected.arrivals.count * sizeof(ice_arrival));
    ck_assert_uint_lt(whole.account.left, dropped);
    world_result_free(&whole);
    world_result_free(&expected);
    stage_world_destroy(&world);
}
END_TEST

/* The same with modules of every shape, orientations and cables. */
START_TEST(shapes_agree)
{
    stage_world world = graph_world(_i != 0);
    shape_world_fill(world.detector, world.detector->oversize);
    stage_world_tables(&world);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    ice_variants variants = world_variants();
    world_result expected = world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0,
                                      emissions, GRAPH_STEPS);
    graph_expect_closed(&expected.account, graph_photons(emissions, GRAPH_STEPS));
    ck_assert_uint_gt(expected.arrivals.count, 20);
    static const ice_variant searches[] = {ICE_collide_string_grid, ICE_collide_cell_grid,
                                           ICE_collide_brute_force};
    for (size_t k = 0; k < 3; ++k) {
        variants.collide = searches[k];
        world_result result = world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 170,
                                        emissions, GRAPH_STEPS);
        graph_expect_same(&result, &expected, "shapes");
        world_result_free(&result);
    }
    world_result_free(&expected);
    stage_world_destroy(&world);
}
END_TEST

/* A feature changes the arrivals. A feature without strength changes no bit of them. */
START_TEST(features_of_no_strength)
{
    stage_world plain = graph_world(false), world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    const ice_variants variants = world_variants();
    world_result expected =
        world_run(&plain, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, GRAPH_STEPS);
    world_medium_add(world.medium, features[_i]);
    stage_world_tables(&world);
    world_result other =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, GRAPH_STEPS);
    ck_assert(other.arrivals.count != expected.arrivals.count ||
              memcmp(other.arrivals.items, expected.arrivals.items,
                     expected.arrivals.count * sizeof(ice_arrival)) != 0);
    world_result_free(&other);

    ice_medium *medium = world.medium;
    if (medium->tilt.kind != ICE_TILT_NONE) {
        const size_t nodes = medium->tilt.kind == ICE_TILT_MAP
                                 ? medium->tilt.axes[0].count * medium->tilt.axes[1].count
                                 : medium->tilt.station_count;
        memset(medium->tilt.shifts, 0, medium->tilt.depth_count * nodes * sizeof(double));
    }
    for (size_t i = 0; i < medium->layer_count; ++i) {
        ice_layer *layer = &medium->layers[i];
        layer->anisotropy_along = layer->anisotropy_across = 0.0;
        layer->birefringence = layer->birefringence_mean = 0.0;
    }
    memset(medium->absorption_anisotropy, 0, sizeof medium->absorption_anisotropy);
    medium->hole.radius = 0.0;
    stage_world_tables(&world);
    world_result same =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, GRAPH_STEPS);
    graph_expect_same(&same, &expected, "no strength");
    world_result_free(&same);
    world_result_free(&expected);
    stage_world_destroy(&world);
    stage_world_destroy(&plain);
}
END_TEST

START_TEST(module_grids_agree)
{
    static const ice_variant variants[] = {ICE_collide_cell_grid, ICE_collide_brute_force};
    stage_world world = graph_world(true);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    for (size_t i = 0; i < GRAPH_STEPS; ++i) {
        emissions[i].photons /= 8; /* brute force is slow */
    }
    ice_variants chosen = world_variants();
    world_result expected =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &chosen, "auto", 0, emissions, GRAPH_STEPS);
    for (size_t i = 0; i < 2; ++i) {
        chosen.collide = variants[i];
        world_result result =
            world_run(&world, ICS_SCHEDULE_WAVEFRONT, &chosen, "auto", 0, emissions, GRAPH_STEPS);
        graph_expect_same(&result, &expected, i ? "brute-force" : "cell-grid");
        world_result_free(&result);
    }
    world_result_free(&expected);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(every_variant_gives_the_same_in_both_schedules)
{
    /* One stage at a time has another variant. Schedule monolithic is compared with the vector
     * loops. */
    static const ice_variants others[] = {
        {ICE_create_cherenkov, ICE_propagate_layer_walk, ICE_collide_string_grid, ICE_scatter_hg_sl,
         ICE_compact_partition},
        {ICE_create_cherenkov, ICE_propagate_cumulative, ICE_collide_cell_grid, ICE_scatter_hg,
         ICE_compact_partition},
        {ICE_create_cherenkov, ICE_propagate_cumulative, ICE_collide_string_grid, ICE_scatter_sl,
         ICE_compact_partition},
        {ICE_create_cherenkov, ICE_propagate_cumulative, ICE_collide_string_grid,
         ICE_scatter_isotropic, ICE_compact_partition},
    };
    stage_world world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        world_result expected = world_run(&world, ICS_SCHEDULE_MONOLITHIC, &others[i], "baseline",
                                          0, emissions, GRAPH_STEPS);
        for (size_t set = 0; set < 3; ++set) {
            if (has(&world, instruction_sets[set])) {
                world_result result = world_run(&world, ICS_SCHEDULE_WAVEFRONT, &others[i],
                                                instruction_sets[set], 0, emissions, GRAPH_STEPS);
                graph_expect_same(&result, &expected, instruction_sets[set]);
                world_result_free(&result);
            }
        }
        world_result_free(&expected);
    }
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("graph")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, schedules_instruction_sets_and_pools_agree);
    tcase_add_loop_test(all, features_agree, 0, FEATURES);
    tcase_add_loop_test(all, shapes_agree, 0, 2);
    tcase_add_loop_test(all, features_of_no_strength, 0, FEATURES);
    tcase_add_test(all, module_grids_agree);
    tcase_add_test(all, every_variant_gives_the_same_in_both_schedules);
    suite_add_tcase(suite, all);
}
