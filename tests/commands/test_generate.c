/* `icestream generate`.
 *
 * Promise: files and messages of steps are complete, and equal runs make equal files. To join: a
 * new kind of output gets a test like file_reads_back. Several threads are tested in
 * tests/generator, particles in tests/particles, outputs that cannot be written in
 * tests/cli/bad_inputs/bad_inputs_commands.py.
 */
#include "pipeline/photons/files/step_reader.h"
#include "tests/commands/workload_config.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static scratch place;

static const char *in_folder(const char *name, char path[SCRATCH_PATH])
{
    return scratch_path(&place, name, path);
}

static void make_folder(void)
{
    place = scratch_create();
}

static void remove_folder(void)
{
    static const char *const names[] = {"a.steps.npy", "b.steps.npy", "stream"};
    char path[SCRATCH_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        unlink(in_folder(names[i], path));
    }
    ck_assert_int_eq(rmdir(place.folder), 0); /* nothing else was left behind */
}

static void generate(const icestream_config *config, const char *path,
                     bool existing_file_is_kept_without_force)
{
    icestream_error error = {0};
    ck_assert_msg(icestream_generate(config, path, existing_file_is_kept_without_force, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
}

static icestream_step *read_all(ics_step_reader *reader, size_t expected)
{
    icestream_error error = {0};
    icestream_step *steps = calloc(expected + 1, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    size_t count = 0;
    size_t got = 0;
    do {
        ck_assert_msg(ics_step_reader_read(reader, steps + count, expected + 1 - count, &got,
                                           &error) == ICESTREAM_OK,
                      "%s", error.text);
        count += got;
    } while (got > 0 && count <= expected);
    ck_assert_uint_eq(count, expected);
    return steps;
}

START_TEST(file_reads_back)
{
    /* More than one block. */
    enum { STEPS = 70001 };
    char path[SCRATCH_PATH];
    icestream_error error = {0};
    icestream_config config = make_config(ICS_WORKLOAD_CASCADE, STEPS);
    config.workload.counts = ICS_COUNTS_SHUFFLED;
    generate(&config, in_folder("a.steps.npy", path), false);

    ics_step_reader *reader = NULL;
    ics_step_summary summary;
    ck_assert_msg(ics_step_reader_open(path, 1, &reader, &error) == ICESTREAM_OK, "%s", error.text);
    ck_assert_msg(ics_step_reader_check(reader, &summary, NULL, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_uint_eq(summary.rows, STEPS);
    ck_assert_uint_eq(summary.photons, UINT64_C(200) * STEPS);
    ck_assert(summary.ascending);
    icestream_step *steps = read_all(reader, STEPS);
    ics_step_reader_destroy(reader);
    ics_workload *workload = make_workload(&config);
    for (size_t i = 0; i < STEPS; i += 7) {
        icestream_step expected = make_step(workload, i);
        ck_assert_uint_eq(steps[i].photons, expected.photons);
        ck_assert_uint_eq(steps[i].step_id, i);
        ck_assert_float_eq(steps[i].z, expected.z);
        ck_assert_float_eq(steps[i].t, expected.t);
        ck_assert_float_eq_tol(steps[i].dx, expected.dx, 1e-7);
    }
    ics_workload_destroy(workload);
    free(steps);
}
END_TEST

START_TEST(equal_runs_equal_files)
{
    char a[SCRATCH_PATH];
    char b[SCRATCH_PATH];
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, 1000);
    generate(&config, in_folder("a.steps.npy", a), false);
    generate(&config, in_folder("b.steps.npy", b), false);
    size_t size, size_of_b;
    unsigned char *in_a = scratch_read(a, &size), *in_b = scratch_read(b, &size_of_b);
    ck_assert_uint_eq(size_of_b, size);
    ck_assert_mem_eq(in_a, in_b, size);
    /* The trailer says what the file is. */
    ck_assert_ptr_nonnull(memmem(in_a, size, "\"uniform\"", 9));
    ck_assert_ptr_nonnull(
        memmem(in_a, size, "icestream " ICESTREAM_VERSION, 10 + strlen(ICESTREAM_VERSION)));
    free(in_a);
    free(in_b);
}
END_TEST

/* Runs generate in a child process, with a file as its standard output. */
static void generate_stream(const icestream_config *config, const char *path)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (descriptor < 0 || dup2(descriptor, STDOUT_FILENO) < 0) {
            _exit(9);
        }
        icestream_error error = {0};
        _exit(-icestream_generate(config, "-", false, &error));
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* A limit is for the file: its header has 1024 bytes, and each step 72. */
START_TEST(file_above_the_limit_is_refused_before_it_is_written)
{
    char path[SCRATCH_PATH];
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, 100);
    icestream_error error = {0};
    in_folder("a.steps.npy", path);
    config.particles.file_limit = 1024 + 99 * 72;
    ck_assert_int_eq(icestream_generate(&config, path, false, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "found a step file of 8.22 kB, expected at most "
                                             "8.15 kB, particles.file_limit"));
    ck_assert_int_ne(access(path, F_OK), 0);
    config.particles.file_limit += 72;
    generate(&config, path, false);
}
END_TEST

START_TEST(size_is_reported_before_the_file_is_written)
{
    char path[SCRATCH_PATH], *text = NULL;
    size_t size = 0;
    icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, 100);
    icestream_error error = {0};
    FILE *report = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(report);
    ck_assert_int_eq(
        icestream_generate_report(&config, in_folder("a.steps.npy", path), false, report, &error),
        ICESTREAM_OK);
    fclose(report);
    ck_assert_ptr_nonnull(strstr(text, "a.steps.npy: 8.22 kB in 100 steps, 20000 photons\n"));
    free(text);
}
END_TEST

START_TEST(stream_reads_back)
{
    /* Two messages, and one. */
    static const uint32_t counts[] = {65537, 3};
    for (size_t i = 0; i < 2; ++i) {
        char path[SCRATCH_PATH];
        icestream_error error = {0};
        icestream_config config = make_config(ICS_WORKLOAD_UNIFORM, counts[i]);
        generate_stream(&config, in_folder("stream", path));
        int descriptor = open(path, O_RDONLY);
        ck_assert_int_ge(descriptor, 0);
        ics_step_reader *reader = NULL;
        ck_assert_msg(ics_step_reader_open_stream(descriptor, "stream", 1, -1, &reader, &error) ==
                          ICESTREAM_OK,
                      "%s", error.text);
        uint32_t left = counts[i];
        bool found = false;
        do {
            uint32_t expected = left < 65536 ? left : 65536;
            ck_assert_msg(ics_step_reader_next(reader, &found, &error) == ICESTREAM_OK, "%s",
                          error.text);
            ck_assert(found);
            free(read_all(reader, expected));
            left -= expected;
        } while (left > 0);
        ck_assert_msg(ics_step_reader_next(reader, &found, &error) == ICESTREAM_OK, "%s",
                      error.text);
        ck_assert(!found);
        ics_step_reader_destroy(reader);
        close(descriptor);
    }
}
END_TEST

ICS_TEST_MAIN("generate")
{
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, make_folder, remove_folder);
    tcase_add_test(files, file_reads_back);
    tcase_add_test(files, equal_runs_equal_files);
    tcase_add_test(files, stream_reads_back);
    tcase_add_test(files, file_above_the_limit_is_refused_before_it_is_written);
    tcase_add_test(files, size_is_reported_before_the_file_is_written);
    suite_add_tcase(suite, files);
}
