/* Promise: steps of particles have the yields and distributions of physics.md 10, are the same in
 * whatever pieces they are made, and have as many photons as the public program ppc made of the
 * same lists.
 *
 * There are about 40 statistical comparisons at 4 standard deviations or p > 1e-4. Correct code
 * would fail one of them with other seeds in less than 1 % of all cases. */
#include "physics/light/light_flasher.h"
#include "pipeline/models/light/light.h"
#include "pipeline/models/models.h"
#include "pipeline/particles/particle_steps.h"
#include "pipeline/particles/particle_survey.h"
#include "tests/support/config_text.h"
#include "tests/support/moments.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <unistd.h>

#define YIELD 2456.51 /* photons per metre, physics.md 3.3 */
#define EM    5.25403 /* m/GeV, 3.5 */

/* Modules with their true size and the same acceptance from all sides, for which the yields above
 * hold. */
#define PLAIN "detector: {oversize: 1, angular_acceptance: none}\n"

/* A configuration and its steps. */
typedef struct world {
    icestream_config *config;
    ics_particle_steps *steps;
} world;

static world open_world(const char *text)
{
    world w = {.config = load(text)};
    icestream_error error = {0};
    ck_assert_msg(ics_particle_steps_create(w.config, &w.steps, &error) == ICESTREAM_OK, "%s",
                  error.text);
    return w;
}

static world open_particles(const char *options, const char *list)
{
    char text[4096];
    snprintf(text, sizeof text, PLAIN "particles: {%s list: [%s]}\n", options, list);
    return open_world(text);
}

static void close_world(world *w)
{
    ics_particle_steps_destroy(w->steps);
    icestream_config_destroy(w->config);
}

static size_t fill(world *w, icestream_step *steps, size_t capacity)
{
    icestream_error error = {0};
    size_t count;
    ck_assert_msg(ics_particle_steps_fill(w->steps, steps, capacity, &count, &error) ==
                      ICESTREAM_OK,
                  "%s", error.text);
    return count;
}

/* All steps; the caller frees them. */
static icestream_step *fill_all(world *w, size_t *count)
{
    size_t capacity = 1024;
    icestream_step *steps = NULL;
    *count = 0;
    for (;;) {
        steps = realloc(steps, capacity * sizeof *steps);
        ck_assert_ptr_nonnull(steps);
        *count += fill(w, steps + *count, capacity - *count);
        if (*count < capacity) {
            return steps;
        }
        capacity *= 2;
    }
}

static ics_particle_totals count_all(world *w)
{
    icestream_step *steps = calloc(4096, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    while (fill(w, steps, 4096) == 4096) {
        continue;
    }
    free(steps);
    return ics_particle_steps_totals(w->steps);
}

static double photons_of(const char *options, const char *list)
{
    char all[256];
    snprintf(all, sizeof all, "%s photons_per_step: 100000,", options);
    world w = open_particles(all, list);
    const double photons = (double)count_all(&w).photons;
    close_world(&w);
    return photons;
}

static void expect_photons(const char *what, double photons, double expected)
{
    expect_value(what, photons, sqrt(expected), expected, 2e-6 * expected);
}

#define HERE "x: 0, y: 0, z: 0, zenith: 0, azimuth: 0"

/* ---- yields ---------------------------------------------------------------------------------- */

START_TEST(yields)
{
    const double energy = 1e5;
    expect_photons("electron", photons_of("", "{type: e-, energy: 1e5, " HERE "}"),
                   energy * EM * YIELD);
    expect_photons("electron of clsim",
                   photons_of("conventions: clsim, ", "{type: e-, energy: 1e5, " HERE "}"),
                   energy * 5.22357 * YIELD * 1.000263);
    expect_photons("gamma below 1 GeV", photons_of("", "{type: gamma, energy: 0.5, " HERE "}"),
                   0.5 * EM * YIELD);
    expect_photons("muon, 1 TeV, 1 km",
                   photons_of("", "{type: mu, energy: 1000, length: 1000, " HERE "}"),
                   1000 * YIELD * 1.32614);
    expect_photons("muon without a length", photons_of("", "{type: tau, energy: 100, " HERE "}"),
                   2000 * YIELD * 1.27931);
    expect_photons(
        "muon of clsim",
        photons_of("conventions: clsim, ", "{type: mu, energy: 1000, length: 1000, " HERE "}"),
        1000 * YIELD * 1.33030 * 1.000263);
    expect_photons("muon with its range",
                   photons_of("track_length: range, ", "{type: mu, energy: 100, " HERE "}"),
                   ice_muon_range(100) * YIELD * 1.27931);
}
END_TEST

/* Without acceptance: all of the light between 265 and 675 nm. */
START_TEST(plain_yield)
{
    world w = open_world(PLAIN "light: {acceptance: none}\n"
                               "particles: {list: [{type: e+, energy: 1000, " HERE "}]}\n");
    expect_photons("plain light", (double)count_all(&w).photons, 1000 * 236554.0);
    close_world(&w);
}
END_TEST

/* Photons of an electron in water whose file has this line. */
static double photons_in_water(const char *density)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], text[2048];
    snprintf(text, sizeof text,
             "optics: {table: [[wavelength_nm, absorption_per_m, scattering_per_m], [250, 0.02, "
             "0.02], [700, 0.02, 0.02]]}\nscattering: {mean_cosine: 0.9}\n"
             "index: {salinity: 35, temperature: 10, pressure: 0}\n%s",
             density);
    scratch_write(scratch_path(&place, "water.yaml", path), text, strlen(text));
    snprintf(text, sizeof text,
             PLAIN "ice: {file: %s}\nparticles: {photons_per_step: 100000, list: [{type: e-, "
                   "energy: 1e5, " HERE "}]}\n",
             path);
    world w = open_world(text);
    const double photons = (double)count_all(&w).photons;
    close_world(&w);
    scratch_remove(&place);
    return photons;
}

/* The light of a cascade is proportional to 1 / density of the medium. */
START_TEST(light_in_water)
{
    const double ice = photons_in_water("");
    expect_photons("water of ice's density", photons_in_water("density: 0.9216\n"), ice);
    expect_photons("water of its own", photons_in_water("density: 1.038\n"), ice * 0.9216 / 1.038);
}
END_TEST

/* 2000 cascades of one energy: their mean light, and its spread. */
START_TEST(hadrons)
{
    const size_t count = test_scaled(2000);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fputs(PLAIN "particles: {photons_per_step: 1000000000, list: [", out);
    for (size_t i = 0; i < count; ++i) {
        fprintf(out, "{type: p, energy: 1000, event: %zu, " HERE "}, ", i);
    }
    fputs("]}\n", out);
    fclose(out);
    world w = open_world(text);
    free(text);
    size_t steps;
    icestream_step *step = fill_all(&w, &steps);
    ck_assert_uint_eq(steps, count);
    double mean, sigma;
    ice_hadron_light(ICE_CASCADE_PROTON, 1000, &mean, &sigma);
    moment light = {0};
    for (size_t i = 0; i < steps; ++i) {
        moment_add(&light, step[i].photons / (1000 * EM * YIELD));
    }
    expect_mean("protons: mean", &light, mean, 1e-5);
    expect_value("protons: spread", sqrt(moment_variance(&light)),
                 sigma / sqrt(2.0 * (double)count), sigma, 0.003 * sigma);
    free(step);
    close_world(&w);
}
END_TEST

/* ---- what steps look like -------------------------------------------------------------------- */

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

/* 1 - cos to the downward axis; small angles from what is across it. */
static double opening(const icestream_step *step)
{
    const double across = (double)step->dx * step->dx + (double)step->dy * step->dy;
    const double cosine = sqrt(fmax(1 - across, 0));
    return step->dz < 0 ? across / (1 + cosine) : 1 + cosine;
}

START_TEST(cascade)
{
    /* 10 TeV in steps of 129 photons: 1e6 of them. */
    world w = open_particles("photons_per_step: 129, ",
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
    world w = open_particles("", "{type: mu, energy: 1000, length: 500, " HERE "}");
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
    expect_photons("track: secondaries", light[0], 500 * YIELD * 0.32614);
    expect_distribution("track: place of secondaries", places, clouds, uniform_distribution, &end);
    expect_distribution("track: emitters", openings, clouds, emitter_distribution, NULL);
    free(steps);
    free(places);
    free(openings);
    close_world(&w);
}
END_TEST

/* Light of losses is that of the energy that b E dx radiates, 10 % of it in hadronic cascades. */
START_TEST(losses)
{
    const size_t count = test_scaled(3000);
    const double energy = 1000, length = 50;
    moment light = {0};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    fputs(PLAIN "particles: {losses: simple, photons_per_step: 1000000000, list: [", out);
    for (size_t i = 0; i < count; ++i) {
        fprintf(out, "{type: mu, energy: %g, length: %g, event: %zu, " HERE "}, ", energy, length,
                i);
    }
    fputs("]}\n", out);
    fclose(out);
    world w = open_world(text);
    free(text);
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
    /* E falls by a + b E per metre; hadronic losses shine less, by 0.55 to 0.8 at these energies.
     */
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

/* A muon of 5 GeV ends at its range and has less light before. */
START_TEST(stopping)
{
    const double range = ice_muon_range(5);
    world w = open_particles("stopping: true, ", "{type: mu, energy: 5, length: 1000, " HERE "}");
    size_t count;
    icestream_step *steps = fill_all(&w, &count);
    double bare = 0, farthest = 0, slowest = 1;
    for (size_t i = 0; i < count; ++i) {
        farthest = fmax(farthest, -(double)steps[i].z + steps[i].length);
        if (steps[i].kind != ICESTREAM_KIND_TRACK) {
            continue;
        }
        bare += steps[i].photons;
        slowest = fmin(slowest, steps[i].beta);
        const double middle = range + (double)steps[i].z - steps[i].length / 2;
        if (steps[i].beta < 1 && middle > 0.1) {
            ck_assert_double_eq_tol(steps[i].beta, ice_muon_beta(middle), 1e-3);
        }
    }
    ck_assert_double_eq_tol(farthest, range, 0.06);
    ck_assert_double_lt(slowest, 0.85);
    /* An independent integral over the range at 420 nm, near the mean of the spectrum. */
    double expected = 0;
    const double index = 1.3173, step = 1e-3;
    for (double left = step / 2; left < range; left += step) {
        expected += step * YIELD * ice_cherenkov_share(ice_muon_beta(left), index);
    }
    expect_value("stopping: light", bare, sqrt(expected), expected, 0.002 * expected);
    ck_assert_double_lt(bare, 0.985 * range * YIELD);
    free(steps);
    close_world(&w);
    /* Ends with losses, too, and one below its mass makes no light. */
    w = open_particles("stopping: true, losses: simple, ",
                       "{type: mu, energy: 30, length: 5000, " HERE "}");
    ck_assert_uint_gt(count_all(&w).photons, 60 * 2400);
    ck_assert_uint_lt(ics_particle_steps_totals(w.steps).photons, 140 * 4500);
    close_world(&w);
    ck_assert_double_eq(
        photons_of("stopping: true, ", "{type: mu, energy: 0.1, length: 10, " HERE "}"), 0);
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
                 "{type: e-, energy: 0, " HERE "}, {type: mu, energy: %s, " HERE "}", energies[i]);
        world w = open_particles("losses: simple, photons_per_step: 1000, ", list);
        icestream_step steps[10];
        size_t count;
        icestream_error error = {0};
        const int status = ics_particle_steps_fill(w.steps, steps, COUNT(steps), &count, &error);
        ck_assert_int_eq(status, i == 0 ? ICESTREAM_OK : ICESTREAM_E_CONFIG);
        ck_assert_uint_eq(count, i == 0 ? COUNT(steps) : 0);
        ck_assert(i != 2 ||
                  strstr(error.text,
                         "particle 2: error: energy: found a track of 1e+11 GeV, expected at most "
                         "1000000000 GeV with particles.losses: simple") != NULL);
        close_world(&w);
        w = open_particles("photons_per_step: 1000, ", list);
        ck_assert_uint_eq(fill(&w, steps, COUNT(steps)), COUNT(steps));
        close_world(&w);
    }
}
END_TEST

/* A survey without steps has the numbers that the steps have; of a few particles, about. */
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
    ics_light_setup *setup = NULL;
    ck_assert_int_eq(ics_models_create(w.config, &models, &error), ICESTREAM_OK);
    ck_assert_int_eq(ics_light_setup_create(w.config, models->medium, models->detector,
                                            models->light, &setup, &error),
                     ICESTREAM_OK);
    ics_particle_survey survey;
    ck_assert_int_eq(ics_particle_survey_take(w.config, setup, 1000000, &survey, &error),
                     ICESTREAM_OK);
    ck_assert(survey.events == 10 && survey.particles == 40 && survey.counted == 40);
    ck_assert(survey.photons == (double)made.photons && survey.steps == (double)made.steps);
    ck_assert_int_eq(ics_particle_survey_take(w.config, setup, 200, &survey, &error), ICESTREAM_OK);
    ck_assert(survey.events == 10 && survey.particles == 40);
    ck_assert(survey.counted > 2 && survey.counted < 20);
    ck_assert_double_eq_tol(survey.photons, (double)made.photons, 0.5 * (double)made.photons);
    ics_light_setup_destroy(setup);
    ics_models_destroy(models);
    close_world(&w);
}
END_TEST

/* ---- light sources --------------------------------------------------------------------------- */

START_TEST(flasher)
{
    /* The share of the light of the LED that the acceptance keeps, by an independent integral. */
    double all = 0, kept = 0;
    for (double wl = 362.8; wl < 442.8; wl += 0.01) {
        const double light = exp(-0.5 * pow((wl - 402.8) / 8, 2));
        all += light;
        kept += light * ics_light_standard_acceptance(wl);
    }
    kept /= all;
    world w = open_particles("photons_per_direction: 1000, ",
                             "{type: flasher, string: 43, module: 30, zenith: 90, azimuth: 180, "
                             "brightness: 127, width: 20, event: 1}, "
                             "{type: flasher, string: 43, module: 30, led: 8, led_azimuth: 30, "
                             "photons: 1e6, beam: lab, event: 2}, "
                             "{type: beam, x: 1, y: 2, z: 3, dx: 0, dy: 0, dz: 5, spectrum: 6, "
                             "photons: 1e5, beam: exact, pulse: rectangle, event: 3}");
    enum { N = 200000 };
    icestream_step *steps = calloc(N, sizeof *steps);
    ck_assert_ptr_nonnull(steps);
    ck_assert_uint_eq(fill(&w, steps, N), N);
    moment x = {0}, delay = {0};
    const double centre = 501.5 - 17 * 29;
    const ice_pulse pulse = ice_led_pulse(20);
    for (size_t i = 0; i < N; ++i) {
        const icestream_step *s = &steps[i];
        ck_assert(s->photons == 1000 && s->spectrum == 3 && s->kind == ICESTREAM_KIND_FLASHER);
        ck_assert_double_eq_tol(s->x, 0.1651 * s->dx, 1e-6);
        ck_assert_double_eq_tol(s->z, centre + 0.1651 * s->dz, 1e-6);
        moment_add(&x, 1 - s->dx);
        moment_add(&delay, s->t - 0.1651 / ICE_LIGHT_SPEED);
    }
    expect_mean("flasher: 1 - cos", &x, 0.0286615, 1e-7);
    const double areas[] = {pulse.rise / 2, pulse.plateau, pulse.fall};
    const double expected =
        (areas[0] * pulse.rise * 2 / 3 + areas[1] * (pulse.rise + pulse.plateau / 2) +
         areas[2] * (pulse.rise + pulse.plateau + pulse.fall)) /
        (areas[0] + areas[1] + areas[2]);
    expect_mean("flasher: time", &delay, expected, 1e-5);

    double light[4] = {0};
    for (size_t got = N; got > 0;) {
        for (size_t i = 0; i < got; ++i) {
            const icestream_step *s = &steps[i];
            light[s->event_id] += s->photons;
            if (s->event_id == 2) {
                ck_assert_double_eq_tol(hypot(s->x, s->y), 0.119, 1e-6);
                ck_assert_double_eq_tol(atan2(s->y, s->x), ICE_PI / 2, 1e-6);
                ck_assert_double_eq_tol(s->z, centre + 0.08, 1e-5);
                ck_assert_float_eq(s->t, 0);
            }
            if (s->event_id == 3) {
                ck_assert(s->x == 1 && s->dz == 1 && s->spectrum == 6);
                ck_assert(s->t >= 0 && s->t <= 70);
            }
        }
        got = fill(&w, steps, N);
    }
    expect_value("flasher: photons", light[1], sqrt(light[1]), 1.96983e9 * kept, 2e-5 * light[1]);
    expect_value("flasher: photons of an LED", light[2], sqrt(light[2]), 1e6 * kept,
                 2e-5 * light[2]);
    expect_value("flasher: photons of a line", light[3], sqrt(light[3]),
                 1e5 * ics_light_standard_acceptance(337), 0);
    free(steps);
    close_world(&w);
}
END_TEST

START_TEST(other_sources)
{
    world w = open_particles(
        "photons_per_direction: 1000, ",
        "{type: ph, photons: 1234567, spectrum: 2, zenith: 180, azimuth: 0, x: 1, y: 2, z: 3, "
        "event: 0}, {type: point, photons: 1e6, x: 1, y: 2, z: 3, time: 8, event: 1}, "
        "{type: sc1, photons: 1e8, event: 2}, {type: sc2, photons: 1e8, event: 3}");
    size_t count;
    icestream_step *steps = fill_all(&w, &count);
    uint64_t rays = 0;
    moment around = {0};
    for (size_t i = 0; i < count; ++i) {
        const icestream_step *s = &steps[i];
        switch (s->event_id) {
        case 0:
            rays += s->photons;
            ck_assert(s->photons <= 200 && s->dz == 1 && s->length == 0 && s->spectrum == 2);
            break;
        case 1:
            ck_assert(s->photons <= 200 && s->flags == ICESTREAM_STEP_ISOTROPIC && s->t == 8);
            break;
        case 2:
            ck_assert_double_eq_tol(asin(s->dz) / ICE_DEGREE, 48.87, 1e-4);
            ck_assert(s->x == 544.07F && s->spectrum == 6);
            moment_add(&around, s->dx);
            break;
        default:
            ck_assert_double_eq_tol(asin(s->dz) / ICE_DEGREE, -48.87, 1e-4);
            ck_assert(s->z == -205.64F);
        }
    }
    ck_assert_uint_eq(rays, 1234567); /* exactly, no bias */
    expect_mean("candle: azimuth", &around, 0, 0);
    free(steps);
    close_world(&w);
}
END_TEST

/* ---- identity -------------------------------------------------------------------------------- */

static const char mixture[] =
    "{type: e-, energy: 300, event: 5, " HERE "}, {type: mu, energy: 500, event: 5, length: 60, "
    "" HERE "}, {type: K0L, energy: 100, event: 9, " HERE
    "}, {type: n, energy: 100, event: 9, " HERE "}";

START_TEST(blocks_do_not_matter)
{
    world a = open_particles("losses: simple, ", mixture);
    world b = open_particles("losses: simple, ", mixture);
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
START_TEST(events_stand_alone)
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

static void expect_fault(const char *options, const char *list, const char *expected)
{
    world w = open_particles(options, list);
    icestream_error error = {0};
    icestream_step steps[64];
    size_t count;
    int status;
    do {
        status = ics_particle_steps_fill(w.steps, steps, 64, &count, &error);
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
    expect_fault("", "{type: ph, photons: 5, spectrum: 7, " HERE "}",
                 "spectrum: found 7, expected at most 6");
    expect_fault("", "{type: beam, photons: 5, spectrum: 6, beam: clsim, " HERE "}",
                 "beam: found clsim with spectrum 6");
    expect_fault("",
                 "{type: mu, energy: 5, x: 9000, y: 0, z: 0, zenith: 90, azimuth: 180, length: "
                 "1000.5}",
                 "length: found a track of 1000.5 m to (10000.5, ");
    expect_fault("photons_per_step: 1, ", "{type: ph, photons: 5e9, " HERE "}",
                 "particle 1: error: found an event of more than 2^32 steps");
    expect_fault("photons_per_step: 1, ",
                 "{type: ph, photons: 100, " HERE "}, {type: ph, photons: 4294967197, " HERE "}",
                 "particle 2: error: found an event of more than 2^32 steps");
    expect_fault("", "{type: e-, energy: 5, x: 0, y: 0, z: -1e4, zenith: 0, azimuth: 0}",
                 "found light further away than 10000 m");
}
END_TEST

/* ---- the public program's inputs ------------------------------------------------------------- */

#define SHARED ICS_SHARED_DIRECTORY

/* Photon numbers of peer_speed_h200.csv, full ice. ppc thins light by what the ice's best module
 * sees, which is what photo-electrons need. */
START_TEST(public_inputs)
{
    static const struct {
        const char *ice, *file, *oversize;
        double photons;
    } runs[] = {{"spice_bfr-v2", "cas_10TeV_100.f2k", "5", 479783918},
                {"spice_ftp-v3m", "cas_10TeV_100.f2k", "5", 476704893},
                {"spice_bfr-v2", "mu_1TeV_100.f2k", "1", 302723974},
                {"spice_ftp-v3m", "mu_1TeV_100.f2k", "1", 300792284}};
    if (access(SHARED "/reference/ppc/bench/cas_10TeV_100.f2k", R_OK) != 0 ||
        access(SHARED "/reference/ppc/bench/mu_1TeV_100.f2k", R_OK) != 0 ||
        access(SHARED "/ice/spice_bfr-v2/geo-f2k", R_OK) != 0 ||
        access(SHARED "/ice/spice_ftp-v3m/wv.rde", R_OK) != 0) {
        printf("left out: " SHARED " has no reference inputs\n");
        return;
    }
    for (size_t i = 0; i < COUNT(runs); ++i) {
        char text[2048];
        snprintf(text, sizeof text,
                 "ice: {directory: \"" SHARED "/ice/%s\"}\nstages: {detect: pe}\n"
                 "detector: {oversize: %s, file: \"" SHARED "/ice/%s/geo-f2k\"}\n"
                 "particles: {photons_per_step: 2000, file: \"" SHARED
                 "/reference/ppc/bench/%s\"}\n",
                 runs[i].ice, runs[i].oversize, runs[i].ice, runs[i].file);
        world w = open_world(text);
        const ics_particle_totals totals = count_all(&w);
        printf("%s, %s: %.9g photons, ppc %.9g\n", runs[i].file, runs[i].ice,
               (double)totals.photons, runs[i].photons);
        ck_assert_double_eq_tol((double)totals.photons / runs[i].photons, 1, 1e-3);
        ck_assert_uint_eq(totals.events, 100);
        ck_assert_uint_eq(totals.particles, 100);
        close_world(&w);
    }
}
END_TEST

ICS_TEST_MAIN("particle steps")
{
    TCase *light = tcase_create("yields");
    tcase_add_test(light, yields);
    tcase_add_test(light, plain_yield);
    tcase_add_test(light, light_in_water);
    tcase_add_test(light, hadrons);
    tcase_add_test(light, public_inputs);
    suite_add_tcase(suite, light);
    TCase *steps = tcase_create("steps");
    tcase_add_test(steps, cascade);
    tcase_add_test(steps, track);
    tcase_add_test(steps, losses);
    tcase_add_test(steps, losses_without_end);
    tcase_add_test(steps, surveys);
    tcase_add_test(steps, stopping);
    tcase_add_test(steps, flasher);
    tcase_add_test(steps, other_sources);
    suite_add_tcase(suite, steps);
    TCase *identity = tcase_create("identity");
    tcase_add_test(identity, blocks_do_not_matter);
    tcase_add_test(identity, events_stand_alone);
    tcase_add_test(identity, faults);
    suite_add_tcase(suite, identity);
    tcase_set_timeout(light, 120);
    tcase_set_timeout(steps, 120);
    tcase_set_timeout(identity, 120);
}
