/* Promise: steps are the same in whatever pieces they are made and whatever other events the list
 * has, they are numbered within their event, and a particle that cannot be simulated is refused
 * with its place. To join: a new fault is a call of expect_fault() in `faults`. */
#include "tests/particles/particle_world.h"
#include "tests/support/test_main.h"

static const char mixture[] =
    "{type: e-, energy: 300, event: 5, " HERE "}, {type: mu, energy: 500, event: 5, length: 60, "
    "" HERE "}, {type: K0L, energy: 100, event: 9, " HERE
    "}, {type: n, energy: 100, event: 9, " HERE "}";

START_TEST(steps_do_not_depend_on_the_pieces)
{
    world a = open_particles("cascades: steps, losses: simple, ", mixture);
    world b = open_particles("cascades: steps, losses: simple, ", mixture);
    size_t count;
    icestream_step *whole = fill_all(&a, &count);
    icestream_step piece[7];
    size_t done = 0, got;
    uint64_t next_id = 0, event = 5;
    while ((got = fill(&b, piece, 7)) > 0) {
        ck_assert_mem_eq(whole + done, piece, got * sizeof *piece);
        done += got;
    }
    ck_assert_uint_eq(done, count);
    for (size_t i = 0; i < count; ++i) { /* unique within its event */
        if (whole[i].event_id != event) {
            next_id = 0;
        }
        event = whole[i].event_id;
        ck_assert_uint_eq(whole[i].step_id, next_id++);
        ck_assert_uint_le(whole[i].source_id, 1);
    }
    ck_assert_uint_eq(event, 9);
    ck_assert_uint_eq(whole[count - 1].source_id, 1);
    free(whole);
    close_world(&a);
    close_world(&b);
}
END_TEST

/* An event has the same steps alone and among other events; with another seed it has other steps.
 */
START_TEST(events_do_not_depend_on_other_events)
{
    world a = open_particles("", mixture);
    world b = open_particles("", "{type: K0L, energy: 100, event: 9, " HERE "}, {type: n, "
                                 "energy: 100, event: 9, " HERE "}");
    world c = open_world("run: {seed: 2}\n" PLAIN "particles: {list: [{type: K0L, "
                         "energy: 100, event: 9, " HERE "}]}\n");
    size_t in_a, in_b, in_c;
    icestream_step *of_a = fill_all(&a, &in_a), *of_b = fill_all(&b, &in_b),
                   *of_c = fill_all(&c, &in_c);
    ck_assert_uint_gt(in_a, in_b);
    ck_assert_mem_eq(of_a + (in_a - in_b), of_b, in_b * sizeof *of_b);
    ck_assert_mem_ne(of_b, of_c, sizeof *of_b);
    free(of_a);
    free(of_b);
    free(of_c);
    close_world(&a);
    close_world(&b);
    close_world(&c);
}
END_TEST

/* Makes all steps of a list, and expects an error that contains `expected`. */
static void expect_fault(const char *options, const char *list, const char *expected)
{
    world w = open_particles(options, list);
    icestream_error error = {0};
    icestream_step steps[64];
    size_t count;
    int status;
    do {
        status = particle_fill(w.steps, steps, 64, &count, &error);
    } while (status == ICESTREAM_OK && count == 64);
    ck_assert_int_eq(status, ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, expected) != NULL, "%s", error.text);
    close_world(&w);
}

START_TEST(faults)
{
    expect_fault("", "{type: flasher, string: 87, module: 1, led: 1, photons: 5}",
                 "work/run.yaml:2:20: particle 1: error: string, module: found [87, 1], expected "
                 "a module of hex86");
    expect_fault("", "{type: beam, photons: 5, spectrum: 6, beam: clsim, " HERE "}",
                 "beam: found clsim with spectrum 6");
    expect_fault("photons_per_step: 1, ", "{type: ph, photons: 5e9, " HERE "}",
                 "particle 1: error: found an event of more than 2^32 steps");
    expect_fault("photons_per_step: 1, ",
                 "{type: ph, photons: 100, " HERE "}, {type: ph, photons: 4294967197, " HERE "}",
                 "particle 2: error: found an event of more than 2^32 steps");
    expect_fault("cascades: steps, ",
                 "{type: e-, energy: 5, x: 0, y: 0, z: -1e4, zenith: 0, azimuth: 0}",
                 "found light further away than 10000 m");
}
END_TEST

ICS_TEST_MAIN("particle identity")
{
    TCase *identity = tcase_create("identity");
    tcase_add_test(identity, steps_do_not_depend_on_the_pieces);
    tcase_add_test(identity, events_do_not_depend_on_other_events);
    suite_add_tcase(suite, identity);
    TCase *bad = tcase_create("faults");
    tcase_add_test(bad, faults);
    suite_add_tcase(suite, bad);
}
