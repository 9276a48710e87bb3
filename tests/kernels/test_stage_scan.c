/* Promise: a variable of a stage header that keeps its value is found with its line and name, and
 * nothing that a good header has is taken for one. To join: add a header to `state` or `none`. */
#include "kernels/stage_scan.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <glob.h>
#include <stdlib.h>

static const struct {
    const char *text, *name;
    int line;
} state[] = {
    {"ICE_FN float f(float u)\n{\n    static int n;\n    return u + (float)n++;\n}\n", "n", 3},
    {"ICE_FN float f(float u) { static float last = 3.0f; return last; }", "last", 1},
    {"static int calls = 0;", "calls", 1},
    {"\n\nint calls;", "calls", 3},
    {"float table[3] = {1, 2, 3};", "table", 1},
    {"unsigned long seen, lost;", "seen", 1},
    {"struct thing { int a; };\nstruct thing one;", "one", 2},
    {"static struct { int a; } one;", "struct", 1},
    {"static const float *next;", "next", 1},
    {"int static n;", "n", 1},
    {"static __attribute__((aligned(8))) float memory[4];", "memory", 1},
    {"static int n = g(3);", "n", 1},
    {"ICE_FN float f(int k) { switch (k) { case 1: { static int n; return n; } } return 0; }", "n",
     1},
    {"/* static int a;\n*/ // static int b;\n#define A static \\\n int c;\nstatic int d;", "d", 5},
    {"enum { LIMIT = 3 };\nint calls;", "calls", 2},
    {"ice_x f(void) { return (ice_x){.a = 1}; }\nint calls;", "calls", 2},
    {"struct { int n; } counter;", "counter", 1},
    {"struct thing { int n; } counter = {1};", "counter", 1},
};

static const char *const none[] = {
    "",
    "ICE_FN float f(float u) { float n = u; return n; }",
    "static inline float helper(float u);\nstatic inline float helper(float u) { return u; }",
    "static const float table[] = {1, 2, 3};\nconst int most = 3;",
    "ICE_FN float f(void) { static const float t[2] = {1, 2}; return t[0]; }",
    "static const float *const here = 0;",
    "typedef struct thing { int a; } thing;\nstruct thing;\nenum { A, B };\nunion u { int a; };",
    "#define N static int n;\n/* int n; */ // int n;\nextern int other;",
    "ICE_FN float f(float u) { const char *t = \"static int n;\"; return t ? u : '\\''; }",
    "_Static_assert(sizeof(int) == 4, \"int\");\nICE_DECLARE(a, b);",
    "static const struct { float a; } one = {1};",
    "ICE_FN float f(float u)\n{\n    if (u < 0) { goto end; }\nend:\n    return u;\n}",
    "static int", /* an end in the middle */
    "/* not closed",
    "\"not closed",
};

START_TEST(variables_that_keep_a_value_are_found)
{
    char name[64] = "";
    const int line = ics_stage_scan_state(state[_i].text, name, sizeof name);
    ck_assert_msg(line == state[_i].line && strcmp(name, state[_i].name) == 0, "%s: line %d, %s",
                  state[_i].text, line, name);
}
END_TEST

START_TEST(good_headers_have_none)
{
    char name[64] = "";
    ck_assert_msg(ics_stage_scan_state(none[_i], name, sizeof name) == 0, "%s: %s", none[_i], name);
}
END_TEST

/* The headers of this program have no state, but for what checks it. */
START_TEST(own_headers_have_none)
{
    glob_t found;
    ck_assert_int_eq(glob(ICS_SOURCE_DIRECTORY "/stages/*.h", 0, NULL, &found), 0);
    ck_assert_int_eq(glob(ICS_SOURCE_DIRECTORY "/stages/*/*.h", GLOB_APPEND, NULL, &found), 0);
    ck_assert_int_eq(glob(ICS_SOURCE_DIRECTORY "/configs/stages/*.h", GLOB_APPEND, NULL, &found),
                     0);
    ck_assert_uint_gt(found.gl_pathc, 50);
    for (size_t i = 0; i < found.gl_pathc; ++i) {
        size_t size;
        char name[64] = "";
        unsigned char *bytes = scratch_read(found.gl_pathv[i], &size);
        char *text = strndup((const char *)bytes, size);
        const int line = ics_stage_scan_state(text, name, sizeof name);
        ck_assert_msg(line == 0 || strcmp(name, "ice_fault_found") == 0, "%s:%d: %s",
                      found.gl_pathv[i], line, name);
        free(text);
        free(bytes);
    }
    globfree(&found);
}
END_TEST

ICS_TEST_MAIN("stage scan")
{
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, variables_that_keep_a_value_are_found, 0,
                        sizeof state / sizeof *state);
    tcase_add_loop_test(all, good_headers_have_none, 0, sizeof none / sizeof *none);
    tcase_add_test(all, own_headers_have_none);
    suite_add_tcase(suite, all);
}
