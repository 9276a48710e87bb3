/* Whole batches through graphs: every schedule, instruction set, pool and division into batches
 * gives the same arrivals, bit for bit; photons are accounted for; boundaries, limits and modules
 * end them as they should. */
#include "graphs/graph.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const instruction_sets[] = {"baseline", "avx2", "avx512"};

/* Whether this machine runs it. */
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
        printf("left out: %s\n", why.text);
    }
    return status == 0;
}

static void expect_closed(const ice_account *account, uint64_t photons)
{
    ck_assert_uint_eq(account->created, photons);
    ck_assert_uint_eq(account->created,
                      account->absorbed + account->detected + account->left + account->stopped);
}

static void expect_same(const world_result *result, const world_result *expected, const char *name)
{
    ck_assert_msg(result->arrivals.count == expected->arrivals.count,
                  "%s: %zu arrivals, expected %zu", name, result->arrivals.count,
                  expected->arrivals.count);
    ck_assert_msg(!memcmp(result->arrivals.items, expected->arrivals.items,
                          expected->arrivals.count * sizeof(ice_arrival)),
                  "%s: other arrivals", name);
    ck_assert_msg(!memcmp(&result->account, &expected->account, sizeof expected->account),
                  "%s: another account", name);
}

/* ---- light ------------------------------------------------------------------------------------
 */

enum { STEPS = 24 };

static uint64_t total(const ice_emission *emissions, size_t count)
{
    uint64_t photons = 0;
    for (size_t i = 0; i < count; ++i) {
        photons += emissions[i].photons;
    }
    return photons;
}

/* Light of all kinds, close to modules; steps without photons and with many among them. */
static void make_steps(ice_emission emissions[STEPS])
{
    static const uint32_t photons[] = {1000, 0, 1, 17, 6000, 0, 320, 1666};
    const double scale = fmax(0.5, (double)test_scaled(100000) / 1e5);
    uint64_t state = 61;
    for (size_t i = 0; i < STEPS; ++i) {
        double n[3];
        test_direction(&state, n);
        emissions[i] = (ice_emission){
            .x = (float)test_between(&state, -8.0, 8.0),
            .y = (float)test_between(&state, -8.0, 8.0),
            .z = (float)test_between(&state, -300.0, 300.0),
            .length = (float)test_between(&state, 0.0, 3.0),
            .dx = (float)n[0],
            .dy = (float)n[1],
            .dz = (float)n[2],
            .beta = i % 5 == 0 ? 0.8f : 1.0f,
            .event_low = (uint32_t)(i / 3),
            .event_high = (uint32_t)(i / 12),
            .step_id = (uint32_t)(100 + i),
            .photons = (uint32_t)ceil(photons[i % 8] * scale),
            .spectrum = i % 6 == 5 ? 2 : 0,
            .flags = i % 4 == 3 ? ICE_EMISSION_ISOTROPIC : 0,
        };
    }
}

/* Photons end on hits, or go on; a module is excluded; the world has a ceiling and a floor. */
static stage_world rich_world(bool keep)
{
    stage_world world = stage_world_from_config(
        NULL, "detector.oversize=5", "ice.absorb_above=350", "ice.absorb_below=-400",
        "detector.excluded=[[43, 20]]",
        keep ? "detector.keep_hit_photons=true" : "detector.keep_hit_photons=false", NULL);
    world.options.bounce_limit = 300;
    stage_world_tables(&world);
    return world;
}

START_TEST(schedules_instruction_sets_and_pools_agree)
{
    static const uint32_t pools[] = {16, 17, 100, 1024, 5000};
    for (int keep = 0; keep < 2; ++keep) {
        stage_world world = rich_world(keep);
        ice_emission emissions[STEPS];
        make_steps(emissions);
        const ice_variants variants = world_variants();
        world_result expected =
            world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0, emissions, STEPS);
        expect_closed(&expected.account, total(emissions, STEPS));
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
                                            instruction_sets[set], 0, emissions, STEPS);
            expect_same(&result, &expected, instruction_sets[set]);
            world_result_free(&result);
            for (size_t pool = 0; pool < sizeof pools / sizeof *pools; ++pool) {
                char name[64];
                snprintf(name, sizeof name, "wavefront, %s, pool %u", instruction_sets[set],
                         pools[pool]);
                result = world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, instruction_sets[set],
                                   pools[pool], emissions, STEPS);
                expect_same(&result, &expected, name);
                world_result_free(&result);
            }
        }
        world_result_free(&expected);
        stage_world_destroy(&world);
    }
}
END_TEST

/* ---- ice beyond flat layers -------------------------------------------------------------------
 */

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

/* Hits do not depend on the schedule, the instruction set, the pool, and on photons that are
 * dropped because they cannot reach a module. */
START_TEST(features_agree)
{
    stage_world world = rich_world(_i % 2);
    world_medium_add(world.medium, features[_i]);
    ice_emission emissions[STEPS];
    make_steps(emissions);
    const ice_variants variants = world_variants();
    /* Besides what follows from the layers' numbers. */
    const uint32_t found = stage_world_tables(&world)->features;
    ck_assert_uint_eq(found & ~(uint32_t)(ICE_HAS_MEAN_BIREFRINGENCE | ICE_HAS_EVEN_ANISOTROPY),
                      features[_i]);
    world_result expected =
        world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "baseline", 0, emissions, STEPS);
    expect_closed(&expected.account, total(emissions, STEPS));
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
                                            instruction_sets[set], pool, emissions, STEPS);
            expect_same(&result, &expected, name);
            world_result_free(&result);
        }
    }
    const uint64_t dropped = expected.account.left;
    world.options.reach_cull = 0;
    stage_world_tables(&world);
    world_result whole =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
    ck_assert_uint_eq(whole.arrivals.count, expected.arrivals.count);
    ck_assert_mem_eq(whole.arrivals.items, expected.arrivals.items,
                     expected.arrivals.count * sizeof(ice_arrival));
    ck_assert_uint_lt(whole.account.left, dropped);
    world_result_free(&whole);
    world_result_free(&expected);
    stage_world_destroy(&world);
}
END_TEST

/* They do change what arrives, and what has no strength changes nothing, not a bit. */
START_TEST(features_of_no_strength)
{
    stage_world plain = rich_world(false), world = rich_world(false);
    ice_emission emissions[STEPS];
    make_steps(emissions);
    const ice_variants variants = world_variants();
    world_result expected =
        world_run(&plain, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
    world_medium_add(world.medium, features[_i]);
    stage_world_tables(&world);
    world_result other =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
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
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
    expect_same(&same, &expected, "no strength");
    world_result_free(&same);
    world_result_free(&expected);
    stage_world_destroy(&world);
    stage_world_destroy(&plain);
}
END_TEST

START_TEST(module_grids_agree)
{
    static const ice_variant variants[] = {ICE_collide_cell_grid, ICE_collide_brute_force};
    stage_world world = rich_world(true);
    ice_emission emissions[STEPS];
    make_steps(emissions);
    for (size_t i = 0; i < STEPS; ++i) {
        emissions[i].photons /= 8; /* brute force is slow */
    }
    ice_variants chosen = world_variants();
    world_result expected =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &chosen, "auto", 0, emissions, STEPS);
    for (size_t i = 0; i < 2; ++i) {
        chosen.collide = variants[i];
        world_result result =
            world_run(&world, ICS_SCHEDULE_WAVEFRONT, &chosen, "auto", 0, emissions, STEPS);
        expect_same(&result, &expected, i ? "brute-force" : "cell-grid");
        world_result_free(&result);
    }
    world_result_free(&expected);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(every_variant_gives_the_same_in_both_schedules)
{
    /* One stage at a time off its default; monolithic against the vector loops. */
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
    stage_world world = rich_world(false);
    ice_emission emissions[STEPS];
    make_steps(emissions);
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        world_result expected =
            world_run(&world, ICS_SCHEDULE_MONOLITHIC, &others[i], "baseline", 0, emissions, STEPS);
        for (size_t set = 0; set < 3; ++set) {
            if (has(&world, instruction_sets[set])) {
                world_result result = world_run(&world, ICS_SCHEDULE_WAVEFRONT, &others[i],
                                                instruction_sets[set], 0, emissions, STEPS);
                expect_same(&result, &expected, instruction_sets[set]);
                world_result_free(&result);
            }
        }
        world_result_free(&expected);
    }
    stage_world_destroy(&world);
}
END_TEST

/* ---- batches ----------------------------------------------------------------------------------
 */

/* Cuts emission after emission into pieces of random sizes, one batch each, and runs them through
 * one graph; arrivals are counted back to the emission that their piece came from. */
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
            pieces[0].photons = 0; /* an empty one before it, for the batch's indices */
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
    stage_world world = rich_world(true);
    ice_emission emissions[STEPS];
    make_steps(emissions);
    const ice_variants variants = world_variants();
    world_result expected =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
    for (size_t i = 0; i < 3; ++i) {
        world_result result = run_in_pieces(&world, emissions, STEPS, sizes[i], i ? 64 : 16);
        expect_same(&result, &expected, "in pieces");
        world_result_free(&result);
    }
    world_result_free(&expected);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(later_photons_of_a_step)
{
    /* first_photon counts: photons 2000 .. 3999 of a step are the second half of all 4000. */
    stage_world world = rich_world(false);
    ice_emission emissions[STEPS];
    make_steps(emissions);
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
    stage_world world = rich_world(false);
    ice_emission emissions[STEPS];
    make_steps(emissions);
    for (size_t i = 0; i < STEPS; ++i) {
        emissions[i].photons = 0;
    }
    const ice_variants variants = world_variants();
    for (uint32_t count = 0; count <= STEPS; count += STEPS) {
        world_result result =
            world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, count);
        ck_assert_uint_eq(result.arrivals.count, 0);
        expect_closed(&result.account, 0);
        world_result_free(&result);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(the_seed_matters)
{
    stage_world world = rich_world(false);
    ice_emission emissions[STEPS];
    make_steps(emissions);
    const ice_variants variants = world_variants();
    world_result first =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
    world.options.seed = 2;
    stage_world_tables(&world);
    world_result second =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, STEPS);
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
    stage_world world = rich_world(false);
    ice_emission emissions[STEPS];
    make_steps(emissions);
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
        ck_assert_int_eq(ics_graph_run(graph, emissions, STEPS, &arrivals, &account),
                         ICESTREAM_E_INTERRUPTED);
        ics_graph_arrivals_free(&arrivals);
        ics_graph_destroy(graph);
    }
    stage_world_destroy(&world);
}
END_TEST

START_TEST(what_a_graph_says_of_itself)
{
    stage_world world = rich_world(false);
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

ICS_TEST_MAIN("graph")
{
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600);
    tcase_add_test(all, schedules_instruction_sets_and_pools_agree);
    tcase_add_loop_test(all, features_agree, 0, FEATURES);
    tcase_add_loop_test(all, features_of_no_strength, 0, FEATURES);
    tcase_add_test(all, module_grids_agree);
    tcase_add_test(all, every_variant_gives_the_same_in_both_schedules);
    tcase_add_test(all, batches_do_not_matter);
    tcase_add_test(all, later_photons_of_a_step);
    tcase_add_test(all, nothing_to_do);
    tcase_add_test(all, the_seed_matters);
    tcase_add_test(all, cancelled_runs_give_up);
    tcase_add_test(all, what_a_graph_says_of_itself);
    suite_add_tcase(suite, all);
}
