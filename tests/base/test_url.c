/* Promises of base/url.h: which URLs are below a prefix, and which prefixes are good. To join: one
 * more row of a table. */
#include "base/url.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 200 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

START_TEST(test_prefixes)
{
    static const struct {
        const char *prefix, *says; /* NULL: it is good */
    } cases[] = {
        {"https://data.example.org/", NULL},
        {"https://data.example.org:8443/steps/2026/", NULL},
        {"s3://bucket/", NULL},
        {"root://server//folder/", NULL},
        {"", "expected SCHEME://HOST/"},
        {"data.example.org/", "expected SCHEME://HOST/"},
        {"https://data.example.org", "with a slash at the end"},
        {"https://data.example.org/steps", "with a slash at the end"},
        {"https:///steps/", "expected SCHEME://HOST/"},
        {"file:///data/", "expected SCHEME://HOST/"},
        {"https://user@data.example.org/", "without a user"},
        {"https://data.example.org/?key=/", "without a user, a query"},
        {"https://data.example.org/a b/", "expected printable ASCII"},
        {"https://data.example.org/../", "without the parts"},
        {"https://data.example.org/a/%2E%2e/", "without the parts"},
    };
    for (size_t i = 0; i < COUNT(cases); ++i) {
        const char *fault = ics_url_prefix_fault(cases[i].prefix);
        ck_assert_msg((fault == NULL) == (cases[i].says == NULL), "%s", cases[i].prefix);
        ck_assert_msg(fault == NULL || strstr(fault, cases[i].says) != NULL, "%.*s: %s", SHOWN,
                      cases[i].prefix, fault);
    }
}
END_TEST

START_TEST(test_below)
{
    static const char prefix[] = "https://data.example.org/steps/";
    static const struct {
        const char *rest; /* behind the prefix, or a whole URL */
        bool below;
    } cases[] = {
        {"a.steps.npy", true},
        {"2026/a.steps.npy?signature=a/../b", true},
        {"a..b/..c/...npy", true},
        {".a", true},
        {"a%20b", true},
        {"../private/a", false},
        {"a/../../private/a", false},
        {"..", false},
        {"a/..?x", false},
        {"./a", false},
        {"%2e%2E/a", false},
        {".%2e/a", false},
        {"a%2f..%2fb", false},
        {"a\\..\\b", false},
        {"a%5Cb", false},
        {"https://data.example.org/steps", false},
        {"https://data.example.org/steps-private/a", false},
        {"https://data.example.org.evil.example/steps/a", false},
        {"https://data.example.org@evil.example/steps/a", false},
        {"https://user@data.example.org/steps/a", false},
        {"http://data.example.org/steps/a", false},
        {"https://data.example.org:444/steps/a", false},
        {"https://evil.example/?https://data.example.org/steps/a", false},
    };
    for (size_t i = 0; i < COUNT(cases); ++i) {
        char url[2 * SHOWN];
        snprintf(url, sizeof url, "%s%s", ics_url_is(cases[i].rest) ? "" : prefix, cases[i].rest);
        ck_assert_msg(ics_url_is_below(url, prefix) == cases[i].below, "%s", url);
    }
}
END_TEST

ICS_TEST_MAIN("url")
{
    TCase *tests = tcase_create("url");
    tcase_add_test(tests, test_prefixes);
    tcase_add_test(tests, test_below);
    suite_add_tcase(suite, tests);
}
