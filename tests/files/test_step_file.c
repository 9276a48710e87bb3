/* Promises of step files: good files are read completely, and a file that is cut or damaged at any
 * byte is refused. tests/cli/bad_inputs/bad_inputs_steps.py has the faults with their messages. */
#include "tests/support/scratch_files.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 20 };

/* ---- good files ----------------------------------------------------------------------------- */

START_TEST(file_is_checked_and_read)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_step steps[ROWS], got_steps[ROWS];
    for (uint32_t i = 0; i < ROWS; ++i) {
        steps[i] = step_file_good(3, i);
    }
    step_file_write(scratch_path(&place, "a.steps.npy", path), steps, ROWS);

    ics_step_reader *reader = NULL;
    ics_step_summary summary;
    icestream_error error;
    size_t got;
    ck_assert_int_eq(ics_step_reader_open(path, STEP_FILE_SPECTRA, &reader, &error), 0);
    ck_assert_uint_eq(ics_step_reader_rows(reader), ROWS);
    ck_assert_int_eq(ics_step_reader_check(reader, &summary, NULL, &error), 0);
    ck_assert_uint_eq(summary.rows, ROWS);
    ck_assert_uint_eq(summary.photons, 4000);
    ck_assert(summary.ascending);
    /* The digest is that of the bytes of the file. */
    size_t size;
    char digest[ICS_DIGEST_TEXT];
    unsigned char *bytes = scratch_read(path, &size);
    ck_assert_int_eq(ics_digest_of(bytes, size, digest, &error), 0);
    ck_assert_str_eq(summary.digest, digest);
    free(bytes);
    /* Rows come in pieces of any size; the end is reported by every further call. */
    ck_assert_int_eq(ics_step_reader_read(reader, got_steps, 7, &got, &error), 0);
    ck_assert_uint_eq(got, 7);
    ck_assert_int_eq(ics_step_reader_read(reader, got_steps + 7, ROWS, &got, &error), 0);
    ck_assert_uint_eq(got, ROWS - 7);
    for (int i = 0; i < 2; ++i) {
        ck_assert_int_eq(ics_step_reader_read(reader, got_steps, ROWS, &got, &error), 0);
        ck_assert_uint_eq(got, 0);
    }
    for (uint32_t i = 0; i < ROWS; ++i) {
        ck_assert_uint_eq(got_steps[i].step_id, i);
        ck_assert(got_steps[i].dx == 0.6f && got_steps[i].dz == 0.8f);
    }
    /* Checking again starts from the first row. */
    ck_assert_int_eq(ics_step_reader_check(reader, &summary, NULL, &error), 0);
    ck_assert_str_eq(summary.digest, digest);
    atomic_bool cancel = true;
    ck_assert_int_eq(ics_step_reader_check(reader, &summary, &cancel, &error),
                     ICESTREAM_E_INTERRUPTED);
    ics_step_reader_destroy(reader);
    scratch_remove(&place);
}
END_TEST

START_TEST(file_without_rows_is_legal)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_step_summary summary;
    icestream_error error;
    step_file_write(scratch_path(&place, "a.steps.npy", path), NULL, 0);
    ck_assert_msg(step_file_check(path, &summary, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(summary.rows, 0);
    ck_assert_uint_eq(summary.photons, 0);
    scratch_remove(&place);
}
END_TEST

START_TEST(directions_are_normalised_in_double_precision)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_step steps[3] = {step_file_good(0, 0), step_file_good(0, 1), step_file_good(0, 2)},
                   read[3];
    steps[0].dx = 0.6005f; /* length 1.0003 */
    steps[1].dx = steps[1].dz = NAN;
    steps[1].flags = ICESTREAM_STEP_ISOTROPIC;
    steps[2].dx = 0.9990001f; /* on the edge of the tolerance */
    steps[2].dz = 0;
    step_file_write(scratch_path(&place, "a.steps.npy", path), steps, 3);
    ics_step_reader *reader = NULL;
    icestream_error error = {.text = ""};
    size_t got;
    ck_assert_int_eq(ics_step_reader_open(path, STEP_FILE_SPECTRA, &reader, &error), 0);
    ck_assert_msg(ics_step_reader_read(reader, read, 3, &got, &error) == 0, "%s", error.text);
    ck_assert_uint_eq(got, 3);
    /* 0.6005f and 0.8f, divided by their norm 1.000300000..., computed by hand with 20 digits */
    ck_assert_float_eq_tol(read[0].dx, 0.60031987f, 6e-8f);
    ck_assert_float_eq_tol(read[0].dz, 0.79976004f, 6e-8f);
    ck_assert(read[1].dx == 0 && read[1].dy == 0 && read[1].dz == 1);
    ck_assert(read[2].dx == 1 && read[2].dz == 0);
    ics_step_reader_destroy(reader);
    scratch_remove(&place);
}
END_TEST

/* ---- keys ----------------------------------------------------------------------------------- */

static uint64_t scramble(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Many steps in random order, with or without a duplicate key. */
START_TEST(keys_in_any_order_are_compared)
{
    enum { COUNT = 50000 };
    scratch place = scratch_create();
    char path[SCRATCH_PATH], expected[128];
    icestream_step *steps = malloc(COUNT * sizeof *steps);
    ics_step_summary summary;
    icestream_error error;
    uint64_t state = 12345;
    ck_assert_ptr_nonnull(steps);
    for (uint32_t i = 0; i < COUNT; ++i) { /* some step ids far apart, some in runs, large events */
        steps[i] = step_file_good((uint64_t)(i % 13) << 60 | i % 7, i % 2 ? i : i * 80001u);
    }
    for (uint32_t i = COUNT - 1; i > 0; --i) {
        uint32_t other = (uint32_t)(scramble(&state) % (i + 1));
        icestream_step moved = steps[i];
        steps[i] = steps[other];
        steps[other] = moved;
    }
    step_file_write(scratch_path(&place, "a.steps.npy", path), steps, COUNT);
    ck_assert_msg(step_file_check(path, &summary, &error) == 0, "%s", error.text);
    ck_assert(!summary.ascending);
    ck_assert_uint_eq(summary.photons, 200u * COUNT);

    steps[40000].event_id = steps[123].event_id;
    steps[40000].step_id = steps[123].step_id;
    step_file_write(path, steps, COUNT);
    snprintf(expected, sizeof expected,
             "row 40000, field step_id: found %u again in event %llu (as in row 123), expected it "
             "once per event",
             steps[123].step_id, (unsigned long long)steps[123].event_id);
    step_file_refuse(path, expected);
    free(steps);
    scratch_remove(&place);
}
END_TEST

START_TEST(key_again_within_a_run_is_found)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_step steps[ROWS];
    ics_step_summary summary;
    icestream_error error;
    for (uint32_t i = 0; i < ROWS; ++i) {
        steps[i] = step_file_good(i < 10 ? 4 : 2, i % 10);
    }
    step_file_write(scratch_path(&place, "a.steps.npy", path), steps, ROWS);
    ck_assert_int_eq(step_file_check(path, &summary, &error), 0);
    ck_assert(!summary.ascending);
    steps[19] = step_file_good(4, 5);
    step_file_write(path, steps, ROWS);
    step_file_refuse(path, "row 19, field step_id: found 5 again in event 4 (as in row 5)");
    steps[19] = step_file_good(2, 8);
    step_file_write(path, steps, ROWS);
    step_file_refuse(path, "row 19, field step_id: found 8 again in event 2 (as in row 18)");
    /* A run of step ids does not continue from the largest id to 0. */
    steps[18] = step_file_good(2, UINT32_MAX);
    steps[19] = step_file_good(2, 100);
    step_file_write(path, steps, ROWS);
    ck_assert_int_eq(step_file_check(path, &summary, &error), 0);
    scratch_remove(&place);
}
END_TEST

/* ---- damaged files -------------------------------------------------------------------------- */

enum { WHOLE = -1 };

/* A file that is cut at any byte is an error, unless exactly the trailer is cut off. */
START_TEST(every_cut_is_noticed)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_step steps[3] = {step_file_good(1, 0), step_file_good(1, 1), step_file_good(1, 2)};
    ics_step_summary summary;
    icestream_error error;
    step_file_write(scratch_path(&place, "a.steps.npy", path), steps, 3);
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    for (size_t cut = 0; cut < size; ++cut) {
        ck_assert_int_eq(truncate(path, (off_t)cut), 0);
        int status = step_file_check(path, &summary, &error);
        ck_assert_int_eq(status, cut == STEP_FILE_HEADER + 3 * 72 ? 0 : ICESTREAM_E_INPUT);
        scratch_write(path, bytes, size);
    }
    free(bytes);
    scratch_remove(&place);
}
END_TEST

/* In a file with a trailer every flipped bit is found, and none causes a crash. */
START_TEST(every_flipped_bit_is_noticed)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_step step = step_file_good(1, 0);
    ics_step_summary summary;
    icestream_error error;
    step_file_write(scratch_path(&place, "a.steps.npy", path), &step, 1);
    size_t size;
    unsigned char *bytes = scratch_read(path, &size);
    for (size_t at = STEP_FILE_HEADER; at < size; ++at) {
        bytes[at] ^= (unsigned char)(1 << at % 8);
        scratch_write(path, bytes, size);
        ck_assert_msg(step_file_check(path, &summary, &error) == ICESTREAM_E_INPUT, "byte %zu", at);
        bytes[at] ^= (unsigned char)(1 << at % 8);
    }
    free(bytes);
    scratch_remove(&place);
}
END_TEST

START_TEST(pipe_is_refused_without_waiting)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ck_assert_int_eq(mkfifo(scratch_path(&place, "pipe.npy", path), 0666), 0);
    step_file_refuse(path, "found a pipe, expected a regular file");
    scratch_remove(&place);
}
END_TEST

/* The file is good, so it must not be quarantined. */
START_TEST(lack_of_descriptors_is_not_an_error_of_the_file)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    scratch_write(scratch_path(&place, "a.npy", path), "x", 1);
    struct rlimit before, none;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ics_step_reader *reader = NULL;
    icestream_error error = {.status = ICESTREAM_OK};
    int status = ics_step_reader_open(path, 7, &reader, &error);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_eq(status, ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "a.npy: cannot open: Too many open files"));
    scratch_remove(&place);
}
END_TEST

START_TEST(file_changed_while_reading_is_noticed)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_step steps[2] = {step_file_good(1, 0), step_file_good(1, 1)}, read[2];
    ics_step_reader *reader = NULL;
    icestream_error error;
    size_t got;
    step_file_write(scratch_path(&place, "a.steps.npy", path), steps, 2);
    ck_assert_int_eq(ics_step_reader_open(path, STEP_FILE_SPECTRA, &reader, &error), 0);
    ck_assert_int_eq(ics_step_reader_read(reader, read, 2, &got, &error), 0);
    FILE *file = fopen(path, "ab");
    ck_assert_ptr_nonnull(file);
    fputc(0, file);
    fclose(file);
    ck_assert_int_eq(ics_step_reader_read(reader, read, 2, &got, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "changed while it was read"));
    ics_step_reader_destroy(reader);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("step_file")
{
    TCase *good = tcase_create("good");
    tcase_add_test(good, file_is_checked_and_read);
    tcase_add_test(good, file_without_rows_is_legal);
    tcase_add_test(good, directions_are_normalised_in_double_precision);
    tcase_add_test(good, keys_in_any_order_are_compared);
    tcase_add_test(good, key_again_within_a_run_is_found);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_test(bad, every_cut_is_noticed);
    tcase_add_test(bad, every_flipped_bit_is_noticed);
    tcase_add_test(bad, pipe_is_refused_without_waiting);
    tcase_add_test(bad, lack_of_descriptors_is_not_an_error_of_the_file);
    tcase_add_test(bad, file_changed_while_reading_is_noticed);
    suite_add_tcase(suite, bad);
}
