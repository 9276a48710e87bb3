/* Promises of the check of steps: blocks of rows are judged as their rows are one by one, and the
 * first bad row of a block, or of the rest behind the last block, is named. To join: another bad
 * value is a row of `faults`. */
#include "pipeline/photons/files/format/step_check.h"
#include "tests/support/step_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 200, FIRST = 1000 };

static void make_good(icestream_step *steps)
{
    for (uint32_t i = 0; i < ROWS; ++i) {
        steps[i] = step_file_good(3, i);
    }
}

/* ---- bad values ------------------------------------------------------------------------------ */

#define FAULT(name, change)                                                                        \
    static void name(icestream_step *step)                                                         \
    {                                                                                              \
        change;                                                                                    \
    }
FAULT(x_too_far, step->x = 10000.001f)
FAULT(y_not_finite, step->y = -INFINITY)
FAULT(z_no_number, step->z = NAN)
FAULT(t_not_finite, step->t = INFINITY)
FAULT(t_too_late, step->t = 8796093022209.0)
FAULT(direction_no_number, step->dy = NAN)
FAULT(direction_too_long, step->dx = 0.61f)
FAULT(length_negative, step->length = -0.25f)
FAULT(length_not_finite, step->length = INFINITY)
FAULT(beta_zero, step->beta = 0)
FAULT(beta_negative, step->beta = -0.5f)
FAULT(beta_above_1, step->beta = 1.0000001f)
FAULT(weight_negative, step->weight = -1)
FAULT(weight_no_number, step->weight = NAN)
FAULT(kind_unknown, step->kind = 4)
FAULT(spectrum_unknown, step->spectrum = STEP_FILE_SPECTRA)
FAULT(flags_unknown, step->flags = 1u << 15)

static const struct {
    void (*make)(icestream_step *step);
    const char *says; /* behind the number of the row */
} faults[] = {
    {x_too_far, "field x: found 10000.001, expected a value in [-10000, 10000] m"},
    {y_not_finite, "field y: found -inf, expected a value in [-10000, 10000] m"},
    {z_no_number, "field z: found nan, expected a value in [-10000, 10000] m"},
    {t_not_finite, "field t: found inf, expected a value in [-8796093022208, 8796093022208] ns"},
    {t_too_late, "field t: found 8.79609302e+12, expected a value in [-8796093022208"},
    {direction_no_number, "field dy: found nan, expected a finite value"},
    {direction_too_long, "fields dx, dy, dz: found a vector of length 1.00603, expected 1 within"},
    {length_negative, "field length: found -0.25, expected a finite value >= 0"},
    {length_not_finite, "field length: found inf, expected a finite value >= 0"},
    {beta_zero, "field beta: found 0, expected a value in (0, 1]"},
    {beta_negative, "field beta: found -0.5, expected a value in (0, 1]"},
    {beta_above_1, "field beta: found 1.00000012, expected a value in (0, 1]"},
    {weight_negative, "field weight: found -1, expected a finite value >= 0"},
    {weight_no_number, "field weight: found nan, expected a finite value >= 0"},
    {kind_unknown, "field kind: found 4, expected 0 (track), 1 (cascade), 2 (flasher) or 3"},
    {spectrum_unknown, "field spectrum: found "},
    {flags_unknown, "field flags: found 32768, expected bits of 1 (isotropic)"},
};

/* Rows of a block: first, middle, last; the first of another block; the rest behind the last block.
 */
static const uint32_t bad_rows[] = {0, 1, 31, 63, 64, 100, 127, 128, 191, 192, ROWS - 1};

START_TEST(bad_row_is_named_wherever_it_is)
{
    icestream_step steps[ROWS];
    icestream_error error = {.text = ""};
    char expected[200];
    for (size_t k = 0; k < sizeof bad_rows / sizeof *bad_rows; ++k) {
        make_good(steps);
        faults[_i].make(&steps[bad_rows[k]]);
        snprintf(expected, sizeof expected, "a.npy: row %u, %s", FIRST + bad_rows[k],
                 faults[_i].says);
        ck_assert_int_eq(ics_step_check(steps, ROWS, STEP_FILE_SPECTRA, "a.npy", FIRST, &error),
                         ICESTREAM_E_INPUT);
        ck_assert_msg(strncmp(error.text, expected, strlen(expected)) == 0,
                      "found \"%s\", expected \"%s\"", error.text, expected);
    }
}
END_TEST

START_TEST(first_of_two_bad_rows_is_named)
{
    icestream_step steps[ROWS];
    icestream_error error = {.text = ""};
    make_good(steps);
    weight_negative(&steps[70]);
    x_too_far(&steps[90]);
    ck_assert_int_eq(ics_step_check(steps, ROWS, STEP_FILE_SPECTRA, "a.npy", FIRST, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "row 1070, field weight"));
}
END_TEST

/* ---- good values ----------------------------------------------------------------------------- */

START_TEST(rare_good_values_are_accepted)
{
    icestream_step steps[ROWS];
    icestream_error error = {.text = ""};
    make_good(steps);
    steps[10].length = -0.0f;
    steps[11].weight = -0.0f;
    steps[12].x = -10000.0f;
    steps[13].t = -ICESTREAM_TIME_MAX;
    steps[14].beta = 1e-40f;
    steps[70].dx = 0.9990001f; /* on the edge of the tolerance */
    steps[70].dz = 0;
    steps[71].dx = steps[71].dz = NAN;
    steps[71].flags = ICESTREAM_STEP_ISOTROPIC;
    steps[72].flags = ICESTREAM_STEP_NOT_THINNED;
    steps[ROWS - 1].photons = UINT32_MAX;
    ck_assert_msg(ics_step_check(steps, ROWS, STEP_FILE_SPECTRA, "a.npy", 0, &error) == 0, "%s",
                  error.text);
}
END_TEST

/* ---- any bytes ------------------------------------------------------------------------------- */

static uint64_t scramble(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* One bit of one row is changed; the block must get the answer of its rows, one by one. */
START_TEST(blocks_are_judged_as_their_rows)
{
    enum { BLOCK = 64, TRIES = 20000 };
    icestream_step steps[BLOCK];
    uint64_t state = 4711;
    int refused = 0;
    for (int n = 0; n < TRIES; ++n) {
        icestream_error whole = {.text = ""}, single = {.text = ""};
        for (uint32_t i = 0; i < BLOCK; ++i) {
            steps[i] = step_file_good(3, i);
        }
        const size_t row = scramble(&state) % BLOCK, bit = scramble(&state) % (8 * sizeof *steps);
        ((unsigned char *)&steps[row])[bit / 8] ^= (unsigned char)(1u << bit % 8);
        const int expected =
            ics_step_check(&steps[row], 1, STEP_FILE_SPECTRA, "a.npy", FIRST + row, &single);
        ck_assert_int_eq(ics_step_check(steps, BLOCK, STEP_FILE_SPECTRA, "a.npy", FIRST, &whole),
                         expected);
        ck_assert_str_eq(whole.text, single.text);
        refused += expected != ICESTREAM_OK;
    }
    ck_assert_int_gt(refused, TRIES / 20);
    ck_assert_int_lt(refused, TRIES / 2);
}
END_TEST

ICS_TEST_MAIN("step_check")
{
    TCase *cases = tcase_create("step_check");
    tcase_add_loop_test(cases, bad_row_is_named_wherever_it_is, 0,
                        (int)(sizeof faults / sizeof *faults));
    tcase_add_test(cases, first_of_two_bad_rows_is_named);
    tcase_add_test(cases, rare_good_values_are_accepted);
    tcase_add_test(cases, blocks_are_judged_as_their_rows);
    suite_add_tcase(suite, cases);
}
