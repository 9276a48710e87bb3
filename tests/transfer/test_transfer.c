/* Promises of transfers that the program from outside (tests/cli/test_transfer*.sh) does not show:
 * uploads in parts, sizes and digests that a ticket expects, links in the way, and errands next to
 * a loop. How to join: each test has a server (tests/cli/transfer_server.py) of the folder `far`;
 * faults() makes it fail. Without Python the tests of the server are skipped. */
#include "base/error.h"
#include "pipeline/transfer/errand.h"
#include "pipeline/transfer/http.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 2500, PART = 1000 };

static struct {
    scratch place;
    char local[SCRATCH_PATH]; /* a file of BYTES bytes */
    char far[SCRATCH_PATH];   /* the folder of the server */
    char base[64];            /* http://127.0.0.1:PORT */
    unsigned char bytes[BYTES];
    char sha256[ICS_DIGEST_TEXT];
    pid_t server;
} test;

static icestream_error error;
static ics_transfer_result result;

/* Starts the server; false: there is no Python. */
static bool serve(void)
{
    char port[16] = "";
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    test.server = fork();
    if (test.server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execlp("python3", "python3", ICS_SOURCE_DIRECTORY "/tests/cli/transfer_server.py", test.far,
               "--s3", "key", "secret", NULL);
        _exit(127);
    }
    close(pipes[1]);
    const ssize_t count = read(pipes[0], port, sizeof port - 1);
    close(pipes[0]);
    snprintf(test.base, sizeof test.base, "http://127.0.0.1:%d", count > 0 ? atoi(port) : 0);
    setenv("AWS_ENDPOINT_URL", test.base, 1);
    setenv("AWS_ACCESS_KEY_ID", "key", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
    return count > 0;
}

static void set_up(void)
{
    char log[SCRATCH_PATH];
    test.place = scratch_create();
    for (size_t i = 0; i < BYTES; ++i) {
        test.bytes[i] = (unsigned char)(i * i >> 3);
    }
    scratch_write(scratch_path(&test.place, "local", test.local), test.bytes, BYTES);
    ck_assert_int_eq(mkdir(scratch_path(&test.place, "far", test.far), 0700), 0);
    scratch_write(scratch_path(&test.place, "far.log", log), "", 0);
    ck_assert_int_eq(ics_digest_of(test.bytes, BYTES, test.sha256, NULL), ICESTREAM_OK);
    error = (icestream_error){.status = ICESTREAM_OK};
    test.server = 0;
}

static void tear_down(void)
{
    ics_http_close_idle();
    if (test.server > 0) {
        kill(test.server, SIGKILL);
        waitpid(test.server, NULL, 0);
    }
    scratch_remove(&test.place);
}

static bool has_server(void)
{
    icestream_error why = {.status = ICESTREAM_OK};
    const bool has = ics_transfer_check("http://localhost/x", &why) == ICESTREAM_OK && serve();
    if (!has) {
        test_skip("no libcurl, or no Python");
    }
    return has;
}

static void faults(const char *text)
{
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(&test.place, "far.faults", path), text, strlen(text));
}

/* How often a text occurs in the log of the server. */
static int asked(const char *text)
{
    char path[SCRATCH_PATH];
    size_t size = 0;
    int count = 0;
    char *log = (char *)scratch_read(scratch_path(&test.place, "far.log", path), &size);
    log = realloc(log, size + 1);
    log[size] = '\0';
    for (const char *at = log; (at = strstr(at, text)) != NULL; ++at) {
        count++;
    }
    free(log);
    return count;
}

static void assert_bytes(const char *path)
{
    size_t size = 0;
    unsigned char *found = scratch_read(path, &size);
    ck_assert_uint_eq(size, BYTES);
    ck_assert_mem_eq(found, test.bytes, BYTES);
    free(found);
}

static int ship(const char *url)
{
    const ics_transfer_request request = {.url = url, .path = test.local, .part = PART};
    error = (icestream_error){.status = ICESTREAM_OK};
    return ics_transfer_ship(&request, &result, &error);
}

START_TEST(in_parts)
{
    char path[SCRATCH_PATH];
    if (!has_server()) {
        return;
    }
    ck_assert_msg(ship("s3://bucket/a b/x.npy") == ICESTREAM_E_CONFIG, "a blank: %s", error.text);
    faults("PUT status=503 1\nPUT drop 1\n");
    ck_assert_msg(ship("s3://bucket/a%20b/x+y.npy") == ICESTREAM_OK, "%s", error.text);
    ck_assert(!result.was_there);
    assert_bytes(scratch_path(&test.place, "far/bucket/a b/x+y.npy", path));
    ck_assert_int_eq(asked("PUT /bucket/a%20b/x%2By.npy?partNumber=1&uploadId=up%2F0%2B%3D - 200"),
                     1);
    ck_assert_int_eq(asked("?partNumber=3&"), 1);
    ck_assert_int_eq(asked("?partNumber=4&"), 0);
    ck_assert_int_eq(asked("HEAD /bucket/a%20b/x%2By.npy - 200"), 1);
    /* The same file again, and another one. */
    ck_assert_msg(ship("s3://bucket/a%20b/x%2By.npy") == ICESTREAM_OK, "%s", error.text);
    ck_assert(result.was_there);
    test.bytes[0] ^= 1;
    scratch_write(test.local, test.bytes, BYTES);
    ck_assert_int_eq(ship("s3://bucket/a%20b/x+y.npy"), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(error.cause, EEXIST);
    ck_assert_int_eq(asked("DELETE "), 2); /* of the parts of both */
}
END_TEST

START_TEST(parts_that_fail_are_taken_away)
{
    char path[SCRATCH_PATH];
    if (!has_server()) {
        return;
    }
    faults("PUT status=500 100\n");
    ck_assert_int_eq(ship("s3://bucket/x.npy"), ICESTREAM_E_OUTPUT);
    ck_assert(ics_error_may_pass(&error));
    ck_assert_msg(strstr(error.text, "s3://bucket/x.npy: cannot ship a part: the server answered "
                                     "HTTP 500, SlowDown") != NULL,
                  "%s", error.text);
    ck_assert_int_eq(asked("PUT "), 4);
    ck_assert_int_eq(asked("DELETE /bucket/x.npy?uploadId="), 1);
    faults("POST status=403 1\n");
    ck_assert_int_eq(ship("s3://bucket/x.npy"), ICESTREAM_E_OUTPUT);
    ck_assert(!ics_error_may_pass(&error));
    ck_assert_int_ne(access(scratch_path(&test.place, "far/bucket/x.npy", path), F_OK), 0);
}
END_TEST

/* Fetches file: with what a ticket says about it. */
static int fetch(const char *to, const char *sha256, uint64_t bytes)
{
    char url[SCRATCH_PATH + 8];
    snprintf(url, sizeof url, "file://%s", test.local);
    const ics_transfer_request request = {.url = url, .path = to, .sha256 = sha256, .bytes = bytes};
    error = (icestream_error){.status = ICESTREAM_OK};
    return ics_transfer_fetch(&request, &result, &error);
}

START_TEST(expected_by_a_ticket)
{
    char to[SCRATCH_PATH], other[ICS_DIGEST_TEXT];
    scratch_path(&test.place, "to", to);
    ck_assert_msg(fetch(to, test.sha256, BYTES) == ICESTREAM_OK, "%s", error.text);
    ck_assert_str_eq(result.sha256, test.sha256);
    assert_bytes(to);
    unlink(to);
    strcpy(other, test.sha256);
    other[63] = other[63] == '0' ? '1' : '0';
    ck_assert_int_eq(fetch(to, other, BYTES), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "fetched a file with the SHA-256"));
    ck_assert_int_eq(fetch(to, NULL, BYTES + 1), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "2500 bytes, expected 2501 bytes"));
    ck_assert(!scratch_exists(&test.place, "to"));
    ck_assert(!scratch_exists(&test.place, "to.part"));
}
END_TEST

/* Another user may have made links in a folder that many write to. */
START_TEST(links_in_the_way)
{
    char to[SCRATCH_PATH], part[SCRATCH_PATH], victim[SCRATCH_PATH];
    scratch_path(&test.place, "to", to);
    scratch_write(scratch_path(&test.place, "victim", victim), "mine", 4);
    ck_assert_int_eq(symlink(victim, scratch_path(&test.place, "to.part", part)), 0);
    ck_assert_int_eq(fetch(to, NULL, ICS_TRANSFER_ANY), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(error.cause, ELOOP);
    unlink(part);
    ck_assert_int_eq(symlink(victim, to), 0);
    ck_assert_int_eq(fetch(to, NULL, ICS_TRANSFER_ANY), ICESTREAM_OK);
    size_t size = 0;
    free(scratch_read(victim, &size));
    ck_assert_uint_eq(size, 4);
    assert_bytes(to);
}
END_TEST

START_TEST(urls)
{
    static const char *const bad[] = {"s3://b/x.npy",  "s3://bucket",      "s3://bucket/",
                                      "s3://me@b/x",   "s3://bucket/%0",   "s3://bucket/%00",
                                      "file://host/x", "file:///x%zz.npy", "far://host/x",
                                      "s3://../x.npy", "http//x",          "s3://bucket/x?y=z"};
    for (size_t i = 0; i < COUNT(bad); ++i) {
        error = (icestream_error){.status = ICESTREAM_OK};
        ck_assert_msg(ics_transfer_check(bad[i], &error) == ICESTREAM_E_CONFIG, "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(error.text, "expected "));
    }
    char *longest = calloc(1, 64 << 10);
    memset(longest, 'x', (64 << 10) - 1);
    memcpy(longest, "s3://bucket/", 12);
    ck_assert_int_eq(ics_transfer_check(longest, &error), ICESTREAM_E_CONFIG);
    free(longest);
}
END_TEST

static int ended;

static void count_end(void *user, const ics_errand_end *end)
{
    ck_assert_int_eq(end->error->status, *(const int *)user);
    ended++;
}

/* Several files at a time, of which one does not exist. */
START_TEST(next_to_a_loop)
{
    static const int good = ICESTREAM_OK, bad = ICESTREAM_E_OUTPUT;
    char to[3][SCRATCH_PATH], url[SCRATCH_PATH + 8];
    uv_loop_t loop;
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    snprintf(url, sizeof url, "file://%s", test.local);
    for (int i = 0; i < 3; ++i) {
        char name[8];
        snprintf(name, sizeof name, "to%d", i);
        const ics_errand_order order = {.request = {.url = i == 1 ? "file:///none/none" : url,
                                                    .path = scratch_path(&test.place, name, to[i]),
                                                    .bytes = ICS_TRANSFER_ANY},
                                        .then = count_end,
                                        .user = (void *)(i == 1 ? &bad : &good)};
        ck_assert_ptr_nonnull(ics_errand_start(&loop, &order));
    }
    ended = 0;
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(ended, 3);
    assert_bytes(to[0]);
    assert_bytes(to[2]);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}
END_TEST

ICS_TEST_MAIN("transfer")
{
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, in_parts);
    tcase_add_test(all, parts_that_fail_are_taken_away);
    tcase_add_test(all, expected_by_a_ticket);
    tcase_add_test(all, links_in_the_way);
    tcase_add_test(all, urls);
    tcase_add_test(all, next_to_a_loop);
    suite_add_tcase(suite, all);
}
