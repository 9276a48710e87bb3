/* Promises of live_history.h: the history of a run covers it from the beginning in a limited number
 * of points, and the state of a run has its name. How to join: a new state is a row of `states`. */
#include "pipeline/production/telemetry/live_history.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>

static const ics_live_about about = {.worker = "farm-7", .configuration = "run.yaml"};

/* Parses the object; the caller releases it. */
static json_t *object_of(const ics_live_history *history, const ics_metrics *metrics)
{
    char *text = ics_live_history_text(history, metrics, &about);
    json_error_t why;
    json_t *object = json_loads(text, 0, &why);
    ck_assert_msg(object != NULL, "%s: %s", why.text, text);
    free(text);
    return object;
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
    tcase_add_test(all, test_states);
    suite_add_tcase(suite, all);
}
