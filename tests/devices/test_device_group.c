/* Promise: a group returns every batch exactly once and with the right hits, whichever members
 * fail, at whichever batch. Batches go where they are finished first. A batch that is itself wrong
 * ends with its error, and no member is lost for it.
 *
 * Uses scripted members. How to join: write a script for each member, call open_group(),
 * carry_all() and check_outcome(). */
#include "tests/devices/scripted_group.h"
#include "tests/support/test_main.h"

#include <math.h>

/* ---- the meter ------------------------------------------------------------------------------- */

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

static bool is_alive(const group *self, uint32_t index)
{
    ics_device_member_facts facts;
    ck_assert(ics_device_group_member_facts(self->group, index, &facts));
    return facts.alive;
}

START_TEST(test_hits_are_the_same_whatever_the_mix)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    block_all(&self);
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    ck_assert_uint_eq(ics_device_group_credits(self.group), MEMBERS * CREDITS);
    outcome sum = carry_all(&self, &here);
    check_outcome(&sum, &here);
    uint64_t photons = 0;
    uint32_t batches = 0;
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ics_device_member_facts facts;
        ck_assert(ics_device_group_member_facts(self.group, i, &facts));
        ck_assert(facts.alive && facts.is_gpu);
        ck_assert_int_eq(facts.ordinal, (int)i);
        ck_assert_uint_eq(facts.held, 0);
        ck_assert_uint_gt(facts.batches, 0); /* all have the same rate */
        ck_assert_uint_eq(facts.batches, atomic_load(&self.scripts[i].given));
        ck_assert_double_gt(facts.seconds, 0.0);
        ck_assert_double_gt(facts.photons_per_second, 0.0);
        photons += facts.photons;
        batches += (uint32_t)facts.batches;
    }
    ics_device_facts all;
    ics_device_group_facts(self.group, &all);
    ck_assert_uint_eq(all.gpus, MEMBERS);
    ck_assert_uint_eq(all.threads, 1 + 2 + 3);
    ics_device_member_facts none;
    ck_assert(!ics_device_group_member_facts(self.group, MEMBERS, &none));
    ck_assert_uint_eq(photons, STEPS * STEP_PHOTONS);
    ck_assert_uint_eq(batches, sum.done);
    ck_assert_str_eq(self.notes, "");
    close_group(&self);
    close_world(&here);
}
END_TEST

/* One member is lost at its n-th batch and returns all that it holds. */
START_TEST(test_a_member_is_lost)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    block_all(&self);
    self.scripts[_i % MEMBERS].act = ACT_LOSE;
    self.scripts[_i % MEMBERS].at = (uint32_t)_i / MEMBERS;
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    outcome sum = carry_all(&self, &here);
    check_outcome(&sum, &here);
    /* While all members are blocked, each gets as many batches as it has room for. */
    ck_assert_uint_ge(atomic_load(&self.scripts[_i % MEMBERS].given), CREDITS);
    const bool reached = atomic_load(&self.scripts[_i % MEMBERS].given) > (uint32_t)_i / MEMBERS;
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ck_assert_int_eq(is_alive(&self, i), !reached || (int)i != _i % MEMBERS);
    }
    if (reached) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 "! a scripted fault\nscript %d is given up; its unfinished batches start again "
                 "on the other devices\n",
                 _i % MEMBERS);
        ck_assert_str_eq(self.notes, expected);
    }
    close_group(&self);
    close_world(&here);
}
END_TEST

/* One member holds all batches when it is lost. */
START_TEST(test_one_is_lost_that_holds_everything)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {.assumed = {1e9, 1.0, 1.0}};
    self.scripts[0] = (script){.act = ACT_LOSE, .blocked = true, .credits = BATCHES};
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
    for (uint32_t i = 0; i < 6; ++i) {
        submit_batch(&self, make_batch(&cursor, i, 10000));
    }
    ck_assert_uint_eq(atomic_load(&self.scripts[0].given), 6);
    ck_assert_uint_eq(atomic_load(&self.scripts[1].given), 0);
    ck_assert_uint_eq(atomic_load(&self.scripts[2].given), 0);
    ics_device_member_facts facts;
    ck_assert(ics_device_group_member_facts(self.group, 0, &facts));
    ck_assert_uint_eq(facts.held, 6);
    unblock(&self.scripts[0]);
    outcome sum = {0};
    while (self.out > 0) {
        add_outcome(&sum, take_batch(&self));
    }
    check_outcome(&sum, &here);
    for (uint32_t i = 0; i < 6; ++i) {
        ck_assert_uint_eq(self.returned[i], 1);
    }
    ck_assert(!is_alive(&self, 0) && is_alive(&self, 1) && is_alive(&self, 2));
    close_group(&self);
    close_world(&here);
}
END_TEST

static void lose_every_one(group *self)
{
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        self->scripts[i] = (script){.act = ACT_LOSE, .at = i, .blocked = true};
    }
}

START_TEST(test_all_are_lost)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    lose_every_one(&self);
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    outcome sum = carry_all(&self, &here);
    ck_assert_uint_le(sum.done, 0 + 1 + 2);
    ck_assert_uint_gt(sum.failed, 0);
    ck_assert_int_eq(sum.error.status, ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(sum.error.text, "a scripted fault"));
    ck_assert_ptr_nonnull(strstr(self.notes, "is given up; no other device is left\n"));
    free(sum.hits);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ck_assert(!is_alive(&self, i));
    }
    /* A later batch fails at once. */
    ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
    submit_batch(&self, make_batch(&cursor, 0, 10));
    ics_batch *batch = take_batch(&self);
    ck_assert_int_eq(batch->error.status, ICESTREAM_E_FAILED);
    ics_batch_destroy(batch);
    close_group(&self);
    close_world(&here);
}
END_TEST

START_TEST(test_the_cpu_comes_in_when_all_are_lost)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    lose_every_one(&self);
    here.options.fall_back = true;
    here.options.graph.math = ICS_MATH_FAST;
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    outcome sum = carry_all(&self, &here);
    check_outcome(&sum, &here);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ck_assert(!is_alive(&self, i));
    }
    ck_assert(is_alive(&self, MEMBERS));
    ck_assert_ptr_nonnull(strstr(self.notes, "! device.fallback cpu: 2 CPU threads continue the "
                                             "work; their hits equal those of a GPU bit by bit"));
    ics_device_facts facts;
    ics_device_group_facts(self.group, &facts);
    ck_assert(!facts.is_gpu);
    ck_assert_uint_eq(facts.gpus, 0);
    ck_assert_str_eq(facts.name, "cpu");
    ck_assert_uint_eq(facts.limits.photons, ICS_BATCH_PHOTONS);
    close_group(&self);
    close_world(&here);
}
END_TEST

/* An impossible batch does not leave the group, nor does another batch of its member. */
START_TEST(test_a_member_that_cannot_be_believed)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    block_all(&self);
    self.scripts[1] = (script){.act = ACT_IMPOSSIBLE, .at = 1, .blocked = true};
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    outcome sum = carry_all(&self, &here);
    check_outcome(&sum, &here);
    ck_assert(is_alive(&self, 0) && !is_alive(&self, 1) && is_alive(&self, 2));
    ck_assert_ptr_nonnull(strstr(self.notes, "! internal error: the account does not close\n"
                                             "script 1 is given up"));
    close_group(&self);
    close_world(&here);

    /* All scripted members return impossible batches: the CPU continues. */
    here = open_world();
    here.options.fall_back = true;
    group all = {0};
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        all.scripts[i].act = ACT_IMPOSSIBLE;
    }
    ck_assert_int_eq(open_group(&all, &here, &error), ICESTREAM_OK);
    sum = carry_all(&all, &here);
    check_outcome(&sum, &here); /* of the CPU */
    close_group(&all);
    close_world(&here);
}
END_TEST

/* A batch whose error is not the fault of a device leaves the group, and no member is lost. */
START_TEST(test_faults_of_batches_are_handed_on)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    const act acts[] = {ACT_BAD_INPUT, ACT_INTERRUPTED};
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        self.scripts[i] = (script){.act = acts[_i], .at = i == 1 ? 1 : UINT32_MAX, .blocked = true};
    }
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    outcome sum = carry_all(&self, &here);
    ck_assert_uint_gt(sum.failed, 0);
    ck_assert_int_eq(sum.error.status, _i == 0 ? ICESTREAM_E_INPUT : ICESTREAM_E_INTERRUPTED);
    free(sum.hits);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ck_assert(is_alive(&self, i));
    }
    ck_assert_str_eq(self.notes, "");
    close_group(&self);
    close_world(&here);
}
END_TEST

START_TEST(test_members_that_cannot_be_made)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    self.scripts[0].create = ICESTREAM_E_DEVICE;
    self.scripts[2].create = ICESTREAM_E_MEMORY;
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    ck_assert_str_eq(self.notes, "! a scripted start\nscript 0 is left out\n"
                                 "! a scripted start\nscript 2 is left out\n");
    ck_assert_uint_eq(ics_device_group_credits(self.group), CREDITS);
    outcome sum = carry_all(&self, &here);
    check_outcome(&sum, &here);
    ck_assert(!is_alive(&self, 0) && is_alive(&self, 1) && !is_alive(&self, 2));
    close_group(&self);

    /* No member can be created; then the same with the CPU as fallback. */
    group none = {0};
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        none.scripts[i].create = ICESTREAM_E_DEVICE;
    }
    ck_assert_int_eq(open_group(&none, &here, &error), ICESTREAM_E_DEVICE);
    ck_assert_str_eq(error.text, "a scripted start\na scripted start\na scripted start");
    here.options.fall_back = true;
    memset(none.notes, 0, sizeof none.notes);
    ck_assert_int_eq(open_group(&none, &here, &error), ICESTREAM_OK);
    sum = carry_all(&none, &here);
    check_outcome(&sum, &here);
    ck_assert_ptr_nonnull(strstr(none.notes, "script 2 is left out\n! device.fallback cpu: 2 CPU "
                                             "threads continue the work\n"));
    close_group(&none);

    /* An error that all devices would have ends the creation. */
    group wrong = {0};
    wrong.scripts[1].create = ICESTREAM_E_CONFIG;
    ck_assert_int_eq(open_group(&wrong, &here, &error), ICESTREAM_E_CONFIG);
    ck_assert(!wrong.scripts[0].made);
    close_world(&here);
}
END_TEST

/* ---- dispatch -------------------------------------------------------------------------------- */

/* All members are blocked while this counts. By their assumed rates the first member needs 10 s for
 * a batch and the second 40 s, so the time of the test itself does not matter. */
START_TEST(test_batches_go_where_they_are_done_first)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {.assumed = {100.0, 25.0, 0.001}};
    self.scripts[0] = (script){.blocked = true, .credits = 2};
    self.scripts[1].blocked = self.scripts[2].blocked = true;
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
    /* Batches of the fast and of the slow member after the n-th batch. The fast member has room for
     * two. The third and the fourth batch wait for it, because the slow member would finish them
     * later. */
    static const uint32_t expected[][2] = {{1, 0}, {2, 0}, {2, 0}, {2, 0},
                                           {2, 1}, {2, 1}, {2, 1}, {2, 1}};
    enum { COUNT = sizeof expected / sizeof expected[0] };
    for (uint32_t i = 0; i < COUNT; ++i) {
        submit_batch(&self, make_batch(&cursor, i, 1000));
        ck_assert_uint_eq(atomic_load(&self.scripts[0].given), expected[i][0]);
        ck_assert_uint_eq(atomic_load(&self.scripts[1].given), expected[i][1]);
    }
    ck_assert_uint_eq(atomic_load(&self.scripts[2].given), 0);
    /* The fast member computes all that waits, because it is faster than assumed. */
    unblock(&self.scripts[0]);
    outcome sum = {0};
    while (self.out > 1) {
        add_outcome(&sum, take_batch(&self));
    }
    ck_assert_uint_eq(sum.done, COUNT - 1);
    ck_assert_uint_eq(atomic_load(&self.scripts[0].given), COUNT - 1);
    unblock(&self.scripts[1]);
    add_outcome(&sum, take_batch(&self));
    ck_assert_uint_eq(sum.done, COUNT);
    free(sum.hits);
    ics_device_member_facts facts;
    ck_assert(ics_device_group_member_facts(self.group, 2, &facts));
    ck_assert_double_eq(facts.seconds, 0.0);
    ck_assert_double_eq(facts.photons_per_second, 0.001); /* the assumed rate */
    unblock(&self.scripts[2]);
    close_group(&self);
    close_world(&here);
}
END_TEST

/* A CPU divides large batches, not small ones. Both come back whole. */
START_TEST(test_a_cpu_takes_batches_of_any_size)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    self.options = here.options;
    self.options.threads = 3;
    pthread_mutex_init(&self.lock, NULL);
    pthread_cond_init(&self.changed, NULL);
    STAILQ_INIT(&self.finished);
    self.parts = (ics_device_parts){.options = &self.options,
                                    .tables = here.tables,
                                    .models = here.hit_models,
                                    .finished = {.post = take_finished, .user = &self},
                                    .note = take_note,
                                    .note_user = &self};
    ck_assert_int_eq(ics_device_cpu_create(&self.parts, ICS_CPU_PIECES, &self.cpu, &error),
                     ICESTREAM_OK);
    ck_assert_uint_eq(self.cpu.credits, 6);
    /* Pieces end within steps: of 20000 and 40000 photons, a piece has 16384. */
    static const uint64_t sizes[][3] = {{60000}, {16384, 43616}, {39999, 1, 20000}, {500, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
        outcome sum = {0};
        for (uint32_t k = 0; k < 3 && cursor.count > 0; ++k) {
            ics_batch *batch = make_batch(&cursor, k, sizes[i][k]);
            if (batch->count == 0) {
                ics_batch_destroy(batch);
                break;
            }
            submit_batch(&self, batch);
        }
        while (self.out > 0) {
            add_outcome(&sum, take_batch(&self));
        }
        check_outcome(&sum, &here);
    }
    self.cpu.functions->destroy(self.cpu.self);
    close_world(&here);
}
END_TEST

START_TEST(test_a_cut_batch_is_cancelled)
{
    world here = open_world();
    icestream_error error = {0};
    group self = {0};
    atomic_bool cancel;
    atomic_init(&cancel, true);
    self.options = here.options;
    self.options.cancel = &cancel;
    pthread_mutex_init(&self.lock, NULL);
    pthread_cond_init(&self.changed, NULL);
    STAILQ_INIT(&self.finished);
    self.parts = (ics_device_parts){.options = &self.options,
                                    .tables = here.tables,
                                    .models = here.hit_models,
                                    .finished = {.post = take_finished, .user = &self}};
    ck_assert_int_eq(ics_device_cpu_create(&self.parts, ICS_CPU_PIECES, &self.cpu, &error),
                     ICESTREAM_OK);
    ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
    submit_batch(&self, make_batch(&cursor, 0, 0));
    ics_batch *batch = take_batch(&self);
    ck_assert_uint_gt(batch->photons, 50000);
    ck_assert_int_eq(batch->error.status, ICESTREAM_E_INTERRUPTED);
    ck_assert_uint_eq(batch->hit_count, 0);
    ics_batch_destroy(batch);
    self.cpu.functions->destroy(self.cpu.self);
    close_world(&here);
}
END_TEST

ICS_TEST_MAIN("device_group")
{
    TCase *tests = tcase_create("device_group");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, test_rates_are_measured);
    tcase_add_test(tests, test_a_gpu_warms_up);
    tcase_add_test(tests, test_hits_are_the_same_whatever_the_mix);
    tcase_add_loop_test(tests, test_a_member_is_lost, 0, MEMBERS * (CREDITS + 2));
    tcase_add_test(tests, test_one_is_lost_that_holds_everything);
    tcase_add_test(tests, test_all_are_lost);
    tcase_add_test(tests, test_the_cpu_comes_in_when_all_are_lost);
    tcase_add_test(tests, test_a_member_that_cannot_be_believed);
    tcase_add_loop_test(tests, test_faults_of_batches_are_handed_on, 0, 2);
    tcase_add_test(tests, test_members_that_cannot_be_made);
    tcase_add_test(tests, test_batches_go_where_they_are_done_first);
    tcase_add_test(tests, test_a_cpu_takes_batches_of_any_size);
    tcase_add_test(tests, test_a_cut_batch_is_cancelled);
    suite_add_tcase(suite, tests);
}
