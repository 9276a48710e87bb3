/* Promise: magnetic monopoles have the light of physics.md 10.8, where and when they are at their
 * speed. To join: a new kind of light along their track gets a test.
 *
 * There are 8 statistical comparisons. tests/support/moments.h says how likely a correct program
 * fails one of them. */
#include "tests/particles/particle_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

/* The light of one Dirac charge is 8303 times that of a muon at an index of 1.33, and the index of
 * ice is 1.319 at 400 nm and between 1.31 and 1.35 where modules see. Below beta = 1 it falls with
 * the sine of the Cherenkov angle, squared. */
START_TEST(cherenkov)
{
    const double one = photons_of("", "{type: monopole, beta: 1, length: 10, " HERE "}");
    const double gain = one / (10 * YIELD), index = sqrt(gain) / (137.035999084 / 2);
    ck_assert(index > 1.315 && index < 1.33);
    const double slow = photons_of("", "{type: monopole, beta: 0.9, length: 10, " HERE "}");
    const double share =
        (1 - 1 / (0.81 * index * index)) / (1 - 1 / (index * index)); /* 0.6833 at 1.32 */
    expect_value("monopole of 0.9 c", slow / one, 0, share, 0.005);
    /* Its photons lie on the cone of its speed, along all of its length. */
    world w = open_particles("", "{type: monopole, beta: 0.9, length: 10, time: 5, " HERE "}");
    icestream_step steps[4096];
    const size_t count = fill(&w, steps, 4096);
    ck_assert(count > 0 && count < 4096);
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *s = &steps[i];
        ck_assert(s->kind == ICESTREAM_KIND_TRACK && s->beta == 0.9f && s->length == 10);
        ck_assert(s->t == 5 && s->z == 0 && s->dz == -1 && s->photons <= 1 << 20);
    }
    close_world(&w);
}
END_TEST

START_TEST(decays_of_nucleons)
{
    const double length = 500, beta = 1e-3;
    world w = open_equal_particles("", "type: monopole, beta: 0.001, length: 500, free_path: 2",
                                   test_scaled(200));
    enum { N = 200000 };
    icestream_step *steps = calloc(N, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    const size_t count = fill(&w, steps, N);
    ck_assert_uint_lt(count, N);
    moment place = {0}, light = {0}, up = {0}, east = {0};
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *s = &steps[i];
        ck_assert(s->kind == ICESTREAM_KIND_CASCADE && s->z <= 0 && s->z >= -length);
        ck_assert_double_eq_tol(s->t, -(double)s->z / (ICE_LIGHT_SPEED * beta), 1);
        moment_add(&place, -s->z);
        moment_add(&light, s->photons);
        moment_add(&up, s->dz);
        moment_add(&east, s->dx);
    }
    const double expected = length / 2 * test_scaled(200);
    expect_value("decays", (double)count, sqrt(expected), expected, 0);
    expect_mean("decays: place (m)", &place, length / 2, 0);
    expect_mean("decays: photons", &light, 0.938272 * EM * YIELD, 0.1);
    expect_value("decays: fluctuation", moment_variance(&light) / moment_mean(&light),
                 sqrt(2 / (double)count), 1, 0.01);
    expect_mean("decays: direction, z", &up, 0, 0);
    expect_mean("decays: direction, x", &east, 0, 0);
    free(steps);
    close_world(&w);
}
END_TEST

static const struct {
    const char *keys, *error;
} faults[] = {
    {"beta: 0.7, length: 10",
     "found beta 0.7, at which there is no Cherenkov light, and no free_path"},
    {"length: 10", "found length, expected beta"},
    {"beta: 0.9", "found beta, expected beta, its speed divided by that of light, and length"},
    {"beta: 0.9, length: 10, energy: 5", "energy: is not for this type"},
    {"beta: 1.1, length: 10", "beta: found '1.1', expected a number from 1e-06 to 1"},
    {"beta: 0.9, length: 20000", "expected its end within 10000 m"},
};

START_TEST(wrong_monopoles)
{
    char text[512];
    icestream_error error = {0};
    icestream_step steps[4];
    size_t count;
    snprintf(text, sizeof text, PLAIN "particles: {list: [{type: Monopole, %s, " HERE "}]}\n",
             faults[_i].keys);
    icestream_config *config = load(text);
    ics_models *models = NULL;
    ics_particle_source *source = NULL;
    ck_assert_int_eq(ics_models_create(config, &models, &error), ICESTREAM_OK);
    const ics_light_setup setup = ics_light_setup_of(config, models);
    int status = ics_particle_source_open(config, -1, &source, &error);
    if (status == ICESTREAM_OK) {
        ics_particle_steps *made = NULL;
        ck_assert_int_eq(ics_particle_steps_of(source, &setup, &made, &error), ICESTREAM_OK);
        status = particle_fill(made, steps, 4, &count, &error);
        ics_particle_steps_destroy(made);
    }
    ck_assert_int_eq(status, ICESTREAM_E_CONFIG);
    ck_assert_msg(strstr(error.text, faults[_i].error) != NULL, "%s", error.text);
    ics_models_destroy(models);
    icestream_config_destroy(config);
}
END_TEST

ICS_TEST_MAIN("monopoles")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, cherenkov);
    tcase_add_test(all, decays_of_nucleons);
    tcase_add_loop_test(all, wrong_monopoles, 0, sizeof faults / sizeof *faults);
    suite_add_tcase(suite, all);
}
