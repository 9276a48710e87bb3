/* Promises of collector.h: hits are merged into the order of hit files, within a budget of memory,
 * with a temporary file for the rest. How to join: add pieces of hits with add_interleaved() and
 * merge them into receive_counting(). */
#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/devices/batch.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static icestream_hit hit(uint64_t event, uint32_t step, uint32_t photon, uint16_t string,
                         uint16_t module, double t)
{
    return (icestream_hit){.event_id = event,
                           .t = t,
                           .step_id = step,
                           .photon_id = photon,
                           .string = string,
                           .module = module,
                           .pmt = -1};
}

START_TEST(test_order_is_by_identity_then_time_then_bytes)
{
    /* Each hit is before the next one, because of one field that is compared before all others that
     * differ. */
    icestream_hit ascending[] = {
        hit(1, 9, 9, 9, 9, 9.0),  hit(2, 1, 9, 9, 9, 9.0),          hit(2, 2, 1, 9, 9, 9.0),
        hit(2, 2, 2, 1, 9, 9.0),  hit(2, 2, 2, 2, 1, 9.0),          hit(2, 2, 2, 2, 2, -1.0),
        hit(2, 2, 2, 2, 2, 50.0), hit(1ull << 40, 0, 0, 0, 0, 0.0),
    };
    size_t count = sizeof ascending / sizeof *ascending;
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = 0; j < count; ++j) {
            int order = ics_hit_sort_order(&ascending[i], &ascending[j]);
            ck_assert_int_eq((order > 0) - (order < 0), (i > j) - (i < j));
        }
    }
    icestream_hit dim = hit(1, 1, 1, 1, 1, 1.0), bright = dim;
    bright.weight = 2.0f;
    ck_assert_int_ne(ics_hit_sort_order(&dim, &bright), 0);
    ck_assert_int_eq(ics_hit_sort_order(&dim, &bright) > 0, ics_hit_sort_order(&bright, &dim) < 0);
}
END_TEST

/* Receives merged hits and checks that photon ids count up from 0. */
typedef struct receiver {
    uint64_t count;
    int answer; /* what to return */
} receiver;

static int receive_counting(void *user, const icestream_hit *hits, size_t count,
                            icestream_error *error)
{
    (void)error;
    receiver *self = user;
    for (size_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(hits[i].photon_id, self->count);
        ck_assert_double_eq(hits[i].t, 0.5 * (double)self->count);
        self->count++;
    }
    return self->answer;
}

/* Adds `pieces` pieces; piece r holds the photons r, r + pieces, r + 2 pieces, ... below `hits`. */
static void add_interleaved(ics_collector *collector, uint32_t hits, uint32_t pieces)
{
    for (uint32_t piece = 0; piece < pieces; ++piece) {
        uint32_t count = piece < hits ? (hits - piece + pieces - 1) / pieces : 0;
        icestream_hit *items = count > 0 ? calloc(count, sizeof *items) : NULL;
        for (uint32_t i = 0; i < count; ++i) {
            uint32_t photon = piece + i * pieces;
            items[i] = hit(7, 3, photon, 1, 1, 0.5 * photon);
        }
        ck_assert_int_eq(ics_collector_add(collector, items, count, NULL), ICESTREAM_OK);
    }
}

static ics_collector *make(ics_hit_budget *budget)
{
    ics_collector *collector = NULL;
    ck_assert_int_eq(ics_collector_create(budget, NULL, &collector, NULL), ICESTREAM_OK);
    return collector;
}

/* Merges the hits, which must be as many. They can be merged again, as after a full disk. */
static void expect_hits(ics_collector *collector, uint64_t count)
{
    receiver all = {.answer = ICESTREAM_OK};
    ck_assert_int_eq(ics_collector_merge(collector, receive_counting, &all, NULL, NULL),
                     ICESTREAM_OK);
    ck_assert_uint_eq(all.count, count);
}

static void check_merge(size_t budget_bytes, uint32_t hits, uint32_t pieces)
{
    ics_hit_budget budget = {.limit = budget_bytes};
    ics_collector *collector = make(&budget);
    add_interleaved(collector, hits, pieces);
    ck_assert_uint_eq(ics_collector_count(collector), hits);
    /* One piece may exceed the budget. */
    ck_assert_uint_le(budget.used, budget_bytes + ((size_t)hits / pieces + 1) * 64);
    expect_hits(collector, hits);
    expect_hits(collector, hits);
    ics_collector_destroy(collector);
    ck_assert_uint_eq(budget.used, 0);
}

START_TEST(test_pieces_in_memory_are_merged)
{
    check_merge(1 << 20, 0, 1);
    check_merge(1 << 20, 1, 1);
    check_merge(1 << 20, 3, 10);
    check_merge(16 << 20, 100000, 97);
}
END_TEST

START_TEST(test_pieces_beyond_the_budget_are_read_from_the_file)
{
    check_merge(64, 100, 100);           /* every second hit spills */
    check_merge(100 * 64, 20000, 500);   /* pieces shorter than a buffer */
    check_merge(30000 * 64, 200000, 64); /* pieces of many buffers, some left in memory */
}
END_TEST

START_TEST(test_two_files_share_a_budget)
{
    ics_hit_budget budget = {.limit = 1600 * 64};
    ics_collector *large = make(&budget), *small = make(&budget);
    add_interleaved(large, 1500, 3);
    add_interleaved(small, 5000, 200);
    ck_assert_uint_le(budget.used, (1600 + 100 + 25) * 64);
    expect_hits(large, 1500);
    expect_hits(small, 5000);
    ics_collector_destroy(large);
    ics_collector_destroy(small);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

START_TEST(test_errors_end_a_merge)
{
    ics_hit_budget budget = {.limit = 1 << 20};
    ics_collector *collector = make(&budget);
    add_interleaved(collector, 10000, 10);
    receiver refusing = {.answer = ICESTREAM_E_OUTPUT};
    ck_assert_int_eq(ics_collector_merge(collector, receive_counting, &refusing, NULL, NULL),
                     ICESTREAM_E_OUTPUT);
    ck_assert_uint_gt(refusing.count, 0);
    ck_assert_uint_lt(refusing.count, 10000);
    expect_hits(collector, 10000);
    atomic_bool cancel = true;
    receiver idle = {.answer = ICESTREAM_OK};
    icestream_error error = {0};
    ck_assert_int_eq(ics_collector_merge(collector, receive_counting, &idle, &cancel, &error),
                     ICESTREAM_E_INTERRUPTED);
    ck_assert_int_eq(error.status, ICESTREAM_E_INTERRUPTED);
    ck_assert_uint_eq(idle.count, 0);
    ics_collector_destroy(collector);
}
END_TEST

START_TEST(test_no_folder_for_the_temporary_file)
{
    ics_hit_budget budget = {.limit = 64};
    ics_collector *collector = NULL;
    ck_assert_int_eq(ics_collector_create(&budget, "/nonexistent/folder", &collector, NULL),
                     ICESTREAM_OK);
    icestream_hit *items = calloc(2, sizeof *items);
    ck_assert_ptr_nonnull(items);
    icestream_error error = {0};
    ck_assert_int_eq(ics_collector_add(collector, items, 2, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "/nonexistent/folder: cannot make a temporary file"));
    ics_collector_destroy(collector);
}
END_TEST

/* Adds a thousand hits: the photons `first`, first + 4, ... Returns the status. */
static int add_thousand(ics_collector *collector, uint32_t first, icestream_error *error)
{
    icestream_hit *items = calloc(1000, sizeof *items);
    ck_assert_ptr_nonnull(items);
    for (uint32_t i = 0; i < 1000; ++i) {
        items[i] = hit(7, 3, 4 * i + first, 1, 1, 0.5 * (4 * i + first));
    }
    return ics_collector_add(collector, items, 1000, error);
}

/* While the disk is full, hits stay in memory: no hit may be lost. */
START_TEST(test_spill_that_failed_is_tried_again)
{
    ics_hit_budget budget = {.limit = 1000 * 64};
    ics_collector *collector = make(&budget);
    scratch_limit_files((size_t)64 * 1024);
    icestream_error error = {0};
    for (uint32_t piece = 0; piece < 4; ++piece) {
        /* The first thousand hits are within the budget; two thousand do not fit into the file. */
        ck_assert_int_eq(add_thousand(collector, piece, &error),
                         piece == 0 ? ICESTREAM_OK : ICESTREAM_E_OUTPUT);
        ck_assert(piece == 0 || errno == EFBIG);
    }
    ck_assert_int_eq(ics_collector_add(collector, NULL, 0, &error), ICESTREAM_E_OUTPUT);
    ck_assert_uint_eq(budget.used, 4000 * 64);
    scratch_unlimit_files();
    ck_assert_int_eq(ics_collector_add(collector, NULL, 0, &error), ICESTREAM_OK);
    ck_assert_uint_eq(budget.used, 0);
    expect_hits(collector, 4000);
    ics_collector_destroy(collector);
}
END_TEST

START_TEST(test_a_collector_takes_the_hits_of_another)
{
    ics_hit_budget budget = {.limit = 1500 * 64};
    ics_collector *to = make(&budget), *from = make(&budget);
    ck_assert_int_eq(add_thousand(to, 0, NULL), ICESTREAM_OK);
    ck_assert_int_eq(add_thousand(from, 1, NULL), ICESTREAM_OK); /* in a temporary file */
    ck_assert_int_eq(add_thousand(from, 2, NULL), ICESTREAM_OK); /* in the temporary file */
    budget.limit = 4000 * 64;
    ck_assert_int_eq(add_thousand(from, 3, NULL), ICESTREAM_OK); /* in memory */

    /* Without room for the files nothing changes. */
    scratch_limit_files((size_t)64 * 1024);
    icestream_error error = {.status = ICESTREAM_OK};
    ck_assert_int_eq(ics_collector_take(to, from, &error), ICESTREAM_E_OUTPUT);
    ck_assert_int_eq(error.cause, EFBIG);
    scratch_unlimit_files();
    ck_assert_uint_eq(ics_collector_count(to), 1000);
    ck_assert_uint_eq(ics_collector_count(from), 3000);

    ck_assert_int_eq(ics_collector_take(to, from, &error), ICESTREAM_OK);
    ck_assert_uint_eq(ics_collector_count(to), 4000);
    ck_assert_uint_eq(ics_collector_count(from), 0);
    ck_assert_uint_eq(budget.used, 2000 * 64);
    expect_hits(from, 0);
    ics_collector_destroy(from);
    expect_hits(to, 4000);
    ics_collector_destroy(to);
    ck_assert_uint_eq(budget.used, 0);
}
END_TEST

ICS_TEST_MAIN("collector")
{
    TCase *tests = tcase_create("collector");
    tcase_add_test(tests, test_order_is_by_identity_then_time_then_bytes);
    tcase_add_test(tests, test_pieces_in_memory_are_merged);
    tcase_add_test(tests, test_pieces_beyond_the_budget_are_read_from_the_file);
    tcase_add_test(tests, test_two_files_share_a_budget);
    tcase_add_test(tests, test_errors_end_a_merge);
    tcase_add_test(tests, test_no_folder_for_the_temporary_file);
    tcase_add_test(tests, test_spill_that_failed_is_tried_again);
    tcase_add_test(tests, test_a_collector_takes_the_hits_of_another);
    suite_add_tcase(suite, tests);
}
