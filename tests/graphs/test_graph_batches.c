/* Graphs on the CPU compute batches: the division into batches does not change the arrivals, the
 * seed does, a cancelled run ends early, and a graph reports how it was made.
 *
 * How to join: add one test for each promise of graphs/graph.h about what a graph is given. */
#include "graphs/graph.h"
#include "tests/graphs/graph_world.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <stdatomic.h>
#include <string.h>

/* Cuts every emission into pieces of random sizes and runs each piece as one batch through one
 * graph. The arrivals of a piece get the number of the emission that it was cut from. */
static world_result run_in_pieces(const stage_world *world, const ice_emission *emissions,
                                  size_t count, uint32_t largest, uint32_t pool)
{
    const ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT,
                                       .variants = world_variants(),
                                       .pool = pool,
                                       .instruction_set = "auto"};
    icestream_error why;
    ics_graph *graph = NULL;
    ics_graph_create(&options, world->tables, &graph, &why);
    ck_assert_msg(graph != NULL, "%s", why.text);
    world_result result = {{0}, {0}};
    uint64_t state = 62;
    for (size_t i = 0; i < count; ++i) {
        uint32_t done = 0;
        while (done < emissions[i].photons) {
            const uint32_t left = emissions[i].photons - done;
            const uint32_t size = 1 + (uint32_t)(test_word(&state) % largest);
            ice_emission pieces[2] = {emissions[i], emissions[i]};
            pieces[0].photons =
                0; /* an emission without photons comes first, so that the piece has the index 1 */
            pieces[1].first_photon = emissions[i].first_photon + done;
            pieces[1].photons = size < left ? size : left;
            const size_t before = result.arrivals.count;
            ck_assert_int_eq(ics_graph_run(graph, pieces, 2, &result.arrivals, &result.account), 0);
            for (size_t k = before; k < result.arrivals.count; ++k) {
                ck_assert_uint_eq(result.arrivals.items[k].emission, 1);
                result.arrivals.items[k].emission = (uint32_t)i;
            }
            done += pieces[1].photons;
        }
    }
    ics_graph_destroy(graph);
    world_sort(&result.arrivals);
    return result;
}

START_TEST(batches_do_not_matter)
{
    static const uint32_t sizes[] = {1, 37, 999};
    stage_world world = graph_world(true);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    const ice_variants variants = world_variants();
    world_result expected =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, GRAPH_STEPS);
    for (size_t i = 0; i < 3; ++i) {
        world_result result = run_in_pieces(&world, emissions, GRAPH_STEPS, sizes[i], i ? 64 : 16);
        graph_expect_same(&result, &expected, "in pieces");
        world_result_free(&result);
    }
    world_result_free(&expected);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(later_photons_of_a_step)
{
    /* A step with first_photon = 2000 and 2000 photons is the second half of a step with 4000. */
    stage_world world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    emissions[0].photons = 4000;
    const ice_variants variants = world_variants();
    world_result all =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, 1);
    emissions[0].first_photon = 2000;
    emissions[0].photons = 2000;
    world_result half =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, 1);
    size_t later = 0;
    while (later < all.arrivals.count && all.arrivals.items[later].photon_id < 2000) {
        ++later;
    }
    ck_assert_uint_gt(half.arrivals.count, 0);
    ck_assert_uint_eq(all.arrivals.count - later, half.arrivals.count);
    ck_assert_mem_eq(all.arrivals.items + later, half.arrivals.items,
                     half.arrivals.count * sizeof(ice_arrival));
    world_result_free(&all);
    world_result_free(&half);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(nothing_to_do)
{
    stage_world world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    for (size_t i = 0; i < GRAPH_STEPS; ++i) {
        emissions[i].photons = 0;
    }
    const ice_variants variants = world_variants();
    for (uint32_t count = 0; count <= GRAPH_STEPS; count += GRAPH_STEPS) {
        world_result result =
            world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, count);
        ck_assert_uint_eq(result.arrivals.count, 0);
        graph_expect_closed(&result.account, 0);
        world_result_free(&result);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(the_seed_matters)
{
    stage_world world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    const ice_variants variants = world_variants();
    world_result first =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, GRAPH_STEPS);
    world.options.seed = 2;
    stage_world_tables(&world);
    world_result second =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, GRAPH_STEPS);
    ck_assert(first.arrivals.count != second.arrivals.count ||
              memcmp(first.arrivals.items, second.arrivals.items,
                     first.arrivals.count * sizeof(ice_arrival)) != 0);
    world_result_free(&first);
    world_result_free(&second);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(cancelled_runs_give_up)
{
    stage_world world = graph_world(false);
    ice_emission emissions[GRAPH_STEPS];
    graph_make_steps(emissions);
    atomic_bool cancel = true;
    for (int monolithic = 0; monolithic < 2; ++monolithic) {
        const ics_graph_options options = {.schedule = monolithic ? ICS_SCHEDULE_MONOLITHIC
                                                                  : ICS_SCHEDULE_WAVEFRONT,
                                           .variants = world_variants(),
                                           .instruction_set = "auto",
                                           .cancel = &cancel};
        icestream_error why;
        ics_graph *graph = NULL;
        ics_graph_create(&options, world.tables, &graph, &why);
        ck_assert_ptr_nonnull(graph);
        ics_arrivals arrivals = {0};
        ice_account account = {0};
        ck_assert_int_eq(ics_graph_run(graph, emissions, GRAPH_STEPS, &arrivals, &account),
                         ICESTREAM_E_INTERRUPTED);
        ics_graph_arrivals_free(&arrivals);
        ics_graph_destroy(graph);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(a_graph_reports_its_settings)
{
    stage_world world = graph_world(false);
    ics_graph_options options = {.schedule = ICS_SCHEDULE_AUTO,
                                 .variants = world_variants(),
                                 .pool = 17,
                                 .instruction_set = "baseline"};
    icestream_error why;
    ics_graph *graph = NULL;
    ck_assert_int_eq(ics_graph_create(&options, world.tables, &graph, &why), 0);
    ck_assert_int_eq(ics_graph_schedule(graph), ICS_SCHEDULE_WAVEFRONT);
    ck_assert_uint_eq(ics_graph_pool(graph), 17);
    ck_assert_str_eq(ics_graph_instruction_set(graph), "baseline");
    ics_graph_destroy(graph);
    options.schedule = ICS_SCHEDULE_JOB_QUEUE;
    ck_assert_int_eq(ics_graph_create(&options, world.tables, &graph, &why), ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(graph);
    ck_assert_ptr_nonnull(strstr(why.text, "job-queue"));
    options.schedule = ICS_SCHEDULE_AUTO;
    options.instruction_set = "mmx";
    ck_assert_int_eq(ics_graph_create(&options, world.tables, &graph, &why), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(why.text, "mmx"));
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("graph batches")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, batches_do_not_matter);
    tcase_add_test(all, later_photons_of_a_step);
    tcase_add_test(all, nothing_to_do);
    tcase_add_test(all, the_seed_matters);
    tcase_add_test(all, cancelled_runs_give_up);
    tcase_add_test(all, a_graph_reports_its_settings);
    suite_add_tcase(suite, all);
}
