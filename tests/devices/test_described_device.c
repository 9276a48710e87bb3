/* Promise: a device that gets no batch, as `icestream validate` makes it, has the limits and the
 * texts of one that does, and a GPU with schedule auto compiles no kernels for it.
 *
 * Uses a fake GPU. How to join: a new fact of devices is compared in check_facts(). */
#include "tests/devices/device_world.h"
#include "tests/devices/fake_gpu_run.h"
#include "tests/support/test_main.h"

static void check_facts(ics_device *one, ics_device *other)
{
    const ics_batch_limits first = ics_device_batch_limits(one),
                           second = ics_device_batch_limits(other);
    ck_assert_uint_eq(first.steps, second.steps);
    ck_assert_uint_eq(first.photons, second.photons);
    char texts[2][512];
    ck_assert_str_eq(ics_device_text(one, texts[0], sizeof texts[0]),
                     ics_device_text(other, texts[1], sizeof texts[1]));
}

START_TEST(auto_compiles_nothing)
{
    reset_fake();
    const char *const sets[] = {"device.backend=cuda"};
    device_world here = open_device_world(sets, COUNT(sets));
    ics_device *works = open_device(&here);
    ck_assert_int_eq(atomic_load(&fake.planned), 1);
    here.options.gets_no_batch = true;
    ics_device *described = open_device(&here);
    ck_assert_int_eq(atomic_load(&fake.planned), 1);
    check_facts(works, described);
    ics_device_destroy(described);
    ics_device_destroy(works);
    ck_assert_int_eq(atomic_load(&fake.created), 0);
    close_device_world(&here);
}
END_TEST

START_TEST(fixed_schedule_is_made)
{
    reset_fake();
    const char *const sets[] = {"device.backend=cuda", "graph.schedule=event-wavefront"};
    device_world here = open_device_world(sets, COUNT(sets));
    here.options.gets_no_batch = true;
    ics_device_destroy(open_device(&here));
    ck_assert_int_eq(atomic_load(&fake.created), 1);
    ck_assert_int_eq(atomic_load(&fake.destroyed), 1);
    close_device_world(&here);
}
END_TEST

ICS_TEST_MAIN("described device")
{
    TCase *tests = tcase_create("described device");
    tcase_add_test(tests, auto_compiles_nothing);
    tcase_add_test(tests, fixed_schedule_is_made);
    suite_add_tcase(suite, tests);
}
