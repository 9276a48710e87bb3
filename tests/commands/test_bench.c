/* `icestream bench`.
 *
 * Promises: a row for every schedule and number of threads, figures that follow from what was
 * measured, the same in text, Markdown and JSON. Times themselves are not checked.
 * To join: a new figure gets a check in schedules_and_threads (CPU) or gpu_figures (GPU).
 */
#include "pipeline/commands/measure/rows.h"
#include "tests/support/json_values.h"
#include "tests/support/model_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Runs bench without an error. Returns the report; the caller frees it. */
static char *bench(const icestream_config *config, const icestream_bench_options *options)
{
    char *text = NULL;
    size_t size = 0;
    icestream_error error = {0};
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    ck_assert_msg(icestream_bench(config, options, out, &error) == ICESTREAM_OK, "%s", error.text);
    fclose(out);
    return text;
}

static json_t *bench_json(const icestream_config *config, icestream_bench_options options)
{
    options.json = true;
    char *text = bench(config, &options);
    json_t *root = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(root);
    free(text);
    return root;
}

/* Writes the report with each time multiplied by `factor`. */
static void write_scaled(json_t *root, double factor, const char *path)
{
    json_t *copy = json_deep_copy(root), *row;
    size_t i;
    json_array_foreach(json_object_get(copy, "rows"), i, row)
    {
        json_object_set_new(row, "seconds", json_real(factor * number_of(row, "seconds")));
        json_object_set_new(row, "median_seconds",
                            json_real(factor * number_of(row, "median_seconds")));
    }
    ck_assert_int_eq(json_dump_file(copy, path, 0), 0);
    json_decref(copy);
}

/* Compares with a report of that file. Returns the status, and checks all verdicts. */
static int judge(const icestream_config *config, const char *path, const char *verdict,
                 icestream_error *error)
{
    char *text = NULL;
    size_t size = 0, i;
    FILE *out = open_memstream(&text, &size);
    const icestream_bench_options options = {.repeats = 3, .json = true, .against = path};
    *error = (icestream_error){.status = ICESTREAM_OK};
    const int status = icestream_bench(config, &options, out, error);
    fclose(out);
    json_t *root = json_loads(text, 0, NULL), *row;
    json_array_foreach(json_object_get(root, "against"), i, row)
    {
        ck_assert_str_eq(text_of(row, "verdict"), verdict);
    }
    json_decref(root);
    free(text);
    return status;
}

/* Times are not checked: the earlier report is a thousand times slower or faster. */
START_TEST(against_an_earlier_report)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_error error;
    icestream_config *config =
        model_config("device.backend=cpu", "device.threads=1", "ice.model=uniform",
                     "workload.steps=5", "graph.schedule=wavefront", NULL);
    json_t *root = bench_json(config, (icestream_bench_options){.repeats = 3});
    scratch_path(&place, "old.json", path);
    write_scaled(root, 1e3, path);
    ck_assert_int_eq(judge(config, path, "faster", &error), ICESTREAM_OK);
    write_scaled(root, 1e-3, path);
    ck_assert_int_eq(judge(config, path, "slower", &error), ICESTREAM_E_DIFFERENT);
    ck_assert_ptr_nonnull(strstr(error.text, "wavefront"));
    json_object_set_new(root, "best_of", json_integer(1));
    write_scaled(root, 1, path);
    ck_assert_int_eq(judge(config, path, "", &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "old.json: best_of: found 1 repeats"));
    json_object_set_new(root, "photons", json_integer(7));
    write_scaled(root, 1, path);
    ck_assert_int_eq(judge(config, path, "", &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "photons: found 7, expected 1000"));
    scratch_write(path, "none", 4);
    ck_assert_int_eq(judge(config, path, "", &error), ICESTREAM_E_INPUT);
    json_decref(root);
    icestream_config_destroy(config);
    scratch_remove(&place);
}
END_TEST

START_TEST(schedules_and_threads)
{
    icestream_config *config = model_config("device.backend=cpu", "device.threads=2",
                                            "ice.model=uniform", "workload.steps=5", NULL);
    json_t *root = bench_json(config, (icestream_bench_options){.repeats = 2});
    ck_assert_int_eq(whole_of(root, "photons"), 1000);
    ck_assert_int_eq(whole_of(root, "best_of"), 2);
    ck_assert(json_is_null(json_object_get(root, "world")));
    /* Two schedules, each on one thread and on two. */
    const json_t *rows = json_object_get(root, "rows");
    ck_assert_uint_eq(json_array_size(rows), 4);
    json_int_t bounces = whole_of(json_array_get(rows, 0), "bounces");
    ck_assert_int_gt(bounces, 1000);
    for (size_t i = 0; i < 4; ++i) {
        const json_t *row = json_array_get(rows, i);
        ck_assert_str_eq(text_of(row, "name"), i < 2 ? "wavefront" : "monolithic");
        ck_assert_str_eq(text_of(row, "backend"), "cpu");
        ck_assert_int_eq(whole_of(row, "threads"), 1 + i % 2);
        ck_assert_int_eq(whole_of(row, "bounces"), bounces);
        ck_assert_double_eq(number_of(row, "bounces_per_photon"), (double)bounces / 1000);
        ck_assert_double_gt(number_of(row, "photons_per_second"), 0);
        ck_assert_double_ge(number_of(row, "median_seconds"), number_of(row, "seconds"));
        if (i % 2 == 0) {
            ck_assert_double_eq(number_of(row, "scaling"), 1);
        }
        /* Thread time over photons: seconds times threads. */
        ck_assert_double_eq_tol(number_of(row, "nanoseconds_per_photon_and_thread"),
                                number_of(row, "seconds") * (double)(1 + i % 2) * 1e6, 1e-3);
    }
    json_decref(root);

    char *text = bench(config, &(icestream_bench_options){.repeats = 1});
    ck_assert_ptr_nonnull(strstr(text, "\nwavefront "));
    ck_assert_ptr_nonnull(strstr(text, "\nmonolithic "));
    ck_assert_ptr_null(strstr(text, "median"));
    free(text);
    text = bench(config, &(icestream_bench_options){.repeats = 1, .markdown = true});
    ck_assert_ptr_nonnull(strstr(text, "\n| monolithic | "));
    free(text);
    icestream_config_destroy(config);
}
END_TEST

START_TEST(gpu_figures)
{
    /* 1e9 photons of 20 bounces in half a second of kernels: what a GPU would report. */
    ics_row row = {.best = {.schedule = ICS_SCHEDULE_EVENT_WAVEFRONT,
                            .automatic = true,
                            .on_gpu = true,
                            .fast_math = true,
                            .device = "GPU X",
                            .seconds = 0.625,
                            .gpu = {.kernel_seconds = 0.5, .bytes_per_bounce = 14},
                            .notes = {.choice = "event-wavefront 0.5 ns\n", .warnings = "hot"},
                            .account = {.created = 1000000000, .bounces = 20000000000}},
                   .median_seconds = 0.75,
                   .stage_seconds = {1, 2, 3, 4}};
    ics_rows_set_name(&row);
    ck_assert_str_eq(row.name, "auto (event-wavefront)");
    json_t *root = ics_rows_json(&row);
    ck_assert_ptr_nonnull(root);
    ck_assert_double_eq(number_of(root, "photons_per_second"), 1.6e9);
    const json_t *gpu = json_object_get(root, "gpu");
    ck_assert_double_eq_tol(number_of(gpu, "nanoseconds_per_photon"), 0.5, 1e-12);
    ck_assert_double_eq_tol(number_of(gpu, "nanoseconds_per_bounce"), 0.025, 1e-12);
    ck_assert_double_eq_tol(number_of(gpu, "bounces_per_second"), 4e10, 10);
    ck_assert_double_eq_tol(number_of(gpu, "gigabytes_per_second"), 560, 1e-9);
    ck_assert_double_eq_tol(number_of(json_object_get(gpu, "stage_shares"), "collide"), 0.3, 1e-12);
    json_decref(root);

    const ics_row *list[] = {&row};
    char *text = NULL;
    size_t size = 0;
    icestream_error error = {0};
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(ics_rows_print(list, 1, true, out, &error), ICESTREAM_OK);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, " 0.5000 | "));
    ck_assert_ptr_nonnull(
        strstr(text, "\nauto (event-wavefront) was chosen:\n  event-wavefront 0.5 ns\n"));
    ck_assert_ptr_nonnull(strstr(text, "\nauto (event-wavefront) warns:\n  hot\n"));
    free(text);

    /* A schedule that keeps photons out of the pool while they fly reports no traffic (null), which
     * is not a traffic of 0. */
    row.best.gpu.bytes_per_bounce = 0;
    root = ics_rows_json(&row);
    gpu = json_object_get(root, "gpu");
    ck_assert(json_is_null(json_object_get(gpu, "bytes_per_bounce")));
    ck_assert(json_is_null(json_object_get(gpu, "gigabytes_per_second")));
    json_decref(root);
}
END_TEST

START_TEST(one_schedule)
{
    /* One thread and one schedule: a single row, which bench/instructions.sh relies on. */
    icestream_config *config =
        model_config("device.backend=cpu", "device.threads=1", "ice.model=uniform",
                     "graph.schedule=monolithic", "workload.steps=5", NULL);
    json_t *root = bench_json(config, (icestream_bench_options){.repeats = 0});
    ck_assert_uint_eq(json_array_size(json_object_get(root, "rows")), 1);
    ck_assert_str_eq(text_of(json_array_get(json_object_get(root, "rows"), 0), "schedule"),
                     "monolithic");
    ck_assert_int_eq(whole_of(root, "best_of"), 3);
    json_decref(root);
    /* --schedules wins over graph.schedule. With auto, the row names the schedule that was chosen.
     */
    root = bench_json(config, (icestream_bench_options){.repeats = 1, .schedules = "auto"});
    const json_t *row = json_array_get(json_object_get(root, "rows"), 0);
    ck_assert_str_eq(text_of(row, "name"), "auto (wavefront)");
    ck_assert_str_eq(text_of(row, "schedule"), "wavefront");
    ck_assert(json_is_true(json_object_get(row, "automatic")));
    json_decref(root);
    icestream_config_destroy(config);
}
END_TEST

START_TEST(bench_errors)
{
    static const struct {
        const char *set;
        icestream_bench_options options;
        int status;
        const char *message;
    } cases[] = {
        {"workload.photons_per_step=0",
         {.repeats = 1},
         ICESTREAM_E_CONFIG,
         "workload.photons_per_step: found 0, expected 1 or more"},
        {"workload.steps=1",
         {.schedules = "event-wavefront"},
         ICESTREAM_E_USAGE,
         "schedules of the CPU"},
        {"workload.steps=1",
         {.schedules = "wavefront,wavefront"},
         ICESTREAM_E_USAGE,
         "is given twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        icestream_config *config = model_config("device.backend=cpu", cases[i].set, NULL);
        icestream_error error = {0};
        ck_assert_int_eq(icestream_bench(config, &cases[i].options, stdout, &error),
                         cases[i].status);
        ck_assert_msg(strstr(error.text, cases[i].message) != NULL, "%s", error.text);
        icestream_config_destroy(config);
    }
}
END_TEST

ICS_TEST_MAIN("bench")
{
    TCase *tests = tcase_create("bench");
    tcase_add_test(tests, schedules_and_threads);
    tcase_add_test(tests, against_an_earlier_report);
    tcase_add_test(tests, gpu_figures);
    tcase_add_test(tests, one_schedule);
    tcase_add_test(tests, bench_errors);
    suite_add_tcase(suite, tests);
}
