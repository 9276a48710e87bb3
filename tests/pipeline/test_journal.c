/* run.journal: whole lines from several threads and processes, torn ones, rotation, and reading it
 * all back. */
#include "pipeline/telemetry/journal.h"
#include "pipeline/telemetry/journal_summary.h"
#include "tests/support/scratch_files.h"

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static scratch place;
static char path[SCRATCH_PATH];

static void open_place(void)
{
    place = scratch_create();
    scratch_path(&place, "run.journal", path);
}

static void close_place(void)
{
    scratch_remove(&place);
}

static is_journal *open_journal(const char *worker)
{
    is_journal *journal = NULL;
    is_error error = {0};
    ck_assert_msg(is_journal_create(path, worker, true, &journal, &error) == IS_OK, "%s",
                  error.text);
    return journal;
}

static void append(is_journal *journal, const is_event *event)
{
    is_error error = {0};
    ck_assert_msg(is_journal_append(journal, event, &error) == IS_OK, "%s", error.text);
}

static void append_text(const char *text)
{
    int descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    close(descriptor);
}

static is_journal_summary *summarise(void)
{
    is_journal_summary *summary = NULL;
    is_error error = {0};
    ck_assert_int_eq(is_journal_summary_create(&summary, &error), IS_OK);
    ck_assert_msg(is_journal_summary_read(summary, path, &error) == IS_OK, "%s", error.text);
    return summary;
}

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

static const char *text_of(const json_t *line, const char *key)
{
    const char *text = json_string_value(json_object_get(line, key));
    ck_assert_msg(text != NULL, "no %s", key);
    return text;
}

/* ---- lines ----------------------------------------------------------------------------------- */

START_TEST(every_field)
{
    is_journal *journal = open_journal("w1");
    double before = is_event_now(), time = 0.0;
    append(journal, &(is_event){.kind = IS_EVENT_DONE,
                                .file = "in/a.steps.npy",
                                .output = "hits/a.hits.npy",
                                .input_digest = "00ff",
                                .output_digest = "11ee",
                                .output_bytes = 4096,
                                .photons = UINT64_C(1) << 62,
                                .hits = 0,
                                .seconds = 0.25});
    is_journal_destroy(journal);
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
    ck_assert(is_event_time_of_text(text_of(line, "time"), &time));
    ck_assert_double_ge(time, before - 0.002);
    ck_assert_double_le(time, is_event_now());
    json_decref(line);
}
END_TEST

START_TEST(start_names_the_process)
{
    is_journal *journal = open_journal("w1");
    append(journal, &(is_event){.kind = IS_EVENT_START, .source = "in", .files = 7});
    is_journal_destroy(journal);
    json_t *line = only_line();
    char folder[PATH_MAX];
    ck_assert_int_eq(json_integer_value(json_object_get(line, "pid")), getpid());
    ck_assert_int_eq(json_integer_value(json_object_get(line, "files")), 7);
    ck_assert_str_eq(text_of(line, "folder"), getcwd(folder, sizeof folder));
    ck_assert_str_eq(text_of(line, "version"), IS_VERSION);
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
        is_journal *journal = open_journal("w1");
        append(journal, &(is_event){.kind = IS_EVENT_FAILED,
                                    .file = "short",
                                    .output = name,
                                    .reason = reason,
                                    .attempt = 2});
        is_journal_destroy(journal);
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
    is_journal *journal = open_journal("w1");
    append(journal, &(is_event){.kind = IS_EVENT_PROGRESS});
    append(journal, &(is_event){.kind = IS_EVENT_WARNING, .reason = "odd"});
    is_journal_destroy(journal);
    struct stat about;
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_int_eq(about.st_size, 0);
}
END_TEST

START_TEST(times_there_and_back)
{
    static const char *const texts[] = {"1970-01-01T00:00:00.000Z", "2026-11-21T22:48:53.999Z",
                                        "2024-02-29T23:59:59.001Z", "2037-12-31T00:00:00.123Z"};
    char back[IS_EVENT_TIME];
    double time = 0.0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        ck_assert(is_event_time_of_text(texts[i], &time));
        ck_assert_str_eq(is_event_time_text(time, back), texts[i]);
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
        ck_assert_msg(!is_event_time_of_text(wrong[i], &time), "took '%s'", wrong[i]);
    }
}
END_TEST

/* ---- torn lines ------------------------------------------------------------------------------ */

static const char half[] = "{\"time\":\"2026-01-01T00:00:00.000Z\",\"event\":\"do";
static const char whole[] =
    "{\"time\":\"2026-01-01T00:00:01.000Z\",\"event\":\"claimed\",\"worker\":\"w0\","
    "\"file\":\"b\"}\n";

START_TEST(torn_line_is_ended)
{
    append_text(whole);
    append_text(half); /* its process was killed */
    is_journal *journal = open_journal("w1");
    append(journal, &(is_event){.kind = IS_EVENT_CLAIMED, .file = "a", .attempt = 1});
    append(journal, &(is_event){.kind = IS_EVENT_CLAIMED, .file = "c", .attempt = 1});
    is_journal_destroy(journal);
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, 3);
    ck_assert_uint_eq(summary->lines.torn, 1);
    ck_assert_uint_eq(summary->counts.claimed, 3);
    ck_assert_uint_eq(json_object_size(summary->open), 3);
    is_journal_summary_destroy(summary);
}
END_TEST

START_TEST(line_behind_a_torn_one_is_found)
{
    /* Another process had its journal open already when the first one was killed. */
    append_text(half);
    append_text(whole);
    append_text("{\"time\":\"2026-01-01T00:00:02.000Z\",\"event\":\"failed\",\"worker\":\"w0\","
                "\"file\":\"b\",\"reason\":\"{\\\"time\\\":\\\"\"}\n");
    append_text(half); /* still being written */
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, 2);
    ck_assert_uint_eq(summary->lines.torn, 2);
    ck_assert_uint_eq(summary->counts.claimed, 1);
    ck_assert_uint_eq(summary->counts.failed, 1);
    ck_assert_str_eq(is_journal_trouble_at(summary, 0)->reason, "{\"time\":\"");
    is_journal_summary_destroy(summary);
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
    ck_assert_int_eq(write(descriptor, zeros, sizeof zeros), sizeof zeros); /* a power cut */
    close(descriptor);
    is_journal *journal = open_journal("w1");
    append(journal, &(is_event){.kind = IS_EVENT_DONE, .file = "a", .photons = 5});
    is_journal_destroy(journal);
    /* A line that no version of ours would write. */
    char *long_line = malloc(200000);
    memset(long_line, 'x', 199999);
    long_line[199998] = '\n';
    long_line[199999] = '\0';
    append_text(long_line);
    free(long_line);
    append_text(whole);
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, 2);
    ck_assert_uint_eq(summary->lines.unknown, 4);
    ck_assert_uint_eq(summary->lines.torn, 3);
    ck_assert_uint_eq(summary->counts.photons, 5);
    is_journal_summary_destroy(summary);
}
END_TEST

START_TEST(full_disk_is_told_and_survived)
{
    is_journal *journal = open_journal("w1");
    append(journal, &(is_event){.kind = IS_EVENT_DONE, .file = "a", .photons = 1});
    struct stat about;
    ck_assert_int_eq(stat(path, &about), 0);
    /* The file may grow by half a line: a write in part, then none. */
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)about.st_size + 20;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    is_error error = {0};
    int status =
        is_journal_append(journal, &(is_event){.kind = IS_EVENT_CLAIMED, .file = "b"}, &error);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    ck_assert_int_eq(status, IS_E_OUTPUT);
    ck_assert_msg(strstr(error.text, path) != NULL, "%s", error.text);
    append(journal, &(is_event){.kind = IS_EVENT_DONE, .file = "c", .photons = 2});
    is_journal_destroy(journal);
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, 2);
    ck_assert_uint_eq(summary->lines.torn, 1);
    ck_assert_uint_eq(summary->counts.photons, 3);
    is_journal_summary_destroy(summary);
}
END_TEST

/* ---- sharing and rotation -------------------------------------------------------------------- */

enum { PROCESSES = 4, THREADS = 2, LINES = 300 };

static void *append_many(void *user)
{
    is_journal *journal = user;
    char name[32];
    for (int i = 0; i < LINES; ++i) {
        snprintf(name, sizeof name, "file-%d", i);
        const is_event claim = {.kind = IS_EVENT_CLAIMED, .file = name, .attempt = 1};
        is_error error = {0};
        if (is_journal_append(journal, &claim, &error) != IS_OK) {
            return journal;
        }
    }
    return NULL;
}

START_TEST(processes_and_threads_share)
{
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; ++i) {
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0) {
            char worker[32];
            snprintf(worker, sizeof worker, "worker-%d", i);
            is_journal *journal = open_journal(worker);
            pthread_t threads[THREADS];
            int failed = 0;
            for (int j = 0; j < THREADS; ++j) {
                failed |= pthread_create(&threads[j], NULL, append_many, journal);
            }
            for (int j = 0; j < THREADS; ++j) {
                void *result = NULL;
                failed |= pthread_join(threads[j], &result) != 0 || result != NULL;
            }
            is_journal_destroy(journal);
            _exit(failed != 0);
        }
    }
    for (int i = 0; i < PROCESSES; ++i) {
        int status = 0;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert_int_eq(status, 0);
    }
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.torn, 0);
    ck_assert_uint_eq(summary->counts.claimed, PROCESSES * THREADS * LINES);
    ck_assert_uint_eq(summary->worker_count, PROCESSES);
    for (int i = 0; i < PROCESSES; ++i) {
        ck_assert_uint_eq(summary->workers[i].counts.claimed, THREADS * LINES);
    }
    ck_assert_uint_eq(json_object_size(summary->open), LINES);
    is_journal_summary_destroy(summary);
}
END_TEST

START_TEST(rotation)
{
    char old[SCRATCH_PATH];
    scratch_path(&place, "run.journal.1", old);
    is_journal *journal = open_journal("w1");
    is_error error = {0};
    append(journal, &(is_event){.kind = IS_EVENT_CLAIMED, .file = "a"});
    ck_assert_int_eq(rename(path, old), 0);
    append(journal, &(is_event){.kind = IS_EVENT_DONE, .file = "a"}); /* still into the old one */
    ck_assert_int_eq(is_journal_reopen(journal, &error), IS_OK);
    append(journal, &(is_event){.kind = IS_EVENT_CLAIMED, .file = "b"});
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->counts.claimed, 1);
    ck_assert_uint_eq(summary->counts.done, 0);
    ck_assert_ptr_nonnull(json_object_get(summary->open, "b"));
    is_journal_summary_destroy(summary);

    /* A folder is in the way: the journal goes on in the file that it has. */
    ck_assert_int_eq(rename(path, old), 0);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    ck_assert_int_eq(is_journal_reopen(journal, &error), IS_E_OUTPUT);
    append(journal, &(is_event){.kind = IS_EVENT_DONE, .file = "b"});
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rename(old, path), 0);
    summary = summarise();
    ck_assert_uint_eq(summary->counts.done, 1);
    is_journal_summary_destroy(summary);
    is_journal_destroy(journal);
}
END_TEST

START_TEST(reopened_while_written)
{
    is_journal *journal = open_journal("w1");
    pthread_t thread;
    void *result = NULL;
    ck_assert_int_eq(pthread_create(&thread, NULL, append_many, journal), 0);
    for (int i = 0; i < 100; ++i) {
        is_error error = {0};
        ck_assert_int_eq(is_journal_reopen(journal, &error), IS_OK);
        append(journal, &(is_event){.kind = IS_EVENT_STOP});
    }
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_null(result);
    is_journal_destroy(journal);
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->lines.events, LINES + 100);
    ck_assert_uint_eq(summary->lines.torn, 0);
    is_journal_summary_destroy(summary);
}
END_TEST

START_TEST(what_cannot_be_a_journal)
{
    is_journal *journal = NULL;
    is_error error = {0};
    ck_assert_int_eq(mkfifo(path, 0666), 0);
    ck_assert_int_eq(is_journal_create(path, "w", true, &journal, &error), IS_E_OUTPUT);
    ck_assert_msg(strstr(error.text, "not a file") != NULL, "%s", error.text);
    ck_assert_ptr_null(journal);
    is_journal_reader *reader = NULL;
    ck_assert_int_eq(is_journal_reader_create(path, &reader, &error), IS_E_INPUT);
    ck_assert_ptr_null(reader);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(is_journal_reader_create(path, &reader, &error), IS_E_INPUT);
    ck_assert_msg(strstr(error.text, "No such file") != NULL, "%s", error.text);
    char missing[SCRATCH_PATH + 16];
    snprintf(missing, sizeof missing, "%s/none/run.journal", place.folder);
    ck_assert_int_eq(is_journal_create(missing, "w", true, &journal, &error), IS_E_OUTPUT);
    /* People who want no journal. */
    ck_assert_int_eq(is_journal_create("/dev/null", "w", true, &journal, &error), IS_OK);
    append(journal, &(is_event){.kind = IS_EVENT_DONE, .file = "a"});
    is_journal_destroy(journal);
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
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->worker_count, 2);
    const is_journal_worker *first = &summary->workers[0], *second = &summary->workers[1];
    ck_assert_str_eq(first->name, "w0");
    ck_assert_str_eq(first->host, "h");
    ck_assert_int_eq(first->pid, 12);
    ck_assert_int_eq(first->state, IS_WORKER_STOPPED);
    ck_assert_int_eq(first->exit_status, 3);
    ck_assert_int_eq(first->last_event, IS_EVENT_STOP);
    ck_assert_int_eq(second->state, IS_WORKER_PAUSED);
    ck_assert_uint_eq(summary->counts.claimed, 3);
    ck_assert_uint_eq(first->counts.claimed, 2);
    ck_assert_uint_eq(summary->counts.done, 1);
    ck_assert_uint_eq(summary->counts.hits, 10);
    ck_assert_uint_eq(summary->counts.quarantined, 1);
    ck_assert_uint_eq(summary->counts.retried, 1);
    ck_assert_uint_eq(json_object_size(summary->open), 1);
    ck_assert_str_eq(text_of(json_object_get(summary->open, "c"), "worker"), "w1");
    ck_assert_uint_eq(json_array_size(summary->spools), 1);
    ck_assert_str_eq(json_string_value(json_array_get(summary->spools, 0)), "/data/in/.icestream");
    ck_assert_str_eq(json_string_value(json_array_get(summary->quarantines, 0)), "/bad");
    ck_assert_double_eq(is_latency_quantile(&summary->latency, 0.5), 10.0);
    ck_assert_double_eq_tol(is_journal_rate(summary), 1000.0 / 40.0, 1e-9);
    ck_assert_double_eq_tol(is_journal_recent_rate(summary, summary->first + 50.0), 1000.0 / 50.0,
                            1e-9);
    ck_assert_double_eq(is_journal_recent_rate(summary, summary->first + 700.0), 0.0);
    ck_assert_str_eq(is_journal_trouble_at(summary, 0)->reason, "disk full");
    ck_assert_str_eq(is_journal_trouble_at(summary, 1)->file, "b");
    ck_assert_ptr_null(is_journal_trouble_at(summary, 3));
    is_journal_summary_destroy(summary);
}
END_TEST

START_TEST(many_workers_and_troubles)
{
    for (int i = 0; i < 100; ++i) {
        char worker[32], file[32];
        snprintf(worker, sizeof worker, "w%d", i);
        snprintf(file, sizeof file, "f%d", i);
        is_journal *journal = open_journal(worker);
        append(journal, &(is_event){.kind = IS_EVENT_QUARANTINED, .file = file, .reason = "bad"});
        is_journal_destroy(journal);
    }
    is_journal_summary *summary = summarise();
    ck_assert_uint_eq(summary->worker_count, 100);
    ck_assert_uint_eq(summary->trouble_count, 100);
    ck_assert_str_eq(summary->workers[99].name, "w99");
    ck_assert_str_eq(is_journal_trouble_at(summary, 0)->file, "f99");
    ck_assert_str_eq(is_journal_trouble_at(summary, IS_JOURNAL_TROUBLES - 1)->file, "f90");
    ck_assert_ptr_null(is_journal_trouble_at(summary, IS_JOURNAL_TROUBLES));
    is_journal_summary_destroy(summary);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("journal");
    TCase *all = tcase_create("journal");
    tcase_set_timeout(all, 120);
    tcase_add_checked_fixture(all, open_place, close_place);
    tcase_add_test(all, every_field);
    tcase_add_test(all, start_names_the_process);
    tcase_add_test(all, long_texts_are_cut);
    tcase_add_test(all, events_of_the_log_are_not_written);
    tcase_add_test(all, times_there_and_back);
    tcase_add_test(all, torn_line_is_ended);
    tcase_add_test(all, line_behind_a_torn_one_is_found);
    tcase_add_test(all, strange_lines_are_counted);
    tcase_add_test(all, full_disk_is_told_and_survived);
    tcase_add_test(all, processes_and_threads_share);
    tcase_add_test(all, rotation);
    tcase_add_test(all, reopened_while_written);
    tcase_add_test(all, what_cannot_be_a_journal);
    tcase_add_test(all, summary_of_a_run);
    tcase_add_test(all, many_workers_and_troubles);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures != 0;
}
