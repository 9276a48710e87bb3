/* Division and roots without range checks on a GPU: ice_ratio, ice_root and ice_inverse_root of
 * portable maths give the correctly rounded results, which are those of a CPU.
 *
 * How to join: a new function joins in tests/gpu/maths_faults.h and in the table `names`. */
#include "tests/gpu/gpu_world.h"
#include "tests/gpu/maths_faults.h"

#include <inttypes.h>

static const char *const names[MATHS_FUNCTIONS] = {
    [MATHS_ROOT] = "root",
    [MATHS_INVERSE_ROOT] = "inverse root",
    [MATHS_INVERSE] = "1 / x",
    [MATHS_RATIO] = "x / y",
    [MATHS_RATIO_CLOSE] = "x / y with close mantissas",
};

START_TEST(results_are_correctly_rounded)
{
    enum { PAIRS = 8192, THREADS = 2048 * 128 };
    uint64_t tried = 0, faults = 0;
    const uint32_t pairs = (uint32_t)gpu_scaled(PAIRS, 64);
    ck_assert_int_eq(maths_faults((maths_function)_i, pairs, &tried, &faults), 0);
    ck_assert_msg(faults == 0, "%s: %" PRIu64 " of %" PRIu64 " results are not correctly rounded",
                  names[_i], faults, tried);
    /* 200 binades, or all pairs. */
    ck_assert_uint_eq(tried, _i < MATHS_RATIO ? 200ull << 23 : (uint64_t)pairs * THREADS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu maths");
    TCase *tests = tcase_create("maths");
    tcase_add_loop_test(tests, results_are_correctly_rounded, 0, MATHS_FUNCTIONS);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
