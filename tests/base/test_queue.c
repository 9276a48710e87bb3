/* Promises of base/queue.h and base/container.h: a queue returns its items in the order in which
 * they were put into it, an empty queue returns NULL, and a pointer to a member leads back to its
 * structure.
 *
 * How to join: add one test for each new promise of the two headers. */
#include "base/container.h"
#include "base/queue.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>

typedef struct item {
    int value;
    STAILQ_ENTRY(item) link;
    int tail;
} item;

STAILQ_HEAD(item_queue, item);

START_TEST(first_in_first_out)
{
    struct item_queue queue = STAILQ_HEAD_INITIALIZER(queue);
    item items[3] = {{.value = 1}, {.value = 2}, {.value = 3}};
    ck_assert_ptr_null(ICS_QUEUE_TAKE(&queue, link));
    STAILQ_INSERT_TAIL(&queue, &items[0], link);
    STAILQ_INSERT_TAIL(&queue, &items[1], link);
    ck_assert_ptr_eq(ICS_QUEUE_TAKE(&queue, link), &items[0]);
    STAILQ_INSERT_TAIL(&queue, &items[2], link);
    ck_assert_ptr_eq(ICS_QUEUE_TAKE(&queue, link), &items[1]);
    ck_assert_ptr_eq(ICS_QUEUE_TAKE(&queue, link), &items[2]);
    ck_assert_ptr_null(ICS_QUEUE_TAKE(&queue, link));
    /* An emptied queue can be used again, with a structure that was in it before. */
    STAILQ_INSERT_TAIL(&queue, &items[1], link);
    ck_assert_ptr_eq(ICS_QUEUE_TAKE(&queue, link), &items[1]);
    ck_assert(STAILQ_EMPTY(&queue));
}
END_TEST

START_TEST(member_to_structure)
{
    item items[2];
    for (int i = 0; i < 2; ++i) {
        int *tail = &items[i].tail;
        ck_assert_ptr_eq(ICS_CONTAINER_OF(tail, item, tail), &items[i]);
        ck_assert_ptr_eq(ICS_CONTAINER_OF(&items[i].value, item, value), &items[i]);
    }
}
END_TEST

ICS_TEST_MAIN("queue")
{
    TCase *queue = tcase_create("queue");
    tcase_add_test(queue, first_in_first_out);
    tcase_add_test(queue, member_to_structure);
    suite_add_tcase(suite, queue);
}
