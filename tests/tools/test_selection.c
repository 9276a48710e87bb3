/* The language of `icestream trace --select` (pipeline/tools/trace/selection.h).
 *
 * Promises: every comparison and every connective is evaluated as documented, exactly at the limits
 * of the types, and every mistake is reported with its column.
 * To join: add an expression to the list of true, false or wrong ones. tests/fuzz/fuzz_selection.c
 * tries random texts.
 */
#include "pipeline/tools/trace/selection.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const icestream_hit hit = {.event_id = UINT64_MAX,
                                  .t = 1234.5,
                                  .x = 0.1f,
                                  .y = -0.05f,
                                  .dz = 1,
                                  .wavelength = 400.1f,
                                  .weight = NAN,
                                  .step_id = 7,
                                  .photon_id = 4000000000u,
                                  .string = 63,
                                  .module = 34,
                                  .pmt = -1,
                                  .scatters = 65535};

static bool holds(const char *text)
{
    ics_selection *selection = NULL;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_selection_create(text, &selection, &error) == ICESTREAM_OK, "%s: %s", text,
                  error.text);
    const bool result = ics_selection_holds(selection, &hit);
    ics_selection_destroy(selection);
    return result;
}

START_TEST(comparisons)
{
    static const char *const true_ones[] = {
        "module==34",
        "module == 34",
        "34==module",
        "module!=33",
        "module<35",
        "module<=34",
        "module>33",
        "module>=34",
        "33<module",
        "35>module",
        "34<=module",
        "34>=module",
        "module>33.5",
        "module<34.5",
        "module!=34.5",
        "module==0x22",
        "module==3.4e1",
        "pmt==-1",
        "pmt<0",
        "pmt>-2",
        "pmt!=1",
        "pmt<-0.5",
        "pmt>-1e30",
        "module>-5",
        "module==+34",
        "photon_id==4e9",
        "scatters==65535",
        /* exact beyond the digits of a double */
        "event_id==18446744073709551615",
        "event_id!=18446744073709551614",
        "event_id>18446744073709551614",
        "event_id<18446744073709551616",
        "event_id!=18446744073709551616",
        "event_id<1e30",
        /* in single precision, as NumPy compares */
        "wavelength==400.1",
        "x==0.1",
        "t==1234.5",
        "t<1e4",
        "y<0",
        "y>=-0.05",
        /* NaN */
        "weight!=1",
        "!(weight==1)",
        "!(weight<1)",
        "!(weight>=1)",
    };
    static const char *const false_ones[] = {
        "module==33",      "module!=34", "module<34",
        "module<=33",      "module>34",  "module>=35",
        "34<module",       "34>module",  "module==34.5",
        "pmt==1",          "pmt>=0",     "event_id==18446744073709551614",
        "event_id==2e300", "t==1234",    "event_id==18446744073709551616",
    };
    for (size_t i = 0; i < sizeof true_ones / sizeof *true_ones; ++i) {
        ck_assert_msg(holds(true_ones[i]), "%s", true_ones[i]);
    }
    for (size_t i = 0; i < sizeof false_ones / sizeof *false_ones; ++i) {
        ck_assert_msg(!holds(false_ones[i]), "%s", false_ones[i]);
    }
}
END_TEST

START_TEST(combinations)
{
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        {"module==34 && string==63", true},
        {"module==34&&string==62", false},
        {"module==1 || string==63", true},
        {"module==1 || string==1", false},
        /* && binds more than ||, ! more than both */
        {"module==34 || module==1 && string==1", true},
        {"(module==34 || module==1) && string==1", false},
        {"!module==1 && string==63", true},
        {"!(module==1 && string==63)", true},
        {"!(module==34 && string==63)", false},
        {"!!(module==34)", true},
        {"((((module==34))))", true},
        {"\t(module==34)\n&& ( string == 63 )  ", true},
        {"module==1 || module==2 || module==3 || module==34", true},
        {"module==34 && string==63 && pmt==-1 && t>0 && t<1e9 && !(step_id==8)", true},
        {"!((module==34 || string==1) && (string==63 || module==1) && !(t<0))", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        ck_assert_msg(holds(cases[i].text) == cases[i].holds, "%s", cases[i].text);
    }
}
END_TEST

static void refuse(const char *text, const char *column, const char *expected)
{
    ics_selection *selection = NULL;
    icestream_error error = {.text = ""};
    ck_assert_msg(ics_selection_create(text, &selection, &error) == ICESTREAM_E_USAGE, "%s", text);
    ck_assert_ptr_null(selection);
    ck_assert_int_eq(error.status, ICESTREAM_E_USAGE);
    char place[64];
    snprintf(place, sizeof place, "--select: column %s: ", column);
    ck_assert_msg(strncmp(error.text, place, strlen(place)) == 0, "%s: %s", text, error.text);
    ck_assert_msg(strstr(error.text, expected) != NULL, "%s: %s", text, error.text);
}

START_TEST(refusals)
{
    refuse("", "1", "found the end, expected a field of hits or a number");
    refuse("  ", "3", "found the end");
    refuse("modul==3", "1", "found 'modul', expected a field of hits, did you mean 'module'?");
    refuse("string==1 && wavelenght<3", "14", "did you mean 'wavelength'?");
    refuse("quux==3", "1", "found 'quux', expected a field of hits");
    refuse("module=3", "7", "found '=', expected a comparison");
    refuse("module", "7", "found the end, expected a comparison");
    refuse("module===3", "9", "found '=', expected a field of hits or a number");
    refuse("module==", "9", "found the end");
    refuse("module==string", "9", "fields are compared with numbers only");
    refuse("3==4", "4", "found '4', expected a field of hits");
    refuse("module==3 &&", "13", "found the end");
    refuse("module==3 & string==1", "11", "found '&', expected &&, || or the end");
    refuse("module==3 and string==1", "11", "found 'and'");
    refuse("(module==3", "11", "found the end, expected &&, || or )");
    refuse("module==3)", "10", "found ')', expected &&, || or the end");
    refuse("(((!(t<1", "9", "found the end, expected &&, || or )");
    refuse("((t<", "5", "found the end");
    refuse("()", "2", "found ')'");
    refuse("!", "2", "found the end");
    refuse("!=3", "1", "found '!='");
    refuse("module==3abc", "9", "found '3abc', expected a field of hits or a number");
    refuse("module==010", "9", "found '010'");
    refuse("module==1e", "9", "found '1e'");
    refuse("module==nan", "9", "found 'nan'");
    refuse("module==3;string==1", "10", "found ';'");
    refuse("module==\x01", "9", "found byte 0x01");
    refuse("t<\xff", "3", "found byte 0xff");
    refuse("module==1111111111111111111111111111111111111111111111111111111111", "9",
           "a shorter number");
}
END_TEST

START_TEST(hostile_sizes)
{
    ics_selection *selection = NULL;
    icestream_error error = {.text = ""};
    static char text[20000];
    /* as deep as allowed; at every level two comparisons wait for the result inside */
    size_t length = 0;
    for (int i = 0; i < ICS_SELECTION_DEEPEST; ++i) {
        length += (size_t)sprintf(text + length, "t<0||t>0&&(");
    }
    length += (size_t)sprintf(text + length, "t<0||t>0&&t>1");
    memset(text + length, ')', ICS_SELECTION_DEEPEST);
    text[length + ICS_SELECTION_DEEPEST] = 0;
    ck_assert(holds(text));
    /* one level more, of either kind */
    for (int k = 0; k < 2; ++k) {
        memset(text, k ? '(' : '!', ICS_SELECTION_DEEPEST + 1);
        strcpy(text + ICS_SELECTION_DEEPEST + 1, "t<0");
        ck_assert_int_eq(ics_selection_create(text, &selection, &error), ICESTREAM_E_USAGE);
        ck_assert_ptr_nonnull(strstr(error.text, "found more than 64 levels"));
    }
    /* wide instead of deep */
    length = (size_t)sprintf(text, "t<0");
    while (length < ICS_SELECTION_LONGEST - 10) {
        length += (size_t)sprintf(text + length, "||t<0");
    }
    ck_assert(!holds(text));
    /* too long */
    memset(text, ' ', sizeof text - 1);
    ck_assert_int_eq(ics_selection_create(text, &selection, &error), ICESTREAM_E_USAGE);
    ck_assert_ptr_nonnull(strstr(error.text, "found 19999 characters, expected at most 4096"));
}
END_TEST

ICS_TEST_MAIN("selection")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, comparisons);
    tcase_add_test(all, combinations);
    tcase_add_test(all, refusals);
    tcase_add_test(all, hostile_sizes);
    suite_add_tcase(suite, all);
}
