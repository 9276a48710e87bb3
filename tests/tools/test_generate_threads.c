/* `icestream generate` on several threads.
 *
 * Promises: the bytes are the same at every number of threads, also those before an error, and no
 * thread is left when generate returns.
 * To join: call expect_same_files with a configuration that makes its steps in a new way.
 */
#include "pipeline/config/config.h"
#include "tests/support/config_text.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"
#include "tests/support/threads.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN "detector: {oversize: 1, angular_acceptance: none}\n"
#define HERE  "x: 0, y: 0, z: 0, zenith: 60, azimuth: 30"

static scratch place;

static void setup(void)
{
    place = scratch_create();
}

static void teardown(void)
{
    scratch_remove(&place);
}

/* Loads this configuration with a number of threads. */
static icestream_config *with_threads(const char *text, uint32_t threads)
{
    char *all = NULL;
    ck_assert_int_gt(asprintf(&all, "device: {threads: %u}\n%s", threads, text), 0);
    icestream_config *config = load(all);
    free(all);
    return config;
}

static unsigned char *make_file(const char *text, uint32_t threads, size_t *size)
{
    char path[SCRATCH_PATH];
    icestream_error error = {0};
    icestream_config *config = with_threads(text, threads);
    scratch_path(&place, "a.steps.npy", path);
    ck_assert_msg(icestream_generate(config, path, true, &error) == ICESTREAM_OK, "%s", error.text);
    icestream_config_destroy(config);
    return scratch_read(path, size);
}

static void expect_same_files(const char *text, size_t least_steps)
{
    static const uint32_t teams[] = {2, 3, 7};
    size_t size, expected_size;
    unsigned char *expected = make_file(text, 1, &expected_size);
    ck_assert_uint_gt(expected_size, 1024 + least_steps * sizeof(icestream_step));
    for (size_t i = 0; i < COUNT(teams); ++i) {
        unsigned char *bytes = make_file(text, teams[i], &size);
        ck_assert_uint_eq(size, expected_size);
        ck_assert(memcmp(bytes, expected, size) == 0);
        free(bytes);
    }
    free(expected);
}

START_TEST(one_cascade)
{
    expect_same_files(
        PLAIN "particles: {cascades: steps, list: [{type: e-, energy: 3200, " HERE "}]}\n", 200000);
}
END_TEST

/* A block of steps has hundreds of these particles. Hadrons fluctuate, and three particles share an
 * event. */
START_TEST(small_particles)
{
    static const char *const types[] = {"e-", "pi+", "p", "gamma", "hadr"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fputs("particles: {cascades: steps, list: [", out);
    for (int i = 0; i < 5000; ++i) {
        fprintf(out, "{type: %s, energy: %g, event: %d, " HERE "}, ", types[i % 5],
                1.5 + i % 100 * 0.8, i / 3);
    }
    fputs("]}\n", out);
    fclose(out);
    expect_same_files(text, 80000);
    free(text);
}
END_TEST

START_TEST(tracks_and_flashers)
{
    expect_same_files(
        "particles: {losses: simple, stopping: true, cascades: steps, photons_per_direction: 20, "
        "list: ["
        "{type: mu, energy: 2e5, event: 1, length: 1000, " HERE "}, "
        "{type: mu, energy: 40, event: 1, " HERE "}, "
        "{type: flasher, event: 2, string: 63, module: 20, led: 7, "
        "photons: 2e8}, {type: sc1, event: 2, photons: 1e7}, "
        "{type: ph, event: 3, photons: 1234567, " HERE "}]}\n",
        100000);
}
END_TEST

START_TEST(workloads)
{
    expect_same_files("workload: {kind: cascade, steps: 150001, counts: shuffled}\n", 150000);
    expect_same_files("workload: {kind: uniform, steps: 1}\n", 0);
}
END_TEST

/* ---- streams that end early ------------------------------------------------------------------ */

/* Runs generate in a child process with `output` as its standard output, and stores the error in
 * the file "error". Returns the status of icestream_generate, or -99 if a thread is left. */
static int generate_into(const char *text, uint32_t threads, int output)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        char path[SCRATCH_PATH];
        icestream_error error = {0};
        icestream_config *config = with_threads(text, threads);
        if (dup2(output, STDOUT_FILENO) < 0) {
            _exit(98);
        }
        int status = icestream_generate(config, "-", false, &error);
        icestream_config_destroy(config);
        scratch_write(scratch_path(&place, "error", path), error.text, strlen(error.text));
        _exit(threads_end("generate") ? -status : 99);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

static char *read_error(void)
{
    char path[SCRATCH_PATH];
    size_t size;
    char *text = (char *)scratch_read(scratch_path(&place, "error", path), &size);
    text = realloc(text, size + 1);
    ck_assert_ptr_nonnull(text);
    text[size] = 0;
    return text;
}

static void expect_error(const char *text, int output, int status, const char *says)
{
    for (uint32_t threads = 1; threads <= 3; ++threads) {
        ck_assert_int_eq(generate_into(text, threads, output), status);
        char *error = read_error();
        ck_assert_msg(strstr(error, says) != NULL, "%u threads: %s", threads, error);
        free(error);
    }
}

/* A particle that cannot be simulated follows light for two messages. Both messages are written
 * completely. */
static void expect_messages_before(const char *bad, const char *says)
{
    char path[SCRATCH_PATH], text[2048];
    size_t size[2];
    unsigned char *bytes[2];
    snprintf(text, sizeof text,
             PLAIN "particles: {cascades: steps, list: [{type: e-, energy: 2800, event: 1, " HERE
                   "}, %s, "
                   "{type: e-, energy: 1e6, event: 3, " HERE "}]}\n",
             bad);
    for (uint32_t i = 0; i < 2; ++i) {
        scratch_path(&place, "stream", path);
        int output = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        ck_assert_int_ge(output, 0);
        ck_assert_int_eq(generate_into(text, 1 + 2 * i, output), ICESTREAM_E_CONFIG);
        close(output);
        char *error = read_error();
        ck_assert_msg(strstr(error, says) != NULL, "%s", error);
        free(error);
        bytes[i] = scratch_read(path, &size[i]);
        ck_assert_uint_eq(size[i], 2 * (1024 + 65536 * sizeof(icestream_step)));
    }
    ck_assert(memcmp(bytes[0], bytes[1], size[0]) == 0);
    free(bytes[0]);
    free(bytes[1]);
}

START_TEST(bad_particle)
{
    expect_messages_before("{type: ph, photons: 5, spectrum: 7, event: 2, " HERE "}",
                           "particle 2: error: spectrum: found 7, expected at most 6");
    /* The thread that makes the steps finds this error while other threads make later steps. */
    expect_messages_before(
        "{type: e-, energy: 5, event: 2, x: 0, y: 0, z: -1e4, zenith: 0, azimuth: 0}",
        "particle 2: error: found light further away than 10000 m");
}
END_TEST

/* Many more steps than a test reads. */
static const char endless[] =
    "particles: {cascades: steps, list: [{type: e-, energy: 9e7, " HERE "}]}\n";

START_TEST(reader_closes_the_stream)
{
    int ends[2];
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    expect_error(endless, ends[1], ICESTREAM_E_OUTPUT,
                 "standard output: cannot write: the reader has gone");
    close(ends[1]);
}
END_TEST

START_TEST(full_disk)
{
    int output = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(output, 0);
    expect_error(endless, output, ICESTREAM_E_OUTPUT, "No space left on device");
    close(output);
}
END_TEST

ICS_TEST_MAIN("generate on threads")
{
    TCase *bytes = tcase_create("bytes");
    tcase_add_checked_fixture(bytes, setup, teardown);
    tcase_add_test(bytes, one_cascade);
    tcase_add_test(bytes, small_particles);
    tcase_add_test(bytes, tracks_and_flashers);
    tcase_add_test(bytes, workloads);
    suite_add_tcase(suite, bytes);
    TCase *ends = tcase_create("ends");
    tcase_add_checked_fixture(ends, setup, teardown);
    tcase_add_test(ends, bad_particle);
    tcase_add_test(ends, reader_closes_the_stream);
    tcase_add_test(ends, full_disk);
    suite_add_tcase(suite, ends);
}
