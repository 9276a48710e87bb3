/* Promise: photons of a step with a profile (files.md 3.4) start like the steps of one photon that
 * `generate` makes without profiles: same positions, directions and times. Both are drawn by
 * different code: the profiles in single precision by the create stage, the steps in double
 * precision by the host. To join: a source with another profile gets a row in `cases`.
 *
 * False alarms: every quantity is compared by a test of Kolmogorov and Smirnov at the level 1e-6.
 * There are about 200 of them, so that a correct program fails for one seed in 5000. The seed is
 * fixed. With 20000 photons each test notices if 3 % of the photons are displaced. */
#include "pipeline/photons/devices/batch.h"
#include "stages/create_cherenkov.h"
#include "stages/variants.h"
#include "tests/particles/particle_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#define LEVEL 1e-6

/* A source, and the keys of particles that make its photons one by one and by a profile. */
typedef struct source {
    const char *name, *as_steps, *as_profile, *particle;
} source;

#define PULSES   "photons_per_direction: 1,", ""
#define CASCADES "cascades: steps, photons_per_step: 1,", ""
#define ON_43_30 "string: 43, module: 30, photons: 3e6, "

static const source cases[] = {
    {"tilted LED, gauss, short pulse", PULSES, "type: flasher, led: 2, width: 5, " ON_43_30},
    {"horizontal LED, gauss, long pulse", PULSES,
     "type: flasher, led: 9, led_azimuth: 25, width: 127, " ON_43_30},
    {"LED, narrow", PULSES, "type: flasher, led: 8, width: 20, beam_width: 0.5, " ON_43_30},
    {"LED, wide", PULSES, "type: flasher, led: 8, width: 20, beam_width: 70, " ON_43_30},
    {"tilted LED, lab", PULSES, "type: flasher, led: 4, width: 20, beam: lab, " ON_43_30},
    {"horizontal LED, lab", PULSES, "type: flasher, led: 11, width: 60, beam: lab, " ON_43_30},
    {"lab without LED", PULSES,
     "type: flasher, zenith: 70, azimuth: 200, pulse: rectangle, beam: lab, " ON_43_30},
    {"tilted LED, clsim 405", PULSES, "type: flasher, led: 1, width: 20, beam: clsim, " ON_43_30},
    {"horizontal LED, clsim 405", PULSES,
     "type: flasher, led: 10, width: 20, beam: clsim, " ON_43_30},
    {"tilted LED, clsim 340", PULSES,
     "type: flasher, led: 3, spectrum: 1, width: 20, beam: clsim, " ON_43_30},
    {"horizontal LED, clsim 505", PULSES,
     "type: flasher, led: 7, spectrum: 5, width: 20, beam: clsim, " ON_43_30},
    {"upward beam, clsim", PULSES, "type: flasher, dx: 0, dy: 0, dz: 1, beam: clsim, " ON_43_30},
    {"linear beam", PULSES,
     "type: flasher, zenith: 40, azimuth: 20, beam: linear, pulse: rectangle, duration: "
     "3, " ON_43_30},
    {"isotropic flasher", PULSES,
     "type: flasher, zenith: 0, azimuth: 0, beam: isotropic, width: 90, " ON_43_30},
    {"exact beam", PULSES,
     "type: beam, x: 5, y: -3, z: 20, time: 40, photons: 3e6, zenith: 100, azimuth: 10, beam: "
     "exact, "
     "pulse: rectangle"},
    {"point with a pulse", PULSES, "type: point, x: 1, y: 2, z: 3, photons: 3e6, width: 40"},
    {"standard candle", PULSES, "type: sc2, photons: 3e6, pulse: rectangle, duration: 5"},
    {"LED of ppc, lab", "conventions: ppc, photons_per_direction: 1,", "conventions: ppc,",
     "type: flasher, led: 2, width: 20, beam: lab, " ON_43_30},
    {"horizontal LED of ppc, lab", "conventions: ppc, photons_per_direction: 1,",
     "conventions: ppc,", "type: flasher, led: 12, width: 20, beam: lab, " ON_43_30},
    {"LED of ppc, gauss", "conventions: ppc, photons_per_direction: 1,", "conventions: ppc,",
     "type: flasher, led: 7, width: 20, " ON_43_30},
    {"electron, 30 GeV", CASCADES,
     "type: e-, x: 10, y: 20, z: 30, time: 100, zenith: 70, azimuth: 130, energy: 30"},
    {"electron, 100 TeV", CASCADES,
     "type: e-, x: 10, y: 20, z: 30, zenith: 170, azimuth: 130, energy: 1e5"},
    {"photon below 1 GeV", CASCADES,
     "type: gamma, x: 1, y: 2, z: 3, zenith: 0, azimuth: 0, energy: 0.9"},
    {"pion, 200 GeV", CASCADES,
     "type: pi+, x: 10, y: 20, z: 30, zenith: 90, azimuth: 180, energy: 200"},
    {"pion of ppc below 1 GeV", "conventions: ppc, cascades: steps, photons_per_step: 1,",
     "conventions: ppc, cascades: profile,",
     "type: pi+, x: 1, y: 2, z: 3, zenith: 20, azimuth: 0, energy: 0.2"},
};

/* What is compared: position, direction, time, and how far the start is along the direction. */
enum { QUANTITIES = 9 };
static const char *const quantities[QUANTITIES] = {"x",  "y", "z",     "nx",     "ny",
                                                   "nz", "t", "along", "azimuth"};

typedef struct sample {
    double *values[QUANTITIES];
    size_t count;
} sample;

static sample make_sample(size_t capacity)
{
    sample made = {.count = 0};
    for (int k = 0; k < QUANTITIES; ++k) {
        made.values[k] = calloc(capacity, sizeof *made.values[k]);
        ck_assert_ptr_nonnull(made.values[k]);
    }
    return made;
}

static void free_sample(sample *gone)
{
    for (int k = 0; k < QUANTITIES; ++k) {
        free(gone->values[k]);
    }
}

static void add(sample *to, const double at[3], const double n[3], double t)
{
    const double all[QUANTITIES] = {at[0],
                                    at[1],
                                    at[2],
                                    n[0],
                                    n[1],
                                    n[2],
                                    t,
                                    at[0] * n[0] + at[1] * n[1] + at[2] * n[2],
                                    atan2(n[1], n[0])};
    for (int k = 0; k < QUANTITIES; ++k) {
        to->values[k][to->count] = all[k];
    }
    ++to->count;
}

/* The light of the source as steps of one photon, at most `most` of them. A cascade makes as many
 * as there are in its steps: its energy does not matter, so that the list repeats it in events. */
static void sample_steps(const source *what, size_t most, sample *out)
{
    char particle[512];
    snprintf(particle, sizeof particle, "{%s}", what->particle);
    uint64_t random = 88172645463325252u;
    for (uint64_t seed = 1; out->count < most; ++seed) {
        char text[2048];
        snprintf(text, sizeof text, "run: {seed: %llu}\n" PLAIN "particles: {%s list: [%s]}\n",
                 (unsigned long long)seed, what->as_steps, particle);
        world w = open_world(text);
        icestream_step *steps = calloc(4096, sizeof *steps);
        ck_assert_ptr_nonnull(steps);
        for (size_t got = 1; got > 0 && out->count < most;) {
            got = fill(&w, steps, most - out->count < 4096 ? most - out->count : 4096);
            for (size_t i = 0; i < got; ++i) {
                const icestream_step *s = &steps[i];
                const bool is_round = (s->flags & ICESTREAM_STEP_ISOTROPIC) != 0;
                const double u = test_uniform(&random), v = test_uniform(&random);
                /* The photons of an isotropic step leave in all directions. */
                const double around[3] = {2 * sqrt(u - u * u) * cos(2 * ICE_PI * v),
                                          2 * sqrt(u - u * u) * sin(2 * ICE_PI * v), 2 * u - 1};
                const double own[3] = {s->dx, s->dy, s->dz};
                add(out, (double[]){s->x, s->y, s->z}, is_round ? around : own, s->t);
            }
        }
        free(steps);
        close_world(&w);
    }
}

/* The same light of the first step with a profile; the numbers of photons may go beyond it. */
static void sample_profile(const source *what, size_t most, sample *out)
{
    char text[2048];
    snprintf(text, sizeof text, "run: {seed: 77}\n" PLAIN "particles: {%s list: [{%s}]}\n",
             what->as_profile, what->particle);
    world w = open_world(text);
    icestream_step step[1];
    ck_assert_msg(fill(&w, step, 1) == 1, "%s: expected a step", what->name);
    ck_assert_uint_gt(ICESTREAM_STEP_PROFILE_OF(step->flags), 0);
    const ics_models *models = w.models;
    ics_tables *tables = NULL;
    icestream_error error = {0};
    const ics_table_options options = {.seed = 77, .bounce_limit = 100};
    ck_assert_msg(ics_tables_create(models->medium, models->detector, models->light, &options,
                                    &tables, &error) == ICESTREAM_OK,
                  "%s", error.text);
    const ice_emission emission = ics_batch_step_emission(step, 0, UINT32_MAX);
    for (uint32_t id = 0; out->count < most; ++id) {
        ice_photon_step own;
        ice_profile_draw_step(ice_profile_setting_of(&tables->device), &emission, id, &own);
        if (own.is_stopped) {
            const ice_photon photon =
                ice_create(ICE_create_cherenkov, &tables->device, &emission, 0, id);
            ck_assert_float_eq(photon.absorption, ICE_NOT_EMITTED);
            continue;
        }
        const ice_emission *e = &own.emission;
        ck_assert_double_eq_tol(sqrt(e->dx * e->dx + e->dy * e->dy + e->dz * e->dz), 1, 1e-6);
        ck_assert(e->flags == 0 && e->beta == 1);
        const ice_arrival start = {.photon_id = id, .wavelength = 400};
        const double delay = ics_tables_arrival_delay(&tables->device, &emission, &start);
        add(out, (double[]){e->x, e->y, e->z}, (double[]){e->dx, e->dy, e->dz}, step->t + delay);
    }
    ics_tables_destroy(tables);
    close_world(&w);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compares two samples of a quantity. A quantity that is the same for all photons has only rounding
 * errors, and the time of a cascade also the 1 mm (0.0034 ns) of its emitter. */
static void compare(const source *what, int k, sample *one, sample *two)
{
    double *a = one->values[k], *b = two->values[k];
    qsort(a, one->count, sizeof *a, ascending);
    qsort(b, two->count, sizeof *b, ascending);
    if (a[one->count - 1] - a[0] < 2e-4) {
        ck_assert_msg(b[0] > a[0] - 1e-4 && b[two->count - 1] < a[0] + 4e-3,
                      "%s: %s: found %.9g to %.9g, expected %.9g", what->name, quantities[k], b[0],
                      b[two->count - 1], a[0]);
        return;
    }
    const ics_statistics_test test =
        ics_statistics_kolmogorov_two_sample(a, one->count, b, two->count, 1.0);
    printf("%-34s %-8s p %.3g\n", what->name, quantities[k], test.probability);
    ck_assert_msg(test.probability > LEVEL, "%s: %s: found p = %.3g, expected above %g", what->name,
                  quantities[k], test.probability, LEVEL);
}

START_TEST(starts_agree)
{
    const source *what = &cases[_i];
    const size_t count = test_scaled(20000);
    sample steps = make_sample(count), profile = make_sample(count);
    sample_steps(what, count, &steps);
    sample_profile(what, count, &profile);
    for (int k = 0; k < QUANTITIES; ++k) {
        compare(what, k, &steps, &profile);
    }
    free_sample(&steps);
    free_sample(&profile);
}
END_TEST

ICS_TEST_MAIN("profiles")
{
    TCase *tests = tcase_create("profiles");
    tcase_add_loop_test(tests, starts_agree, 0, sizeof cases / sizeof *cases);
    suite_add_tcase(suite, tests);
}
