/* Promises of reading journals: incomplete and unknown lines are counted, and the summary is right.
 * How to join: write lines with append_text() and read them with summarise() (journal_place.h). */
#include "tests/support/test_main.h"
#include "tests/telemetry/journal_place.h"

#include <stdlib.h>
#include <sys/stat.h>

/* ---- incomplete lines ------------------------------------------------------------------------ */

static const char half[] = "{\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"do";
static const char whole[] =
    "{\"time\":\"2026-01-01T00:00:01.000Z\",\"event\":\"claimed\",\"worker\":\"w0\","
    "\"file\":\"b\"}\n";

/* Counts the lines of the journal that are JSON, without the reader that is tested. */
static int whole_lines(void)
{
    size_t size = 0;
    char *text = (char *)scratch_read(path, &size);
    int count = 0;
    text[size] = '\0';
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        json_t *json = json_loads(line, 0, NULL);
        count += json != NULL;
        json_decref(json);
    }
    free(text);
    return count;
}

START_TEST(an_incomplete_line_is_ended)
{
    append_text(whole);
    append_text(half); /* the process that wrote it was killed */
    ics_journal *journal = open_journal("w1");
    append(journal, &(ics_event){.kind = ICS_EVENT_CLAIMED, .file = "a", .attempt = 1});
    append(journal, &(ics_event){.kind = ICS_EVENT_CLAIMED, .file = "c", .attempt = 1});
    ics_journal_destroy(journal);
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, 3);
    ck_assert_uint_eq(summary->lines.torn, 1);
    ck_assert_uint_eq(whole_of(summary->counts, "claimed"), 3);
    ck_assert_uint_eq(json_object_size(summary->open), 3);
    ck_assert_int_eq(whole_lines(), 3);
    ics_journal_summary_destroy(summary);
}
END_TEST

START_TEST(a_line_after_an_incomplete_one_is_read)
{
    /* Another process had opened the journal before the first one was killed. */
    append_text(half);
    append_text(whole);
    append_text("{\"time\":\"2026-01-01T00:00:02.000Z\",\"event\":\"failed\",\"worker\":\"w0\","
                "\"file\":\"b\",\"reason\":\"{\\\"time\\\":\\\"\"}\n");
    append_text(half); /* still being written */
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, 2);
    ck_assert_uint_eq(summary->lines.torn, 2);
    ck_assert_uint_eq(whole_of(summary->counts, "claimed"), 1);
    ck_assert_uint_eq(whole_of(summary->counts, "failed"), 1);
    ck_assert_str_eq(text_of(json_array_get(summary->troubles, 0), "reason"), "{\"time\":\"");
    ics_journal_summary_destroy(summary);
}
END_TEST

START_TEST(strange_lines_are_counted)
{
    append_text("\n");
    append_text("[1, 2]\n");
    append_text("{\"time\":\"2026-01-01T00:00:02.000Z\",\"event\":\"dance\",\"worker\":\"w0\"}\n");
    append_text("{\"time\":\"yesterday\",\"event\":\"done\",\"worker\":\"w0\"}\n");
    append_text("{\"event\":\"done\",\"worker\":\"w0\"}\n");
    append_text("no JSON\n");
    char zeros[64] = {0};
    int descriptor = open(path, O_WRONLY | O_APPEND);
    ck_assert_int_eq(write(descriptor, zeros, sizeof zeros),
                     sizeof zeros); /* as after a power cut */
    close(descriptor);
    ics_journal *journal = open_journal("w1");
    append(journal, &(ics_event){.kind = ICS_EVENT_DONE, .file = "a", .photons = 5});
    ics_journal_destroy(journal);
    /* A line that icestream never writes. */
    char *long_line = malloc(200000);
    memset(long_line, 'x', 199999);
    long_line[199998] = '\n';
    long_line[199999] = '\0';
    append_text(long_line);
    free(long_line);
    append_text(whole);
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, 2);
    ck_assert_uint_eq(summary->lines.unknown, 4);
    ck_assert_uint_eq(summary->lines.torn, 3);
    ck_assert_uint_eq(whole_of(summary->counts, "photons"), 5);
    ics_journal_summary_destroy(summary);
}
END_TEST

START_TEST(a_full_disk_is_reported_and_survived)
{
    ics_journal *journal = open_journal("w1");
    append(journal, &(ics_event){.kind = ICS_EVENT_DONE, .file = "a", .photons = 1});
    struct stat about;
    ck_assert_int_eq(stat(path, &about), 0);
    /* The file can grow by half a line: one write is incomplete, the next one fails. */
    scratch_limit_files((size_t)about.st_size + 20);
    icestream_error error = {0};
    int status =
        ics_journal_append(journal, &(ics_event){.kind = ICS_EVENT_CLAIMED, .file = "b"}, &error);
    scratch_unlimit_files();
    ck_assert_int_eq(status, ICESTREAM_E_OUTPUT);
    ck_assert_msg(strstr(error.text, path) != NULL, "%s", error.text);
    append(journal, &(ics_event){.kind = ICS_EVENT_DONE, .file = "c", .photons = 2});
    ics_journal_destroy(journal);
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, 2);
    ck_assert_uint_eq(summary->lines.torn, 1);
    ck_assert_uint_eq(whole_of(summary->counts, "photons"), 3);
    ck_assert_int_eq(whole_lines(), 2);
    ics_journal_summary_destroy(summary);
}
END_TEST

/* ---- summaries ------------------------------------------------------------------------------- */

START_TEST(summary_of_a_run)
{
    append_text(
        "{\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"start\",\"worker\":\"w0\",\"pid\":12,"
        "\"host\":\"h\",\"folder\":\"/data\",\"spool\":\"in/.icestream\","
        "\"quarantine\":\"/bad\"}\n"
        "{\"time\":\"2026-01-01T00:00:01.000Z\",\"event\":\"claimed\",\"worker\":\"w0\","
        "\"file\":\"a\"}\n"
        "{\"time\":\"2026-01-01T00:00:02.000Z\",\"event\":\"claimed\",\"worker\":\"w0\","
        "\"file\":\"b\"}\n"
        "{\"time\":\"2026-01-01T00:00:03.000Z\",\"event\":\"retried\",\"worker\":\"w0\","
        "\"file\":\"a\",\"reason\":\"EIO\",\"attempt\":1,\"seconds\":0.5}\n"
        "{\"time\":\"2026-01-01T00:00:11.000Z\",\"event\":\"done\",\"worker\":\"w0\","
        "\"file\":\"a\",\"photons\":1000,\"hits\":10,\"seconds\":10}\n"
        "{\"time\":\"2026-01-01T00:00:20.000Z\",\"event\":\"quarantined\",\"worker\":\"w0\","
        "\"file\":\"b\",\"reason\":\"row 3\"}\n"
        "{\"time\":\"2026-01-01T00:00:20.500Z\",\"event\":\"start\",\"worker\":\"w1\","
        "\"spool\":\"/data/in/.icestream\"}\n"
        "{\"time\":\"2026-01-01T00:00:21.000Z\",\"event\":\"claimed\",\"worker\":\"w1\","
        "\"file\":\"c\"}\n"
        "{\"time\":\"2026-01-01T00:00:22.000Z\",\"event\":\"paused\",\"worker\":\"w1\","
        "\"reason\":\"disk full\"}\n"
        "{\"time\":\"2026-01-01T00:00:40.000Z\",\"event\":\"stop\",\"worker\":\"w0\","
        "\"exit_status\":3}\n");
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(json_object_size(summary->workers), 2);
    const json_t *first = json_object_get(summary->workers, "w0");
    ck_assert_str_eq(text_of(first, "worker"), "w0");
    ck_assert_str_eq(text_of(first, "host"), "h");
    ck_assert_int_eq(whole_of(first, "pid"), 12);
    ck_assert_str_eq(text_of(first, "state"), "stopped");
    ck_assert_int_eq(whole_of(first, "exit_status"), 3);
    ck_assert_str_eq(text_of(first, "last_event"), "stop");
    ck_assert_str_eq(text_of(json_object_get(summary->workers, "w1"), "state"), "paused");
    ck_assert_uint_eq(whole_of(summary->counts, "claimed"), 3);
    ck_assert_uint_eq(whole_of(json_object_get(first, "counts"), "claimed"), 2);
    ck_assert_uint_eq(whole_of(summary->counts, "done"), 1);
    ck_assert_uint_eq(whole_of(summary->counts, "hits"), 10);
    ck_assert_uint_eq(whole_of(summary->counts, "quarantined"), 1);
    ck_assert_uint_eq(whole_of(summary->counts, "retried"), 1);
    ck_assert_uint_eq(json_object_size(summary->open), 1);
    ck_assert_str_eq(text_of(json_object_get(summary->open, "c"), "worker"), "w1");
    ck_assert_uint_eq(json_array_size(summary->spools), 1);
    ck_assert_str_eq(json_string_value(json_array_get(summary->spools, 0)), "/data/in/.icestream");
    ck_assert_str_eq(json_string_value(json_array_get(summary->quarantines, 0)), "/bad");
    ck_assert_double_eq(ics_latency_quantile(&summary->latency, 0.5), 10.0);
    ck_assert_double_eq_tol(ics_journal_rate(summary), 1000.0 / 40.0, 1e-9);
    ck_assert_double_eq_tol(ics_journal_recent_rate(summary, summary->first + 50.0), 1000.0 / 50.0,
                            1e-9);
    ck_assert_double_eq(ics_journal_recent_rate(summary, summary->first + 700.0), 0.0);
    ck_assert_str_eq(text_of(json_array_get(summary->troubles, 0), "reason"), "disk full");
    ck_assert_str_eq(text_of(json_array_get(summary->troubles, 1), "file"), "b");
    ck_assert_uint_eq(json_array_size(summary->troubles), 3);
    ics_journal_summary_destroy(summary);
}
END_TEST

START_TEST(many_workers_and_troubles)
{
    for (int i = 0; i < 100; ++i) {
        char worker[32], file[32];
        snprintf(worker, sizeof worker, "w%d", i);
        snprintf(file, sizeof file, "f%d", i);
        ics_journal *journal = open_journal(worker);
        append(journal, &(ics_event){.kind = ICS_EVENT_QUARANTINED, .file = file, .reason = "bad"});
        ics_journal_destroy(journal);
    }
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(json_object_size(summary->workers), 100);
    ck_assert_ptr_nonnull(json_object_get(summary->workers, "w99"));
    ck_assert_str_eq(text_of(json_array_get(summary->troubles, 0), "file"), "f99");
    ck_assert_str_eq(text_of(json_array_get(summary->troubles, ICS_JOURNAL_TROUBLES - 1), "file"),
                     "f90");
    ck_assert_uint_eq(json_array_size(summary->troubles), ICS_JOURNAL_TROUBLES);
    ics_journal_summary_destroy(summary);
}
END_TEST

ICS_TEST_MAIN("journal reader")
{
    TCase *all = tcase_create("reader");
    tcase_add_checked_fixture(all, open_place, close_place);
    tcase_add_test(all, an_incomplete_line_is_ended);
    tcase_add_test(all, a_line_after_an_incomplete_one_is_read);
    tcase_add_test(all, strange_lines_are_counted);
    tcase_add_test(all, a_full_disk_is_reported_and_survived);
    tcase_add_test(all, summary_of_a_run);
    tcase_add_test(all, many_workers_and_troubles);
    suite_add_tcase(suite, all);
}
