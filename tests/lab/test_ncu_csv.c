/* The table of ncu, and the roofline that follows from it.
 *
 * Promises: a table is read whatever the order of its columns and the units of this version of ncu;
 * damaged rows, values that are no numbers and missing metrics are refused with line, kernel and
 * metric; no text makes the reader fail otherwise. What bounds a kernel is the largest of four
 * shares. To join: a damage gets a row in `damages`, a rule of the roofline a test.
 */
#include "bench/lab/roofline/roofline.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A table of one launch, in which every counter has the value of its number + 1, in the base units.
 * `name` replaces "kernel", and `value` the text of the counter `changed`. The caller frees it. */
static char *make_table(const char *name, int changed, const char *value)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fputs("==PROF== Connected\n\"ID\",\"Kernel Name\"", out);
    for (int i = ICS_COUNTERS - 1; i >= 0; --i) {
        fprintf(out, ",\"%s\"", ics_counters_metric((ics_counter)i));
    }
    fputs("\r\n\"\",\"\"", out);
    for (int i = ICS_COUNTERS - 1; i >= 0; --i) {
        const bool bytes = i >= ICS_COUNTER_L1_BYTES && i <= ICS_COUNTER_HBM_BYTES;
        const bool clock = i >= ICS_COUNTER_SM_CLOCK && i <= ICS_COUNTER_HBM_CLOCK;
        fprintf(out, ",\"%s\"",
                bytes                      ? "byte"
                : clock                    ? "cycle/second"
                : i == ICS_COUNTER_SECONDS ? "second"
                                           : "inst");
    }
    fprintf(out, "\r\n\"0\",%s", name);
    for (int i = ICS_COUNTERS - 1; i >= 0; --i) {
        if (i == changed) {
            fprintf(out, ",%s", value);
        } else {
            fprintf(out, ",\"%d\"", i + 1);
        }
    }
    fputs("\r\n==PROF== Disconnected\r\n", out);
    fclose(out);
    return text;
}

static int keep_launch(const ics_ncu_launch *launch, void *user, icestream_error *error)
{
    (void)error;
    *(ics_ncu_launch *)user = *launch;
    return ICESTREAM_OK;
}

static void check_kernel(const char *name, const char *expected)
{
    char *text = make_table(name, -1, "");
    ics_ncu_launch launch = {.kernel = ""};
    icestream_error error = {0};
    ck_assert_msg(ics_ncu_csv_read(text, strlen(text), keep_launch, &launch, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    ck_assert_str_eq(launch.kernel, expected);
    for (int i = 0; i < ICS_COUNTERS; ++i) {
        ck_assert_double_eq(launch.values[i], i + 1);
    }
    free(text);
}

START_TEST(test_columns_are_found_by_name)
{
    check_kernel("\"gpu_bounce\"", "gpu_bounce");
    check_kernel("gpu_bounce", "gpu_bounce");
    check_kernel("\"void cub::v3::sort<int, \"\"x\"\">(int *, const char *)\"", "sort");
    check_kernel("\"gpu\x1b[31m_\xff(int)\"", "gpu??31m_?");
}
END_TEST

START_TEST(test_numbers_have_units)
{
    static const struct {
        ics_counter counter;
        const char *text, *unit;
        double expected; /* -1: refused */
    } cases[] = {
        {ICS_COUNTER_SECONDS, "1,234,567", "ns", 1.234567e-3},
        {ICS_COUNTER_SECONDS, "1,234.5", "usecond", 1.2345e-3},
        {ICS_COUNTER_SECONDS, "1.5e-05", "second", 1.5e-5},
        {ICS_COUNTER_SECONDS, "1", "byte", -1},
        {ICS_COUNTER_SECONDS, "1", "", -1},
        {ICS_COUNTER_L2_BYTES, "2.5", "Gbyte", 2.5e9},
        {ICS_COUNTER_SM_CLOCK, "1.5", "cycle/nsecond", 1.5e9},
        {ICS_COUNTER_SM_CLOCK, "1,980", "Mhz", 1.98e9},
        {ICS_COUNTER_INSTRUCTIONS, "0", "", 0},
        {ICS_COUNTER_INSTRUCTIONS, "5", "Kinst", -1},
        {ICS_COUNTER_INSTRUCTIONS, "n/a", "inst", -1},
        {ICS_COUNTER_INSTRUCTIONS, "", "inst", -1},
        {ICS_COUNTER_INSTRUCTIONS, "-1", "inst", -1},
        {ICS_COUNTER_INSTRUCTIONS, "nan", "inst", -1},
        {ICS_COUNTER_INSTRUCTIONS, "inf", "inst", -1},
        {ICS_COUNTER_INSTRUCTIONS, "1e999", "inst", -1},
        {ICS_COUNTER_INSTRUCTIONS, "0x10", "inst", -1},
        {ICS_COUNTER_ISSUE, "65,77", "%", -1}, /* a comma in front of decimals */
        {ICS_COUNTER_ISSUE, "1.234.567", "%", -1},
        {ICS_COUNTER_ISSUE, "87.25", "%", 87.25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        double value = -1;
        const bool read = ics_counters_read(cases[i].counter, cases[i].text, cases[i].unit, &value);
        ck_assert_msg(read == (cases[i].expected >= 0), "'%s' (%s)", cases[i].text, cases[i].unit);
        if (read) {
            ck_assert(fabs(value - cases[i].expected) <= 1e-12 * cases[i].expected);
        }
    }
}
END_TEST

START_TEST(test_damages_are_named)
{
    static const struct {
        const char *name, *value, *error;
    } damages[] = {
        {"\"k\"", "\"n/a\"", "line 4: kernel k: metric dram__bytes.sum: found 'n/a' (byte)"},
        {"\"k\"", "\"1\",\"2\"", "line 4: found 20 cells, expected 19"},
        {"\"k\"", "\"1", "line 4: found a cell whose quotes do not end"},
        {"\"k\"x", "\"1\"", "line 4: found a cell whose quotes do not end"},
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; ++i) {
        char *text = make_table(damages[i].name, ICS_COUNTER_HBM_BYTES, damages[i].value);
        ics_ncu_launch launch;
        icestream_error error = {0};
        ck_assert_int_eq(ics_ncu_csv_read(text, strlen(text), keep_launch, &launch, &error),
                         ICESTREAM_E_INPUT);
        ck_assert_msg(strstr(error.text, damages[i].error) != NULL, "found: %s", error.text);
        free(text);
    }
    icestream_error error = {0};
    static const char no_table[] = "==WARNING== No kernels were profiled.\n";
    ck_assert_int_eq(ics_ncu_csv_read(no_table, sizeof no_table - 1, keep_launch, NULL, &error),
                     ICESTREAM_E_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "ncu saw no kernel"));
}
END_TEST

/* Changed bytes, cut tables: a status, and an error with a text if it is not ICESTREAM_OK. */
START_TEST(test_hostile_tables)
{
    char *text = make_table("\"void a::k<1>(int)\"", -1, "");
    const size_t size = strlen(text);
    char *copy = malloc(size);
    uint32_t state = 17;
    for (int i = 0; i < 20000; ++i) {
        memcpy(copy, text, size);
        for (int k = 0; k < 1 + i % 3; ++k) {
            state = state * 1664525u + 1013904223u;
            copy[(state >> 8) % size] = "\",\n\r\0=9e.-/%\xff"[(state >> 28) % 13];
        }
        state = state * 1664525u + 1013904223u;
        const size_t length = i % 2 == 0 ? size : (state >> 8) % size;
        ics_roofline roofline = {.bounces = 1};
        icestream_error error = {0};
        const int status = ics_ncu_csv_read(copy, length, ics_roofline_add, &roofline, &error);
        ck_assert(status == ICESTREAM_OK || (status == ICESTREAM_E_INPUT && error.text[0] != '\0'));
        ics_roofline_free(&roofline);
    }
    free(copy);
    free(text);
}
END_TEST

START_TEST(test_the_largest_share_bounds)
{
    ics_roofline_sums sums = {.seconds = 1e-9,
                              .instructions = 70,
                              .instruction_capacity = 100,
                              .bytes = {10, 65, 20},
                              .byte_capacity = {100, 100, 100},
                              .active_cycles = 90,
                              .elapsed_cycles = 100};
    ics_roofline_figures figures = ics_roofline_compute(&sums, 10);
    ck_assert_int_eq(figures.bound, ICS_ROOFLINE_INSTRUCTIONS);
    ck_assert_double_eq_tol(figures.roof_gips, 100, 1e-9);
    ck_assert_double_eq_tol(figures.intensity[ICS_ROOFLINE_HBM], 112, 1e-9);
    sums.bytes[ICS_ROOFLINE_HBM] = 75;
    ck_assert_int_eq(ics_roofline_compute(&sums, 10).bound, ICS_ROOFLINE_HBM);
    /* Nothing is near its limit: warps wait, or there are too few of them. */
    sums.bytes[ICS_ROOFLINE_HBM] = sums.bytes[ICS_ROOFLINE_L2] = sums.instructions = 59;
    ck_assert_int_eq(ics_roofline_compute(&sums, 10).bound, ICS_ROOFLINE_LATENCY);
    sums.active_cycles = 50;
    ck_assert_int_eq(ics_roofline_compute(&sums, 10).bound, ICS_ROOFLINE_IDLE);
    /* Without launches and bounces all figures are 0. */
    figures = ics_roofline_compute(&(ics_roofline_sums){.launches = 0}, 0);
    ck_assert_double_eq(figures.gips + figures.threads + figures.roof_gips + figures.issue, 0);
}
END_TEST

ICS_TEST_MAIN("ncu_csv")
{
    TCase *all = tcase_create("tables");
    tcase_add_test(all, test_columns_are_found_by_name);
    tcase_add_test(all, test_numbers_have_units);
    tcase_add_test(all, test_damages_are_named);
    tcase_add_test(all, test_hostile_tables);
    tcase_add_test(all, test_the_largest_share_bounds);
    suite_add_tcase(suite, all);
}
