/* The main function of a suite, and the number of elements of a table of cases. */
#ifndef TEST_MAIN_H
#define TEST_MAIN_H

#include <check.h>

/* The number of elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Begins the function that adds the test cases to `suite`, and defines a main() that runs them:
 *
 *     ICS_TEST_MAIN("queue")
 *     {
 *         TCase *queue = tcase_create("queue");
 *         tcase_add_test(queue, first_in_first_out);
 *         suite_add_tcase(suite, queue);
 *     }
 */
#define ICS_TEST_MAIN(suite_name)                                                                  \
    static void add_test_cases(Suite *suite);                                                      \
    int main(void)                                                                                 \
    {                                                                                              \
        return test_main(suite_name, add_test_cases);                                              \
    }                                                                                              \
    static void add_test_cases(Suite *suite)

/* Exit status of a suite of which no test could run; ctest reports such a suite as skipped. */
enum { TEST_SKIPPED = 77 };

/* Runs all tests that `add` adds to the suite. Returns the exit status for main(): 0 if every test
 * passed, TEST_SKIPPED if every test called test_skip(). CK_VERBOSITY and the other variables of
 * Check apply. */
int test_main(const char *suite_name, void (*add)(Suite *suite));

/* Prints "skipped: " and the reason, and counts the running test as skipped. The reason names what
 * this machine lacks. The test returns after this call, unless its next checks can do without. */
__attribute__((format(printf, 1, 2))) void test_skip(const char *format, ...);

#endif
