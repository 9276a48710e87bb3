/* Promises of live_history.h: the history of a run covers it from the beginning in a limited number
 * of points, and the object of /status.json has every number of the snapshot. How to join: give a
 * new key a value in test_the_object_has_every_number. */
#include "pipeline/telemetry/live_history.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const ics_live_about about = {.worker = "farm-7", .configuration = "run.yaml"};

/* Parses the object; the caller releases it. */
static json_t *object_of(const ics_live_history *history, const ics_metrics *metrics)
{
    char *text = NULL;
    ck_assert_int_eq(ics_live_history_text(history, metrics, &about, &text, NULL), ICESTREAM_OK);
    json_error_t why;
    json_t *object = json_loads(text, 0, &why);
    ck_assert_msg(object != NULL, "%s: %s", why.text, text);
    free(text);
    return object;
}

static json_int_t whole(const json_t *object, const char *group, const char *key)
{
    const json_t *value = json_object_get(json_object_get(object, group), key);
    ck_assert_msg(json_is_integer(value), "%s.%s is no integer", group, key);
    return json_integer_value(value);
}

START_TEST(test_points_stay_few_and_regular)
{
    enum { SNAPSHOTS = 5000 };
    ics_live_history *history = calloc(1, sizeof *history);
    ics_metrics *metrics = calloc(1, sizeof *metrics);
    ics_live_history_begin(history);
    for (uint64_t i = 0; i < SNAPSHOTS; ++i) {
        metrics->photons = 10 * i;
        ics_live_history_add(history, metrics, history->progress.start + (double)i);
        ck_assert_uint_le(history->count, ICS_LIVE_POINTS);
    }
    ck_assert_uint_gt(history->count, ICS_LIVE_POINTS / 2 - 1);
    for (size_t i = 0; i < history->count; ++i) {
        ck_assert_uint_eq(history->points[i].photons, 10 * i * history->distance);
        ck_assert_double_eq_tol(history->points[i].seconds, (double)(i * history->distance), 1e-3);
    }
    /* The last snapshot is always shown. */
    json_t *object = object_of(history, metrics);
    const json_t *points = json_object_get(object, "history");
    const json_t *last = json_array_get(points, json_array_size(points) - 1);
    ck_assert_int_eq(json_integer_value(json_array_get(last, 1)), 10 * (SNAPSHOTS - 1));
    ck_assert_double_eq_tol(json_number_value(json_object_get(object, "photons_per_second")), 10.0,
                            1e-6);
    json_decref(object);
    free(metrics);
    free(history);
}
END_TEST

START_TEST(test_a_run_that_starts_has_a_state_only)
{
    ics_live_history *history = calloc(1, sizeof *history);
    ics_live_history_begin(history);
    json_t *object = object_of(history, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(object, "state")), "starting");
    ck_assert_str_eq(json_string_value(json_object_get(object, "worker")), "farm-7");
    ck_assert_ptr_null(json_object_get(object, "photons"));
    json_decref(object);
    free(history);
}
END_TEST

static void fill(ics_metrics *metrics)
{
    *metrics =
        (ics_metrics){.photons = 100,
                      .photons_expected = 1000,
                      .hits = 7,
                      .bounces = 300,
                      .absorbed = 60,
                      .detected = 7,
                      .left = 32,
                      .stopped = 1,
                      .bytes_read = 64,
                      .bytes_written = 128,
                      .retries = 2,
                      .files_taken = 9,
                      .files_done = 5,
                      .files_skipped = 1,
                      .files_quarantined = 2,
                      .files_failed = 3,
                      .files_waiting = 4,
                      .files_claimed = 6,
                      .files_expected = 20,
                      .latency = {.count = 5, .p50 = 1.0, .p90 = 2.0, .p99 = 3.0, .max = 4.0},
                      .device_count = 2};
    metrics->devices[0] = (ics_metrics_device){.id = "cuda:0",
                                               .name = "NVIDIA \xff",
                                               .schedule = "monolithic",
                                               .photons = 90,
                                               .alive = true};
    metrics->devices[1] = (ics_metrics_device){.id = "cpu", .name = "cpu", .photons = 10};
    ics_metrics_add_queue(metrics, "batches", 3, 8);
    for (int i = 0; i < ICS_METRICS_WARNINGS + 3; ++i) {
        char text[64];
        snprintf(text, sizeof text, "warning %d of \x1b[31ma\nfile", i);
        ics_metrics_warn(&metrics->warnings, text);
    }
}

START_TEST(test_the_object_has_every_number)
{
    static const struct {
        const char *group, *key;
        json_int_t value;
    } numbers[] = {{"account", "created", 100},
                   {"account", "absorbed", 60},
                   {"account", "detected", 7},
                   {"account", "left", 32},
                   {"account", "stopped", 1},
                   {"account", "hits", 7},
                   {"account", "bounces", 300},
                   {"files", "expected", 20},
                   {"files", "taken", 9},
                   {"files", "waiting", 4},
                   {"files", "claimed", 6},
                   {"files", "done", 5},
                   {"files", "skipped", 1},
                   {"files", "quarantined", 2},
                   {"files", "failed", 3},
                   {"latency", "count", 5},
                   {"warnings", "total", ICS_METRICS_WARNINGS + 3}};
    ics_live_history *history = calloc(1, sizeof *history);
    ics_metrics *metrics = calloc(1, sizeof *metrics);
    ics_live_history_begin(history);
    fill(metrics);
    ics_live_history_add(history, metrics, history->progress.start + 1.0);
    json_t *object = object_of(history, metrics);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        ck_assert_int_eq(whole(object, numbers[i].group, numbers[i].key), numbers[i].value);
    }
    const json_t *devices = json_object_get(object, "devices");
    ck_assert_uint_eq(json_array_size(devices), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(devices, 0), "schedule")),
                     "monolithic");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(devices, 0), "name")),
                     "NVIDIA ?");
    ck_assert(json_is_null(json_object_get(json_array_get(devices, 1), "schedule")));
    /* The last warnings, the newest first, as visible text. */
    const json_t *last = json_object_get(json_object_get(object, "warnings"), "last");
    ck_assert_uint_eq(json_array_size(last), ICS_METRICS_WARNINGS);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(last, 0), "text")),
                     "warning 18 of \\x1b[31ma\\nfile");
    json_decref(object);
    free(metrics);
    free(history);
}
END_TEST

START_TEST(test_states)
{
    static const struct {
        bool paused, stopping, ended;
        const char *name;
    } states[] = {{false, false, false, "running"},
                  {true, false, false, "paused"},
                  {true, true, false, "stopping"},
                  {true, true, true, "ended"}};
    ics_live_history *history = calloc(1, sizeof *history);
    ics_metrics *metrics = calloc(1, sizeof *metrics);
    ics_live_history_begin(history);
    for (size_t i = 0; i < sizeof states / sizeof *states; ++i) {
        metrics->paused = states[i].paused;
        metrics->stopping = states[i].stopping;
        metrics->ended = states[i].ended;
        metrics->exit_status = 3;
        json_t *object = object_of(history, metrics);
        const json_t *exit_status = json_object_get(object, "exit_status");
        ck_assert_str_eq(json_string_value(json_object_get(object, "state")), states[i].name);
        ck_assert_int_eq(json_is_null(exit_status), !states[i].ended);
        ck_assert_int_eq(json_integer_value(exit_status), states[i].ended ? 3 : 0);
        json_decref(object);
    }
    free(metrics);
    free(history);
}
END_TEST

ICS_TEST_MAIN("live history")
{
    TCase *all = tcase_create("history");
    tcase_add_test(all, test_points_stay_few_and_regular);
    tcase_add_test(all, test_a_run_that_starts_has_a_state_only);
    tcase_add_test(all, test_the_object_has_every_number);
    tcase_add_test(all, test_states);
    suite_add_tcase(suite, all);
}
