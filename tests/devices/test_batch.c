/* Promise: batches hold every photon of their steps exactly once, however steps are divided; hits
 * have the identity, time and weight that docs/files.md defines and the order of hit files;
 * accounts that do not close are refused.
 *
 * How to join: one test for each promise of pipeline/photons/devices/batch.h. */
#include "pipeline/photons/devices/batch.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static icestream_step step_of(uint32_t step_id, uint32_t photons)
{
    return (icestream_step){.x = 1.0f,
                            .y = -2.0f,
                            .z = 3.0f,
                            .t = 100.0f,
                            .dz = -1.0f,
                            .length = 2.0f,
                            .beta = 1.0f,
                            .weight = 0.5f,
                            .photons = photons,
                            .event_id = 0x100000002ull,
                            .step_id = step_id};
}

START_TEST(test_emission_has_the_identity_and_a_unit_direction)
{
    icestream_step step = step_of(17, 1000);
    step.dx = 0.6f;
    step.dy = 0.0f;
    step.dz = -0.8005f; /* norm 1.0004, accepted by files.md 3.1 */
    step.spectrum = 3;
    ice_emission emission = ics_batch_step_emission(&step, 250, 500);
    ck_assert_uint_eq(emission.event_low, 2);
    ck_assert_uint_eq(emission.event_high, 1);
    ck_assert_uint_eq(emission.step_id, 17);
    ck_assert_uint_eq(emission.first_photon, 250);
    ck_assert_uint_eq(emission.photons, 500);
    ck_assert_uint_eq(emission.spectrum, 3);
    ck_assert_uint_eq(emission.flags, 0);
    ck_assert_float_eq(emission.x, 1.0f);
    ck_assert_float_eq(emission.length, 2.0f);
    ck_assert_double_eq_tol(hypot(emission.dx, emission.dz), 1.0, 1e-7);
    ck_assert_double_eq_tol(emission.dx, 0.59976006, 1e-7);

    step.flags = ICESTREAM_STEP_ISOTROPIC | ICESTREAM_STEP_NOT_THINNED;
    step.dx = step.dy = step.dz = 0.0f;
    emission = ics_batch_step_emission(&step, 0, 1);
    ck_assert_uint_eq(emission.flags, ICE_EMISSION_ISOTROPIC);
    ck_assert_float_eq(emission.dz, 1.0f);
}
END_TEST

static ics_batch *create_batch(uint64_t photons)
{
    const ics_batch_limits limits = ics_batch_limits_default();
    ics_batch *batch = NULL;
    ck_assert_int_eq(ics_batch_create(&limits, photons, &batch, NULL), ICESTREAM_OK);
    return batch;
}

/* Cuts steps into batches of `limit` photons; checks that every photon is in exactly one. Returns
 * the number of batches. */
static uint32_t cut(const icestream_step *steps, size_t count, uint64_t limit)
{
    ics_step_cursor cursor = {.steps = steps, .count = count};
    size_t step = 0;
    uint32_t next_photon = 0, batches = 0;
    bool full = true;
    while (full) {
        ics_batch *batch = create_batch(limit);
        ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
        ck_assert_uint_le(batch->photons, limit);
        ck_assert_uint_le(batch->count, ICS_BATCH_STEPS);
        uint64_t photons = 0;
        for (uint32_t i = 0; i < batch->count; ++i) {
            const ice_emission *emission = &batch->emissions[i];
            while (next_photon == steps[step].photons) {
                step++;
                next_photon = 0;
            }
            ck_assert_uint_gt(emission->photons, 0);
            ck_assert_uint_eq(emission->step_id, steps[step].step_id);
            ck_assert_uint_eq(batch->steps[i].step_id, steps[step].step_id);
            ck_assert_uint_eq(emission->first_photon, next_photon);
            next_photon += emission->photons;
            photons += emission->photons;
        }
        ck_assert_uint_eq(batch->photons, photons);
        batches += batch->count > 0;
        ics_batch_destroy(batch);
    }
    while (step < count && next_photon == steps[step].photons) {
        step++;
        next_photon = 0;
    }
    ck_assert_uint_eq(step, count);
    return batches;
}

START_TEST(test_steps_are_cut_into_batches)
{
    icestream_step steps[] = {step_of(0, 10), step_of(1, 0),  step_of(2, 25), step_of(3, 1),
                              step_of(4, 0),  step_of(5, 64), step_of(6, 0)};
    ck_assert_uint_eq(cut(steps, 7, 1000), 1);
    ck_assert_uint_eq(cut(steps, 7, 100), 1);
    ck_assert_uint_eq(cut(steps, 7, 50), 2);
    ck_assert_uint_eq(cut(steps, 7, 7), 15);
    ck_assert_uint_eq(cut(steps, 7, 1), 100);
    ck_assert_uint_eq(cut(steps + 1, 1, 10), 0);
    ck_assert_uint_eq(cut(steps, 0, 10), 0);

    icestream_step huge = step_of(0, UINT32_MAX);
    ck_assert_uint_eq(cut(&huge, 1, 1u << 30), 4);
}
END_TEST

START_TEST(test_batches_have_a_bounded_number_of_steps)
{
    enum { STEPS = 2 * ICS_BATCH_STEPS + 5 };
    icestream_step *steps = calloc(STEPS, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    for (uint32_t i = 0; i < STEPS; ++i) {
        steps[i] = step_of(i, 1);
    }
    ck_assert_uint_eq(cut(steps, STEPS, 0xffffffff), 3);
    free(steps);
}
END_TEST

START_TEST(test_bias_is_linear_between_points)
{
    double wavelength[] = {300.0, 400.0, 500.0}, bias[] = {0.1, 0.3, 0.2};
    const ice_light light = {.bias_wavelength = wavelength, .bias = bias, .bias_count = 3};
    ck_assert_double_eq_tol(ics_batch_light_bias(&light, 250.0), 0.1, 1e-15);
    ck_assert_double_eq_tol(ics_batch_light_bias(&light, 300.0), 0.1, 1e-15);
    ck_assert_double_eq_tol(ics_batch_light_bias(&light, 350.0), 0.2, 1e-15);
    ck_assert_double_eq_tol(ics_batch_light_bias(&light, 400.0), 0.3, 1e-15);
    ck_assert_double_eq_tol(ics_batch_light_bias(&light, 475.0), 0.225, 1e-15);
    ck_assert_double_eq_tol(ics_batch_light_bias(&light, 600.0), 0.2, 1e-15);
    const ice_light unbiased = {.bias_count = 0};
    ck_assert_double_eq(ics_batch_light_bias(&unbiased, 400.0), 1.0);
}
END_TEST

START_TEST(test_account_closes_or_names_its_numbers)
{
    icestream_account account = {.created = 100,
                                 .absorbed = 60,
                                 .detected = 5,
                                 .left = 34,
                                 .stopped = 1,
                                 .hits = 5,
                                 .bounces = 2000};
    icestream_error error = {0};
    ck_assert_int_eq(ics_batch_account_check(&account, 100, 5, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_batch_account_check(&account, 101, 5, &error), ICESTREAM_E_FAILED);
    ck_assert_int_eq(ics_batch_account_check(&account, 100, 4, &error), ICESTREAM_E_FAILED);
    icestream_account sum = account;
    ics_batch_account_add(&sum, &account);
    ck_assert_int_eq(ics_batch_account_check(&sum, 200, 10, &error), ICESTREAM_OK);
    account.left = 33;
    ck_assert_int_eq(ics_batch_account_check(&account, 100, 5, &error), ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "absorbed 60 + detected 5 + left 33 + stopped 1"));
}
END_TEST

START_TEST(test_impossible_arrivals_are_errors)
{
    ice_module modules[1] = {{.string = 4, .module = 9}};
    const ice_detector detector = {.modules = modules, .module_count = 1, .oversize = 1};
    double wavelength[] = {300.0, 400.0}, bias[] = {0.0, 0.5};
    const ice_light light = {.bias_wavelength = wavelength, .bias = bias, .bias_count = 2};
    const ics_hit_models models = {.detector = &detector, .light = &light};
    ics_batch *batch = create_batch(10);
    icestream_step step = step_of(1, 5);
    ics_step_cursor cursor = {.steps = &step, .count = 1};
    bool full = true;
    ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
    ck_assert(!full);

    icestream_hit hit;
    icestream_error error = {0};
    ice_arrival arrival = {.emission = 1, .wavelength = 380.0f};
    ck_assert_int_eq(ics_batch_hit_from_arrival(&models, batch, &arrival, &hit, &error),
                     ICESTREAM_E_FAILED);
    arrival = (ice_arrival){.module = 1, .wavelength = 380.0f};
    ck_assert_int_eq(ics_batch_hit_from_arrival(&models, batch, &arrival, &hit, &error),
                     ICESTREAM_E_FAILED);
    arrival = (ice_arrival){.wavelength = 300.0f};
    ck_assert_int_eq(ics_batch_hit_from_arrival(&models, batch, &arrival, &hit, &error),
                     ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(error.text, "300.000 nm, where the bias is 0"));
    ics_batch_destroy(batch);
}
END_TEST

/* files.md 4.1: divided by bias and area; a step that is not thinned counts only what is kept. */
START_TEST(test_weights_count_photons_at_true_size)
{
    ice_module modules[1] = {{.string = 4, .module = 9}};
    const ice_detector detector = {.modules = modules, .module_count = 1, .oversize = 5};
    double wavelength[] = {300.0, 400.0}, bias[] = {0.01, 0.03}, kept[] = {0.5, 0.016};
    const ice_light light = {
        .bias_wavelength = wavelength, .bias = bias, .bias_count = 2, .kept = kept, .count = 2};
    const ice_tables tables = {.seed_low = 1};
    const ics_hit_models models = {.tables = &tables, .detector = &detector, .light = &light};
    const ice_arrival arrival = {.wavelength = 350.0f};
    const uint16_t flags[] = {0, ICESTREAM_STEP_ISOTROPIC, ICESTREAM_STEP_NOT_THINNED};
    const double thinning[] = {1, 1, 0.016};
    for (int i = 0; i < 3; ++i) {
        ics_batch *batch = create_batch(10);
        icestream_step step = step_of(1, 5); /* of weight 0.5 */
        step.spectrum = 1;
        step.flags = flags[i];
        ics_step_cursor cursor = {.steps = &step, .count = 1};
        bool full = true;
        ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
        ck_assert_double_eq(ics_batch_thinning(&light, &step), thinning[i]);
        icestream_hit hit;
        ck_assert_int_eq(ics_batch_hit_from_arrival(&models, batch, &arrival, &hit, NULL),
                         ICESTREAM_OK);
        ck_assert_double_eq_tol(hit.weight, 0.5 * thinning[i] / (0.02 * 25), 1e-7);
        ics_batch_destroy(batch);
    }
}
END_TEST

/* Acceptances that are 0 at all wavelengths of a spectrum: its photons can only be there if they
 * were not thinned. */
START_TEST(test_light_that_nothing_detects_is_an_error)
{
    ice_module modules[1] = {{.string = 4, .module = 9}};
    const ice_detector detector = {.modules = modules, .module_count = 1, .oversize = 1};
    ice_spectrum spectra[] = {{.name = "Cherenkov"}, {.name = "337 nm"}};
    double kept[] = {0.5, 0};
    const ice_light light = {.kept = kept, .count = 2, .spectra = spectra};
    const ice_tables tables = {.seed_low = 1};
    const ics_hit_models models = {.tables = &tables, .detector = &detector, .light = &light};
    const ice_arrival arrival = {.wavelength = 400.0f};
    for (int not_thinned = 0; not_thinned < 2; ++not_thinned) {
        ics_batch *batch = create_batch(10);
        icestream_step step = step_of(1, 5);
        step.spectrum = 1;
        step.flags = not_thinned ? ICESTREAM_STEP_NOT_THINNED : 0;
        ics_step_cursor cursor = {.steps = &step, .count = 1};
        bool full = true;
        ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
        icestream_hit hit;
        icestream_error error = {0};
        const int status = ics_batch_hit_from_arrival(&models, batch, &arrival, &hit, &error);
        ck_assert_int_eq(status, not_thinned ? ICESTREAM_OK : ICESTREAM_E_INPUT);
        if (not_thinned) {
            ck_assert_float_eq(hit.weight, 0);
        } else {
            ck_assert_ptr_nonnull(strstr(error.text, "spectrum: found 1 (337 nm)"));
        }
        ics_batch_destroy(batch);
    }
}
END_TEST

START_TEST(test_weights_beyond_a_float_are_errors)
{
    ice_module modules[1] = {{.string = 4, .module = 9}};
    const ice_detector detector = {.modules = modules, .module_count = 1, .oversize = 1};
    double wavelength[] = {300.0, 400.0}, bias[] = {0.25, 0.25};
    const ice_light light = {.bias_wavelength = wavelength, .bias = bias, .bias_count = 2};
    const ice_tables tables = {.seed_low = 1};
    const ics_hit_models models = {.tables = &tables, .detector = &detector, .light = &light};
    const ice_arrival arrival = {.wavelength = 380.0f};
    /* Divided by a quarter: 4e37 stays a float, 1e38 does not. */
    const float given[] = {4e37f, 0.0f, 1e38f}, expected[] = {1.6e38f, 0.0f, 0.0f};
    for (int i = 0; i < 3; ++i) {
        ics_batch *batch = create_batch(10);
        icestream_step step = step_of(1, 5);
        step.weight = given[i];
        ics_step_cursor cursor = {.steps = &step, .count = 1};
        bool full = true;
        ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
        icestream_hit hit;
        icestream_error error = {0};
        int status = ics_batch_hit_from_arrival(&models, batch, &arrival, &hit, &error);
        if (i < 2) {
            ck_assert_int_eq(status, ICESTREAM_OK);
            ck_assert_float_eq_tol(hit.weight, expected[i], 1e32f);
        } else {
            ck_assert_int_eq(status, ICESTREAM_E_INPUT);
            ck_assert_ptr_nonnull(strstr(error.text, "event 4294967298, step 1, field weight: "
                                                     "found 1e+38; divided by the "
                                                     "probability"));
        }
        ics_batch_destroy(batch);
    }
}
END_TEST

/* A batch ends at the barrier, also inside a step; photons that are passed over are in no batch. */
START_TEST(test_batches_end_at_the_barrier)
{
    icestream_step steps[] = {step_of(0, 7), step_of(1, 0), step_of(2, 9), step_of(3, 4)};
    ics_step_cursor cursor = {.steps = steps, .count = 4, .barrier = 10};
    bool full = false;
    ics_batch *batch = create_batch(100);
    ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
    ck_assert(full);
    ck_assert_uint_eq(batch->first_photon, 0);
    ck_assert_uint_eq(batch->photons, 10);
    ics_batch_pass_over(&cursor, 14);
    ck_assert_uint_eq(cursor.position, 14);
    ck_assert_uint_eq(cursor.first_photon, 7);
    cursor.barrier = 0;
    ics_batch_destroy(batch);
    batch = create_batch(4);
    ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
    ck_assert(full);
    ck_assert_uint_eq(batch->first_photon, 14);
    ck_assert_uint_eq(batch->photons, 4);
    ck_assert_uint_eq(batch->emissions[0].first_photon, 7);
    ck_assert_uint_eq(batch->emissions[0].photons, 2);
    ics_batch_pass_over(&cursor, 100);
    ck_assert_uint_eq(cursor.count, 0);
    ck_assert_uint_eq(cursor.position, 20);
    ics_batch_destroy(batch);
}
END_TEST

START_TEST(test_batches_keep_to_limits)
{
    enum { STEPS = 100 };
    icestream_step steps[STEPS];
    for (uint32_t i = 0; i < STEPS; ++i) {
        steps[i] = step_of(i, 7);
    }
    const ics_batch_limits limits = {.steps = 30, .photons = 140, .most_photons = 180};
    const struct {
        uint64_t asked, photons;
        uint32_t steps;
    } cases[] = {{0, 140, 20}, {100, 100, 15}, {1000, 180, 26}};
    ics_batch *batch = NULL;
    ck_assert_int_eq(ics_batch_create(&limits, 1, &batch, NULL), ICESTREAM_OK);
    for (int i = 0; i < 3; ++i) {
        ics_step_cursor cursor = {.steps = steps, .count = STEPS};
        bool full = false;
        ics_batch_reset(batch, &limits, cases[i].asked);
        ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
        ck_assert(full);
        ck_assert_uint_eq(batch->photons, cases[i].photons);
        ck_assert_uint_eq(batch->count, cases[i].steps);
    }
    const ics_batch_limits few = {.steps = 3, .photons = 140, .most_photons = 180};
    ics_step_cursor cursor = {.steps = steps, .count = STEPS};
    bool full = false;
    ics_batch_reset(batch, &few, 0);
    ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(batch->count, 3);
    ck_assert_uint_eq(batch->photons, 21);
    /* A huge step becomes emissions that continue each other. */
    const icestream_step huge = step_of(5, UINT32_MAX);
    const ics_batch_limits parts = {
        .steps = 30, .emission_photons = 50, .photons = 1020, .most_photons = 2000};
    cursor = (ics_step_cursor){.steps = &huge, .count = 1, .first_photon = UINT32_MAX - 1090};
    ics_batch_reset(batch, &parts, 0);
    ck_assert_int_eq(ics_batch_fill(batch, &cursor, &full, NULL), ICESTREAM_OK);
    ck_assert_uint_eq(batch->count, 21);
    for (uint32_t i = 0; i < batch->count; ++i) {
        ck_assert_uint_eq(batch->emissions[i].first_photon, UINT32_MAX - 1090 + 50 * i);
        ck_assert_uint_eq(batch->emissions[i].photons, i < 20 ? 50 : 20);
    }
    ics_batch_destroy(batch);
}
END_TEST

/* A generator that is good enough to shuffle with: splitmix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t value = *state += 0x9e3779b97f4a7c15ull;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ value >> 27) * 0x94d049bb133111ebull;
    return value ^ value >> 31;
}

/* Sorts copies of the hits by ics_hit_sort and by qsort. */
static void check_sort(const icestream_hit *hits, size_t count)
{
    icestream_hit *sorted = malloc((count + 1) * sizeof *sorted);
    icestream_hit *expected = malloc((count + 1) * sizeof *expected);
    ck_assert(sorted != NULL && expected != NULL);
    memcpy(sorted, hits, count * sizeof *hits);
    memcpy(expected, hits, count * sizeof *hits);
    ics_hit_sort(sorted, count);
    qsort(expected, count, sizeof *hits, ics_hit_sort_order);
    ck_assert_mem_eq(sorted, expected, count * sizeof *hits);
    ics_hit_sort(sorted, count);
    ck_assert_mem_eq(sorted, expected, count * sizeof *hits);
    free(sorted);
    free(expected);
}

START_TEST(test_hits_are_sorted)
{
    enum { HITS = 5000 };
    icestream_hit *hits = calloc(HITS, sizeof *hits);
    ck_assert_ptr_nonnull(hits);
    uint64_t state = 1;
    for (size_t i = 0; i < HITS; ++i) {
        uint64_t value = draw(&state);
        hits[i] = (icestream_hit){.event_id = 1000000 + value % 3,
                                  .step_id = (uint32_t)(value >> 8) % 50,
                                  .photon_id = (uint32_t)(value >> 16) % 8,
                                  .string = (uint16_t)((value >> 32) % 3),
                                  .module = (uint16_t)((value >> 40) % 2),
                                  .t = (double)((value >> 48) % 2),
                                  .x = (float)((value >> 56) % 2)};
    }
    const size_t counts[] = {0, 1, 2, 63, 64, 65, 300, HITS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        check_sort(hits, counts[i]);
    }
    free(hits);
}
END_TEST

START_TEST(test_hits_with_keys_of_any_width_are_sorted)
{
    enum { HITS = 2000 };
    icestream_hit *hits = calloc(HITS, sizeof *hits);
    ck_assert_ptr_nonnull(hits);
    const unsigned widths[][3] = {{0, 0, 0},    {0, 0, 32},   {0, 32, 32}, {1, 32, 31},
                                  {1, 32, 32},  {64, 0, 0},   {64, 1, 0},  {64, 32, 32},
                                  {32, 16, 16}, {33, 16, 16}, {2, 31, 31}};
    uint64_t state = 2;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; ++w) {
        for (size_t i = 0; i < HITS; ++i) {
            uint64_t value[3];
            for (int field = 0; field < 3; ++field) {
                unsigned bits = widths[w][field];
                value[field] = bits == 0 ? 5 : draw(&state) >> (64 - bits);
            }
            hits[i] = (icestream_hit){.event_id = value[0],
                                      .step_id = (uint32_t)value[1],
                                      .photon_id = (uint32_t)value[2],
                                      .t = (double)(draw(&state) % 4)};
        }
        check_sort(hits, HITS);
    }
    free(hits);
}
END_TEST

ICS_TEST_MAIN("batch")
{
    TCase *tests = tcase_create("batch");
    tcase_add_test(tests, test_emission_has_the_identity_and_a_unit_direction);
    tcase_add_test(tests, test_steps_are_cut_into_batches);
    tcase_add_test(tests, test_batches_have_a_bounded_number_of_steps);
    tcase_add_test(tests, test_bias_is_linear_between_points);
    tcase_add_test(tests, test_account_closes_or_names_its_numbers);
    tcase_add_test(tests, test_impossible_arrivals_are_errors);
    tcase_add_test(tests, test_weights_count_photons_at_true_size);
    tcase_add_test(tests, test_light_that_nothing_detects_is_an_error);
    tcase_add_test(tests, test_weights_beyond_a_float_are_errors);
    tcase_add_test(tests, test_batches_end_at_the_barrier);
    tcase_add_test(tests, test_batches_keep_to_limits);
    tcase_add_test(tests, test_hits_are_sorted);
    tcase_add_test(tests, test_hits_with_keys_of_any_width_are_sorted);
    suite_add_tcase(suite, tests);
}
