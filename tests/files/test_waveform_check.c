/* Promise: `info --verify` and --resume name the first fault of a file of waveforms. To join: a new
 * fault is a row of `faults`. */
#include "pipeline/photons/files/table_writer.h"
#include "pipeline/photons/files/waveform_check.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <string.h>

#define ACCOUNT                                                                                    \
    "'account': {'created': 9, 'absorbed': 2, 'detected': 5, 'left': 2, 'stopped': 0, "            \
    "'hits': 5, 'bounces': 20}"
#define GOOD "{'bin_ns': 10.0, 'hits': 4, 'outside': 1, " ACCOUNT "}"

/* Three bins of good waveforms: 4 hits. */
static const icestream_waveform_bin good[] = {
    {.event_id = 1, .t = -10, .weight = 1.5, .hits = 2, .bin = -1, .string = 5, .module = 6},
    {.event_id = 1, .t = 0, .weight = 0, .hits = 1, .bin = 0, .string = 5, .module = 6},
    {.event_id = 2, .t = -20, .weight = 1, .hits = 1, .bin = -2, .string = 5, .module = 6}};

/* What is wrong: the trailer, with ' for ", or a row. */
static const struct {
    const char *trailer;
    size_t row; /* that is replaced; 3: none */
    icestream_waveform_bin bin;
    const char *expected;
    bool in_rows; /* only a thorough check finds it */
} faults[] = {
    {"{'hits': 4, 'outside': 1}", 3, {0}, "trailer: bin_ns: found none", false},
    {"{'bin_ns': -1.0, 'hits': 4, 'outside': 1}", 3, {0}, "trailer: bin_ns: found none", false},
    {"{'bin_ns': 10.0, 'hits': 'x', 'outside': 1}", 3, {0}, "trailer: hits: found none", false},
    {"{'bin_ns': 10.0, 'hits': 4, 'outside': -1}", 3, {0}, "trailer: outside: found none", false},
    {"{'bin_ns': 10.0, 'hits': 4, 'outside': 0, " ACCOUNT "}",
     3,
     {0},
     "or has other hits than the waveforms, expected 4 hits",
     false},
    {"{'bin_ns': 10.0, 'hits': 4, 'outside': 1, 'account': 7}", 3, {0}, "trailer: account", false},
    {"{'bin_ns': 10.0, 'hits': 3, 'outside': 0}",
     3,
     {0},
     "trailer: hits: found 3, expected 4, the hits of all rows",
     true},
    {GOOD, 0, {.event_id = 1, .bin = -1, .string = 5, .module = 6}, "row 0: found 0 hits", true},
    {GOOD,
     1,
     {.event_id = 1, .hits = 1, .weight = NAN, .string = 5, .module = 6},
     "row 1: found 1 hits of weight nan",
     true},
    {GOOD,
     1,
     {.event_id = 1, .hits = 1, .weight = -1, .string = 5, .module = 6},
     "row 1: found 1 hits of weight -1",
     true},
    {GOOD,
     1,
     {.event_id = 1, .hits = 1, .t = INFINITY, .string = 5, .module = 6},
     "row 1: found 1 hits of weight 0 at inf ns",
     true},
    {GOOD,
     1,
     {.event_id = 1, .hits = 1, .bin = -1, .string = 5, .module = 6},
     "row 1: found a bin that does not come after",
     true},
    {GOOD,
     1,
     {.event_id = 1, .hits = 1, .bin = 9, .string = 4, .module = 9},
     "row 1: found a bin that does not come after",
     true},
    {GOOD,
     1,
     {.event_id = 1, .hits = 1, .bin = 9, .string = 5, .module = 5},
     "row 1: found a bin that does not come after",
     true},
    {GOOD,
     2,
     {.event_id = 0, .hits = 1, .bin = 9, .string = 9, .module = 9},
     "row 2: found a bin that does not come after",
     true},
};

static void write_file(const char *path, const char *trailer, size_t row,
                       const icestream_waveform_bin *bin)
{
    char text[512];
    icestream_error error = {.text = ""};
    ics_table_writer *writer = NULL;
    icestream_waveform_bin rows[COUNT(good)];
    memcpy(rows, good, sizeof rows);
    if (row < COUNT(good)) {
        rows[row] = *bin;
    }
    snprintf(text, sizeof text, "%s", trailer);
    for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;) {
        *quote = '"';
    }
    json_t *metadata = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(metadata);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_waveforms(), true, &writer, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(ics_table_writer_append(writer, rows, COUNT(good), &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_table_writer_commit(writer, metadata, &error), ICESTREAM_OK);
    ics_table_writer_destroy(writer);
    json_decref(metadata);
}

START_TEST(sound_files)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    json_t *metadata = NULL;
    write_file(scratch_path(&place, "a.npy", path), GOOD, COUNT(good), NULL);
    ck_assert(ics_waveform_check_is(path));
    ck_assert_msg(ics_waveform_check_file(path, true, &metadata, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_int_eq(json_integer_value(json_object_get(metadata, "outside")), 1);
    json_decref(metadata);
    /* Hits of another program have no account. */
    write_file(path, "{'bin_ns': 10.0, 'hits': 4, 'outside': 0}", COUNT(good), NULL);
    ck_assert_int_eq(ics_waveform_check_file(path, true, NULL, &error), ICESTREAM_OK);
    ck_assert(!ics_waveform_check_is(scratch_path(&place, "none.npy", path)));
    scratch_remove(&place);
}
END_TEST

START_TEST(faults_are_named)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    json_t *metadata = NULL;
    write_file(scratch_path(&place, "a.npy", path), faults[_i].trailer, faults[_i].row,
               &faults[_i].bin);
    const int quick = ics_waveform_check_file(path, false, NULL, &error);
    ck_assert_int_eq(quick, faults[_i].in_rows ? ICESTREAM_OK : ICESTREAM_E_INPUT);
    ck_assert_int_eq(ics_waveform_check_file(path, true, &metadata, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_null(metadata);
    ck_assert_msg(strstr(error.text, faults[_i].expected) != NULL, "no '%s' in '%s'",
                  faults[_i].expected, error.text);
    ck_assert_msg(strstr(error.text, path) != NULL, "%s", error.text);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("waveform_check")
{
    TCase *tests = tcase_create("waveform_check");
    tcase_add_test(tests, sound_files);
    tcase_add_loop_test(tests, faults_are_named, 0, COUNT(faults));
    suite_add_tcase(suite, tests);
}
