/* `icestream status`.
 *
 * Promises: the report describes journals, existing files, the quarantine and claims, in text and
 * in JSON, also if a journal is damaged or a folder cannot be read. To join: write journal lines
 * and files into the scratch folder, then compare lines of the report.
 */
#include "pipeline/production/telemetry/journal.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static scratch place;

static void open_place(void)
{
    place = scratch_create();
}

static void close_place(void)
{
    scratch_remove(&place);
}

/* Makes a file or, where the name ends with '/', a folder. */
static void make(const char *name, const char *text)
{
    char path[SCRATCH_PATH];
    scratch_path(&place, name, path);
    if (name[strlen(name) - 1] == '/') {
        ck_assert_int_eq(mkdir(path, 0777), 0);
    } else {
        scratch_write(path, text, strlen(text));
    }
}

/* Sets the modification time of a file to `seconds` ago. */
static void make_old(const char *name, time_t seconds)
{
    char path[SCRATCH_PATH];
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, scratch_path(&place, name, path), times, 0), 0);
}

static ics_journal *open_journal(const char *worker)
{
    char path[SCRATCH_PATH];
    ics_journal *journal = NULL;
    icestream_error error = {0};
    ck_assert_msg(ics_journal_create(scratch_path(&place, "run.journal", path), worker, &journal,
                                     &error) == ICESTREAM_OK,
                  "%s", error.text);
    return journal;
}

static void append(ics_journal *journal, ics_event event)
{
    icestream_error error = {0};
    ck_assert_msg(ics_journal_append(journal, &event, &error) == ICESTREAM_OK, "%s", error.text);
}

static char *status_text(bool json)
{
    char *text = NULL;
    size_t size = 0;
    icestream_error error = {0};
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    ck_assert_msg(icestream_folder_status(place.folder, json, out, &error) == ICESTREAM_OK, "%s",
                  error.text);
    fclose(out);
    return text;
}

static json_t *status_json(void)
{
    char *text = status_text(true);
    json_error_t error;
    json_t *report = json_loads(text, 0, &error);
    ck_assert_msg(report != NULL, "%s", error.text);
    free(text);
    return report;
}

/* Returns the value at a path such as "here.parts" or "workers.0.state"; a number is an index of an
 * array. Fails the test if there is none. */
static const json_t *at(const json_t *value, const char *path)
{
    char keys[128];
    snprintf(keys, sizeof keys, "%s", path);
    for (char *key = strtok(keys, "."); key != NULL; key = strtok(NULL, ".")) {
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key))
                                     : json_object_get(value, key);
        ck_assert_msg(value != NULL, "no %s", path);
    }
    return value;
}

static json_int_t whole(const json_t *report, const char *path)
{
    ck_assert_msg(json_is_integer(at(report, path)), "%s is no whole number", path);
    return json_integer_value(at(report, path));
}

static const char *text(const json_t *report, const char *path)
{
    ck_assert_msg(json_is_string(at(report, path)), "%s is no text", path);
    return json_string_value(at(report, path));
}

static void expect_lines(const char *const *lines)
{
    char *report = status_text(false);
    for (; *lines != NULL; ++lines) {
        ck_assert_msg(strstr(report, *lines) != NULL, "no '%s' in\n%s", *lines, report);
    }
    free(report);
}

START_TEST(files_that_are_there)
{
    make("a.hits.npy", "0123456789");
    make("b.hits.npy", "01234");
    make("c.hits.npy.part", "");
    make("summary.json", "{}");
    make("folder.hits.npy/", NULL);
    make("quarantine/", NULL);
    make("quarantine/bad.steps.npy", "x");
    make("quarantine/bad.steps.npy.reason", "bad.steps.npy: row 3, field beta: found 2\nmore\n");
    make("quarantine/old.steps.npy.reason", "old.steps.npy: not a step file\n");
    make_old("quarantine/old.steps.npy.reason", 7200);
    json_t *report = status_json();
    ck_assert_int_eq(whole(report, "here.hit_files"), 2);
    ck_assert_int_eq(whole(report, "here.hit_bytes"), 15);
    ck_assert_int_eq(whole(report, "here.parts"), 1);
    ck_assert_int_eq(whole(report, "quarantine.count"), 2);
    ck_assert_str_eq(text(report, "quarantine.newest.0.reason"),
                     "bad.steps.npy: row 3, field beta: found 2");
    ck_assert_str_eq(text(report, "quarantine.newest.1.reason"), "old.steps.npy: not a step file");
    json_decref(report);
    expect_lines((const char *const[]){"here: 2 hit files, 0.0 MB; 1 unfinished (.part)",
                                       "quarantine: 2 files", "row 3, field beta: found 2\n",
                                       "  2.0 h ago: old.steps.npy: not a step file\n", NULL});
}
END_TEST

START_TEST(many_reasons)
{
    make("quarantine/", NULL);
    for (int i = 0; i < 30; ++i) {
        char name[64], reason[32];
        snprintf(name, sizeof name, "quarantine/f%d.reason", i);
        snprintf(reason, sizeof reason, "reason %d", i);
        make(name, reason);
        make_old(name, 1000 + (i * 7) % 30);
    }
    json_t *report = status_json();
    ck_assert_int_eq(whole(report, "quarantine.count"), 30);
    const json_t *newest = at(report, "quarantine.newest");
    ck_assert_uint_eq(json_array_size(newest), 10);
    for (size_t i = 0; i < 10; ++i) {
        char path[32], expected[32];
        snprintf(path, sizeof path, "%zu.reason", i);
        snprintf(expected, sizeof expected, "reason %zu", (i * 13) % 30); /* 7 * 13 = 1 mod 30 */
        ck_assert_str_eq(text(newest, path), expected);
    }
    json_decref(report);
}
END_TEST

START_TEST(workers_and_claims)
{
    char spool[SCRATCH_PATH];
    scratch_path(&place, "spool", spool);
    make("spool/", NULL);
    make("spool/done/", NULL);
    make("spool/done/x.steps.npy", "");
    make("spool/marks/", NULL);
    make("spool/claimed/", NULL);
    make("spool/claimed/alive/", NULL);
    make("spool/claimed/alive/.lease", "{\"host\":\"h1\",\"pid\":12,\"lease_s\":60.0}");
    make("spool/claimed/alive/1~a.steps.npy", "");
    make("spool/claimed/alive/2~b.steps.npy", "");
    make("spool/claimed/late/", NULL);
    make("spool/claimed/late/.lease", "{\"host\":\"h2\",\"pid\":13,\"lease_s\":60.0}");
    make_old("spool/claimed/late/.lease", 300);
    make("spool/claimed/ownerless/", NULL);
    make("spool/claimed/no-folder", "");

    static const char *const workers[] = {"alive", "late", "ended", "killed"};
    for (size_t i = 0; i < 4; ++i) {
        ics_journal *journal = open_journal(workers[i]);
        if (strcmp(workers[i], "killed") == 0) {
            pid_t child = fork();
            ck_assert_int_ge(child, 0);
            if (child == 0) { /* this event names a process that ends at once */
                icestream_error error = {0};
                const ics_event start = {.kind = ICS_EVENT_START};
                _exit(ics_journal_append(journal, &start, &error) != ICESTREAM_OK);
            }
            int status = 0;
            ck_assert_int_eq(waitpid(child, &status, 0), child);
            ck_assert_int_eq(status, 0);
        } else {
            append(journal, (ics_event){.kind = ICS_EVENT_START, .spool = spool});
        }
        append(journal, (ics_event){.kind = ICS_EVENT_CLAIMED, .file = workers[i], .attempt = 1});
        if (strcmp(workers[i], "ended") == 0) {
            append(journal, (ics_event){.kind = ICS_EVENT_DONE,
                                        .file = "ended",
                                        .photons = 2000000,
                                        .hits = 5,
                                        .seconds = 2.0});
            append(journal, (ics_event){.kind = ICS_EVENT_STOP, .exit_status = 3});
        }
        ics_journal_destroy(journal);
    }
    json_t *report = status_json();
    ck_assert_str_eq(text(report, "workers.0.state"), "running");
    ck_assert_str_eq(text(report, "workers.1.state"), "gone");
    ck_assert_str_eq(text(report, "workers.2.state"), "stopped");
    ck_assert_int_eq(whole(report, "workers.2.exit_status"), 3);
    ck_assert_str_eq(text(report, "workers.3.state"), "gone");
    ck_assert_int_eq(whole(report, "counts.claimed"), 4);
    ck_assert_int_eq(whole(report, "counts.photons"), 2000000);
    ck_assert_uint_eq(json_array_size(at(report, "in_work")), 3);
    ck_assert_uint_eq(json_array_size(at(report, "spools")), 1);
    const json_t *spools = at(report, "spools.0");
    ck_assert_int_eq(whole(spools, "done"), 1);
    const json_t *entries = at(spools, "workers");
    ck_assert_uint_eq(json_array_size(entries), 3);
    size_t i;
    json_t *entry;
    json_array_foreach(entries, i, entry)
    {
        const char *name = text(entry, "worker");
        bool alive = strcmp(name, "alive") == 0;
        ck_assert_int_eq(json_is_true(at(entry, "expired")), !alive);
        ck_assert_int_eq(json_is_null(at(entry, "heartbeat")), strcmp(name, "ownerless") == 0);
        ck_assert_int_eq(whole(entry, "files"), alive ? 2 : 0);
    }
    json_decref(report);
    expect_lines((const char *const[]){
        "files: 4 claimed, 1 computed, 0 skipped, 0 quarantined, 0 failed; 0 retries; 1 in work, 2 "
        "left by workers that are gone\n",
        "  late, late, claimed 0 s ago: nobody computes it, because this worker is gone\n",
        "  alive, alive, for 0 s\n", "photons: 2.00 million, 5 hits; ", "half within 2 s",
        "stopped (3)", "alive: 2 claimed", "late: 0 claimed, heartbeat 5 min ago: expired\n",
        "ownerless: 0 claimed, no lease\n", "journal: 10 events; 0 torn lines, 0 unknown\n", NULL});
}
END_TEST

/* What a stopped run has given back, or could not give back, is in nobody's work. */
START_TEST(files_that_are_given_back)
{
    ics_journal *journal = open_journal("w");
    static const char *const files[] = {"a", "b", "c"};
    append(journal, (ics_event){.kind = ICS_EVENT_START});
    for (size_t i = 0; i < 3; ++i) {
        append(journal, (ics_event){.kind = ICS_EVENT_CLAIMED, .file = files[i]});
    }
    append(journal, (ics_event){.kind = ICS_EVENT_GIVEN_BACK, .file = "a"});
    json_t *report = status_json();
    ck_assert_uint_eq(json_array_size(at(report, "in_work")), 2);
    json_decref(report);
    append(journal, (ics_event){.kind = ICS_EVENT_STOP, .exit_status = 143});
    report = status_json();
    ck_assert_uint_eq(json_array_size(at(report, "in_work")), 0);
    json_decref(report);
    /* A worker that was killed, and starts again under its name. */
    append(journal, (ics_event){.kind = ICS_EVENT_CLAIMED, .file = "a"});
    append(journal, (ics_event){.kind = ICS_EVENT_START});
    report = status_json();
    ck_assert_uint_eq(json_array_size(at(report, "in_work")), 0);
    json_decref(report);
    ics_journal_destroy(journal);
}
END_TEST

START_TEST(rotated_journals)
{
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    ics_journal *journal = open_journal("w");
    for (int i = 2; i >= 1; --i) {
        char name[32];
        snprintf(name, sizeof name, "run.journal.%d", i);
        append(journal, (ics_event){.kind = ICS_EVENT_CLAIMED, .file = "a"});
        append(journal, (ics_event){.kind = ICS_EVENT_DONE, .file = "a", .photons = 1});
        ck_assert_int_eq(
            rename(scratch_path(&place, "run.journal", from), scratch_path(&place, name, to)), 0);
        make_old(name, 100 * i);
        icestream_error error = {0};
        ck_assert_int_eq(ics_journal_reopen(journal, &error), ICESTREAM_OK);
    }
    append(journal, (ics_event){.kind = ICS_EVENT_CLAIMED, .file = "a"}); /* it was forced */
    ics_journal_destroy(journal);
    make_old("run.journal", 1000); /* the newest journal is the one without a number, not the one
                                      with the latest time */
    make("run.journal.3.gz", "not for us");
    make("run.journals", "nor this");
    json_t *report = status_json();
    ck_assert_int_eq(whole(report, "journal.files"), 3);
    ck_assert_int_eq(whole(report, "counts.claimed"), 3);
    ck_assert_int_eq(whole(report, "counts.done"), 2);
    ck_assert_int_eq(whole(report, "journal.torn"), 0);
    ck_assert_str_eq(text(report, "in_work.0.file"), "a");
    json_decref(report);
}
END_TEST

START_TEST(problems_are_reported)
{
    make("elsewhere/", NULL);
    make("elsewhere/b.steps.npy.reason", "b.steps.npy: odd");
    char quarantine[SCRATCH_PATH];
    ics_journal *journal = open_journal("w");
    append(journal, (ics_event){.kind = ICS_EVENT_START,
                                .quarantine = scratch_path(&place, "elsewhere", quarantine)});
    append(journal, (ics_event){.kind = ICS_EVENT_QUARANTINED,
                                .file = "b.steps.npy",
                                .reason = "b.steps.npy: odd"});
    append(journal,
           (ics_event){.kind = ICS_EVENT_REFUSED, .file = "p.csv", .reason = "p.csv: odd"});
    append(journal,
           (ics_event){.kind = ICS_EVENT_DEVICE_LOST, .device = "cuda:1", .reason = "ECC"});
    append(journal, (ics_event){.kind = ICS_EVENT_PAUSED, .reason = "No space left on device"});
    ics_journal_destroy(journal);
    json_t *report = status_json();
    ck_assert_str_eq(text(report, "workers.0.state"), "paused");
    ck_assert_int_eq(whole(report, "workers.0.devices_lost"), 1);
    ck_assert_int_eq(whole(report, "quarantine.count"), 1);
    ck_assert_str_eq(text(report, "troubles.0.event"), "paused");
    ck_assert_str_eq(text(report, "troubles.3.file"), "b.steps.npy");
    ck_assert_int_eq(whole(report, "counts.quarantined"), 1);
    ck_assert_int_eq(whole(report, "counts.refused"), 1);
    json_decref(report);
    expect_lines((const char *const[]){"last problems:\n", ", paused: No space left on device\n",
                                       ", quarantined: b.steps.npy: odd\n", " 1 quarantined, ",
                                       "; 1 refused", ", refused: p.csv: odd\n", NULL});
}
END_TEST

START_TEST(what_cannot_be_read)
{
    icestream_error error = {0};
    FILE *out = fopen("/dev/null", "w");
    char path[SCRATCH_PATH];
    ck_assert_int_eq(
        icestream_folder_status(scratch_path(&place, "none", path), false, out, &error),
        ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, "No such file") != NULL, "%s", error.text);
    make("file", "");
    ck_assert_int_eq(icestream_folder_status(scratch_path(&place, "file", path), true, out, &error),
                     ICESTREAM_E_INPUT);
    fclose(out);
    out = scratch_full_disk();
    ck_assert_int_eq(icestream_folder_status(place.folder, false, out, &error), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(icestream_folder_status(place.folder, true, out, &error), ICESTREAM_E_OUTPUT);
    fclose(out);
    /* A folder with the name of a journal is not read, and the report is complete without it. */
    make("run.journal/", NULL);
    json_t *report = status_json();
    ck_assert_int_eq(whole(report, "journal.files"), 0);
    json_decref(report);
}
END_TEST

ICS_TEST_MAIN("status")
{
    TCase *all = tcase_create("status");
    tcase_add_checked_fixture(all, open_place, close_place);
    tcase_add_test(all, files_that_are_there);
    tcase_add_test(all, many_reasons);
    tcase_add_test(all, workers_and_claims);
    tcase_add_test(all, files_that_are_given_back);
    tcase_add_test(all, rotated_journals);
    tcase_add_test(all, problems_are_reported);
    tcase_add_test(all, what_cannot_be_read);
    suite_add_tcase(suite, all);
}
