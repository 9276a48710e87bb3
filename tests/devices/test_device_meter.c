/* Promise: a meter gives the rate of the last seconds, the assumed rate before that, and the time
 * at which a device would finish another batch.
 *
 * How to join: one test for each promise of pipeline/photons/devices/meter.h. */
#include "pipeline/photons/devices/meter.h"
#include "tests/support/test_main.h"

START_TEST(test_rates_are_measured)
{
    ics_device_meter meter = {.assumed = 100.0};
    ck_assert_double_eq(ics_device_meter_rate(&meter), 100.0);
    ics_device_meter_add(&meter, 1000, 10.0);
    ics_device_meter_add(&meter, 3000, 10.0);
    ck_assert_uint_eq(meter.held, 2);
    ck_assert_double_eq_tol(ics_device_meter_finish(&meter, 500, 500, 10.0), 50.0, 1e-9);
    ck_assert_double_eq_tol(ics_device_meter_finish(&meter, 500, 500, 15.0), 45.0, 1e-9);
    ics_device_meter_remove(&meter, 1000, true, 12.0);
    ck_assert_double_eq_tol(ics_device_meter_rate(&meter), 500.0, 1e-9);
    ics_device_meter_remove(&meter, 3000, true, 12.0); /* two at the same moment */
    ck_assert_double_eq_tol(ics_device_meter_rate(&meter), 2000.0, 1e-9);
    ck_assert_double_eq_tol(ics_device_meter_busy(&meter, 20.0), 2.0, 1e-9);
    ck_assert_uint_eq(meter.photons, 4000);
    ck_assert_uint_eq(meter.batches, 2);
    /* Idle time does not count, and old batches lose their weight. */
    ics_device_meter_add(&meter, 1000, 1000.0);
    ck_assert_double_eq_tol(ics_device_meter_busy(&meter, 1001.0), 3.0, 1e-9);
    ics_device_meter_remove(&meter, 1000, true, 1100.0);
    ck_assert_double_eq_tol(ics_device_meter_rate(&meter), 10.0, 0.01);
    /* A batch that was not computed does not change the rate. */
    ics_device_meter_add(&meter, 1000, 1100.0);
    ics_device_meter_remove(&meter, 1000, false, 1100.5);
    ck_assert_double_eq_tol(ics_device_meter_rate(&meter), 10.0, 0.01);
    ck_assert_uint_eq(meter.held, 0);
    ck_assert_uint_eq(meter.held_photons, 0);
    ck_assert_uint_eq(meter.batches, 3);
}
END_TEST

START_TEST(test_a_gpu_warms_up)
{
    ics_device_meter meter = {.assumed = 1e6, .warms_up = true};
    ics_device_meter_add(&meter, 1000000, 0.0);
    ics_device_meter_add(&meter, 1000000, 0.0);
    /* It is late by 8 s, so it is assumed to stay late by 8 s more. */
    ck_assert_double_eq_tol(ics_device_meter_finish(&meter, 0, 1000000, 10.0), 9.0, 1e-9);
    ics_device_meter_remove(&meter, 1000000, true, 20.0);
    ck_assert_double_eq(ics_device_meter_rate(&meter), 1e6);
    ics_device_meter_remove(&meter, 1000000, true, 20.25);
    ck_assert_double_eq_tol(ics_device_meter_rate(&meter), 4e6, 1.0);
}
END_TEST

ICS_TEST_MAIN("device_meter")
{
    TCase *tests = tcase_create("device_meter");
    tcase_add_test(tests, test_rates_are_measured);
    tcase_add_test(tests, test_a_gpu_warms_up);
    suite_add_tcase(suite, tests);
}
