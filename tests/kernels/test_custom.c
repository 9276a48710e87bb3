/* Stages from a user's header on the CPU: the shipped example has its moments and quantiles, a copy
 * of a built-in gives the same bits in every schedule and instruction set, mistakes are shown where
 * the user made them, compiled objects are kept, found damaged, and shared by processes. */
#include "graphs/graph.h"
#include "kernels/cache/cache.h"
#include "kernels/cpu/custom.h"
#include "tests/support/scratch_files.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RAYLEIGH ICS_SOURCE_DIRECTORY "/configs/stages/rayleigh.h"

/* A scratch folder that is also the cache; the process of a test is its own. */
static scratch start(void)
{
    const scratch place = scratch_create();
    ck_assert_int_eq(setenv("XDG_CACHE_HOME", place.folder, 1), 0);
    return place;
}

/* The number of files that match a pattern in the cache. */
static size_t cached(const scratch *place, const char *pattern)
{
    char path[SCRATCH_PATH];
    glob_t found = {0};
    snprintf(path, sizeof path, "%s/icestream/%s", place->folder, pattern);
    const size_t count = glob(path, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

static void write_text(const scratch *place, const char *name, const char *text,
                       char path[SCRATCH_PATH])
{
    scratch_write(scratch_path(place, name, path), text, strlen(text));
}

static ics_custom_kernels *create_scatter(const char *path)
{
    const char *const custom[ICS_STAGES] = {[ICS_STAGE_SCATTER] = path};
    ics_custom_kernels *kernels = NULL;
    icestream_error why;
    const int result = ics_custom_kernels_create(custom, "baseline", &kernels, &why);
    ck_assert_msg(result == 0, "%s", why.text);
    return kernels;
}

/* ---- the shipped example -------------------------------------------------------------------- */

/* Cosines that the loaded scatter stage makes of these random numbers: photons that fly along z and
 * do not move have them as dz afterwards. */
static void scatter_along_z(const ics_cpu_kernels *kernels, const ice_tables *tables,
                            const float *u, float *cosine, uint32_t count)
{
    enum { SLOTS = 1024 };
    static uint32_t memory[ICS_WAVE_SLOT_BYTES / 4][SLOTS] __attribute__((aligned(64)));
    for (uint32_t begin = 0; begin < count; begin += SLOTS) {
        ics_wave wave = {.capacity = SLOTS, .count = count - begin < SLOTS ? count - begin : SLOTS};
        size_t column = 0;
        memset(memory, 0, sizeof memory);
#define X(type, name) wave.name = (type *)memory[column++];
        ICS_WAVE_COLUMNS(X)
        ICS_WAVE_SCRATCH(X)
#undef X
        for (uint32_t i = 0; i < wave.count; ++i) {
            wave.dz[i] = 1.0f;
            wave.angle[i] = u[begin + i];
        }
        kernels->scatter(ICE_scatter_custom, tables, &wave);
        memcpy(cosine + begin, wave.dz, wave.count * sizeof *cosine);
    }
}

START_TEST(rayleigh_has_its_moments_and_quantiles)
{
    const scratch place = start();
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0),
                                           world_detector_far(), world_light_line(400.0));
    const ice_tables *tables = stage_world_tables(&world);
    ics_custom_kernels *custom = create_scatter(RAYLEIGH);
    const ics_cpu_kernels *kernels = ics_custom_kernels_get(custom);
    ck_assert_str_eq(kernels->name, "baseline");

    /* Equidistant random numbers: no statistics, errors of 1 / count and of rounding. */
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

/* ---- the same as a built-in ----------------------------------------------------------------- */

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

/* Headers that only call the built-in ones: for every stage the same arrivals, bit for bit. */
START_TEST(headers_join_every_stage)
{
    static const char *const texts[ICS_STAGES] = {
        [ICS_STAGE_CREATE] =
            "#include \"stages/create_cherenkov.h\"\n"
            "ICE_FN ice_photon ice_create_custom(const ice_tables *tables, const ice_emission *e,\n"
            "    uint32_t emission_index, uint32_t photon_id)\n"
            "{ return ice_create_cherenkov(tables, e, emission_index, photon_id); }\n",
        [ICS_STAGE_PROPAGATE] = "#include \"stages/propagate_cumulative.h\"\n"
                                "ICE_FN ice_segment ice_propagate_custom(const ice_tables *tables, "
                                "ice_segment_start start)\n"
                                "{ return ice_propagate_cumulative(tables, start); }\n",
        [ICS_STAGE_COLLIDE] = "#include \"stages/collide_cell_grid.h\"\n"
                              "ICE_FN ice_contact ice_collide_custom(const ice_tables *tables,\n"
                              "    const ice_contact_search *search)\n"
                              "{ return ice_collide_cell_grid(tables, search); }\n",
        [ICS_STAGE_SCATTER] =
            "#include \"stages/scatter_hg.h\"\n"
            "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
            "{ return ice_scatter_hg(constants, u); }\n",
    };
    const scratch place = start();
    stage_world world = stage_world_from_config(NULL, "detector.oversize=5", NULL);
    stage_world_tables(&world);
    ics_graph_options options = {.schedule = ICS_SCHEDULE_WAVEFRONT,
                                 .variants = world_variants(),
                                 .instruction_set = "auto"};
    options.variants.scatter = ICE_scatter_hg;
    world_result expected = run_graph(&world, &options);
    ck_assert_uint_gt(expected.arrivals.count, 5);

    options.variants = world_variants(); /* scatter: hg-sl, which the header replaces */
    char paths[ICS_STAGES][SCRATCH_PATH];
    for (int stage = 0; stage < ICS_STAGES; ++stage) {
        write_text(&place, ics_stage_name((ics_stage)stage), texts[stage], paths[stage]);
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
    }
    /* And another physics is another one. */
    memset(options.custom, 0, sizeof options.custom);
    options.custom[ICS_STAGE_SCATTER] = RAYLEIGH;
    world_result other = run_graph(&world, &options);
    ck_assert(!same(&other, &expected));
    ck_assert_uint_eq(other.account.created, expected.account.created);
    world_result_free(&other);
    world_result_free(&expected);
    stage_world_destroy(&world);
    scratch_remove(&place);
}
END_TEST

/* ---- mistakes ------------------------------------------------------------------------------- */

static void expect_refusal(const char *path, const char *const *parts, size_t count)
{
    const char *const custom[ICS_STAGES] = {[ICS_STAGE_SCATTER] = path};
    ics_custom_kernels *kernels = (void *)&kernels;
    icestream_error why;
    ck_assert_int_eq(ics_custom_kernels_create(custom, "baseline", &kernels, &why),
                     ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(kernels);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_msg(strstr(why.text, parts[i]) != NULL, "'%s' is missing in:\n%s", parts[i],
                      why.text);
    }
    ck_assert_msg(strstr(why.text, "/build-") == NULL, "a folder of ours is in:\n%s", why.text);
}

START_TEST(mistakes_are_shown_where_they_are)
{
    const scratch place = start();
    char path[SCRATCH_PATH], at[SCRATCH_PATH + 128];

    write_text(&place, "my \"own\".h",
               "#include \"stages/maths.h\"\n"
               "ICE_FN float ice_scatter_custom(const ice_scatter_constants *constants, float u)\n"
               "{\n"
               "    return constants->asymmetry * u;\n"
               "}\n",
               path);
    snprintf(at, sizeof at, "%s:4:", path);
    expect_refusal(path, (const char *[]){at, "error: ", "asymmetry"}, 3);

    write_text(&place, "empty.h", "/* nothing */\n", path);
    snprintf(at, sizeof at, "the compiler does not accept %s:\n", path);
    expect_refusal(path, (const char *[]){at, "error: ", "ice_scatter_custom"}, 3);

    write_text(&place, "neighbour.h", "\n#include \"mine.h\"\n", path);
    snprintf(at, sizeof at, "%s:2:", path);
    expect_refusal(path, (const char *[]){at, "mine.h"}, 2);

    write_text(&place, "absolute.h", "\n\n # include \"/etc/mine.h\"\n", path);
    snprintf(at, sizeof at, "%s(3): error: a stage header can include the headers of icestream",
             path);
    expect_refusal(path, (const char *[]){at}, 1);

    scratch_write(scratch_path(&place, "binary.h", path), "a\0b", 3);
    expect_refusal(path, (const char *[]){path, "expected a text, found a zero byte"}, 2);

    scratch_path(&place, "missing.h", path);
    expect_refusal(path, (const char *[]){path, "No such file or directory"}, 2);
    expect_refusal(place.folder, (const char *[]){place.folder, "expected a file"}, 2);

    ck_assert_uint_eq(cached(&place, "*"), 0);
    scratch_remove(&place);
}
END_TEST

/* The compiler prints more than an error can hold: the text is filled to its end. */
START_TEST(a_long_message_is_cut)
{
    enum { LINES = 1000 };
    const scratch place = start();
    char path[SCRATCH_PATH], text[LINES * 32] = "";
    for (size_t i = 0, used = 0; i < LINES; ++i) {
        used += (size_t)snprintf(text + used, sizeof text - used, "wrong%zu wrong;\n", i);
    }
    write_text(&place, "wrong.h", text, path);
    const char *const custom[ICS_STAGES] = {[ICS_STAGE_SCATTER] = path};
    ics_custom_kernels *kernels = NULL;
    icestream_error why;
    memset(&why, '#', sizeof why);
    ck_assert_int_eq(ics_custom_kernels_create(custom, "baseline", &kernels, &why),
                     ICESTREAM_E_CONFIG);
    ck_assert_uint_eq(strnlen(why.text, sizeof why.text), sizeof why.text - 1);
    ck_assert_int_eq(ics_custom_kernels_create(custom, "baseline", &kernels, NULL),
                     ICESTREAM_E_CONFIG);
    scratch_remove(&place);
}
END_TEST

START_TEST(no_compiler_is_a_clear_error)
{
    const scratch place = start();
    setenv("CC", "/no/such/compiler -O2", 1);
    expect_refusal(RAYLEIGH,
                   (const char *[]){"a stage header of one's own needs a C compiler: cannot run "
                                    "'/no/such/compiler': No such file or directory; install one, "
                                    "or let the environment variable CC name it"},
                   1);
    setenv("CC", "false", 1);
    expect_refusal(RAYLEIGH, (const char *[]){"'false --version' failed"}, 1);
    scratch_remove(&place);
}
END_TEST

/* ---- the cache ------------------------------------------------------------------------------ */

/* A compiler that notes every call. */
static void count_calls(const scratch *place)
{
    char path[SCRATCH_PATH], script[4 * SCRATCH_PATH];
    const char *compiler = getenv("CC");
    snprintf(script, sizeof script, "#!/bin/sh\necho call >>'%s/calls'\nexec %s \"$@\"\n",
             place->folder, compiler != NULL && *compiler ? compiler : "cc");
    write_text(place, "compiler.sh", script, path);
    snprintf(script, sizeof script, "sh %s", path);
    setenv("CC", script, 1);
}

static size_t calls(const scratch *place)
{
    char path[SCRATCH_PATH];
    size_t size = 0;
    unsigned char *text = scratch_read(scratch_path(place, "calls", path), &size);
    free(text);
    return size / strlen("call\n");
}

START_TEST(objects_are_kept)
{
    const scratch place = start();
    count_calls(&place);
    char path[SCRATCH_PATH];
    const char *text = "#include \"stages/tables.h\"\n"
                       "ICE_FN float ice_scatter_custom(const ice_scatter_constants *c, float u)\n"
                       "{ (void)c; return u; }\n";
    write_text(&place, "one.h", text, path);
    ics_custom_kernels_destroy(create_scatter(path));
    ck_assert_uint_eq(calls(&place), 2); /* its version, the header */
    ck_assert_uint_eq(cached(&place, "*"), 1);
    ck_assert_uint_eq(cached(&place, "*.so"), 1);
    ics_custom_kernels_destroy(create_scatter(path));
    ck_assert_uint_eq(calls(&place), 3); /* its version */

    /* The name of a file is not what makes it another one, its content is. */
    write_text(&place, "two.h", text, path);
    ics_custom_kernels_destroy(create_scatter(path));
    ck_assert_uint_eq(calls(&place), 4);
    write_text(&place, "two.h",
               "#include \"stages/tables.h\"\n#define ice_scatter_custom "
               "ice_scatter_isotropic\n",
               path);
    ics_custom_kernels_destroy(create_scatter(path));
    ck_assert_uint_eq(calls(&place), 6);
    ck_assert_uint_eq(cached(&place, "*.so"), 2);
    scratch_remove(&place);
}
END_TEST

START_TEST(damaged_objects_are_made_again)
{
    const scratch place = start();
    ics_custom_kernels_destroy(create_scatter(RAYLEIGH));
    char pattern[SCRATCH_PATH];
    glob_t found = {0};
    ck_assert_int_eq(glob(scratch_path(&place, "icestream/*.so", pattern), 0, NULL, &found), 0);
    const char *object = found.gl_pathv[0];
    size_t size = 0;
    unsigned char *bytes = scratch_read(object, &size);
    const size_t sizes[] = {0, 10, size / 2, size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        scratch_write(object, bytes, sizes[i]);
        ics_custom_kernels_destroy(create_scatter(RAYLEIGH));
    }
    unsigned char *again = scratch_read(object, &size);
    ck_assert_mem_eq(again, bytes, size);
    free(bytes);
    free(again);
    globfree(&found);
    scratch_remove(&place);
}
END_TEST

START_TEST(processes_share_the_cache)
{
    const scratch place = start();
    enum { PROCESSES = 4 };
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; ++i) {
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0) {
            const char *const custom[ICS_STAGES] = {[ICS_STAGE_SCATTER] = RAYLEIGH};
            ics_custom_kernels *kernels = NULL;
            icestream_error why;
            const int result = ics_custom_kernels_create(custom, "baseline", &kernels, &why);
            ics_custom_kernels_destroy(kernels);
            _exit(result == 0 ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; ++i) {
        int status = 0;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ck_assert_uint_eq(cached(&place, "*"), 1);
    scratch_remove(&place);
}
END_TEST

/* More entries than the cache keeps: the new one is there at the end, and the oldest is not. */
START_TEST(a_full_cache_takes_a_new_object)
{
    const scratch place = start();
    char path[SCRATCH_PATH], name[128];
    ck_assert_int_eq(mkdir(scratch_path(&place, "icestream", path), 0700), 0);
    for (int i = 0; i < ICS_CACHE_FILES; ++i) {
        snprintf(name, sizeof name, "icestream/%064x.choice", (unsigned)i);
        scratch_write(scratch_path(&place, name, path), "", 0);
        const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
    }
    ics_custom_kernels_destroy(create_scatter(RAYLEIGH));
    ck_assert_uint_eq(cached(&place, "*.so"), 1);
    ck_assert_uint_eq(cached(&place, "*"), ICS_CACHE_FILES);
    snprintf(name, sizeof name, "%064x.choice", 0u);
    ck_assert_uint_eq(cached(&place, name), 0);
    scratch_remove(&place);
}
END_TEST

START_TEST(without_a_cache_there_is_the_folder_for_temporary_files)
{
    const scratch place = scratch_create();
    char file[SCRATCH_PATH], pattern[SCRATCH_PATH];
    write_text(&place, "file", "", file);
    setenv("XDG_CACHE_HOME", file, 1); /* no folder can be made in a file */
    setenv("TMPDIR", place.folder, 1);
    ics_custom_kernels_destroy(create_scatter(RAYLEIGH));
    glob_t found = {0};
    ck_assert_int_eq(glob(scratch_path(&place, "icestream-*/*.so", pattern), 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    globfree(&found);
    setenv("TMPDIR", file, 1);
    expect_refusal(RAYLEIGH, (const char *[]){"needs a folder to compile it in"}, 1);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("custom")
{
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 600);
    tcase_add_test(all, rayleigh_has_its_moments_and_quantiles);
    tcase_add_test(all, headers_join_every_stage);
    tcase_add_test(all, mistakes_are_shown_where_they_are);
    tcase_add_test(all, a_long_message_is_cut);
    tcase_add_test(all, no_compiler_is_a_clear_error);
    tcase_add_test(all, objects_are_kept);
    tcase_add_test(all, damaged_objects_are_made_again);
    tcase_add_test(all, processes_share_the_cache);
    tcase_add_test(all, a_full_cache_takes_a_new_object);
    tcase_add_test(all, without_a_cache_there_is_the_folder_for_temporary_files);
    suite_add_tcase(suite, all);
}
