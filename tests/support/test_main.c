#include "tests/support/test_main.h"

#include <stdlib.h>

int test_main(const char *suite_name, void (*add)(Suite *suite))
{
    Suite *suite = suite_create(suite_name);
    add(suite);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
