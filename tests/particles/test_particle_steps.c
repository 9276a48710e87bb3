/* Promise: the steps of cascades and tracks have the distributions of physics.md 10, losses and
 * stopping muons make the light that they should, and a survey predicts the numbers of steps and
 * photons. To join: a new model of a particle gets a test like `cascade` or `track`.
 *
 * There are 11 statistical comparisons. tests/support/moments.h says how likely a correct
 * program fails one of them. */
#include "pipeline/photons/models/models.h"
#include "pipeline/photons/particles/survey.h"
#include "tests/particles/particle_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

static double gamma_distribution(double depth, void *user)
{
    const ice_cascade_profile *profile = user;
    return depth > 0 ? 1 - ics_statistics_gamma_upper(profile->shape, depth / profile->scale) : 0;
}

static double emitter_distribution(double x, void *user)
{
    (void)user;
    return -expm1(-2.61 * pow(x, 0.39)) / -expm1(-2.61 * pow(2, 0.39));
}

/* Returns 1 - cos of the angle between a step and the downward axis. The components across the axis
 * give it precisely for small angles. */
static double opening(const icestream_step *step)
{
    const double across = (double)step->dx * step->dx + (double)step->dy * step->dy;
    const double cosine = sqrt(fmax(1 - across, 0));
    return step->dz < 0 ? across / (1 + cosine) : 1 + cosine;
}

START_TEST(cascade)
{
    /* 10 TeV are about 1e6 steps of 129 photons. */
    world w = open_particles("cascades: steps, photons_per_step: 129, ",
                             "{type: e-, energy: 1e4, time: 100, event: 77, " HERE "}");
    size_t count;
    icestream_step *steps = fill_all(&w, &count);
    ck_assert_uint_gt(count, 990000);
    double *depths = sample_allocate(count), *openings = sample_allocate(count);
    double *azimuths = sample_allocate(count);
    uint64_t photons = 0;
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *s = &steps[i];
        ck_assert_uint_eq(s->step_id, i);
        ck_assert_uint_eq(s->event_id, 77);
        ck_assert_uint_eq(s->source_id, 0);
        ck_assert_uint_eq(s->kind, ICESTREAM_KIND_CASCADE);
        ck_assert(s->photons == 129 || (i + 1 == count && s->photons < 129));
        ck_assert_float_eq(s->length, 0.001F);
        ck_assert_float_eq(s->beta, 1);
        ck_assert_float_eq(s->weight, 1);
        ck_assert(s->x == 0 && s->y == 0 && s->spectrum == 0 && s->flags == 0);
        ck_assert_double_eq_tol(s->t, 100 - (double)s->z / ICE_LIGHT_SPEED, 1e-4);
        depths[i] = -s->z;
        openings[i] = opening(s);
        azimuths[i] = atan2(s->dy, s->dx) / (2 * ICE_PI) + 0.5;
        photons += s->photons;
    }
    const ice_light_convention standard = ice_light_convention_of(ICE_CONVENTION_STANDARD);
    ice_cascade_profile profile = ice_cascade_profile_of(&standard, ICE_CASCADE_ELECTRON, 1e4);
    double end = 1;
    expect_distribution("cascade: depth", depths, count, gamma_distribution, &profile);
    expect_distribution("cascade: 1 - cos", openings, count, emitter_distribution, NULL);
    expect_distribution("cascade: azimuth", azimuths, count, uniform_distribution, &end);
    expect_photons("cascade: photons", (double)photons, 1e4 * EM * YIELD);
    const ics_particle_totals totals = ics_particle_steps_totals(w.steps);
    ck_assert_uint_eq(totals.steps, count);
    ck_assert_uint_eq(totals.photons, photons);
    ck_assert_uint_eq(totals.largest_step, 129);
    ck_assert_uint_eq(totals.particles, 1);
    ck_assert_uint_eq(totals.events, 1);
    free(steps);
    free(depths);
    free(openings);
    free(azimuths);
    close_world(&w);
}
END_TEST

START_TEST(track)
{
    world w = open_particles("cascades: steps, losses: none, ",
                             "{type: mu, energy: 1000, length: 500, " HERE "}");
    size_t count, clouds = 0;
    icestream_step *steps = fill_all(&w, &count);
    double *places = sample_allocate(count), *openings = sample_allocate(count);
    double light[2] = {0};
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *s = &steps[i];
        light[s->kind == ICESTREAM_KIND_TRACK] += s->photons;
        if (s->kind == ICESTREAM_KIND_TRACK) {
            ck_assert(s->z == 0 && s->t == 0 && s->dz == -1 && s->length == 500);
            continue;
        }
        ck_assert_double_eq_tol(s->t, -(double)s->z / ICE_LIGHT_SPEED, 1e-3);
        places[clouds] = -s->z;
        openings[clouds++] = opening(s);
    }
    double end = 500;
    expect_photons("track: bare", light[1], 500 * YIELD);
    expect_photons("track: secondaries", light[0], 500 * YIELD * 0.32312);
    expect_distribution("track: place of secondaries", places, clouds, uniform_distribution, &end);
    expect_distribution("track: emitters", openings, clouds, emitter_distribution, NULL);
    free(steps);
    free(places);
    free(openings);
    close_world(&w);
}
END_TEST

/* The light of losses is that of the radiated energy, b E dx, of which 10 % is in hadronic
 * cascades. */
START_TEST(losses)
{
    const size_t count = test_scaled(3000);
    const double energy = 1000, length = 50;
    moment light = {0};
    world w = open_equal_particles("losses: simple, photons_per_step: 1000000000,",
                                   "type: mu, energy: 1000, length: 50", count);
    size_t steps;
    icestream_step *step = fill_all(&w, &steps);
    double *sums = sample_allocate(count), bare = 0;
    for (size_t i = 0; i < steps; ++i) {
        sums[step[i].event_id] += step[i].kind == ICESTREAM_KIND_CASCADE ? step[i].photons : 0;
        bare += step[i].kind == ICESTREAM_KIND_TRACK ? step[i].photons : 0;
    }
    for (size_t i = 0; i < count; ++i) {
        moment_add(&light, sums[i] / YIELD);
    }
    expect_photons("losses: bare track", bare, (double)count * length * YIELD);
    /* E falls by a + b E per metre. Hadronic losses make 0.55 to 0.8 of the light of
     * electromagnetic losses at these energies. */
    const double a = 0.239616, b = 3.3e-4;
    const double radiated = (energy + a / b) * -expm1(-b * length) - a * length;
    const double secondaries = length * 0.325;
    expect_value("losses: light", moment_mean(&light) - secondaries, moment_error(&light),
                 0.965 * radiated * EM, 0.015 * radiated * EM);
    free(sums);
    free(step);
    close_world(&w);
}
END_TEST

/* Muons stop at their range and make less light shortly before, as an independent integral at 420
 * nm says, near the mean of the spectrum. Their light is late. */
static void expect_stopping(const char *energy, double share)
{
    const ice_muon_loss ice = ice_muon_loss_in(ICE_DENSITY);
    char list[256];
    snprintf(list, sizeof list, "{type: mu, energy: %s, length: 1000, " HERE "}", energy);
    world w = open_particles(
        "stopping: true, decays: none, losses: none, photons_per_step: 1000000000, ", list);
    size_t count;
    icestream_step *steps = fill_all(&w, &count);
    const double range = ice_muon_range(&ice, atof(energy)), index = 1.3173, step = 1e-4;
    double bare = 0, secondary = 0, farthest = 0, slowest = 1, lag = 0, expected = 0, late = 0;
    for (size_t i = 0; i < count; ++i) {
        farthest = fmax(farthest, -(double)steps[i].z + steps[i].length);
        if (steps[i].kind != ICESTREAM_KIND_TRACK) {
            secondary += steps[i].photons;
            continue;
        }
        bare += steps[i].photons;
        slowest = fmin(slowest, steps[i].beta);
        const double begin = range + (double)steps[i].z, middle = begin - steps[i].length / 2;
        lag += steps[i].photons * (steps[i].t + (double)steps[i].z / ICE_LIGHT_SPEED +
                                   steps[i].length / 2 * (1 / steps[i].beta - 1) / ICE_LIGHT_SPEED);
        if (steps[i].beta < 1 && middle > 0.1) {
            ck_assert_double_eq_tol(steps[i].beta, ice_muon_beta(&ice, middle), 3e-3);
        }
    }
    ck_assert_double_le(farthest, range * (1 + 1e-6)); /* the last 0.2 m are dark */
    ck_assert_double_ge(farthest, range - 0.3);
    ck_assert_double_lt(slowest, 0.85);
    double extra = 0;
    const ice_light_convention standard = ice_light_convention_of(ICE_CONVENTION_STANDARD);
    for (double left = step / 2; left < range; left += step) {
        const double light = step * YIELD * ice_cherenkov_share(ice_muon_beta(&ice, left), index);
        expected += light;
        late += light * ice_muon_lag(&ice, range, left);
        extra += step * YIELD * ice_muon_extra(&standard, ICE_MUON_MASS + ice.ionisation * left);
    }
    expect_value("stopping: light", bare, sqrt(expected), expected, share * expected);
    expect_value("stopping: secondaries", secondary, sqrt(extra), extra, 0.003 * extra);
    expect_value("stopping: lag (ns)", lag / bare, 0, late / expected, 0.02);
    ck_assert_double_lt(bare, 0.985 * range * YIELD);
    free(steps);
    close_world(&w);
}

START_TEST(stopping)
{
    expect_stopping("0.3", 0.008);
    expect_stopping("1", 0.003);
    expect_stopping("5", 0.002);
    world w;
    /* A muon with losses stops, too. A muon at rest adds no light. */
    w = open_particles("stopping: true, losses: simple, ",
                       "{type: mu, energy: 30, length: 5000, " HERE "}");
    ck_assert_uint_gt(count_all(&w).photons, 60 * 2400);
    ck_assert_uint_lt(ics_particle_steps_totals(w.steps).photons, 140 * 4500);
    close_world(&w);
    ck_assert_double_eq(
        photons_of("stopping: true, decays: none, ",
                   "{type: e-, energy: 1, " HERE "}, "
                   "{type: mu, energy: 0.10566, length: 10, " HERE "}"),
        photons_of("stopping: true, decays: none, ", "{type: e-, energy: 1, " HERE "}"));
}
END_TEST

/* A list that would take hours is refused, with its place. A list that takes less, or that makes no
 * losses, is accepted. */
START_TEST(losses_without_end)
{
    static const char *const energies[] = {"1e9", "1.0000001e9", "1e11"};
    for (size_t i = 0; i < COUNT(energies); ++i) {
        char list[256];
        snprintf(list, sizeof list,
                 "{type: brems, energy: 0, " HERE "}, {type: mu, energy: %s, " HERE "}",
                 energies[i]);
        world w = open_particles("losses: simple, photons_per_step: 1000, ", list);
        icestream_step steps[10];
        size_t count;
        icestream_error error = {0};
        const int status = particle_fill(w.steps, steps, COUNT(steps), &count, &error);
        ck_assert_int_eq(status, i == 0 ? ICESTREAM_OK : ICESTREAM_E_CONFIG);
        ck_assert_uint_eq(count, i == 0 ? COUNT(steps) : 0);
        ck_assert(i != 2 ||
                  strstr(error.text,
                         "particle 2: error: energy: found a track of 1e+11 GeV, expected at most "
                         "1000000000 GeV with particles.losses: simple") != NULL);
        close_world(&w);
        w = open_particles("losses: none, photons_per_step: 1000, ", list);
        ck_assert_uint_eq(fill(&w, steps, COUNT(steps)), COUNT(steps));
        close_world(&w);
    }
}
END_TEST

/* A survey of all particles predicts the exact numbers of photons and steps without making steps. A
 * survey of a few particles predicts them roughly. */
START_TEST(surveys)
{
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text,
                                   PLAIN "particles: {losses: simple, stopping: true, list: [");
    for (int i = 0; i < 40; ++i) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "{type: %s, event: %d, energy: 300, length: 200, " HERE "}, ",
                                 i % 2 ? "mu" : "e-", i / 4);
    }
    snprintf(text + used, sizeof text - used, "]}\n");
    world w = open_world(text);
    const ics_particle_totals made = count_all(&w);
    icestream_error error = {0};
    ics_models *models = NULL;
    ck_assert_int_eq(ics_models_create(w.config, &models, &error), ICESTREAM_OK);
    const ics_light_setup setup = ics_light_setup_of(w.config, models);
    ics_particle_survey survey;
    ck_assert_int_eq(ics_particle_survey_take(w.config, &setup, 1000000, &survey, &error),
                     ICESTREAM_OK);
    ck_assert(survey.events == 10 && survey.particles == 40 && survey.counted == 40);
    ck_assert(survey.photons == (double)made.photons && survey.steps == (double)made.steps);
    ck_assert_int_eq(ics_particle_survey_take(w.config, &setup, 200, &survey, &error),
                     ICESTREAM_OK);
    ck_assert(survey.events == 10 && survey.particles == 40);
    ck_assert(survey.counted > 2 && survey.counted < 20);
    ck_assert_double_eq_tol(survey.photons, (double)made.photons, 0.5 * (double)made.photons);
    ics_models_destroy(models);
    close_world(&w);
}
END_TEST

ICS_TEST_MAIN("particle steps")
{
    TCase *steps = tcase_create("steps");
    tcase_add_test(steps, cascade);
    tcase_add_test(steps, track);
    tcase_add_test(steps, losses);
    tcase_add_test(steps, losses_without_end);
    tcase_add_test(steps, surveys);
    tcase_add_test(steps, stopping);
    suite_add_tcase(suite, steps);
}
