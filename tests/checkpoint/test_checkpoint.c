/* Promises of checkpoint.h and photon_intervals.h: what a checkpoint took is read back, a file that
 * was cut or damaged at any byte gives the records before that byte, and a checkpoint of other hits
 * is refused. How to join: open_place() makes an empty folder; append() adds a record. */
#include "pipeline/photons/files/format/crc32c.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/production/checkpoint/checkpoint.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static scratch place;
static char path[SCRATCH_PATH];
static json_t *origin;
static icestream_error error;

static void open_place(void)
{
    place = scratch_create();
    scratch_path(&place, "a.hits.npy.checkpoint", path);
    origin = json_pack("{s:s, s:{s:s, s:s}}", "seed", "1", "digests", "ice", "aa", "input", "bb");
    ck_assert_ptr_nonnull(origin);
}

static void close_place(void)
{
    json_decref(origin);
    scratch_remove(&place);
}

/* ---- intervals ------------------------------------------------------------------------------- */

static int add(ics_photon_intervals *set, uint64_t first, uint64_t end)
{
    return ics_photon_intervals_add(set, (ics_photon_interval){first, end}, &error);
}

START_TEST(test_intervals_are_joined_and_disjoint)
{
    ics_photon_intervals set = {.items = NULL};
    ck_assert_int_eq(add(&set, 20, 30), ICESTREAM_OK);
    ck_assert_int_eq(add(&set, 0, 10), ICESTREAM_OK);
    ck_assert_uint_eq(set.count, 2);
    ck_assert_int_eq(add(&set, 29, 40), ICESTREAM_E_INPUT);
    ck_assert_int_eq(add(&set, 5, 6), ICESTREAM_E_INPUT);
    ck_assert_int_eq(add(&set, 15, 21), ICESTREAM_E_INPUT);
    ck_assert_int_eq(add(&set, 12, 12), ICESTREAM_E_INPUT);
    ck_assert_uint_eq(set.photons, 20);
    ck_assert_int_eq(add(&set, 10, 20), ICESTREAM_OK);
    ck_assert_uint_eq(set.count, 1);
    ck_assert_int_eq(add(&set, 30, 31), ICESTREAM_OK);
    ck_assert_int_eq(add(&set, 50, 60), ICESTREAM_OK);
    ck_assert_int_eq(add(&set, 45, 50), ICESTREAM_OK);
    ck_assert_uint_eq(set.count, 2);
    ics_photon_interval found;
    ck_assert(ics_photon_intervals_find(&set, 31, &found));
    ck_assert(found.first == 45 && found.end == 60);
    ck_assert(ics_photon_intervals_find(&set, 30, &found));
    ck_assert(found.first == 0 && found.end == 31);
    ck_assert(!ics_photon_intervals_find(&set, 60, &found));
    ics_photon_intervals_clear(&set);
}
END_TEST

/* ---- records --------------------------------------------------------------------------------- */

/* Appends a record for the photons `first` to `end - 1`, of which every second one is a hit. */
static int append(ics_checkpoint *checkpoint, uint64_t first, uint64_t end)
{
    size_t count = (size_t)(end - first) / 2;
    icestream_hit *hits = calloc(count + 1, sizeof *hits);
    for (size_t i = 0; i < count; ++i) {
        hits[i] = (icestream_hit){.event_id = 1, .photon_id = (uint32_t)(first + 2 * i)};
    }
    ics_checkpoint_part part = {
        .account = {.created = end - first,
                    .absorbed = end - first - count,
                    .detected = count,
                    .hits = count},
        .maths = ICS_MATHS_FAST,
        .kernels = ics_kernels_of("A GPU", first < 90 ? 90 : 80, "nvrtc 13.0", false)};
    ck_assert_int_eq(add(&part.photons, first, end), ICESTREAM_OK);
    int status = ics_checkpoint_append(checkpoint, &part, hits, count, &error);
    ics_photon_intervals_clear(&part.photons);
    free(hits);
    return status;
}

/* Writes a checkpoint of a file of 100 photons with two records: 30 photons, 15 hits. */
static void write_two_records(void)
{
    ics_checkpoint *checkpoint = NULL;
    ck_assert_int_eq(ics_checkpoint_create(path, origin, &checkpoint, &error), ICESTREAM_OK);
    ck_assert(ics_checkpoint_is_ours(checkpoint));
    ck_assert_int_eq(append(checkpoint, 40, 60), ICESTREAM_OK);
    ck_assert_int_eq(append(checkpoint, 10, 20), ICESTREAM_OK);
    ck_assert_int_eq(ics_checkpoint_sync(checkpoint, &error), ICESTREAM_OK);
    ics_checkpoint_close(checkpoint);
}

static int count_hits(void *user, const icestream_hit *hits, size_t count, icestream_error *why)
{
    (void)hits, (void)why;
    *(size_t *)user += count;
    return ICESTREAM_OK;
}

/* Reads the checkpoint of a file with this number of photons. Returns the number of finished
 * photons, and checks that the hits are theirs. */
static uint64_t finished_photons(uint64_t photons, uint64_t *cut)
{
    ics_checkpoint *checkpoint = NULL;
    ics_checkpoint_part sum;
    ics_hit_budget budget = {.limit = 1 << 20};
    ics_collector *collector = NULL;
    size_t hits = 0;
    ck_assert_msg(ics_checkpoint_open(path, origin, &checkpoint, &error) == ICESTREAM_OK, "%s",
                  error.text);
    ck_assert_ptr_nonnull(checkpoint);
    ck_assert_int_eq(ics_checkpoint_survey(checkpoint, photons, NULL, &sum, cut, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(ics_collector_create(&budget, place.folder, &collector, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_checkpoint_collect(checkpoint, collector, NULL, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_collector_merge(collector, count_hits, &hits, NULL, &error), ICESTREAM_OK);
    uint64_t finished = sum.photons.photons;
    ck_assert_uint_eq(sum.account.created, finished);
    ck_assert_uint_eq(sum.account.hits, hits);
    ck_assert_uint_eq(hits, finished / 2);
    ics_photon_intervals_clear(&sum.photons);
    ics_collector_destroy(collector);
    ics_checkpoint_close(checkpoint);
    return finished;
}

START_TEST(test_records_are_read_back)
{
    uint64_t cut = 1;
    write_two_records();
    ck_assert_uint_eq(finished_photons(100, &cut), 30);
    ck_assert_uint_eq(cut, 0);
    /* The first record has photons that a shorter file does not have. */
    ck_assert_uint_eq(finished_photons(50, &cut), 0);
    ck_assert_uint_gt(cut, 0);
}
END_TEST

/* At any length, the good records are used, the rest is cut off, and a record can follow. */
START_TEST(test_torn_file_keeps_whole_records)
{
    size_t size = 0, header = 0;
    write_two_records();
    unsigned char *bytes = scratch_read(path, &size);
    size_t second = size - (104 + 16 + 5 * 64 + 8);
    header = second - (104 + 16 + 10 * 64 + 8);
    for (size_t length = header; length < size; length += length % 5 == 0 ? 17 : 1) {
        uint64_t cut = 0;
        scratch_write(path, bytes, length);
        ck_assert_uint_eq(finished_photons(100, &cut), length < second ? 0 : 20);
        ck_assert_uint_eq(cut, length - (length < second ? header : second));
        ck_assert_uint_eq(finished_photons(100, &cut), length < second ? 0 : 20);
        ck_assert_uint_eq(cut, 0);
    }
    free(bytes);
}
END_TEST

START_TEST(test_damaged_byte_is_found)
{
    size_t size = 0;
    write_two_records();
    unsigned char *bytes = scratch_read(path, &size);
    size_t second = size - (104 + 16 + 5 * 64 + 8);
    for (size_t at = second; at < size; ++at) {
        uint64_t cut = 0;
        bytes[at] ^= 0x10;
        scratch_write(path, bytes, size);
        bytes[at] ^= 0x10;
        ck_assert_uint_eq(finished_photons(100, &cut), 20);
        ck_assert_uint_eq(cut, size - second);
    }
    free(bytes);
}
END_TEST

/* Writes the file of rows: room for a header and 15 hits, of which `harmed` (a byte) is another one
 * than in *rows; 0: none. */
static void write_rows(ics_checkpoint_rows *rows, size_t harmed)
{
    enum { HITS = 15, FIRST = 5 };
    const size_t size = ICS_NPY_OWN_HEADER + HITS * sizeof(icestream_hit);
    unsigned char *bytes = calloc(1, size);
    icestream_hit *hits = (icestream_hit *)(void *)(bytes + ICS_NPY_OWN_HEADER);
    char *name = ics_checkpoint_rows_path(path);
    for (uint32_t i = 0; i < HITS; ++i) {
        hits[i] = (icestream_hit){.event_id = 1, .photon_id = i};
    }
    *rows = (ics_checkpoint_rows){
        .first = FIRST, .crc32c = ics_crc32c(0, &hits[FIRST], (HITS - FIRST) * sizeof *hits)};
    if (harmed > 0) {
        bytes[harmed] ^= 0x10;
    }
    scratch_write(name, bytes, size);
    free(name);
    free(bytes);
}

/* Records know their kernels without the name of the GPU; other ones make the sum mixed. */
START_TEST(test_kernels)
{
    const uint32_t code = ics_kernels_of("", 90, "nvrtc 13.0", false).code;
    for (int more = 0; more < 2; ++more) {
        ics_checkpoint *checkpoint = NULL;
        ics_checkpoint_part sum;
        uint64_t cut = 0;
        write_two_records();
        ck_assert_int_eq(ics_checkpoint_open(path, origin, &checkpoint, &error), ICESTREAM_OK);
        ck_assert_int_eq(ics_checkpoint_survey(checkpoint, 100, NULL, &sum, &cut, &error),
                         ICESTREAM_OK);
        ics_photon_intervals_clear(&sum.photons);
        if (more) {
            ck_assert_int_eq(append(checkpoint, 90, 100), ICESTREAM_OK);
            ck_assert_int_eq(ics_checkpoint_survey(checkpoint, 100, NULL, &sum, &cut, &error),
                             ICESTREAM_OK);
            ics_photon_intervals_clear(&sum.photons);
        }
        ics_checkpoint_close(checkpoint);
        ck_assert_int_eq(sum.maths, ICS_MATHS_FAST);
        ck_assert_uint_eq(sum.kernels.code, more ? ICS_KERNELS_MIXED : code);
        ck_assert_str_eq(sum.kernels.gpu, "");
        unlink(path);
    }
}
END_TEST

/* A record of 20 photons has 10 hits that are rows, and the one after it has its own hits. */
START_TEST(test_rows_of_another_file)
{
    ics_checkpoint *checkpoint = NULL;
    ics_checkpoint_rows rows;
    ics_checkpoint_part part = {
        .account = {.created = 20, .absorbed = 10, .detected = 10, .hits = 10},
        .maths = ICS_MATHS_PORTABLE};
    uint64_t cut = 0;
    size_t size = 0;
    write_rows(&rows, 0);
    ck_assert_int_eq(add(&part.photons, 0, 20), ICESTREAM_OK);
    ck_assert_int_eq(ics_checkpoint_create(path, origin, &checkpoint, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_checkpoint_append_rows(checkpoint, &part, &rows, 10, &error),
                     ICESTREAM_OK);
    ck_assert_int_eq(append(checkpoint, 40, 60), ICESTREAM_OK);
    ics_checkpoint_close(checkpoint);
    ics_photon_intervals_clear(&part.photons);
    ck_assert_uint_eq(finished_photons(100, &cut), 40);
    ck_assert_uint_eq(cut, 0);

    unsigned char *bytes = scratch_read(path, &size);
    write_rows(&rows, ICS_NPY_OWN_HEADER + 4 * sizeof(icestream_hit)); /* no row of the record */
    ck_assert_uint_eq(finished_photons(100, &cut), 40);
    write_rows(&rows, ICS_NPY_OWN_HEADER + 15 * sizeof(icestream_hit) - 1);
    ck_assert_uint_eq(finished_photons(100, &cut), 0);
    ck_assert_uint_gt(cut, 0);
    scratch_write(path, bytes, size);
    free(bytes);
    ck_assert_int_eq(unlink(strcat(path, ".rows")), 0);
    path[strlen(path) - strlen(".rows")] = '\0';
    ck_assert_uint_eq(finished_photons(100, &cut), 0);

    write_rows(&rows, 0);
    ck_assert_int_eq(ics_checkpoint_remove(path, &error), ICESTREAM_OK);
    ck_assert(!scratch_exists(&place, "a.hits.npy.checkpoint"));
    ck_assert(!scratch_exists(&place, "a.hits.npy.checkpoint.rows"));
}
END_TEST

/* Two processes without locks have written the same photons: they count once. */
START_TEST(test_photons_count_once)
{
    ics_checkpoint *checkpoint = NULL;
    uint64_t cut = 0;
    ck_assert_int_eq(ics_checkpoint_create(path, origin, &checkpoint, &error), ICESTREAM_OK);
    ck_assert_int_eq(append(checkpoint, 40, 60), ICESTREAM_OK);
    ck_assert_int_eq(append(checkpoint, 58, 70), ICESTREAM_OK);
    ics_checkpoint_close(checkpoint);
    ck_assert_uint_eq(finished_photons(100, &cut), 20);
    ck_assert_uint_gt(cut, 0);
}
END_TEST

START_TEST(test_other_origin_is_refused_with_its_key)
{
    ics_checkpoint *checkpoint = NULL;
    write_two_records();
    json_object_set_new(json_object_get(origin, "digests"), "ice", json_string("cc"));
    ck_assert_int_eq(ics_checkpoint_open(path, origin, &checkpoint, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_null(checkpoint);
    ck_assert_ptr_nonnull(strstr(error.text, "ice: found aa, expected cc"));
    json_object_set_new(origin, "content", json_string("pe"));
    json_object_set_new(json_object_get(origin, "digests"), "ice", json_string("aa"));
    ck_assert_int_eq(ics_checkpoint_open(path, origin, &checkpoint, &error), ICESTREAM_E_CONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "content: found nothing, expected pe"));
}
END_TEST

START_TEST(test_one_process_writes)
{
    ics_checkpoint *first = NULL, *second = NULL;
    ck_assert_int_eq(ics_checkpoint_create(path, origin, &first, &error), ICESTREAM_OK);
    ck_assert_int_eq(append(first, 0, 10), ICESTREAM_OK);
    ck_assert_int_eq(ics_checkpoint_create(path, origin, &second, &error), ICESTREAM_E_OUTPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "found another process using it"));
    uint64_t cut = 0;
    ck_assert_int_eq(ics_checkpoint_open(path, origin, &second, &error), ICESTREAM_OK);
    ck_assert(!ics_checkpoint_is_ours(second));
    ics_checkpoint_close(second);
    ck_assert_uint_eq(finished_photons(100, &cut), 10);
    ics_checkpoint_close(first);
}
END_TEST

START_TEST(test_full_disk_keeps_earlier_records)
{
    ics_checkpoint *checkpoint = NULL;
    uint64_t cut = 0;
    ck_assert_int_eq(ics_checkpoint_create(path, origin, &checkpoint, &error), ICESTREAM_OK);
    ck_assert_int_eq(append(checkpoint, 0, 10), ICESTREAM_OK);
    scratch_limit_files(1000);
    ck_assert_int_eq(append(checkpoint, 10, 60), ICESTREAM_E_OUTPUT);
    scratch_unlimit_files();
    ck_assert_ptr_nonnull(strstr(error.text, path));
    ics_checkpoint_close(checkpoint);
    ck_assert_uint_eq(finished_photons(100, &cut), 10);
    ck_assert_uint_eq(cut, 0);
}
END_TEST

START_TEST(test_other_files_stay)
{
    ics_checkpoint *checkpoint = NULL;
    char target[SCRATCH_PATH];
    scratch_write(path, "precious results", 16);
    ck_assert_int_eq(ics_checkpoint_remove(path, &error), ICESTREAM_E_OUTPUT);
    ck_assert(scratch_exists(&place, "a.hits.npy.checkpoint"));
    ck_assert_int_eq(ics_checkpoint_open(path, origin, &checkpoint, &error), ICESTREAM_E_INPUT);
    ck_assert_int_eq(ics_checkpoint_create(path, origin, &checkpoint, &error), ICESTREAM_E_OUTPUT);
    size_t size = 0;
    free(scratch_read(path, &size));
    ck_assert_uint_eq(size, 16);
    unlink(path);
    ck_assert_int_eq(ics_checkpoint_remove(path, &error), ICESTREAM_OK);
    ck_assert_int_eq(symlink(scratch_path(&place, "planted", target), path), 0);
    ck_assert_int_eq(ics_checkpoint_create(path, origin, &checkpoint, &error), ICESTREAM_E_OUTPUT);
    ck_assert(!scratch_exists(&place, "planted"));
}
END_TEST

ICS_TEST_MAIN("checkpoint")
{
    TCase *tests = tcase_create("checkpoint");
    tcase_add_checked_fixture(tests, open_place, close_place);
    tcase_add_test(tests, test_intervals_are_joined_and_disjoint);
    tcase_add_test(tests, test_records_are_read_back);
    tcase_add_test(tests, test_torn_file_keeps_whole_records);
    tcase_add_test(tests, test_damaged_byte_is_found);
    tcase_add_test(tests, test_kernels);
    tcase_add_test(tests, test_rows_of_another_file);
    tcase_add_test(tests, test_photons_count_once);
    tcase_add_test(tests, test_other_origin_is_refused_with_its_key);
    tcase_add_test(tests, test_one_process_writes);
    tcase_add_test(tests, test_full_disk_keeps_earlier_records);
    tcase_add_test(tests, test_other_files_stay);
    suite_add_tcase(suite, tests);
}
