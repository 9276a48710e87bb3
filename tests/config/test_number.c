/* Numbers and sizes are read exactly and printed with as many digits as needed; everything else is
 * refused. Mistyped words find the word that was meant. To join: another text is a row of the table
 * in its test. */
#include "pipeline/photons/config/schema/nearest.h"
#include "pipeline/photons/config/schema/number.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(whole_numbers)
{
    static const struct {
        const char *text;
        ics_number_result result;
        uint64_t value;
    } rows[] = {
        {"0", ICS_NUMBER_OK, 0},
        {"200000", ICS_NUMBER_OK, 200000},
        {"+5", ICS_NUMBER_OK, 5},
        {"-0", ICS_NUMBER_OK, 0},
        {"1e6", ICS_NUMBER_OK, 1000000},
        {"1E+6", ICS_NUMBER_OK, 1000000},
        {"2.5e3", ICS_NUMBER_OK, 2500},
        {"12.0", ICS_NUMBER_OK, 12},
        {"1200e-2", ICS_NUMBER_OK, 12},
        {"0.5e1", ICS_NUMBER_OK, 5},
        {".5e1", ICS_NUMBER_OK, 5},
        {"5.", ICS_NUMBER_OK, 5},
        {"0e999999999999999999999", ICS_NUMBER_OK, 0},
        {"0xff", ICS_NUMBER_OK, 255},
        {"0XFf", ICS_NUMBER_OK, 255},
        {"18446744073709551615", ICS_NUMBER_OK, UINT64_MAX},
        {"0xffffffffffffffff", ICS_NUMBER_OK, UINT64_MAX},
        {"1844674407370955161.5e1", ICS_NUMBER_OK, UINT64_MAX},
        {"18446744073709551616", ICS_NUMBER_TOO_LARGE, 0},
        {"0x10000000000000000", ICS_NUMBER_TOO_LARGE, 0},
        {"1e20", ICS_NUMBER_TOO_LARGE, 0},
        {"1e99999999999999999999", ICS_NUMBER_TOO_LARGE, 0},
        {"2.55e1", ICS_NUMBER_NOT_WHOLE, 0},
        {"1e-1", ICS_NUMBER_NOT_WHOLE, 0},
        {"0.1", ICS_NUMBER_NOT_WHOLE, 0},
        {"1e-99999999999999999999", ICS_NUMBER_NOT_WHOLE, 0},
        {"-1", ICS_NUMBER_NEGATIVE, 0},
        {"-0x1", ICS_NUMBER_NEGATIVE, 0},
        {"", ICS_NUMBER_NONE, 0},
        {"+", ICS_NUMBER_NONE, 0},
        {".", ICS_NUMBER_NONE, 0},
        {"1 ", ICS_NUMBER_NONE, 0},
        {" 1", ICS_NUMBER_NONE, 0},
        {"1x", ICS_NUMBER_NONE, 0},
        {"1e", ICS_NUMBER_NONE, 0},
        {"1e+", ICS_NUMBER_NONE, 0},
        {"1e1.5", ICS_NUMBER_NONE, 0},
        {"e5", ICS_NUMBER_NONE, 0},
        {"0x", ICS_NUMBER_NONE, 0},
        {"0xg", ICS_NUMBER_NONE, 0},
        {"0x1.8p1", ICS_NUMBER_NONE, 0},
        {"010", ICS_NUMBER_NONE, 0},
        {"1_000", ICS_NUMBER_NONE, 0},
        {"1,000", ICS_NUMBER_NONE, 0},
        {"--1", ICS_NUMBER_NONE, 0},
        {"true", ICS_NUMBER_NONE, 0},
        {"nan", ICS_NUMBER_NONE, 0},
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        uint64_t value = 0;
        ck_assert_msg(ics_number_unsigned(rows[i].text, &value) == rows[i].result, "'%s'",
                      rows[i].text);
        ck_assert_msg(value == rows[i].value, "'%s' is %llu", rows[i].text,
                      (unsigned long long)value);
    }
}
END_TEST

START_TEST(real_numbers)
{
    static const struct {
        const char *text;
        ics_number_result result;
        double value;
    } rows[] = {
        {"0.1651", ICS_NUMBER_OK, 0.1651},  {"-2.5e-3", ICS_NUMBER_OK, -0.0025},
        {"1e300", ICS_NUMBER_OK, 1e300},    {"0x10", ICS_NUMBER_OK, 16},
        {"-.5", ICS_NUMBER_OK, -0.5},       {"1e-999", ICS_NUMBER_OK, 0},
        {"1e309", ICS_NUMBER_TOO_LARGE, 7}, {"nan", ICS_NUMBER_NONE, 7},
        {".nan", ICS_NUMBER_NONE, 7},       {"inf", ICS_NUMBER_NONE, 7},
        {"-.inf", ICS_NUMBER_NONE, 7},      {"infinity", ICS_NUMBER_NONE, 7},
        {"0x1p3", ICS_NUMBER_NONE, 7},      {"1.5m", ICS_NUMBER_NONE, 7},
        {"1.5 ", ICS_NUMBER_NONE, 7},       {"00.5", ICS_NUMBER_NONE, 7},
        {"1..5", ICS_NUMBER_NONE, 7},
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        double value = 7;
        ck_assert_msg(ics_number_double(rows[i].text, &value) == rows[i].result, "'%s'",
                      rows[i].text);
        ck_assert_msg(value == rows[i].value, "'%s' is %g", rows[i].text, value);
    }
    static const struct {
        double value;
        const char *text;
    } printed[] = {{5, "5"},           {0.1651, "0.1651"},   {0.1 + 0.2, "0.30000000000000004"},
                   {1e-300, "1e-300"}, {-125.25, "-125.25"}, {123456789, "123456789"}};
    for (size_t i = 0; i < COUNT(printed); ++i) {
        char text[ICS_NUMBER_DIGITS];
        ck_assert_str_eq(ics_number_print(printed[i].value, text), printed[i].text);
    }
}
END_TEST

START_TEST(nearest_words)
{
    static const char *const words[] = {"seed", "schedule", "pool", "file", "files", "hg-sl"};
    static const char *const rows[][2] = {
        {"schedul", "schedule"},
        {"shcedule", "schedule"},
        {"Schedule", "schedule"},
        {"sched", "schedule"},
        {"sead", "seed"},
        {"poool", "pool"},
        {"opol", "pool"},
        {"fles", "files"},
        {"hgsl", "hg-sl"},
        {"fil", "file"},
        {"xyzzy", NULL},
        {"s", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        ics_nearest best = {0};
        for (size_t k = 0; k < COUNT(words); ++k) {
            ics_nearest_try(&best, rows[i][0], words[k]);
        }
        if (rows[i][1] != NULL) {
            ck_assert_msg(best.word != NULL && strcmp(best.word, rows[i][1]) == 0,
                          "%s: found %s, not %s", rows[i][0],
                          best.word != NULL ? best.word : "nothing", rows[i][1]);
        } else {
            ck_assert_msg(best.word == NULL, "%s: found %s", rows[i][0], best.word);
        }
    }
    /* A word that is longer than any key has no nearest word, and the search takes no time. */
    char *endless = malloc(100001);
    ck_assert_ptr_nonnull(endless);
    memset(endless, 's', 100000);
    endless[100000] = 0;
    ics_nearest best = {0};
    ics_nearest_try(&best, endless, "seed");
    ck_assert_ptr_null(best.word);
    free(endless);
}
END_TEST

START_TEST(sizes)
{
    static const struct {
        const char *text;
        ics_number_result result;
        uint64_t value;
    } rows[] = {
        {"4 GB", ICS_NUMBER_OK, 4000000000},
        {"4GB", ICS_NUMBER_OK, 4000000000},
        {"512 MB", ICS_NUMBER_OK, 512000000},
        {"3GiB", ICS_NUMBER_OK, UINT64_C(3221225472)},
        {"1.5 GiB", ICS_NUMBER_OK, 1610612736},
        {"0.1 GB", ICS_NUMBER_OK, 100000000},
        {".3 kB", ICS_NUMBER_OK, 300},
        {"1 KiB", ICS_NUMBER_OK, 1024},
        {"7 MiB", ICS_NUMBER_OK, 7340032},
        {"2 TB", ICS_NUMBER_OK, UINT64_C(2000000000000)},
        {"1 TiB", ICS_NUMBER_OK, UINT64_C(1099511627776)},
        {"12 B", ICS_NUMBER_OK, 12},
        {"0.3 B", ICS_NUMBER_OK, 0},
        {"4096", ICS_NUMBER_OK, 4096},
        {"2e9", ICS_NUMBER_OK, 2000000000},
        {"0x1000", ICS_NUMBER_OK, 4096},
        {"-1 GB", ICS_NUMBER_NEGATIVE, 7},
        {"-1", ICS_NUMBER_NEGATIVE, 7},
        {"9000 TiB", ICS_NUMBER_TOO_LARGE, 7},
        {"1.5", ICS_NUMBER_NOT_WHOLE, 7},
        {"", ICS_NUMBER_NONE, 7},
        {"GB", ICS_NUMBER_NONE, 7},
        {"4 ", ICS_NUMBER_NONE, 7},
        {"4  GB", ICS_NUMBER_NONE, 7},
        {"4 GB ", ICS_NUMBER_NONE, 7},
        {"4 gb", ICS_NUMBER_NONE, 7},
        {"4 G", ICS_NUMBER_NONE, 7},
        {"4.2.1 GB", ICS_NUMBER_NONE, 7},
        {"1e3 MB", ICS_NUMBER_NONE, 7},
        {"00004 GB", ICS_NUMBER_NONE, 7},
        {"1111111111111111111111111111111111111111111111111111111111111111111 B", ICS_NUMBER_NONE,
         7},
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        uint64_t value = 7;
        ck_assert_msg(ics_number_bytes(rows[i].text, &value) == rows[i].result, "'%s'",
                      rows[i].text);
        ck_assert_msg(value == rows[i].value, "'%s' is %llu", rows[i].text,
                      (unsigned long long)value);
    }
    static const struct {
        uint64_t value;
        const char *text;
    } printed[] = {{4000000000, "4 GB"},     {UINT64_C(3221225472), "3 GiB"},
                   {64000000, "64 MB"},      {UINT64_C(1000000000000), "1 TB"},
                   {1610612736, "1536 MiB"}, {1500, "1500"},
                   {5000, "5 kB"},           {0, "0"}};
    for (size_t i = 0; i < COUNT(printed); ++i) {
        char text[ICS_NUMBER_DIGITS];
        uint64_t back = 7;
        ck_assert_str_eq(ics_number_print_bytes(printed[i].value, text), printed[i].text);
        ck_assert_int_eq(ics_number_bytes(text, &back), ICS_NUMBER_OK);
        ck_assert_uint_eq(back, printed[i].value);
    }
}
END_TEST

ICS_TEST_MAIN("number")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, whole_numbers);
    tcase_add_test(all, real_numbers);
    tcase_add_test(all, sizes);
    tcase_add_test(all, nearest_words);
    suite_add_tcase(suite, all);
}
