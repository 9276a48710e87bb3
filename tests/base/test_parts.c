/* Promises of base/parts.h: every part is done once before the call returns, and work is cut into
 * as many parts as it has room for.
 *
 * How to join: add one test for each new promise. */
#include "base/parts.h"
#include "base/processors.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>

/* How often each part was done, and whether SIGTERM can reach its thread. */
static struct {
    int done;
    int is_open;
} found[ICS_PARTS_MAX];

static void note_part(void *user, size_t part)
{
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ck_assert_ptr_eq(user, found);
    ++found[part].done;
    found[part].is_open = !sigismember(&mask, SIGTERM);
}

START_TEST(every_part_is_done_once)
{
    for (size_t count = 0; count <= ICS_PARTS_MAX; ++count) {
        for (size_t i = 0; i < ICS_PARTS_MAX; ++i) {
            found[i].done = 0;
        }
        ics_parts_run(count, note_part, found);
        for (size_t i = 0; i < ICS_PARTS_MAX; ++i) {
            ck_assert_int_eq(found[i].done, i < count);
        }
    }
}
END_TEST

START_TEST(threads_of_parts_block_signals)
{
    ics_parts_run(2, note_part, found);
    ck_assert_int_eq(found[0].is_open, 1); /* the caller's thread keeps its mask */
    ck_assert_int_eq(found[1].is_open, 0);
}
END_TEST

START_TEST(small_work_has_one_part)
{
    ck_assert_uint_eq(ics_parts_count(0, 10), 1);
    ck_assert_uint_eq(ics_parts_count(19, 10), 1);
    const size_t many = ics_parts_count(1000000, 1), processors = ics_processors_count();
    ck_assert_uint_eq(many, processors < ICS_PARTS_MAX ? processors : ICS_PARTS_MAX);
}
END_TEST

ICS_TEST_MAIN("parts")
{
    TCase *parts = tcase_create("parts");
    tcase_add_test(parts, every_part_is_done_once);
    tcase_add_test(parts, threads_of_parts_block_signals);
    tcase_add_test(parts, small_work_has_one_part);
    suite_add_tcase(suite, parts);
}
