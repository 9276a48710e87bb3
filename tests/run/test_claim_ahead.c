/* Promise: a run claims as many step files as keep its device busy, and no more than source.claims.
 * The state of the run and the clock are made up here: no file is read. How to join: set the
 * members of `run` that matter, and compare files(). */
#include "base/clock.h"
#include "pipeline/production/run/claim_ahead.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <string.h>

enum { OPEN_LIMIT = 20 };

static ics_run_state run;
static ics_engine engine;
static icestream_config config;
static double now; /* s */

double ics_clock_seconds(void)
{
    return now;
}

static void begin(uint32_t claims)
{
    memset(&run, 0, sizeof run);
    memset(&engine, 0, sizeof engine);
    run.engine = &engine;
    memset(&config, 0, sizeof config);
    config.source.claims = claims;
    run.config = &config;
    run.units.open_limit = OPEN_LIMIT;
    run.shape.filling = 1;
    now = 1000.0;
}

/* The files of a run that has `open` units, of which readers work on `unread`. */
static uint32_t files(uint32_t open, uint32_t unread)
{
    run.units.open = open;
    run.units.reading = unread;
    return ics_run_claim_ahead_count(&run, 0);
}

/* `files` files end within `seconds`. */
static void end_files(size_t files, double seconds)
{
    run.units.open = 1;
    ics_run_claim_ahead_measure(&run, 0);
    for (size_t i = 0; i < files; ++i) {
        now += seconds / (double)files;
        run.units.finished++;
        ics_run_claim_ahead_measure(&run, 0);
    }
}

START_TEST(test_long_files)
{
    begin(0);
    ck_assert_uint_eq(files(0, 0), 1); /* nothing is known: one file */
    ck_assert_uint_eq(ics_run_claim_ahead_count(&run, 1), 0);
    ck_assert_uint_eq(files(1, 1), 0);
    ck_assert_uint_eq(files(1, 0), 1); /* its steps are all in batches */
    end_files(3, 60.0);
    ck_assert_uint_eq(files(1, 1), 0);
    ck_assert_uint_eq(files(1, 0), 1);
}
END_TEST

START_TEST(test_short_files)
{
    begin(0);
    end_files(10, 5.0); /* 0.5 s each: 2 s of work are 4 files */
    ck_assert_uint_eq(files(1, 1), 3);
    ck_assert_uint_eq(files(4, 4), 0);
    end_files(100, 0.1);
    ck_assert_uint_eq(files(1, 1), OPEN_LIMIT - 1);
    ck_assert_uint_eq(files(OPEN_LIMIT, 2), 0);
    end_files(20, 200.0);
    ck_assert_uint_eq(files(1, 1), 0);
}
END_TEST

/* An hour without files says nothing about the time that a file takes. */
START_TEST(test_pauses_do_not_count)
{
    begin(0);
    end_files(10, 5.0);
    run.units.open = 0;
    ics_run_claim_ahead_measure(&run, 0);
    now += 3600.0;
    end_files(10, 5.0);
    ck_assert_uint_eq(files(1, 1), 3);
}
END_TEST

/* A device that could take more batches than the readers make. */
START_TEST(test_a_hungry_device)
{
    begin(0);
    run.shape.filling = 3;
    ck_assert_uint_eq(files(1, 1), 0);
    engine.credits = 1;
    ck_assert_uint_eq(files(1, 1), 2);
    ck_assert_uint_eq(files(3, 3), 0);
    ck_assert_uint_eq(ics_run_claim_ahead_count(&run, 1), 0); /* a file waits to be read already */
}
END_TEST

START_TEST(test_a_given_number)
{
    begin(1);
    ck_assert_uint_eq(files(0, 0), 1);
    ck_assert_uint_eq(files(1, 0), 0);
    config.source.claims = 5;
    ck_assert_uint_eq(files(1, 1), 4);
    config.source.claims = 1000;
    ck_assert_uint_eq(files(1, 1), OPEN_LIMIT - 1);
}
END_TEST

ICS_TEST_MAIN("files that are claimed ahead")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, test_long_files);
    tcase_add_test(all, test_short_files);
    tcase_add_test(all, test_pauses_do_not_count);
    tcase_add_test(all, test_a_hungry_device);
    tcase_add_test(all, test_a_given_number);
    suite_add_tcase(suite, all);
}
