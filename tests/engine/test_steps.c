/* Promise: a watch can stop the making of batches. The photons before the stop are the first ones,
 * and the hits before and after it are those of a run without a stop.
 *
 * How to join: a new reason to end early is compared as the stop is. */
#include "tests/devices/device_world.h"
#include "tests/support/test_main.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 7, PHOTONS = 2000, BATCH = 600 };

static void make_steps(icestream_step *steps)
{
    for (uint32_t i = 0; i < STEPS; ++i) {
        steps[i] = (icestream_step){.z = -300.0f,
                                    .dz = 1.0f,
                                    .beta = 1.0f,
                                    .photons = PHOTONS,
                                    .weight = 1.0f,
                                    .step_id = i};
    }
}

typedef struct watched {
    uint64_t batches, stop_after; /* batches that were made; 0: never */
    uint64_t reports;
} watched;

static void count_report(void *user, const icestream_account *account)
{
    watched *seen = user;
    (void)account;
    ++seen->reports;
}

static bool stops(void *user)
{
    watched *seen = user;
    return ++seen->batches == seen->stop_after;
}

/* Computes the steps from the cursor on; stops after some batches. */
static ics_engine_hits compute(ics_engine *engine, ics_step_cursor cursor, uint64_t stop_after)
{
    watched seen = {.stop_after = stop_after};
    const ics_engine_watch watch = {.done = count_report, .stops = stops, .user = &seen};
    ics_engine_hits hits;
    icestream_error error = {0};
    ck_assert_int_eq(ics_engine_run_steps(engine, cursor, &watch, &hits, &error), ICESTREAM_OK);
    ck_assert_uint_eq(seen.reports, seen.batches); /* all batches came back */
    return hits;
}

START_TEST(photons_before_a_stop_are_the_first_ones)
{
    const char *const sets[] = {"device.backend=cpu"};
    icestream_step steps[STEPS];
    make_steps(steps);
    device_world here = open_device_world(sets, 1);
    ics_engine *engine = open_engine(&here, BATCH);
    ics_step_cursor cursor = {.steps = steps, .count = STEPS};
    ics_engine_hits all = compute(engine, cursor, 0);
    ck_assert_uint_gt(all.count, 10);
    ck_assert_uint_eq(all.account.created, STEPS * PHOTONS);
    ics_engine_hits first = compute(engine, cursor, (uint64_t)_i);
    ck_assert_uint_eq(first.account.created, (uint64_t)_i * BATCH);
    ics_batch_pass_over(&cursor, first.account.created);
    ics_engine_hits rest = compute(engine, cursor, 0);
    ck_assert_uint_eq(first.account.created + rest.account.created, all.account.created);
    /* Hits are sorted by step and photon, so those before the stop come first. */
    ck_assert_uint_eq(first.count + rest.count, all.count);
    ck_assert(first.count == 0 || !memcmp(all.hits, first.hits, first.count * sizeof *all.hits));
    ck_assert(rest.count == 0 ||
              !memcmp(all.hits + first.count, rest.hits, rest.count * sizeof *all.hits));
    free(all.hits);
    free(first.hits);
    free(rest.hits);
    ics_engine_destroy(engine);
    close_device_world(&here);
}
END_TEST

ICS_TEST_MAIN("engine steps")
{
    TCase *tests = tcase_create("stops");
    tcase_add_loop_test(tests, photons_before_a_stop_are_the_first_ones, 1, 12);
    suite_add_tcase(suite, tests);
}
