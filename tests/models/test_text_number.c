/* Promise: a number of a text file has the double that strtod() reads, bit by bit, and a text that
 * is no number in decimal digits is refused. To join: a text goes into `texts`. */
#include "pipeline/photons/models/text/text.h"
#include "tests/support/test_main.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read(const char *text, double *out)
{
    const ics_text_field field = {.start = text, .length = strlen(text), .column = 1};
    return ics_text_field_number(&field, out);
}

static void expect_strtod(const char *text)
{
    const double expected = strtod(text, NULL);
    double found = 0;
    ck_assert_msg(read(text, &found), "%s: refused", text);
    ck_assert_msg(memcmp(&found, &expected, sizeof found) == 0, "%s: found %.17g, expected %.17g",
                  text, found, expected);
}

START_TEST(numbers)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "-0.0",
                                        "+7.25",
                                        "1.",
                                        ".5",
                                        "-.5",
                                        "007",
                                        "0.1",
                                        "999999999999999",
                                        "9999999999999999",
                                        "0.000000000000001",
                                        "0.0000000000000001",
                                        "123456789.123456",
                                        "123456789.1234567890123",
                                        "1e-300",
                                        "-2.5E+3",
                                        "9007199254740993"};
    for (size_t i = 0; i < COUNT(texts); ++i) {
        expect_strtod(texts[i]);
    }
}
END_TEST

START_TEST(random_numbers)
{
    uint64_t state = 2463534242u;
    for (int i = 0; i < 20000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const int decimals = (int)(state >> 60);
        const uint64_t digits = (state >> 8) >> (state & 31);
        char text[64];
        snprintf(text, sizeof text, "%s%" PRIu64 ".%0*" PRIu64, i % 2 == 0 ? "-" : "",
                 digits % 100000, decimals, digits / 100000 % 1000000);
        expect_strtod(text);
    }
}
END_TEST

START_TEST(no_numbers)
{
    static const char *const texts[] = {"",    "-",    ".",   "-.",  "1.2.3", "1-2", "nan",
                                        "inf", "0x10", "1e+", "1 2", "1,5",   "--1", "1e999"};
    for (size_t i = 0; i < COUNT(texts); ++i) {
        double found = 0;
        ck_assert_msg(!read(texts[i], &found), "%s: found %.17g", texts[i], found);
    }
}
END_TEST

ICS_TEST_MAIN("text_number")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, numbers);
    tcase_add_test(all, random_numbers);
    tcase_add_test(all, no_numbers);
    suite_add_tcase(suite, all);
}
