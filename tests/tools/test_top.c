/* Promises of `icestream top` (top_text.h): the state of a folder in lines that fit a terminal, of
 * which no byte of a file name is anything but text. How to join: add keys to `report` below, and
 * compare lines. */
#include "base/json_text.h"
#include "pipeline/tools/top/top_text.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char report[] =
    "{\"time\": \"2026-11-23T10:00:00.000Z\", \"folder\": \"hits\","
    "\"counts\": {\"done\": 12, \"skipped\": 1, \"quarantined\": 2, \"failed\": 3,"
    "             \"photons\": 24000000, \"hits\": 120000},"
    "\"photons_per_second\": 500000.0, \"photons_per_second_recent\": 800000.0,"
    "\"recent\": {\"seconds\": 10, \"photons\": [0, 4000000, 8000000]},"
    "\"latency\": {\"count\": 12, \"p50\": 1.5, \"p90\": 2.0, \"p99\": 3.0, \"max\": 120.0},"
    "\"workers\": ["
    " {\"worker\": \"old\", \"state\": \"stopped\", \"exit_status\": 3, \"starts\": 1,"
    "  \"start\": \"2026-11-23T09:00:00.000Z\", \"last\": \"2026-11-23T09:00:10.000Z\","
    "  \"last_event\": \"stop\", \"heartbeat\": null,"
    "  \"counts\": {\"done\": 4, \"quarantined\": 1, \"failed\": 1, \"photons\": 8000000}},"
    " {\"worker\": \"farm-7\", \"state\": \"running\", \"exit_status\": null, \"starts\": 2,"
    "  \"start\": \"2026-11-23T09:59:00.000Z\", \"last\": \"2026-11-23T09:59:58.000Z\","
    "  \"last_event\": \"claimed\", \"heartbeat\": \"2026-11-23T09:59:57.000Z\","
    "  \"counts\": {\"done\": 8, \"quarantined\": 1, \"failed\": 2, \"photons\": 16000000}}],"
    "\"in_work\": [{\"file\": \"in/\\u001b[2Ja\\nb.steps.npy\", \"worker\": \"farm-7\","
    "              \"abandoned\": false, \"since\": \"2026-11-23T09:58:00.000Z\"}],"
    "\"checkpoints\": [{\"file\": \"in/\\u001b[2Ja\\nb.steps.npy\", \"share\": 0.25}],"
    "\"troubles\": [{\"time\": \"2026-11-23T09:59:00.000Z\", \"event\": \"failed\","
    "               \"reason\": \"no \\u009b31m room\"}]}";

/* Writes the report for a terminal of this width; the caller frees it. */
static char *text_of(const char *json, int width)
{
    json_error_t why;
    json_t *object = json_loads(json, 0, &why);
    ck_assert_msg(object != NULL, "%s", why.text);
    ck_assert_int_eq(ics_json_make_visible(object), 0);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_int_eq(ics_top_text(object, width, out, NULL), ICESTREAM_OK);
    fclose(out);
    json_decref(object);
    return text;
}

static char *draw(const char *text, int width, int height)
{
    char *drawn = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&drawn, &size);
    ics_top_draw(text, width, height, out);
    fclose(out);
    return drawn;
}

START_TEST(test_everything_is_shown)
{
    static const char *const lines[] = {
        "2026-11-23T10:00:00 UTC  hits\n",
        "workers   1 running, 0 paused, 1 stopped, 0 gone\n",
        "files     12 done, 1 in work, 1 skipped, 2 quarantined, 3 failed\n",
        "photons   24.0 million, 120000 hits\n",
        "rate      800000/s in the last 10 min, 500000/s in all\n",
        "latency   half 1.5 s, 90 % 2 s, 99 % 3 s, all 2 min\n",
        "photons/s of files that were done, last 10 min, at most 800000\n",
        "  |  #\n  |  #\n  | ##\n  | ##\n",
        "last problems:\n  60 s ago, failed: no \\x9b31m room\n",
        "in work:\n  in/\\x1b[2Ja\\nb.steps.npy, 2 min, farm-7, 25 % in a checkpoint\n"};
    char *text = text_of(report, 100);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
        ck_assert_msg(strstr(text, lines[i]) != NULL, "no '%s' in\n%s", lines[i], text);
    }
    /* A worker that runs comes before one that has stopped; only one start gives a rate. */
    const char *running = strstr(text, "\nfarm-7"), *stopped = strstr(text, "\nold");
    ck_assert(running != NULL && stopped != NULL && running < stopped);
    ck_assert_ptr_nonnull(strstr(running, "3 s  claimed 2 s ago\n"));
    ck_assert_ptr_nonnull(strstr(stopped, "stopped (3)     4    2     800000"));
    ck_assert_ptr_null(strchr(text, '\x1b'));
    free(text);
}
END_TEST

START_TEST(test_a_folder_without_runs)
{
    char *text = text_of("{\"time\": \"2026-11-23T10:00:00.000Z\", \"folder\": \"hits\"}", 80);
    ck_assert_ptr_nonnull(strstr(text, "workers   none in the journal\n"));
    ck_assert_ptr_nonnull(strstr(text, "files     0 done"));
    free(text);
}
END_TEST

START_TEST(test_a_narrow_terminal_has_a_short_table)
{
    char *text = text_of(report, 40);
    ck_assert_ptr_null(strstr(text, "heartbeat"));
    ck_assert_ptr_nonnull(strstr(text, "worker        state  done  bad\n"));
    free(text);
    for (int width = 1; width < 8; ++width) {
        free(text_of(report, width));
    }
}
END_TEST

START_TEST(test_lines_are_cut_to_the_terminal)
{
    char *drawn = draw("one\n\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\nthree\nfour\n", 3, 4);
    ck_assert_str_eq(drawn, "\033[Hone\033[K\r\n\xc3\xa9\xc3\xa9\xc3\xa9\033[K\r\nthr\033[K\r\n"
                            "fou\033[K\033[J");
    free(drawn);
    drawn = draw("one\ntwo\nthree\n", 20, 2);
    ck_assert_str_eq(drawn, "\033[Hone\033[K\r\n... the terminal is \033[K\033[J");
    free(drawn);
    drawn = draw("one\n", 80, 3); /* lines that were there before are emptied */
    ck_assert_str_eq(drawn, "\033[Hone\033[K\r\n\033[K\r\n\033[K\033[J");
    free(drawn);
}
END_TEST

ICS_TEST_MAIN("top")
{
    TCase *all = tcase_create("text");
    tcase_add_test(all, test_everything_is_shown);
    tcase_add_test(all, test_a_folder_without_runs);
    tcase_add_test(all, test_a_narrow_terminal_has_a_short_table);
    tcase_add_test(all, test_lines_are_cut_to_the_terminal);
    suite_add_tcase(suite, all);
}
