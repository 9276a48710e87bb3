/* Promise: with stages.detect the right hits become photo-electrons, hit files contain what
 * sink.hits asks for, and the account counts what was removed.
 *
 * How to join: one test for each promise of ics_hit_detection_decide() in
 * pipeline/photons/devices/batch.h.
 */
#include "pipeline/photons/devices/batch.h"
#include "tables/tables.h"
#include "tests/support/detection_world.h"
#include "tests/support/test_main.h"

#include <string.h>

/* Two steps of 100 photons, all of which arrive at module 0 head-on or from behind. */
typedef struct arriving {
    ics_models *models;
    ics_batch *batch;
    ics_arrivals arrivals;
    icestream_hit hits[200];
    size_t count;
    float weight; /* of a hit that is no photo-electron alone */
    icestream_error error;
} arriving;

static arriving arrive(const char *content, float weight)
{
    arriving a = {.models = models_load(model_config("stages.detect=pe", content, NULL))};
    const ics_batch_limits limits = ics_batch_limits_default();
    ck_assert_int_eq(ics_batch_create(&limits, 0, &a.batch, &a.error), ICESTREAM_OK);
    icestream_step steps[2] = {
        {.dz = 1, .beta = 1, .weight = weight, .photons = 100, .step_id = 4},
        {.dz = 1, .beta = 1, .weight = weight, .photons = 100, .step_id = 5}};
    ics_step_cursor cursor = {.steps = steps, .count = 2};
    bool full;
    ck_assert_int_eq(ics_batch_fill(a.batch, &cursor, &full, &a.error), ICESTREAM_OK);
    for (uint32_t i = 0; i < 200; ++i) {
        const ice_arrival arrival = {.emission = i / 100,
                                     .photon_id = i % 100,
                                     .wavelength = 400,
                                     .dz = i < 100 ? 0.5f : -1.0f,
                                     .dx = i < 100 ? sqrtf(0.75f) : 0.0f};
        ck_assert_int_eq(ics_graph_arrivals_put(&a.arrivals, &arrival), 0);
    }
    return a;
}

static int detect(arriving *a)
{
    static const ice_tables tables = {.seed_low = 1};
    const ics_hit_models models = {.tables = &tables,
                                   .detector = a->models->detector,
                                   .light = a->models->light,
                                   .detection = a->models->detection};
    a->weight = (float)ics_batch_weight(&models, &a->batch->steps[0],
                                        ics_batch_light_bias(models.light, 400));
    for (size_t i = 0; i < a->arrivals.count; ++i) {
        const ice_arrival *arrival = &a->arrivals.items[i];
        ics_detection_verdict verdict;
        ICS_TRY(ics_hit_detection_decide(&models, a->batch, arrival, &verdict, &a->error));
        if (verdict.is_kept) {
            const icestream_step *step = &a->batch->steps[arrival->emission];
            icestream_hit *hit = &a->hits[a->count++];
            ICS_TRY(ics_batch_hit_from_arrival(&models, a->batch, arrival, hit, &a->error));
            ics_hit_detection_mark(&models, step, &verdict, hit);
        }
    }
    return ICESTREAM_OK;
}

static void end(arriving *a)
{
    ics_models_destroy(a->models);
    ics_batch_destroy(a->batch);
    ics_graph_arrivals_free(&a->arrivals);
}

START_TEST(what_becomes_of_hits)
{
    static const char *const contents[] = {"sink.hits=auto", "sink.hits=pe", "sink.hits=both",
                                           "sink.hits=photons"};
    uint64_t electrons = 0;
    for (int k = 0; k < 4; ++k) {
        arriving a = arrive(contents[k], 1);
        const size_t before = a.arrivals.count;
        ck_assert_msg(detect(&a) == ICESTREAM_OK, "%s", a.error.text);
        /* 100 with a probability of 0.84375: 84.4 +- 3.6; 100 with 0. */
        ck_assert_uint_gt(a.batch->account.photo_electrons, 69);
        ck_assert_uint_lt(a.batch->account.photo_electrons, 99);
        ck_assert(k == 0 || a.batch->account.photo_electrons == electrons);
        electrons = a.batch->account.photo_electrons;
        ck_assert_uint_eq(a.count, k < 2 ? electrons : before);
        ck_assert_uint_eq(a.batch->account.undetected, k < 2 ? before - electrons : 0);
        uint64_t marked = 0;
        for (size_t i = 0; i < a.count; ++i) {
            ck_assert(a.hits[i].pmt == 0 || a.hits[i].pmt == -1);
            ck_assert_float_eq(a.hits[i].weight, k < 2 ? 1.0f : a.weight);
            ck_assert(a.hits[i].pmt == -1 || a.hits[i].step_id == 4);
            marked += a.hits[i].pmt == 0;
        }
        ck_assert_uint_eq(marked, k == 3 ? 0 : electrons);
        end(&a);
    }
}
END_TEST

START_TEST(weights_thin_and_must_not_exceed)
{
    arriving a = arrive("sink.hits=pe", 0.25f);
    ck_assert_msg(detect(&a) == ICESTREAM_OK, "%s", a.error.text);
    ck_assert_uint_gt(a.count, 5); /* 21.1 +- 4.1 */
    ck_assert_uint_lt(a.count, 38);
    end(&a);
    a = arrive("sink.hits=pe", 0);
    ck_assert_int_eq(detect(&a), ICESTREAM_OK);
    ck_assert_uint_eq(a.count, 0);
    end(&a);
    a = arrive("sink.hits=both", 2);
    ck_assert_int_eq(detect(&a), ICESTREAM_E_INPUT);
    ck_assert_msg(strstr(a.error.text,
                         "event 0, step 4, field weight: found 2, with which photon 0 is detected "
                         "by string 1, module 1 with a probability of 1.6875, expected at most 1"),
                  "%s", a.error.text);
    end(&a);
}
END_TEST

START_TEST(unknown_modules_are_errors)
{
    arriving a = arrive("sink.hits=pe", 1);
    a.arrivals.items[7].module = 5160;
    ck_assert_int_eq(detect(&a), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(a.error.text, "module 5160 of 5160"));
    end(&a);
}
END_TEST

START_TEST(account_in_metadata)
{
    const ics_metadata_origin origin = {.seed = 1, .configuration = "c"};
    const icestream_account account = {.created = 100,
                                       .absorbed = 80,
                                       .detected = 20,
                                       .hits = 25,
                                       .photo_electrons = 9,
                                       .undetected = 16};
    static const char *const contents[] = {"pe", "both", "photons"};
    icestream_error error = {0};
    for (int k = 0; k < 3; ++k) {
        json_t *metadata = NULL;
        icestream_account read;
        ck_assert_int_eq(ics_metadata_create(&origin, &metadata, &error), ICESTREAM_OK);
        ck_assert_int_eq(ics_metadata_set_account(metadata, &account, &error), ICESTREAM_OK);
        ck_assert(ics_metadata_account(metadata, &read));
        ck_assert_uint_eq(read.photo_electrons, 0);
        ck_assert_int_eq(ics_metadata_set_detection(metadata, contents[k], &account, &error),
                         ICESTREAM_OK);
        ck_assert(ics_metadata_account(metadata, &read));
        ck_assert_uint_eq(read.hits, 25);
        ck_assert_uint_eq(read.photo_electrons, 9);
        ck_assert_uint_eq(read.undetected, k == 0 ? 16 : 0);
        /* An account that is not possible is refused. */
        json_t *counts = json_object_get(metadata, "account");
        json_object_set_new(counts, "photo_electrons", json_integer(26));
        ck_assert(!ics_metadata_account(metadata, &read));
        json_object_set_new(counts, "photo_electrons", json_integer(-1));
        ck_assert(!ics_metadata_account(metadata, &read));
        json_object_set_new(counts, "photo_electrons", json_string("9"));
        ck_assert(!ics_metadata_account(metadata, &read));
        json_decref(metadata);
    }
    const icestream_account wrong = {.created = 1, .detected = 1, .hits = 1, .photo_electrons = 2};
    json_t *metadata = NULL;
    ck_assert_int_eq(ics_metadata_create(&origin, &metadata, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_metadata_set_detection(metadata, "pe", &wrong, &error),
                     ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "found 2 photo-electrons of 1 hits"));
    json_decref(metadata);
    /* The rows are the hits without the removed ones. */
    ck_assert_int_eq(ics_batch_account_check(&account, 100, 9, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_batch_account_check(&account, 100, 25, &error), ICESTREAM_E_FAILED);
}
END_TEST

ICS_TEST_MAIN("hit_detection")
{
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, what_becomes_of_hits);
    tcase_add_test(tests, weights_thin_and_must_not_exceed);
    tcase_add_test(tests, unknown_modules_are_errors);
    tcase_add_test(tests, account_in_metadata);
    suite_add_tcase(suite, tests);
}
