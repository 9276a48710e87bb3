/* Promise: a group returns every batch exactly once and with the right hits, whichever members
 * fail, at whichever batch. Each batch goes to the member that finishes it first. A batch with bad
 * input ends with its error, and no member is lost because of it. A CPU without a group divides and
 * cancels batches.
 *
 * Every test has a world and a group of scripted members. How to join: give the members of `self`
 * their scripts, then call start_group() and compute_all(). */
#include "tests/devices/scripted_group.h"
#include "tests/support/test_main.h"

#include <sys/syscall.h>
#include <unistd.h>

/* The time (s) that the group sees, if it is not 0: the members then compute at once, in the order
 * and at the moments in which the test says that they finish. */
static _Atomic double made_seconds;

/* Stands in place of the function of the C library for all code of this program. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    const double seconds = made_seconds;
    if (clock != CLOCK_MONOTONIC || seconds == 0.0) {
        return (int)syscall(SYS_clock_gettime, clock, now);
    }
    now->tv_sec = (time_t)seconds;
    now->tv_nsec = (long)(1e9 * (seconds - (double)now->tv_sec));
    return 0;
}

static world here;
static group self;

static void set_up(void)
{
    here = open_world();
    self = (group){.device = NULL};
}

static void tear_down(void)
{
    close_world(&here);
}

static void start_group(void)
{
    icestream_error error = {0};
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
}

/* Computes all steps with the group; the hits must be those of the CPU. The hits are freed. */
static outcome compute_all(void)
{
    outcome sum = send_all(&self, &here);
    check_outcome(&sum, &here);
    return sum;
}

static bool is_alive(uint32_t index)
{
    ics_device_member_facts facts;
    ck_assert(ics_device_member_facts_of(self.device, index, &facts));
    return facts.alive;
}

START_TEST(test_hits_do_not_depend_on_the_members)
{
    block_all(&self);
    start_group();
    ck_assert_uint_eq(ics_device_credits(self.device), MEMBERS * CREDITS);
    const outcome sum = compute_all();
    uint64_t photons = 0;
    uint32_t batches = 0;
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ics_device_member_facts facts;
        ck_assert(ics_device_member_facts_of(self.device, i, &facts));
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
    ics_device_facts_of(self.device, &all);
    ck_assert_uint_eq(all.gpus, MEMBERS);
    ck_assert_uint_eq(all.threads, 1 + 2 + 3);
    ics_device_member_facts none;
    ck_assert(!ics_device_member_facts_of(self.device, MEMBERS, &none));
    ck_assert_uint_eq(photons, STEPS * STEP_PHOTONS);
    ck_assert_uint_eq(batches, sum.done);
    ck_assert_str_eq(notes_of(&self), "");
    close_group(&self);
}
END_TEST

/* One member is lost at its n-th batch and returns all batches that it holds. */
START_TEST(test_a_member_is_lost)
{
    block_all(&self);
    self.scripts[_i % MEMBERS].act = ACT_LOSE;
    self.scripts[_i % MEMBERS].at = (uint32_t)_i / MEMBERS;
    start_group();
    compute_all();
    /* While all members are blocked, each gets as many batches as it has room for. */
    ck_assert_uint_ge(atomic_load(&self.scripts[_i % MEMBERS].given), CREDITS);
    const bool reached = atomic_load(&self.scripts[_i % MEMBERS].given) > (uint32_t)_i / MEMBERS;
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ck_assert_int_eq(is_alive(i), !reached || (int)i != _i % MEMBERS);
    }
    if (reached) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 "a scripted fault\nscript %d is given up; its unfinished batches start again "
                 "on the other devices\n",
                 _i % MEMBERS);
        ck_assert_str_eq(notes_of(&self), expected);
    }
    close_group(&self);
}
END_TEST

START_TEST(test_a_member_that_holds_all_batches_is_lost)
{
    self = (group){.assumed = {1e9, 1.0, 1.0}};
    self.scripts[0] = (script){.act = ACT_LOSE, .blocked = true, .credits = BATCHES};
    start_group();
    ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
    for (uint32_t i = 0; i < 6; ++i) {
        submit_batch(&self, make_batch(&cursor, i, 10000));
    }
    ck_assert_uint_eq(atomic_load(&self.scripts[0].given), 6);
    ck_assert_uint_eq(atomic_load(&self.scripts[1].given), 0);
    ck_assert_uint_eq(atomic_load(&self.scripts[2].given), 0);
    ics_device_member_facts facts;
    ck_assert(ics_device_member_facts_of(self.device, 0, &facts));
    ck_assert_uint_eq(facts.held, 6);
    unblock(&self.scripts[0]);
    outcome sum = {0};
    take_all(&self, &sum);
    check_outcome(&sum, &here);
    for (uint32_t i = 0; i < 6; ++i) {
        ck_assert_uint_eq(self.returned[i], 1);
    }
    ck_assert(!is_alive(0) && is_alive(1) && is_alive(2));
    close_group(&self);
}
END_TEST

static void lose_every_member(void)
{
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        self.scripts[i] = (script){.act = ACT_LOSE, .at = i, .blocked = true};
    }
}

START_TEST(test_all_are_lost)
{
    lose_every_member();
    start_group();
    outcome sum = send_all(&self, &here);
    ck_assert_uint_le(sum.done, 0 + 1 + 2);
    ck_assert_uint_gt(sum.failed, 0);
    ck_assert_int_eq(sum.error.status, ICESTREAM_E_FAILED);
    ck_assert_ptr_nonnull(strstr(sum.error.text, "a scripted fault"));
    ck_assert_ptr_nonnull(strstr(notes_of(&self), "is given up; no other device is left\n"));
    free(sum.hits);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ck_assert(!is_alive(i));
    }
    /* A later batch fails at once. */
    ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
    submit_batch(&self, make_batch(&cursor, 0, 10));
    ics_batch *batch = take_batch(&self);
    ck_assert_int_eq(batch->error.status, ICESTREAM_E_FAILED);
    ics_batch_destroy(batch);
    close_group(&self);
}
END_TEST

START_TEST(test_the_cpu_continues_when_all_are_lost)
{
    lose_every_member();
    here.device.options.fall_back = true;
    here.device.options.graph.math = ICS_MATH_FAST;
    start_group();
    compute_all();
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ck_assert(!is_alive(i));
    }
    ck_assert(is_alive(MEMBERS));
    ck_assert_ptr_nonnull(strstr(notes_of(&self),
                                 "device.fallback cpu: 2 CPU threads continue the "
                                 "work; their hits equal those of a GPU bit by bit"));
    ics_device_facts facts;
    ics_device_facts_of(self.device, &facts);
    ck_assert(!facts.is_gpu);
    ck_assert_uint_eq(facts.gpus, 0);
    ck_assert_str_eq(facts.name, "cpu");
    ck_assert_uint_eq(facts.limits.photons, ICS_BATCH_PHOTONS);
    close_group(&self);
}
END_TEST

/* An impossible batch does not leave the group, nor does another batch of its member. */
START_TEST(test_a_member_with_wrong_results_is_lost)
{
    block_all(&self);
    self.scripts[1] = (script){.act = ACT_IMPOSSIBLE, .at = 1, .blocked = true};
    start_group();
    compute_all();
    ck_assert(is_alive(0) && !is_alive(1) && is_alive(2));
    ck_assert_ptr_nonnull(strstr(notes_of(&self), "internal error: the account does not close\n"
                                                  "script 1 is given up"));
    close_group(&self);

    /* All scripted members return impossible batches: the CPU continues. */
    here.device.options.fall_back = true;
    self = (group){0};
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        self.scripts[i].act = ACT_IMPOSSIBLE;
    }
    start_group();
    compute_all(); /* by the CPU */
    close_group(&self);
}
END_TEST

/* A batch whose error is not the fault of a device leaves the group, and no member is lost. */
START_TEST(test_errors_of_batches_lose_no_member)
{
    const act acts[] = {ACT_BAD_INPUT, ACT_INTERRUPTED};
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        self.scripts[i] = (script){.act = acts[_i], .at = i == 1 ? 1 : UINT32_MAX, .blocked = true};
    }
    start_group();
    outcome sum = send_all(&self, &here);
    ck_assert_uint_gt(sum.failed, 0);
    ck_assert_int_eq(sum.error.status, _i == 0 ? ICESTREAM_E_INPUT : ICESTREAM_E_INTERRUPTED);
    free(sum.hits);
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        ck_assert(is_alive(i));
    }
    ck_assert_str_eq(notes_of(&self), "");
    close_group(&self);
}
END_TEST

START_TEST(test_members_that_cannot_be_made)
{
    self.scripts[0].create = ICESTREAM_E_DEVICE;
    self.scripts[2].create = ICESTREAM_E_MEMORY;
    start_group();
    ck_assert_str_eq(notes_of(&self), "a scripted start\nscript 0 is left out\n"
                                      "a scripted start\nscript 2 is left out\n");
    ck_assert_uint_eq(ics_device_credits(self.device), CREDITS);
    compute_all();
    ck_assert(!is_alive(0) && is_alive(1) && !is_alive(2));
    close_group(&self);

    /* No member can be created; then the same with the CPU as fallback. */
    self = (group){0};
    for (uint32_t i = 0; i < MEMBERS; ++i) {
        self.scripts[i].create = ICESTREAM_E_DEVICE;
    }
    icestream_error error = {0};
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_E_DEVICE);
    ck_assert_str_eq(error.text, "a scripted start\na scripted start\na scripted start");
    here.device.options.fall_back = true;
    start_group();
    compute_all();
    ck_assert_ptr_nonnull(strstr(notes_of(&self),
                                 "script 2 is left out\ndevice.fallback cpu: 2 CPU "
                                 "threads continue the work\n"));
    close_group(&self);

    /* An error that all devices would have ends the creation. */
    self = (group){0};
    self.scripts[1].create = ICESTREAM_E_CONFIG;
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_E_CONFIG);
    ck_assert(!self.scripts[0].made);
}
END_TEST

/* ---- which member gets a batch --------------------------------------------------------------- */

/* All members are blocked while the test counts. By their assumed rates the first member needs 10 s
 * for a batch and the second 40 s, so the time of the test itself does not matter. */
START_TEST(test_batches_go_where_they_are_finished_first)
{
    self = (group){.assumed = {100.0, 25.0, 0.001}};
    self.scripts[0] = (script){.blocked = true, .credits = 2};
    self.scripts[1].blocked = self.scripts[2].blocked = true;
    start_group();
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
    ck_assert(ics_device_member_facts_of(self.device, 2, &facts));
    ck_assert_double_eq(facts.seconds, 0.0);
    ck_assert_double_eq(facts.photons_per_second, 0.001); /* the assumed rate */
    unblock(&self.scripts[2]);
    close_group(&self);
}
END_TEST

/* Lets a member compute one batch, and waits until the group has assigned what it can then. */
static ics_batch *compute_one(script *member)
{
    unblock(member);
    ics_batch *batch = take_batch(&self);
    pthread_mutex_lock(&member->lock);
    while (!member->waits) {
        pthread_cond_wait(&member->changed, &member->lock);
    }
    pthread_mutex_unlock(&member->lock);
    return batch;
}

/* Computes all batches with members that need these times (s) for each. Returns the time (s) that
 * all of them took; back[i]: batches of member i. */
static double compute_with(const double *seconds, uint32_t *back)
{
    icestream_error error = {0};
    self = (group){.device = NULL};
    for (int i = 0; i < MEMBERS; ++i) {
        self.scripts[i] = (script){.blocked = true, .single = true};
        back[i] = 0;
    }
    const double start = made_seconds;
    ck_assert_int_eq(open_group(&self, &here, &error), ICESTREAM_OK);
    ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
    outcome sum = {0};
    double ends[MEMBERS] = {0.0}; /* of the batch that a member computes; 0: none */
    for (uint32_t sent = 0; sent < STEPS || self.out > 0;) {
        while (sent < STEPS && self.out < ics_device_credits(self.device)) {
            submit_batch(&self, make_batch(&cursor, sent++ % BATCHES, STEP_PHOTONS));
        }
        int next = -1;
        for (int i = 0; i < MEMBERS; ++i) {
            if (ends[i] == 0.0 && atomic_load(&self.scripts[i].given) > back[i]) {
                ends[i] = made_seconds + seconds[i];
            }
            next = ends[i] > 0.0 && (next < 0 || ends[i] < ends[next]) ? i : next;
        }
        ck_assert_int_ge(next, 0);
        made_seconds = ends[next];
        ends[next] = 0.0;
        add_outcome(&sum, compute_one(&self.scripts[next]));
        back[next]++;
    }
    check_outcome(&sum, &here);
    close_group(&self);
    return made_seconds - start;
}

/* Members of different speed share the batches as their measured speeds are. */
START_TEST(test_a_slow_member_gets_a_small_share)
{
    static const double all[][MEMBERS] = {{1.0, 3.0, 3.0}, {3.0, 1.0, 2.0}, {1.0, 1.0, 1.0}};
    made_seconds = 1e6;
    for (size_t row = 0; row < sizeof all / sizeof *all; ++row) {
        uint32_t back[MEMBERS];
        double rate = 0.0;
        for (int i = 0; i < MEMBERS; ++i) {
            rate += 1.0 / all[row][i];
        }
        const double took = compute_with(all[row], back);
        printf("%g %g %g s a batch: %u %u %u batches in %.1f s, at best %.1f s\n", all[row][0],
               all[row][1], all[row][2], back[0], back[1], back[2], took, STEPS / rate);
        /* Equal speeds are assumed until two batches of a member are done, so a slow one gets a
         * batch too many at the begin, and its last batch may end after those of the others. */
        ck_assert_double_le(took, STEPS / rate + 2.0 * 3.0);
        for (int i = 0; i < MEMBERS; ++i) {
            const double share = STEPS / (rate * all[row][i]);
            ck_assert_double_ge(back[i], share - 3.0);
            ck_assert_double_le(back[i], share + 3.0);
        }
    }
    made_seconds = 0.0;
}
END_TEST

/* ---- a CPU without a group ------------------------------------------------------------------- */

/* The CPU divides large batches into pieces, but no small ones. Both come back whole. */
START_TEST(test_a_cpu_computes_batches_of_any_size)
{
    here.device.options.threads = 3;
    open_cpu(&self, &here);
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
        take_all(&self, &sum);
        check_outcome(&sum, &here);
    }
    close_cpu(&self);
}
END_TEST

START_TEST(test_a_divided_batch_is_cancelled)
{
    atomic_bool cancel;
    atomic_init(&cancel, true);
    here.device.options.cancel = &cancel;
    open_cpu(&self, &here);
    ics_step_cursor cursor = {.steps = here.steps, .count = STEPS};
    submit_batch(&self, make_batch(&cursor, 0, 0));
    ics_batch *batch = take_batch(&self);
    ck_assert_uint_gt(batch->photons, 50000);
    ck_assert_int_eq(batch->error.status, ICESTREAM_E_INTERRUPTED);
    ck_assert_uint_eq(batch->hit_count, 0);
    ics_batch_destroy(batch);
    close_cpu(&self);
}
END_TEST

ICS_TEST_MAIN("device_group")
{
    TCase *tests = tcase_create("device_group");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_hits_do_not_depend_on_the_members);
    tcase_add_loop_test(tests, test_a_member_is_lost, 0, MEMBERS * (CREDITS + 2));
    tcase_add_test(tests, test_a_member_that_holds_all_batches_is_lost);
    tcase_add_test(tests, test_all_are_lost);
    tcase_add_test(tests, test_the_cpu_continues_when_all_are_lost);
    tcase_add_test(tests, test_a_member_with_wrong_results_is_lost);
    tcase_add_loop_test(tests, test_errors_of_batches_lose_no_member, 0, 2);
    tcase_add_test(tests, test_members_that_cannot_be_made);
    tcase_add_test(tests, test_batches_go_where_they_are_finished_first);
    tcase_add_test(tests, test_a_slow_member_gets_a_small_share);
    tcase_add_test(tests, test_a_cpu_computes_batches_of_any_size);
    tcase_add_test(tests, test_a_divided_batch_is_cancelled);
    suite_add_tcase(suite, tests);
}
