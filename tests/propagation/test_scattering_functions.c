/* The scattering functions as a run uses them: cosines after the first scatter have the means, the
 * variance and the distribution of physics.md 7.1 to 7.3, and azimuths are uniform.
 *
 * How to join: a new scatter variant joins with a row in the table `functions`.
 *
 * About 40 comparisons at 4 sigma or p > 1e-4: a correct program would fail one of them with other
 * seeds in less than 1 % of all cases. */
#include "tests/propagation/pencil_beam.h"
#include "tests/propagation/walk.h"
#include "tests/support/moments.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"

static const double cdf_cosines[] = {0, 0.5, 0.8, 0.9, 0.95, 0.99};
enum { CDF_POINTS = sizeof cdf_cosines / sizeof *cdf_cosines };

/* physics.md 7.1 to 7.3 at g = 0.9, f_SL = 0.35. */
static const struct {
    const char *name;
    ice_variant variant;
    double cosine, p2, variance, cdf[CDF_POINTS];
} functions[] = {
    {"hg-sl",
     ICE_scatter_hg_sl,
     0.9,
     0.7815,
     0.0443333,
     {0.014888, 0.037293, 0.123965, 0.253367, 0.397206, 0.692123}},
    {"hg",
     ICE_scatter_hg,
     0.9,
     0.81,
     0.0633333,
     {0.022903, 0.055097, 0.117977, 0.186605, 0.278240, 0.575260}},
    {"sl",
     ICE_scatter_sl,
     0.9,
     0.7285714,
     0.0090476,
     {0.000002, 0.004228, 0.135085, 0.377354, 0.618141, 0.909156}},
    {"isotropic", ICE_scatter_isotropic, 0, 0, 1.0 / 3.0, {0.5, 0.75, 0.9, 0.95, 0.975, 0.995}},
};

typedef struct scattered {
    ice_emission emission;
    moment cosine, p2;
    double below[CDF_POINTS];
    double *azimuths; /* about the old direction; shared by both halves */
    uint32_t sample;
} scattered;

static void see_scattered(void *user, const walk_block *b)
{
    scattered *self = user;
    const ice_emission *e = &self->emission;
    for (uint32_t i = 0; i < b->count; ++i) {
        if (b->scatters[i] != 1) {
            continue;
        }
        const double dx = b->dx[i], dy = b->dy[i], dz = b->dz[i];
        const double cosine = dx * e->dx + dy * e->dy + dz * e->dz;
        moment_add(&self->cosine, cosine);
        moment_add(&self->p2, legendre_2(cosine));
        for (int k = 0; k < CDF_POINTS; ++k) {
            self->below[k] += cosine <= cdf_cosines[k];
        }
        if (b->photon_id[i] < self->sample) {
            /* Two vectors across (0.48, 0.6, 0.64), both of length sqrt(0.5904): (0.6, -0.48, 0),
             * and (0, 0, 1) without its part along the beam. */
            const double azimuth = atan2(dx * 0.6 - dy * 0.48, dz - cosine * 0.64);
            self->azimuths[b->photon_id[i]] = azimuth < 0 ? azimuth + 2 * M_PI : azimuth;
        }
    }
}

START_TEST(scattering_function)
{
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 1e9),
                                           world_detector_far(), world_light_line(400));
    world.options.seed = 700 + (uint64_t)_i;
    const ice_emission beam = pencil_beam(0.48f, 0.6f, 0.64f);
    scattered halves[2] = {{.emission = beam, .sample = pencil_sample()},
                           {.emission = beam, .sample = pencil_sample()}};
    halves[0].azimuths = halves[1].azimuths = sample_allocate(pencil_sample());
    ice_variants variants = world_variants();
    variants.scatter = functions[_i].variant;
    const walk_job job = {.tables = stage_world_tables(&world),
                          .emission = &beam,
                          .variants = variants,
                          .photons = pencil_photons(),
                          .path_limit = INFINITY,
                          .scatter_limit = 2,
                          .visit = see_scattered};
    walk_run_halves(&job, (void *[2]){&halves[0], &halves[1]});
    scattered all = halves[0];
    moment_join(&all.cosine, &halves[1].cosine);
    moment_join(&all.p2, &halves[1].p2);

    char what[64];
    const double count = all.cosine.count;
    snprintf(what, sizeof what, "%s: <cos>", functions[_i].name);
    expect_mean(what, &all.cosine, functions[_i].cosine, 1e-7);
    snprintf(what, sizeof what, "%s: <P2>", functions[_i].name);
    expect_mean(what, &all.p2, functions[_i].p2, 5e-8);
    snprintf(what, sizeof what, "%s: variance of cos", functions[_i].name);
    /* cos^2 = (2 P2 + 1) / 3, so its error follows from that of <P2> and of <cos>. */
    expect_value(what, moment_variance(&all.cosine),
                 2.0 / 3.0 * moment_error(&all.p2) +
                     2.0 * functions[_i].cosine * moment_error(&all.cosine),
                 functions[_i].variance, 5e-8);
    for (int k = 0; k < CDF_POINTS; ++k) {
        snprintf(what, sizeof what, "%s: P(cos <= %g)", functions[_i].name, cdf_cosines[k]);
        expect_share(what, all.below[k] + halves[1].below[k], count, functions[_i].cdf[k], 5e-7);
    }
    double end = 2.0 * M_PI;
    snprintf(what, sizeof what, "%s: azimuth", functions[_i].name);
    expect_distribution(what, all.azimuths, pencil_sample(), uniform_distribution, &end);
    free(halves[0].azimuths);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("scattering functions")
{
    TCase *exact = tcase_create("exact results");
    tcase_add_loop_test(exact, scattering_function, 0, sizeof functions / sizeof *functions);
    suite_add_tcase(suite, exact);
}
