/* Promise: hits that come in the order of the hit file are written while later batches are
 * computed, and the hit file has the same bytes as one that is merged at its end, in whatever order
 * batches come back. To join: a row of `orders` is one more order of batches. */
#include "pipeline/photons/collect/collector.h"
#include "pipeline/photons/devices/batch.h"
#include "pipeline/photons/files/table_writer.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ten batches of 20,000 photons, each of which has a hit: 1.28 MB a batch. The batch 4 has none. */
enum { BATCHES = 10, PHOTONS = 20000, EMPTY = 4, HITS = (BATCHES - 1) * PHOTONS };

/* Adds the hits of a batch. `step`: of its hits. */
static int add(ics_collector *collector, uint32_t batch, uint32_t step, icestream_error *error)
{
    icestream_hit *hits = batch != EMPTY ? calloc(PHOTONS, sizeof *hits) : NULL;
    const ics_photon_interval photons = {(uint64_t)batch * PHOTONS,
                                         ((uint64_t)batch + 1) * PHOTONS};
    for (uint32_t i = 0; hits != NULL && i < PHOTONS; ++i) {
        hits[i] = (icestream_hit){.event_id = 1,
                                  .step_id = step,
                                  .photon_id = batch * PHOTONS + i,
                                  .t = 0.25 * i,
                                  .wavelength = 400.0f,
                                  .weight = 1.0f,
                                  .dz = 1.0f,
                                  .pmt = -1};
    }
    return ics_collector_add_batch(collector, hits, batch != EMPTY ? PHOTONS : 0, photons, error);
}

static ics_collector *make(ics_hit_budget *budget, const scratch *place, bool early)
{
    ics_collector *collector = NULL;
    icestream_error error;
    ck_assert_int_eq(ics_collector_create(budget, place->folder, &collector, &error), ICESTREAM_OK);
    if (early) {
        ics_collector_allow_early_rows(collector);
    }
    return collector;
}

static int append(void *user, const icestream_hit *hits, size_t count, icestream_error *error)
{
    return ics_table_writer_append(user, hits, count, error);
}

/* Writes a hit file of the collector, and returns whether its rows were there already. */
static bool write_file(ics_collector *collector, const char *path)
{
    ics_table_writer *writer = NULL;
    ics_collected_rows rows;
    bool taken = false, adopted = false;
    icestream_error error;
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), true, &writer, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(ics_collector_take_rows(collector, &rows, &taken, &error), ICESTREAM_OK);
    if (taken) {
        ck_assert_int_eq(
            ics_table_writer_adopt(writer, rows.file, rows.count, &rows.sums, &adopted, &error),
            ICESTREAM_OK);
        ics_trailer_checksums_free(&rows.sums);
    }
    if (!adopted) {
        ck_assert_int_eq(ics_collector_merge(collector, append, writer, NULL, &error),
                         ICESTREAM_OK);
    }
    ck_assert_uint_eq(ics_table_writer_rows(writer), ics_collector_count(collector));
    ck_assert_int_eq(ics_table_writer_commit(writer, NULL, &error), ICESTREAM_OK);
    ics_table_writer_destroy(writer);
    return adopted;
}

static void check_same(const char *left, const char *right)
{
    size_t left_size, right_size;
    unsigned char *one = scratch_read(left, &left_size), *two = scratch_read(right, &right_size);
    ck_assert_uint_eq(left_size, right_size);
    ck_assert_mem_eq(one, two, left_size);
    free(one);
    free(two);
}

static const struct order {
    uint32_t batches[BATCHES];
    bool ascend; /* the steps; false: the batch 9 has the smallest step_id */
    bool in_order;
} orders[] = {{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, true, true},
              {{4, 9, 8, 7, 6, 5, 3, 2, 1, 0}, true, true},
              {{1, 0, 3, 2, 5, 4, 7, 6, 9, 8}, true, true},
              {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, false, false},
              {{9, 1, 2, 3, 4, 5, 6, 7, 8, 0}, false, false}};

START_TEST(test_file_has_the_bytes_of_a_merged_one)
{
    const struct order *order = &orders[_i];
    scratch place = scratch_create();
    char early_path[SCRATCH_PATH], merged_path[SCRATCH_PATH];
    ics_hit_budget budget = {.limit = 1 << 30};
    ics_collector *early = make(&budget, &place, true), *merged = make(&budget, &place, false);
    for (int i = 0; i < BATCHES; ++i) {
        const uint32_t batch = order->batches[i], step = batch == 9 && !order->ascend ? 0 : 5;
        ck_assert_int_eq(add(early, batch, step, NULL), ICESTREAM_OK);
        ck_assert_int_eq(add(merged, batch, step, NULL), ICESTREAM_OK);
    }
    ck_assert_uint_eq(ics_collector_count(early), HITS);
    scratch_path(&place, "early.hits.npy", early_path);
    scratch_path(&place, "merged.hits.npy", merged_path);
    ck_assert_int_eq(write_file(early, early_path), order->in_order);
    ck_assert(!write_file(merged, merged_path));
    check_same(early_path, merged_path);
    ck_assert(!write_file(early, early_path)); /* again, after an error: from what was written */
    check_same(early_path, merged_path);
    ics_collector_destroy(early);
    ics_collector_destroy(merged);
    ck_assert_uint_eq(budget.used, 0);
    ck_assert(!scratch_exists(&place, "early.hits.npy.part"));
    scratch_remove(&place);
}
END_TEST

START_TEST(test_hits_leave_the_memory_while_batches_come)
{
    scratch place = scratch_create();
    ics_hit_budget budget = {.limit = 1 << 30};
    ics_collector *collector = make(&budget, &place, true);
    for (uint32_t batch = 0; batch < BATCHES; ++batch) {
        ck_assert_int_eq(add(collector, batch, 5, NULL), ICESTREAM_OK);
        ck_assert_uint_le(budget.used, 4 << 20); /* EARLY_BYTES of collector_rows.c */
    }
    ck_assert_uint_eq(budget.used, 0);
    ics_collector_destroy(collector);
    scratch_remove(&place);
}
END_TEST

/* What a listener got: the batches that became rows, in the order of the rows, and those that left
 * the memory in another way. */
typedef struct listened {
    uint64_t rows;
    uint32_t as_rows, otherwise;
} listened;

static void note_batch(void *user, ics_photon_interval photons, const icestream_hit *hits,
                       size_t count, uint64_t row)
{
    listened *got = user;
    ck_assert_uint_eq(count, PHOTONS);
    ck_assert_uint_eq(hits[0].photon_id, photons.first);
    if (row == ICS_NO_ROW) {
        got->otherwise++;
    } else {
        ck_assert_uint_eq(row, got->rows);
        got->rows += count;
        got->as_rows++;
    }
}

START_TEST(test_listener_gets_each_batch)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    listened got = {0};
    bool named = true;
    ics_hit_budget budget = {.limit = 1 << 30};
    ics_collector *collector = make(&budget, &place, true);
    ics_collector_set_listener(collector, note_batch, &got);
    scratch_path(&place, "a.rows", path);
    ck_assert_int_eq(add(collector, 0, 5, NULL), ICESTREAM_OK);
    ics_collector_name_rows(collector, path, &named);
    ck_assert(!named); /* no rows yet */
    for (uint32_t batch = 1; batch < BATCHES - 1; ++batch) {
        ck_assert_int_eq(add(collector, batch < 7 ? batch : batch + 1, 5, NULL), ICESTREAM_OK);
    }
    ck_assert_uint_eq(got.as_rows, 6); /* all before 7 that have hits */
    ics_collector_name_rows(collector, path, &named);
    ck_assert(named && ics_early_rows_is_file(path));
    ck_assert_int_eq(ics_collector_sync_rows(collector, NULL), ICESTREAM_OK);
    ics_collector_visit_memory(collector);
    ck_assert_uint_eq(got.otherwise, 2);
    budget.limit = 1; /* so that all hits must leave the memory */
    ck_assert_int_eq(ics_collector_add(collector, NULL, 0, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(got.otherwise, 4);
    ics_collector_name_rows(collector, path, &named);
    ck_assert(!named);
    ics_collector_destroy(collector);
    scratch_remove(&place);
}
END_TEST

START_TEST(test_hits_of_a_checkpoint_are_merged)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_hit_budget budget = {.limit = 1 << 30};
    ics_collector *collector = make(&budget, &place, true);
    icestream_hit *known = calloc(1, sizeof *known);
    known->event_id = 1;
    known->step_id = 7;
    ck_assert_int_eq(ics_collector_add(collector, known, 1, NULL), ICESTREAM_OK);
    for (uint32_t batch = 0; batch < BATCHES; ++batch) {
        ck_assert_int_eq(add(collector, batch, 5, NULL), ICESTREAM_OK);
    }
    ck_assert(!write_file(collector, scratch_path(&place, "a.hits.npy", path)));
    ics_collector_destroy(collector);
    scratch_remove(&place);
}
END_TEST

/* While the disk is full, hits stay in memory, and the rows are written when there is room. */
START_TEST(test_full_disk_loses_nothing)
{
    scratch place = scratch_create();
    char early_path[SCRATCH_PATH], merged_path[SCRATCH_PATH];
    ics_hit_budget budget = {.limit = 1 << 30};
    icestream_error error = {.status = ICESTREAM_OK};
    ics_collector *early = make(&budget, &place, true), *merged = make(&budget, &place, false);
    scratch_limit_files((size_t)6 << 20);
    for (uint32_t batch = 0; batch < BATCHES; ++batch) {
        const int status = add(early, batch, 5, &error);
        ck_assert_int_eq(status, batch > EMPTY ? ICESTREAM_E_OUTPUT : ICESTREAM_OK);
        ck_assert_int_eq(add(merged, batch, 5, NULL), ICESTREAM_OK);
    }
    scratch_unlimit_files();
    ck_assert_int_eq(ics_collector_add(early, NULL, 0, &error), ICESTREAM_OK);
    scratch_path(&place, "early.hits.npy", early_path);
    scratch_path(&place, "merged.hits.npy", merged_path);
    ck_assert(write_file(early, early_path));
    ck_assert(!write_file(merged, merged_path));
    check_same(early_path, merged_path);
    ics_collector_destroy(early);
    ics_collector_destroy(merged);
    scratch_remove(&place);
}
END_TEST

/* A file that could not be made complete is written again only from rows that are still right. */
START_TEST(test_lost_rows_are_an_error)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH];
    ics_hit_budget budget = {.limit = 1 << 30};
    icestream_error error = {.status = ICESTREAM_OK};
    ics_collected_rows rows;
    bool taken = false;
    ics_table_writer *writer = NULL;
    ics_collector *collector = make(&budget, &place, true);
    for (uint32_t batch = 0; batch < BATCHES; ++batch) {
        ck_assert_int_eq(add(collector, batch, 5, NULL), ICESTREAM_OK);
    }
    ck_assert_int_eq(ics_collector_take_rows(collector, &rows, &taken, &error), ICESTREAM_OK);
    ck_assert(taken);
    ics_trailer_checksums_free(&rows.sums);
    ck_assert_int_eq(pwrite(rows.file, "lost", 4, 5 << 20), 4);
    scratch_path(&place, "a.hits.npy", path);
    ck_assert_int_eq(ics_table_writer_create(path, ics_layout_hits(), false, &writer, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(ics_collector_merge(collector, append, writer, NULL, &error),
                     ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found other checksums than when it was written"));
    ics_table_writer_destroy(writer);
    ics_collector_destroy(collector);
    scratch_remove(&place);
}
END_TEST

ICS_TEST_MAIN("early rows")
{
    TCase *tests = tcase_create("early rows");
    tcase_add_loop_test(tests, test_file_has_the_bytes_of_a_merged_one, 0,
                        sizeof orders / sizeof *orders);
    tcase_add_test(tests, test_hits_leave_the_memory_while_batches_come);
    tcase_add_test(tests, test_listener_gets_each_batch);
    tcase_add_test(tests, test_hits_of_a_checkpoint_are_merged);
    tcase_add_test(tests, test_full_disk_loses_nothing);
    tcase_add_test(tests, test_lost_rows_are_an_error);
    suite_add_tcase(suite, tests);
}
