/* Promise: of several threads that need one program at the same time, one makes it. To join: a new
 * reason to make a program again gets a test. */
#include "kernels/cuda/program_share.h"
#include "tests/support/test_main.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 6 };

static const char key[65] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
static atomic_int made;
static bool can_make;

static void *need_program(void *unused)
{
    (void)unused;
    ics_program program = {0};
    if (!ics_program_share_begin(key, &program)) {
        usleep(20000);
        char image[] = "image";
        ics_kernel_resources kernel = {.name = "gpu_fly", .registers = 40};
        const ics_program result = {
            .image = image, .bytes = sizeof image, .kernels = &kernel, .kernel_count = 1};
        atomic_fetch_add(&made, 1);
        ics_program_share_end(key, can_make ? &result : NULL);
        return NULL;
    }
    ck_assert_str_eq(program.image, "image");
    ck_assert_uint_eq(program.kernel_count, 1);
    ck_assert_uint_eq(program.kernels[0].registers, 40);
    free(program.image);
    free(program.kernels);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    atomic_store(&made, 0);
    for (int i = 0; i < THREADS; ++i) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, need_program, NULL), 0);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
}

START_TEST(one_thread_makes_it)
{
    can_make = true;
    run_threads();
    ck_assert_int_eq(atomic_load(&made), 1);
}
END_TEST

/* A program that could not be made, or that a cache has, is made or found by each of them. */
START_TEST(each_thread_tries)
{
    can_make = false;
    run_threads();
    ck_assert_int_eq(atomic_load(&made), THREADS);
}
END_TEST

ICS_TEST_MAIN("program_share")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, one_thread_makes_it);
    tcase_add_test(all, each_thread_tries);
    suite_add_tcase(suite, all);
}
