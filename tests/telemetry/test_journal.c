/* Promises of run.journal: the fields of lines, complete lines from several threads and processes,
 * and log rotation. How to join: a test has an empty folder; append events with append() and read
 * them with only_line() or summarise() (journal_place.h). */
#include "base/clock.h"
#include "tests/support/test_main.h"
#include "tests/telemetry/journal_place.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The only line of the journal. */
static json_t *only_line(void)
{
    size_t size = 0;
    char *text = (char *)scratch_read(path, &size);
    ck_assert_uint_gt(size, 0);
    ck_assert_uint_le(size, PIPE_BUF);
    ck_assert_ptr_eq(memchr(text, '\n', size), text + size - 1);
    json_error_t error;
    json_t *line = json_loadb(text, size, 0, &error);
    ck_assert_msg(line != NULL, "%s", error.text);
    free(text);
    return line;
}

/* ---- lines ----------------------------------------------------------------------------------- */

START_TEST(every_field)
{
    ics_journal *journal = open_journal("w1");
    double before = ics_clock_unix(), time = 0.0;
    append(journal, &(ics_event){.kind = ICS_EVENT_DONE,
                                 .file = "in/a.steps.npy",
                                 .output = "hits/a.hits.npy",
                                 .input_digest = "00ff",
                                 .output_digest = "11ee",
                                 .output_bytes = 4096,
                                 .photons = UINT64_C(1) << 62,
                                 .hits = 0,
                                 .seconds = 0.25});
    ics_journal_destroy(journal);
    json_t *line = only_line();
    ck_assert_str_eq(text_of(line, "event"), "done");
    ck_assert_str_eq(text_of(line, "worker"), "w1");
    ck_assert_str_eq(text_of(line, "file"), "in/a.steps.npy");
    ck_assert_str_eq(text_of(line, "output"), "hits/a.hits.npy");
    ck_assert_str_eq(text_of(line, "input_digest"), "00ff");
    ck_assert_str_eq(text_of(line, "output_digest"), "11ee");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "output_bytes")), 4096);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "photons")), INT64_C(1) << 62);
    ck_assert(json_is_integer(json_object_get(line, "hits")));
    ck_assert_double_eq(json_real_value(json_object_get(line, "seconds")), 0.25);
    ck_assert_ptr_null(json_object_get(line, "reason"));
    ck_assert_ptr_null(json_object_get(line, "attempt"));
    ck_assert(ics_event_time_of_text(text_of(line, "time"), &time));
    ck_assert_double_ge(time, before - 0.002);
    ck_assert_double_le(time, ics_clock_unix());
    json_decref(line);
}
END_TEST

START_TEST(start_names_the_process)
{
    ics_journal *journal = open_journal("w1");
    append(journal, &(ics_event){.kind = ICS_EVENT_START, .source = "in", .files = 7});
    ics_journal_destroy(journal);
    json_t *line = only_line();
    char folder[PATH_MAX];
    ck_assert_int_eq(json_integer_value(json_object_get(line, "pid")), getpid());
    ck_assert_int_eq(json_integer_value(json_object_get(line, "files")), 7);
    ck_assert_str_eq(text_of(line, "folder"), getcwd(folder, sizeof folder));
    ck_assert_str_eq(text_of(line, "version"), ICESTREAM_VERSION);
    ck_assert_str_eq(text_of(line, "source"), "in");
    ck_assert_uint_gt(strlen(text_of(line, "host")), 0);
    json_decref(line);
}
END_TEST

START_TEST(long_texts_are_cut)
{
    static const char *const units[] = {"x", "\xc3\xa4", "\x01", "\xff"};
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        (void)unlink(path);
        char reason[9000] = "because ", name[3000] = "a";
        for (size_t j = strlen(reason); j + 3 < sizeof reason; j += strlen(units[i])) {
            strcat(reason + j, units[i]);
        }
        memset(name, 'n', sizeof name - 1);
        ics_journal *journal = open_journal("w1");
        append(journal, &(ics_event){.kind = ICS_EVENT_FAILED,
                                     .file = "short",
                                     .output = name,
                                     .reason = reason,
                                     .attempt = 2});
        ics_journal_destroy(journal);
        json_t *line = only_line();
        ck_assert_str_eq(text_of(line, "file"), "short");
        ck_assert_int_eq(json_integer_value(json_object_get(line, "attempt")), 2);
        ck_assert_int_eq(strncmp(text_of(line, "reason"), "because ", 8), 0);
        size_t length = strlen(text_of(line, "reason"));
        ck_assert_str_eq(text_of(line, "reason") + length - 6, " [cut]");
        json_decref(line);
    }
}
END_TEST

START_TEST(events_of_the_log_are_not_written)
{
    ics_journal *journal = open_journal("w1");
    append(journal, &(ics_event){.kind = ICS_EVENT_PROGRESS});
    append(journal, &(ics_event){.kind = ICS_EVENT_WARNING, .reason = "odd"});
    ics_journal_destroy(journal);
    struct stat about;
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_int_eq(about.st_size, 0);
}
END_TEST

START_TEST(times_are_written_and_read_back)
{
    static const char *const texts[] = {"1970-01-01T00:00:00.000Z", "2026-11-21T22:48:53.999Z",
                                        "2024-02-29T23:59:59.001Z", "2037-12-31T00:00:00.123Z"};
    char back[ICS_EVENT_TIME];
    double time = 0.0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        ck_assert(ics_event_time_of_text(texts[i], &time));
        ck_assert_str_eq(ics_event_time_text(time, back), texts[i]);
    }
    ck_assert_double_eq(time, 2145830400.123);
    static const char *const wrong[] = {"",
                                        "now",
                                        "2026-11-21 22:48:53.999Z",
                                        "2026-11-21T22:48:53Z",
                                        "2026-11-21T22:48:53.99Z",
                                        "2026-11-21T22:48:53.999",
                                        "2026-11-21T22:48:53.999Z "};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        ck_assert_msg(!ics_event_time_of_text(wrong[i], &time), "accepted '%s'", wrong[i]);
    }
}
END_TEST

START_TEST(ages_are_written_for_people)
{
    static const struct {
        const char *now, *age;
    } cases[] = {
        {"2026-11-21T22:48:53.000Z", "0 s"},
        {"2026-11-21T22:48:55.999Z", "2 s"},
        {"2026-11-21T22:48:52.000Z", "0 s"},
        {"2026-11-21T22:50:23.000Z", "2 min"},
        {"2026-11-22T00:48:53.000Z", "2.0 h"},
        {"2026-11-24T22:48:53.000Z", "3 days"},
        {"yesterday", "-"},
    };
    char text[ICS_EVENT_AGE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_str_eq(ics_event_age_text(cases[i].now, "2026-11-21T22:48:53.000Z", text),
                         cases[i].age);
    }
    ck_assert_str_eq(ics_event_age_text("2026-11-21T22:48:53.000Z", "", text), "-");
}
END_TEST

/* ---- sharing and rotation -------------------------------------------------------------------- */

enum { PROCESSES = 4, THREADS = 2, LINES = 300 };

static void *append_many(void *user)
{
    ics_journal *journal = user;
    char name[32];
    for (int i = 0; i < LINES; ++i) {
        snprintf(name, sizeof name, "file-%d", i);
        const ics_event claim = {.kind = ICS_EVENT_CLAIMED, .file = name, .attempt = 1};
        icestream_error error = {0};
        if (ics_journal_append(journal, &claim, &error) != ICESTREAM_OK) {
            return journal;
        }
    }
    return NULL;
}

START_TEST(processes_and_threads_share_a_journal)
{
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; ++i) {
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0) {
            char worker[32];
            snprintf(worker, sizeof worker, "worker-%d", i);
            ics_journal *journal = open_journal(worker);
            pthread_t threads[THREADS];
            int failed = 0;
            for (int j = 0; j < THREADS; ++j) {
                failed |= pthread_create(&threads[j], NULL, append_many, journal);
            }
            for (int j = 0; j < THREADS; ++j) {
                void *result = NULL;
                failed |= pthread_join(threads[j], &result) != 0 || result != NULL;
            }
            ics_journal_destroy(journal);
            _exit(failed != 0);
        }
    }
    for (int i = 0; i < PROCESSES; ++i) {
        int status = 0;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_int_eq(status, 0);
    }
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.torn, 0);
    ck_assert_uint_eq(whole_of(summary->counts, "claimed"), PROCESSES * THREADS * LINES);
    ck_assert_uint_eq(json_object_size(summary->workers), PROCESSES);
    const char *name;
    json_t *worker;
    json_object_foreach(summary->workers, name, worker)
    {
        ck_assert_int_eq(whole_of(json_object_get(worker, "counts"), "claimed"), THREADS * LINES);
    }
    ck_assert_uint_eq(json_object_size(summary->open), LINES);
    ics_journal_summary_destroy(summary);
}
END_TEST

START_TEST(log_rotation)
{
    char old[SCRATCH_PATH];
    scratch_path(&place, "run.journal.1", old);
    ics_journal *journal = open_journal("w1");
    icestream_error error = {0};
    append(journal, &(ics_event){.kind = ICS_EVENT_CLAIMED, .file = "a"});
    ck_assert_int_eq(rename(path, old), 0);
    append(journal, &(ics_event){.kind = ICS_EVENT_DONE, .file = "a"}); /* goes to the old file */
    ck_assert_int_eq(ics_journal_reopen(journal, &error), ICESTREAM_OK);
    append(journal, &(ics_event){.kind = ICS_EVENT_CLAIMED, .file = "b"});
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(whole_of(summary->counts, "claimed"), 1);
    ck_assert_uint_eq(whole_of(summary->counts, "done"), 0);
    ck_assert_ptr_nonnull(json_object_get(summary->open, "b"));
    ics_journal_summary_destroy(summary);

    /* If a folder has the name of the journal, the journal continues in the old file. */
    ck_assert_int_eq(rename(path, old), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_assert_int_eq(ics_journal_reopen(journal, &error), ICESTREAM_E_OUTPUT);
    append(journal, &(ics_event){.kind = ICS_EVENT_DONE, .file = "b"});
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rename(old, path), 0);
    summary = summarise();
    ck_assert_uint_eq(whole_of(summary->counts, "done"), 1);
    ics_journal_summary_destroy(summary);
    ics_journal_destroy(journal);
}
END_TEST

START_TEST(reopened_while_written)
{
    ics_journal *journal = open_journal("w1");
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, append_many, journal), 0);
    for (int i = 0; i < 100; ++i) {
        icestream_error error = {0};
        ck_assert_int_eq(ics_journal_reopen(journal, &error), ICESTREAM_OK);
        append(journal, &(ics_event){.kind = ICS_EVENT_STOP});
    }
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_null(result);
    ics_journal_destroy(journal);
    ics_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, LINES + 100);
    ck_assert_uint_eq(summary->lines.torn, 0);
    ics_journal_summary_destroy(summary);
}
END_TEST

START_TEST(paths_that_cannot_be_a_journal)
{
    ics_journal *journal = NULL;
    icestream_error error = {0};
    ck_assert_int_eq(mkfifo(path, 0666), 0);
    ck_assert_int_eq(ics_journal_create(path, "w", &journal, &error), ICESTREAM_E_OUTPUT);
    ck_assert_msg(strstr(error.text, "not a file") != NULL, "%s", error.text);
    ck_assert_ptr_null(journal);
    ics_journal_reader *reader = NULL;
    ck_assert_int_eq(ics_journal_reader_create(path, &reader, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_null(reader);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(ics_journal_reader_create(path, &reader, &error), ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, "No such file") != NULL, "%s", error.text);
    char missing[SCRATCH_PATH + 16];
    snprintf(missing, sizeof missing, "%s/none/run.journal", place.folder);
    ck_assert_int_eq(ics_journal_create(missing, "w", &journal, &error), ICESTREAM_E_OUTPUT);
    /* /dev/null, for users who want no journal. */
    ck_assert_int_eq(ics_journal_create("/dev/null", "w", &journal, &error), ICESTREAM_OK);
    append(journal, &(ics_event){.kind = ICS_EVENT_DONE, .file = "a"});
    ics_journal_destroy(journal);
}
END_TEST

ICS_TEST_MAIN("journal")
{
    TCase *all = tcase_create("journal");
    tcase_add_checked_fixture(all, open_place, close_place);
    tcase_add_test(all, every_field);
    tcase_add_test(all, start_names_the_process);
    tcase_add_test(all, long_texts_are_cut);
    tcase_add_test(all, events_of_the_log_are_not_written);
    tcase_add_test(all, times_are_written_and_read_back);
    tcase_add_test(all, ages_are_written_for_people);
    tcase_add_test(all, processes_and_threads_share_a_journal);
    tcase_add_test(all, log_rotation);
    tcase_add_test(all, reopened_while_written);
    tcase_add_test(all, paths_that_cannot_be_a_journal);
    suite_add_tcase(suite, all);
}
