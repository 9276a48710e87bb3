/* `icestream-lab sweep`: the grid of settings and the fastest of them. The measurements themselves
 * need a GPU.
 *
 * Promises: a grid has only settings that can work, as many of them as a multiprocessor allows; the
 * fastest settings are named for each schedule, in the form of a run file; graph.tune takes the
 * settings from the JSON. To join: a broken file is a row of `broken`. */
#include "bench/lab/sweep/report.h"
#include "tests/support/config_text.h"
#include "tests/support/json_values.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>

START_TEST(grids_have_settings_that_work)
{
    for (int k = 0; k < ICS_TUNED_COUNT; ++k) {
        const ics_tuned_kernel kernel = (ics_tuned_kernel)k;
        const ics_tune tune = {{{0}}};
        ics_kernel_tune points[ICS_SWEEP_POINTS_MAX];
        const size_t count = ics_sweep_grid(kernel, &tune, points);
        ck_assert_uint_le(count, ICS_SWEEP_POINTS_MAX);
        ck_assert_uint_ge(count, 40); /* of 48, without blocks too large for shared memory */
        for (size_t i = 0; i < count; ++i) {
            char reason[256];
            ck_assert_msg(ics_tune_fits(kernel, &points[i], 0, reason, sizeof reason), "%s",
                          reason);
            ck_assert_uint_eq(points[i].blocks,
                              ics_tune_fitting_blocks(points[i].threads, points[i].registers));
            for (size_t other = 0; other < i; ++other) {
                ck_assert(memcmp(&points[i], &points[other], sizeof points[i]) != 0);
            }
        }
    }
}
END_TEST

/* Kernels of a loop share a pool: sizes of blocks without a small common multiple are left out. */
START_TEST(grids_fit_the_other_kernels)
{
    ics_tune tune = {{{0}}};
    ics_kernel_tune points[ICS_SWEEP_POINTS_MAX];
    tune.kernels[ICS_TUNED_SCATTER].threads = 544; /* 17 * 32 */
    size_t count = ics_sweep_grid(ICS_TUNED_PROPAGATE, &tune, points);
    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < count; ++i) {
        ck_assert(points[i].threads != 320 && points[i].threads != 512);
    }
    ck_assert_uint_eq(ics_sweep_grid(ICS_TUNED_MONOLITHIC, &tune, points), 48);
}
END_TEST

static ics_sweep_row rows[] = {
    {ICS_SCHEDULE_MONOLITHIC, ICS_TUNED_COUNT, {0, 0, 0}, 0.4, 0.016, 0},
    {ICS_SCHEDULE_MONOLITHIC, ICS_TUNED_MONOLITHIC, {256, 4, 64}, 0.35, 0.014, 0},
    {ICS_SCHEDULE_MONOLITHIC, ICS_TUNED_MONOLITHIC, {128, 12, 40}, 0.5, 0.02, 0},
    {ICS_SCHEDULE_EVENT_WAVEFRONT, ICS_TUNED_COUNT, {0, 0, 0}, 0.5, 0.02, 0},
    {ICS_SCHEDULE_EVENT_WAVEFRONT, ICS_TUNED_FLY, {64, 16, 64}, 0.6, 0.024, 0},
};

static ics_sweep a_sweep(void)
{
    ics_sweep sweep = {.rows = rows,
                       .count = COUNT(rows),
                       .device = "GPU X",
                       .origin = "workload cascade",
                       .photons = 2000,
                       .steps = 10,
                       .repeats = 3};
    ics_sweep_compare(&sweep);
    return sweep;
}

START_TEST(the_fastest_settings)
{
    const ics_sweep sweep = a_sweep();
    ck_assert_double_eq_tol(rows[0].ratio, 1, 1e-12);
    ck_assert_double_eq_tol(rows[1].ratio, 0.875, 1e-12);
    ck_assert_double_eq_tol(rows[4].ratio, 1.2, 1e-12);
    ck_assert_ptr_eq(ics_sweep_best(&sweep, ICS_SCHEDULE_MONOLITHIC), &rows[1]);
    ck_assert_ptr_eq(ics_sweep_best(&sweep, ICS_SCHEDULE_EVENT_WAVEFRONT), &rows[3]);
}
END_TEST

/* graph.tune takes the JSON of a sweep: the configured settings of kernels, replaced by the fastest
 * ones where these were faster. */
START_TEST(a_run_file_takes_the_settings)
{
    ics_tune configured = {{{0}}};
    configured.kernels[ICS_TUNED_MONOLITHIC] = (ics_kernel_tune){.threads = 64};
    configured.kernels[ICS_TUNED_FLY] = (ics_kernel_tune){.registers = 72};
    ics_sweep sweep = a_sweep();
    sweep.configured = &configured;
    const scratch place = scratch_create();
    char path[SCRATCH_PATH], set[SCRATCH_PATH + 32];
    json_t *root = ics_sweep_json(&sweep);
    ck_assert_ptr_nonnull(root);
    ck_assert_int_eq(json_dump_file(root, scratch_path(&place, "sweep.json", path), JSON_INDENT(2)),
                     0);
    json_decref(root);
    snprintf(set, sizeof set, "graph.tune=%s", path);
    const char *const sets[] = {set};
    icestream_config *config = load_with("{}", sets, 1);
    const ics_kernel_tune *kernels = config->graph.tune.kernels;
    ck_assert_uint_eq(kernels[ICS_TUNED_MONOLITHIC].threads, 256);
    ck_assert_uint_eq(kernels[ICS_TUNED_MONOLITHIC].blocks, 4);
    ck_assert_uint_eq(kernels[ICS_TUNED_MONOLITHIC].registers, 64);
    ck_assert_uint_eq(kernels[ICS_TUNED_FLY].threads, 0);
    ck_assert_uint_eq(kernels[ICS_TUNED_FLY].registers, 72);
    ck_assert(!ics_tune_is_given(&kernels[ICS_TUNED_SCATTER]));
    icestream_config_destroy(config);
    scratch_remove(&place);
}
END_TEST

/* Broken files, and what their errors say after the name of the file. */
static const struct {
    const char *text, *expected;
} broken[] = {
    {"{\"rows\": []}", ":1:1: error: graph.tune: found no key tune, expected a key tune with a "},
    {"[1]", ":1:1: error: graph.tune: found no key tune, expected a key tune with a mapping"},
    {"", ":1:1: error: graph.tune: found no key tune"},
    {"{\"tune\": 5}", ":1:10: error: graph.tune: found '5', expected a key tune with a mapping"},
    {"{\"tune\": {\n  \"monolitic\": {\"threads\": 64}}}",
     ":2:3: error: graph.tune: found the kernel 'monolitic', expected one of create, "},
    {"{\"tune\": {\"monolithic\": {\"threads\": 100}}}", ":1:37: error: threads: found '100', "},
    {"{\"tune\": {\"monolithic\": {\"threads\": 512, \"registers\": 255}}}",
     ":1:25: error: graph.tune.monolithic: found 255 registers for each of 1 x 512 threads"},
    {"{\"tune\": {", "graph.tune: "},
};

START_TEST(broken_sweeps_are_errors)
{
    const scratch place = scratch_create();
    char path[SCRATCH_PATH], set[SCRATCH_PATH + 32], expected[SCRATCH_PATH + 256];
    scratch_write(scratch_path(&place, "sweep.json", path), broken[_i].text,
                  strlen(broken[_i].text));
    snprintf(set, sizeof set, "graph.tune=%s", path);
    snprintf(expected, sizeof expected, "%s%s", broken[_i].expected[0] == ':' ? path : "",
             broken[_i].expected);
    const char *const sets[] = {set};
    icestream_config *config = NULL;
    icestream_error error = {.text = ""};
    ck_assert_int_eq(ics_config_load_text("r.yaml", "{}", 2, sets, 1, &config, &error),
                     ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, expected) != NULL, "'%s' is missing in:\n%s", expected,
                  error.text);
    ck_assert_msg(strstr(error.text, "sweep.json") != NULL, "%s", error.text);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("sweep")
{
    TCase *tests = tcase_create("sweep");
    tcase_add_test(tests, grids_have_settings_that_work);
    tcase_add_test(tests, grids_fit_the_other_kernels);
    tcase_add_test(tests, the_fastest_settings);
    tcase_add_test(tests, a_run_file_takes_the_settings);
    tcase_add_loop_test(tests, broken_sweeps_are_errors, 0, COUNT(broken));
    suite_add_tcase(suite, tests);
}
