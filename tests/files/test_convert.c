/* Promise: `icestream convert` knows formats by the endings of names, and says what replaces those
 * that left. test_exchange.c has the tests of the formats. */
#include "pipeline/icestream.h"
#include "tests/support/test_main.h"

static const struct {
    const char *from, *to, *says;
} wrong[] = {
    {"a.npy", "b.root", "b.root: found an unknown ending, expected .txt or .csv"},
    {"a.npy", "b.npy", "b.npy: found an unknown ending, expected .txt or .csv"},
    {"folder.npy/a", "b.csv", "folder.npy/a: found an unknown ending, expected .npy"},
    {"a.csv", "b.txt", "a.csv: found an unknown ending, expected .npy"},
    {"a.h5", "b.npy", "a.h5: the ending .h5 of convert left in version 0.3.0; use icestream."},
    {"a.npy", "b.hdf5",
     "b.hdf5: the ending .hdf5 of convert left in version 0.3.0; use icestream."},
};

START_TEST(endings_decide)
{
    icestream_error error = {.text = ""};
    ck_assert_int_eq(icestream_convert(wrong[_i].from, wrong[_i].to, false, &error),
                     ICESTREAM_E_USAGE);
    ck_assert_msg(strstr(error.text, wrong[_i].says) != NULL, "%s", error.text);
}
END_TEST

ICS_TEST_MAIN("convert")
{
    TCase *convert = tcase_create("convert");
    tcase_add_loop_test(convert, endings_decide, 0, COUNT(wrong));
    suite_add_tcase(suite, convert);
}
