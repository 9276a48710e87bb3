#include "tests/support/test_main.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The number of skipped tests. Check runs each test in another process, so the processes share
 * this memory. */
static atomic_int *skipped_tests;
/* The process that counted itself last: a test counts once. */
static pid_t counted;

void test_skip(const char *format, ...)
{
    va_list arguments;
    fputs("skipped: ", stdout);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
    if (skipped_tests != NULL && counted != getpid()) {
        counted = getpid();
        ++*skipped_tests;
    }
}

int test_main(const char *suite_name, void (*add)(Suite *suite))
{
    void *shared = mmap(NULL, sizeof *skipped_tests, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("test_main: mmap");
        return EXIT_FAILURE;
    }
    skipped_tests = shared;
    /* The limit only ends a test that hangs: sanitizers and loaded machines are slow. */
    setenv("CK_DEFAULT_TIMEOUT", "1800", 0);
    Suite *suite = suite_create(suite_name);
    add(suite);
    *skipped_tests = 0; /* what add() itself skipped is no test */
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    const int ran = srunner_ntests_run(runner);
    srunner_free(runner);
    if (failed > 0) {
        return EXIT_FAILURE;
    }
    return ran > 0 && *skipped_tests == ran ? TEST_SKIPPED : EXIT_SUCCESS;
}
