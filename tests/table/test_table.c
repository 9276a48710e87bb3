/* Promises: parts of a photon table add up exactly in any order, no part counts twice, and a sum
 * that overflows is an error. To join: a new wrong axis is a row of `wrong_axes`. */
#include "pipeline/photons/table/table.h"
#include "tests/support/test_main.h"
#include "tests/table/table_samples.h"

#include <math.h>

/* ---- axes ------------------------------------------------------------------------------------ */

START_TEST(edges_follow_the_power)
{
    /* sqrt(8) is cut into two equal parts: the middle edge is 8 / 4. */
    ck_assert_double_eq_tol(ics_table_edge(&sample_axes[0], 1), 2.0, 1e-14);
    ck_assert_double_eq(ics_table_edge(&sample_axes[0], 2), 8.0);
    const ics_table_axis late = {
        .name = "r", .unit = "m", .from = 4, .to = 16, .bins = 2, .power = 2};
    ck_assert_double_eq_tol(ics_table_edge(&late, 1), 9.0, 1e-13);
}
END_TEST

static double edges_down[3] = {0, 2, 1}, edges_nan[3] = {0, NAN, 1}, edges_short[3] = {0, 1, 3};

static const struct {
    ics_table_axis axis;
    const char *says;
} wrong_axes[] = {
    {{.name = "", .from = 0, .to = 1, .bins = 1, .power = 1}, "found the name ''"},
    {{.name = "R", .from = 0, .to = 1, .bins = 1, .power = 1}, "found the name 'R'"},
    {{.name = "r", .from = 0, .to = 1, .bins = 1, .power = 1}, "which axis 1 has already"},
    {{.name = "x", .from = 0, .to = 1, .bins = 1, .power = 1}, "found the unit ''"},
    {{.name = "x", .unit = "m'", .from = 0, .to = 1, .bins = 1, .power = 1}, "found the unit 'm''"},
    {{.name = "x", .unit = "m m", .from = 0, .to = 1, .bins = 1, .power = 1}, "unit 'm m'"},
    {{.name = "x", .unit = "m", .from = 0, .to = 1, .bins = 0, .power = 1}, "found 0 bins"},
    {{.name = "x", .unit = "m", .from = 0, .to = 1, .bins = 1u << 31, .power = 1},
     "found 2147483648 bins"},
    {
        {.name = "x", .unit = "m", .from = 0, .to = 1, .bins = 1 << 24, .power = 1},
        "",
    },
    {{.name = "x", .unit = "m", .from = 1, .to = 1, .bins = 1, .power = 1},
     "found the range 1 to 1"},
    {{.name = "x", .unit = "m", .from = 2, .to = 1, .bins = 1, .power = 1},
     "found the range 2 to 1"},
    {{.name = "x", .unit = "m", .from = NAN, .to = 1, .bins = 1, .power = 1},
     "found the range nan to 1"},
    {{.name = "x", .unit = "m", .from = 0, .to = INFINITY, .bins = 1, .power = 1},
     "found the range 0 to inf"},
    {{.name = "x", .unit = "m", .from = -1e308, .to = 1e308, .bins = 1, .power = 1},
     "expected finite numbers"},
    {{.name = "x", .unit = "m", .from = 0, .to = 1, .bins = 1, .power = 0}, "found power 0"},
    {{.name = "x", .unit = "m", .from = -1, .to = 1, .bins = 1, .power = 2}, "begins at -1"},
    {{.name = "x", .unit = "m", .from = 1, .to = 1.000000000000001, .bins = 100, .power = 1},
     "ascending order"},
    {{.name = "x", .unit = "m", .from = 0, .to = 1, .bins = 2, .power = 1, .edges = edges_down},
     "ascending"},
    {{.name = "x", .unit = "m", .from = 0, .to = 1, .bins = 2, .power = 1, .edges = edges_nan},
     "finite"},
    {{.name = "x", .unit = "m", .from = 0, .to = 2, .bins = 2, .power = 1, .edges = edges_short},
     "to 3"},
};

START_TEST(wrong_axes_are_explained)
{
    ics_table_axis axes[2] = {sample_axes[0], wrong_axes[_i].axis};
    icestream_error error = {.text = ""};
    const int status = ics_table_check_axes("x.npy", axes, 2, &error);
    if (*wrong_axes[_i].says == '\0') {
        ck_assert_int_eq(status, ICESTREAM_OK);
        return;
    }
    ck_assert_int_eq(status, ICESTREAM_E_INPUT);
    ck_assert_ptr_eq(strstr(error.text, "x.npy: axis "), error.text);
    ck_assert_msg(strstr(error.text, wrong_axes[_i].says) != NULL, "%s", error.text);
}
END_TEST

START_TEST(too_many_cells_are_an_error)
{
    icestream_error error = {.text = ""};
    ics_table_axis axes[2] = {sample_axes[0], sample_axes[1]};
    axes[0].bins = axes[1].bins = 1 << 20; /* 2^40 */
    ck_assert_int_eq(ics_table_check_axes("x", axes, 2, &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found more than 3221225472 cells"));
    ck_assert_int_eq(ics_table_check_axes("x", axes, 0, &error), ICESTREAM_E_INPUT);
    ck_assert_int_eq(ics_table_check_axes("x", axes, 9, &error), ICESTREAM_E_INPUT);
}
END_TEST

/* ---- sums ------------------------------------------------------------------------------------ */

static ics_table *sum_of(const int order[3])
{
    static const char *const parts[3] = {SAMPLE_PART_A, SAMPLE_PART_B, SAMPLE_PART_C};
    icestream_error error = {.text = ""};
    ics_table *sum = sample_table((uint64_t)order[0], parts[order[0]], true);
    sum->facts.seed = (uint64_t)order[0];
    for (int i = 1; i < 3; ++i) {
        ics_table *part = sample_table((uint64_t)order[i], parts[order[i]], true);
        part->facts.seed = (uint64_t)order[i];
        ck_assert_msg(ics_table_add(sum, "sum", part, "part", &error) == 0, "%s", error.text);
        ics_table_destroy(part);
    }
    return sum;
}

START_TEST(parts_add_up_in_any_order)
{
    static const int first[3] = {0, 1, 2}, second[3] = {2, 0, 1};
    ics_table *a = sum_of(first), *b = sum_of(second);
    ck_assert(sample_equals(a, b));
    ck_assert_uint_eq(a->part_count, 3);
    ck_assert_uint_eq(a->facts.seed, 0);
    ck_assert_uint_eq(b->facts.seed, 0);
    ck_assert_uint_eq(a->photons, 303);
    /* Three times 0.75 and 0 + 10 + 20. */
    ck_assert_uint_eq(a->weight.whole, 32);
    ck_assert_uint_eq(a->weight.fraction, 0x40000000u);
    ics_table_destroy(a);
    ics_table_destroy(b);
}
END_TEST

/* Adds b to a; the error must say `says`, and a must stay as it is. */
static void refuse(ics_table *a, ics_table *b, const char *says)
{
    icestream_error error = {.text = ""};
    ics_table *before = sample_table(1, SAMPLE_PART_A, a->squares != NULL);
    ck_assert_int_eq(ics_table_add(a, "a.npy", b, "b.npy", &error), ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(error.text, says) != NULL, "%s", error.text);
    ck_assert(sample_equals(a, before));
    ics_table_destroy(before);
    ics_table_destroy(b);
}

START_TEST(tables_that_do_not_belong_together_are_refused)
{
    ics_table *a = sample_table(1, SAMPLE_PART_A, false), *b = NULL;
    refuse(a, sample_table(2, SAMPLE_PART_A, false), "b.npy: found the part aaaaaaaaaaaaaaaa...");
    refuse(a, sample_table(2, SAMPLE_PART_B, true), "found a table with squared weights");
    b = sample_table(2, SAMPLE_PART_B, false);
    b->axes[3].to = 101;
    refuse(a, b, "b.npy: axis 4: found t with 4 bins from 0 to 101");
    b = sample_table(2, SAMPLE_PART_B, false);
    strcpy(b->facts.ice, SAMPLE_PART_C);
    refuse(a, b, "the digest of the ice differs");
    b = sample_table(2, SAMPLE_PART_B, false);
    b->part_count = 0;
    refuse(a, b, "b.npy: found a table without parts");
    ics_table_destroy(a);
}
END_TEST

START_TEST(sums_that_overflow_are_errors)
{
    icestream_error error = {.text = ""};
    ics_table *a = sample_table(1, SAMPLE_PART_A, true);
    const int64_t large = INT64_MAX, one = 1, negative = -1;
    a->sums[5] = 1;
    ck_assert_int_eq(ics_table_add_sums(a, 5, &large, NULL, 1, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "cell 5: the sum of weights"));
    a->squares[6] = INT64_MAX;
    ck_assert_int_eq(ics_table_add_sums(a, 6, &one, &one, 1, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "squared weights"));
    ck_assert_int_eq(ics_table_add_sums(a, 7, &negative, NULL, 1, &error), ICESTREAM_E_FAILED);
    const ics_table_weight most = {.whole = UINT64_MAX, .fraction = 0};
    ck_assert_int_eq(ics_table_add_photons(a, 1, most, &error), ICESTREAM_E_FAILED);
    ck_assert_int_eq(ics_table_add_part(a, "no digest", &error), ICESTREAM_E_INPUT);
    ics_table_destroy(a);
}
END_TEST

/* ---- exchange -------------------------------------------------------------------------------- */

START_TEST(sums_are_exchanged)
{
    icestream_error error = {.text = ""};
    const bool has_squares = _i == 1;
    ics_table *a = sample_table(1, SAMPLE_PART_A, has_squares);
    ics_table *b = sample_table(2, SAMPLE_PART_B, has_squares);
    ics_table *as_b = sample_table(2, SAMPLE_PART_A, has_squares);
    as_b->photons = a->photons;
    as_b->weight = a->weight;
    ck_assert_int_eq(ics_table_exchange_sums(a, "a.npy", b, "b.npy", &error), 0);
    ck_assert(sample_equals(a, as_b));
    ck_assert(!sample_equals(b, as_b));
    /* Not with another table. */
    b->facts.step_length = 2.0;
    ck_assert_int_eq(ics_table_exchange_sums(a, "a.npy", b, "b.npy", &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "b.npy: the step length differs"));
    b->facts.step_length = 1.0;
    b->axes[0].to = 9;
    ck_assert_int_eq(ics_table_exchange_sums(a, "a.npy", b, "b.npy", &error), ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "b.npy: axis 1: found r"));
    ck_assert(sample_equals(a, as_b));
    ics_table_destroy(a);
    ics_table_destroy(b);
    ics_table_destroy(as_b);
}
END_TEST

ICS_TEST_MAIN("table")
{
    TCase *cases = tcase_create("table");
    tcase_add_test(cases, edges_follow_the_power);
    tcase_add_loop_test(cases, wrong_axes_are_explained, 0, COUNT(wrong_axes));
    tcase_add_test(cases, too_many_cells_are_an_error);
    tcase_add_test(cases, parts_add_up_in_any_order);
    tcase_add_loop_test(cases, sums_are_exchanged, 0, 2);
    tcase_add_test(cases, tables_that_do_not_belong_together_are_refused);
    tcase_add_test(cases, sums_that_overflow_are_errors);
    suite_add_tcase(suite, cases);
}
