/* Stages from a user's header on the CPU: the shipped example has the right moments and quantiles,
 * a copy of a built-in variant gives the same bits in every schedule and instruction set, and
 * errors name the user's file and line.
 *
 * How to join: a new stage joins in the texts of headers_join_every_stage, a new mistake in
 * mistakes_are_shown_where_they_are. */
#include "graphs/graph.h"
#include "kernels/cpu/custom.h"
#include "tests/kernels/custom_stages.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the shipped example --------------------------------------------------------------------- */

/* Returns a state after which the word of the scattering angle makes this number of (0, 1]. The
 * carry of a state whose number is 0 is the whole next state, and so its word. */
static uint64_t state_before(float u)
{
    const uint32_t word = ((uint32_t)lrintf(u * 0x1p24f) - 1u) << 8;
    return (uint64_t)word << 32;
}

/* Computes the cosines that the loaded scatter stage makes of random numbers. The photons fly along
 * z and do not move, so that the cosine is dz afterwards. */
static void scatter_along_z(const ics_cpu_kernels *kernels, const ice_tables *tables,
                            const float *u, float *cosine, uint32_t count)
{
    enum { SLOTS = 1024 };
    static uint32_t memory[ICS_WAVE_SLOT_BYTES / 4][SLOTS] __attribute__((aligned(64)));
    for (uint32_t begin = 0; begin < count; begin += SLOTS) {
        ics_wave wave = {.capacity = SLOTS, .count = count - begin < SLOTS ? count - begin : SLOTS};
        size_t column = 0;
        memset(memory, 0, sizeof memory);
#define X(type, name)                                                                              \
    wave.name = (type *)(void *)memory[column];                                                    \
    column += sizeof(type) / 4;
        ICS_WAVE_COLUMNS(X)
        ICS_WAVE_SCRATCH(X)
#undef X
        for (uint32_t i = 0; i < wave.count; ++i) {
            wave.dz[i] = 1.0f;
            wave.random[i] = state_before(u[begin + i]);
        }
        kernels->scatter(ICE_scatter_custom, tables, &wave);
        memcpy(cosine + begin, wave.dz, wave.count * sizeof *cosine);
    }
}

START_TEST(rayleigh_has_its_moments_and_quantiles)
{
    const scratch place = custom_start();
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                                           world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    ics_custom_kernels *custom = custom_create_scatter(CUSTOM_RAYLEIGH);
    const ics_cpu_kernels *kernels = ics_custom_kernels_get(custom);
    ck_assert_str_eq(kernels->name, "baseline");

    /* The random numbers are equidistant: errors are 1 / count and those of rounding. */
    const uint32_t count = (uint32_t)test_scaled(1u << 18);
    float *u = calloc(count, sizeof *u), *cosine = calloc(count, sizeof *cosine);
    ck_assert(u && cosine);
    for (uint32_t i = 0; i < count; ++i) {
        u[i] = (float)(((double)i + 0.5) / count);
    }
    scatter_along_z(kernels, tables, u, cosine, count);
    double moments[5] = {0}, worst = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const double c = cosine[i], above = 1.0 - (c * c * c + 3.0 * c + 4.0) / 8.0;
        for (int k = 1; k <= 4; ++k) {
            moments[k] += pow(c, k) / count;
        }
        worst = fmax(worst, fabs(above - (double)u[i]));
    }
    /* Density 3/8 (1 + c^2): <c^2> = 3/8 (2/3 + 2/5), <c^4> = 3/8 (2/5 + 2/7). */
    const double tolerance = 1e-6 + 1.5 / count;
    ck_assert_double_eq_tol(moments[1], 0.0, tolerance);
    ck_assert_double_eq_tol(moments[2], 0.4, tolerance);
    ck_assert_double_eq_tol(moments[3], 0.0, tolerance);
    ck_assert_double_eq_tol(moments[4], 9.0 / 35.0, tolerance);
    ck_assert_double_lt(worst, 4e-7);

    /* Roots of c^3 + 3 c + 4 = 8 (1 - u), found by Newton's method in double precision. */
    static const double rows[][2] = {{0.001, 0.998665777}, {0.05, 0.931008126}, {0.1, 0.856918743},
                                     {0.25, 0.596071638},  {0.5, 0.0},          {0.6, -0.260756698},
                                     {0.75, -0.596071638}, {0.9, -0.856918743}, {1.0, -1.0},
                                     {0x1p-24, 1.0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const float one = (float)rows[i][0];
        float c = 0;
        scatter_along_z(kernels, tables, &one, &c, 1);
        ck_assert_double_eq_tol(c, rows[i][1], 4e-7);
    }
    free(u);
    free(cosine);
    ics_custom_kernels_destroy(custom);
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

/* ---- the same as a built-in ------------------------------------------------------------------ */

enum { STEPS = 6 };

static world_result run_graph(const stage_world *world, const ics_graph_options *options)
{
    ice_emission emissions[STEPS];
    for (uint32_t i = 0; i < STEPS; ++i) {
        emissions[i] = (ice_emission){.x = 2.0f * (float)i,
                                      .y = 3.0f,
                                      .z = 40.0f * (float)i - 100.0f,
                                      .length = 1.0f,
                                      .dx = 0.6f,
                                      .dz = 0.8f,
                                      .beta = 1.0f,
                                      .event_low = i / 2,
                                      .step_id = i,
                                      .photons = (uint32_t)test_scaled(10000)};
    }
    icestream_error why;
    ics_graph *graph = NULL;
    ics_graph_create(options, world->tables, &graph, &why);
    ck_assert_msg(graph != NULL, "%s", why.text);
    world_result result = {{0}, {0}};
    ck_assert_int_eq(ics_graph_run(graph, emissions, STEPS, &result.arrivals, &result.account), 0);
    ics_graph_destroy(graph);
    world_sort(&result.arrivals);
    return result;
}

static bool same(const world_result *a, const world_result *b)
{
    return a->arrivals.count == b->arrivals.count &&
           !memcmp(a->arrivals.items, b->arrivals.items,
                   a->arrivals.count * sizeof *a->arrivals.items) &&
           !memcmp(&a->account, &b->account, sizeof a->account);
}

/* A header for propagate or collide decides about every segment. With a bounce limit of 50 segments
 * of the header below are 1 m long and absorb nothing; with 51 every segment meets a module. */
static void expect_every_segment(stage_world *world, const ics_graph_options *options)
{
    ice_tables *tables = &world->tables->device;
    const uint32_t before = tables->bounce_limit;
    tables->reach_cull = 1; /* has no effect with these headers */
    tables->bounce_limit = 50;
    world_result thick = run_graph(world, options);
    /* One photon in 100 000 has a depth below ICE_ABSORPTION_END from the start. */
    ck_assert_uint_le(thick.account.absorbed, 5 + thick.account.created / 10000);
    ck_assert_uint_eq(thick.account.left, 0);
    ck_assert_uint_gt(thick.account.stopped, thick.account.created / 2);
    ck_assert_uint_ge(thick.account.bounces, 50 * thick.account.stopped);
    tables->bounce_limit = 51;
    world_result everywhere = run_graph(world, options);
    ck_assert_uint_eq(everywhere.account.detected, everywhere.account.created);
    ck_assert_uint_eq(everywhere.account.bounces, everywhere.account.created);
    tables->reach_cull = 0;
    tables->bounce_limit = before;
    world_result_free(&thick);
    world_result_free(&everywhere);
}

/* Headers that only call built-in stages give the same arrivals, bit for bit, for every stage. */
START_TEST(headers_join_every_stage)
{
    static const char *const texts[ICS_STAGES] = {
        [ICS_STAGE_CREATE] =
            "#include \"stages/create_cherenkov.h\"\n"
            "ICE_FN ice_photon ice_create_custom(const ice_tables *tables, const ice_emission *e,\n"
            "    uint32_t emission_index, uint32_t photon_id)\n"
            "{ return ice_create_cherenkov(tables, e, emission_index, photon_id); }\n",
        [ICS_STAGE_PROPAGATE] =
            "#include \"stages/propagate_cumulative.h\"\n"
            "ICE_FN ice_segment ice_propagate_custom(const ice_tables *tables, "
            "ice_segment_start start)\n"
            "{ const ice_segment thick = {1.0f, start.absorption};\n"
            "  return tables->bounce_limit == 50\n"
            "             ? thick : ice_propagate_cumulative(tables, start); }\n",
        [ICS_STAGE_COLLIDE] =
            "#include \"stages/collide_cell_grid.h\"\n"
            "ICE_FN ice_contact ice_collide_custom(const ice_tables *tables,\n"
            "    const ice_contact_search *search)\n"
            "{ const ice_contact everywhere = {search->length, 5};\n"
            "  return tables->bounce_limit == 51\n"
            "             ? everywhere : ice_collide_cell_grid(tables, search); }\n",
        [ICS_STAGE_SCATTER] =
            "#include \"stages/scatter_hg.h\"\n"
            "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
            "{ return ice_scatter_hg(constants, u); }\n",
    };
    const scratch place = custom_start();
    stage_world world =
        stage_world_from_config(NULL, "detector.oversize=5", "detector.crossing=disc",
                                "detector.keep_hit_photons=false", NULL);
    world.options.reach_cull = 0; /* kernels with headers for these stages drop no photon */
    stage_world_tables(&world);
    ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT,
                                 .variants = world_variants(),
                                 .instruction_set = "auto"};
    options.variants.scatter = ICE_scatter_hg;
    world_result expected = run_graph(&world, &options);
    ck_assert_uint_gt(expected.arrivals.count, 5);

    options.variants = world_variants(); /* scatter: hg-sl, which the header replaces */
    char paths[ICS_STAGES][SCRATCH_PATH];
    for (int stage = 0; stage < ICS_STAGE_TABULATE; ++stage) { /* hits are recorded */
        custom_write(&place, ics_stage_name((ics_stage)stage), texts[stage], paths[stage]);
        options.custom[stage] = paths[stage];
    }
    static const char *const sets[] = {"auto", "baseline"};
    static const ics_schedule schedules[] = {ICS_SCHEDULE_WAVEFRONT, ICS_SCHEDULE_MONOLITHIC};
    for (size_t i = 0; i < 4; ++i) {
        options.instruction_set = sets[i / 2];
        options.schedule = schedules[i % 2];
        world_result result = run_graph(&world, &options);
        ck_assert_msg(same(&result, &expected), "%s, %s: %zu arrivals, expected %zu", sets[i / 2],
                      ics_graph_schedule_name(schedules[i % 2]), result.arrivals.count,
                      expected.arrivals.count);
        world_result_free(&result);
        expect_every_segment(&world, &options);
    }
    /* Other physics gives other arrivals. */
    memset(options.custom, 0, sizeof options.custom);
    options.custom[ICS_STAGE_SCATTER] = CUSTOM_RAYLEIGH;
    world_result other = run_graph(&world, &options);
    ck_assert(!same(&other, &expected));
    ck_assert_uint_eq(other.account.created, expected.account.created);
    world_result_free(&other);
    world_result_free(&expected);
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

/* ---- mistakes -------------------------------------------------------------------------------- */

START_TEST(mistakes_are_shown_where_they_are)
{
    const scratch place = custom_start();
    char path[SCRATCH_PATH], at[SCRATCH_PATH + 128];

    custom_write(
        &place, "my \"own\".h",
        "#include \"stages/maths.h\"\n"
        "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
        "{\n"
        "    return constants->asymmetry * u;\n"
        "}\n",
        path);
    snprintf(at, sizeof at, "%s:4:", path);
    custom_expect_refusal(path, (const char *[]){at, "error: ", "asymmetry"}, 3);

    custom_write(
        &place, "no_return.h",
        "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
        "{\n    (void)constants;\n    if (u < -1) return 0.0f;\n}\n",
        path);
    snprintf(at, sizeof at, "%s:5:", path);
    custom_expect_refusal(path, (const char *[]){at, "error: ", "end of non-void function"}, 3);

    custom_write(&place, "state.h", "\nstatic int calls;\n", path);
    snprintf(at, sizeof at, "%s(2): error: found the variable 'calls', which keeps its value",
             path);
    custom_expect_refusal(path, (const char *[]){at}, 1);

    custom_write(&place, "empty.h", "/* nothing */\n", path);
    snprintf(at, sizeof at, "the compiler does not accept %s:\n", path);
    custom_expect_refusal(path, (const char *[]){at, "error: ", "ice_scatter_custom"}, 3);

    custom_write(&place, "neighbour.h", "\n#include \"mine.h\"\n", path);
    snprintf(at, sizeof at, "%s:2:", path);
    custom_expect_refusal(path, (const char *[]){at, "mine.h"}, 2);

    custom_write(&place, "absolute.h", "\n\n # include \"/etc/mine.h\"\n", path);
    snprintf(at, sizeof at, "%s(3): error: a stage header can include the headers of icestream",
             path);
    custom_expect_refusal(path, (const char *[]){at}, 1);

    scratch_write(scratch_path(&place, "binary.h", path), "a\0b", 3);
    custom_expect_refusal(path, (const char *[]){path, "expected a text, found a zero byte"}, 2);

    scratch_path(&place, "missing.h", path);
    custom_expect_refusal(path, (const char *[]){path, "No such file or directory"}, 2);
    custom_expect_refusal(place.folder, (const char *[]){place.folder, "expected a file"}, 2);

    /* Opening a pipe that nobody writes to waits for ever. */
    ck_assert_int_eq(mkfifo(scratch_path(&place, "pipe.h", path), 0600), 0);
    custom_expect_refusal(path, (const char *[]){path, "found a device or pipe"}, 2);

    ck_assert_uint_eq(custom_cached(&place, "*"), 0);
    scratch_remove(&place);
}
END_TEST

/* The compiler prints more than an error can hold: the message is cut at the end of the text. */
START_TEST(a_long_message_is_cut)
{
    enum { LINES = 1000 };
    const scratch place = custom_start();
    char path[SCRATCH_PATH], text[LINES * 32] = "";
    for (size_t i = 0, used = 0; i < LINES; ++i) {
        used += (size_t)snprintf(text + used, sizeof text - used, "wrong%zu(wrong);\n", i);
    }
    custom_write(&place, "wrong.h", text, path);
    const ics_custom_wanted wanted = custom_scatter(path);
    ics_custom_kernels *kernels = NULL;
    icestream_error why;
    memset(&why, '#', sizeof why);
    ck_assert_int_eq(ics_custom_kernels_create(&wanted, &kernels, &why), ICESTREAM_E_CONFIG);
    ck_assert_uint_eq(strnlen(why.text, sizeof why.text), sizeof why.text - 1);
    ck_assert_int_eq(ics_custom_kernels_create(&wanted, &kernels, NULL), ICESTREAM_E_CONFIG);
    scratch_remove(&place);
}
END_TEST

START_TEST(no_compiler_is_a_clear_error)
{
    const scratch place = custom_start();
    setenv("CC", "/no/such/compiler -O2", 1);
    custom_expect_refusal(
        CUSTOM_RAYLEIGH,
        (const char *[]){"a stage header of one's own needs a C compiler: cannot run "
                         "'/no/such/compiler': No such file or directory; install one, "
                         "or let the environment variable CC name it"},
        1);
    setenv("CC", "false", 1);
    custom_expect_refusal(CUSTOM_RAYLEIGH, (const char *[]){"'false --version' failed"}, 1);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("custom")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, rayleigh_has_its_moments_and_quantiles);
    tcase_add_test(all, headers_join_every_stage);
    tcase_add_test(all, mistakes_are_shown_where_they_are);
    tcase_add_test(all, a_long_message_is_cut);
    tcase_add_test(all, no_compiler_is_a_clear_error);
    suite_add_tcase(suite, all);
}
