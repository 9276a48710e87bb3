/* The physics of tests/propagation on a GPU, in portable and in fast maths: the exact results of
 * physics.md 12.1, 12.4 and 12.5, and the reference fluence of 12.2. There are 1e7 photons, and 1e9
 * at ICESTREAM_GPU_SCALE = 100. The CPU's suites compare with numbers of a few digits; this suite
 * computes the expected numbers.
 *
 * How to join: a new measurement joins with a view in walk_views.h.
 *
 * About 450 comparisons at 4 sigma or p > 1e-4: a correct program would fail one of them with other
 * seeds in about 3 % of all cases. */
#include "tests/gpu/gpu_light.h"
#include "tests/gpu/walk_run.h"
#include "tests/support/half_spaces.h"
#include "tests/support/moments.h"
#include "tests/support/point_source.h"

#include <string.h>

enum { PHOTONS = 10000000, LEAST = 200000 };

static uint32_t photons(void)
{
    const uint64_t wanted = gpu_scaled(PHOTONS, LEAST);
    return wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX; /* a step cannot have more */
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static const char *titled(char text[96], const char *what, ics_math math)
{
    snprintf(text, 96, "%s, %s", what, gpu_math_name(math));
    return text;
}

static void expect_sum(const char *what, ics_math math, const walk_sum *sum, double expected,
                       double slack)
{
    const moment m = {sum->count, sum->sum, sum->squares};
    char text[96];
    expect_mean(titled(text, what, math), &m, expected, slack);
}

/* All quantiles must be equally frequent. `merge` of them are joined into one bin. */
static void expect_quantiles(const char *what, ics_math math, const double *bins, int merge)
{
    const int count = WALK_QUANTILES / merge;
    double total = 0.0, chi_square = 0.0;
    for (int i = 0; i < WALK_QUANTILES; ++i) {
        total += bins[i];
    }
    ck_assert_double_gt(total, 10.0 * count);
    const double expected = total / count;
    for (int i = 0; i < count; ++i) {
        double found = 0.0;
        for (int k = 0; k < merge; ++k) {
            found += bins[i * merge + k];
        }
        chi_square += (found - expected) * (found - expected) / expected;
    }
    char text[96];
    expect_probability(
        titled(text, what, math),
        (ics_statistics_test){chi_square, count - 1,
                              ics_statistics_chi_square_probability(chi_square, count - 1)});
}

/* Makes case U of physics.md 12.1, with an absorption length of lambda_a (m). */
static stage_world uniform_world(double lambda_a, uint64_t seed)
{
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, lambda_a),
                                           world_detector_far(), world_light_line(400));
    world.options.seed = seed;
    world.options.reach_cull = false;
    world.options.bounce_limit = 1000000;
    stage_world_tables(&world);
    return world;
}

static walk_job usual_job(float dx, float dy, float dz)
{
    return (walk_job){
        .emission = {.dx = dx, .dy = dy, .dz = dz, .beta = 1.0f, .step_id = 12, .spectrum = 1},
        .variants = world_variants(),
        .photons = photons(),
        .path_limit = INFINITY,
        .scatter_limit = UINT32_MAX};
}

/* ---- absorption ------------------------------------------------------------------------------ */

START_TEST(absorption_points)
{
    const ics_math math = gpu_maths[_i];
    stage_world world = uniform_world(100.0, 2101 + (uint64_t)_i);
    walk_job job = usual_job(0, 0, 1);
    job.lengths[0] = 100.0;
    job.lengths[1] = 2.5;
    walk_seen seen = walk_run_on_gpu(&world, math, WALK_ENDS, job);
    const walk_sum *s = seen.sums;
    const double count = s[WALK_ENDS_PATH].count;
    ck_assert_double_eq(count, (double)job.photons);
    expect_sum("absorption path, m", math, &s[WALK_ENDS_PATH], 100.0, 0.0);
    expect_sum("scatters before absorption", math, &s[WALK_ENDS_SCATTERS], 40.0, 0.0);
    expect_sum("<z> of absorption, m", math, &s[WALK_ENDS_Z], 20.0, 0.0);
    expect_sum("<r^2> of absorption, m^2", math, &s[WALK_ENDS_RADIUS_SQUARED], 4000.0, 0.0);
    expect_sum("scatters less path / 2.5 m", math, &s[WALK_ENDS_EXCESS], 0.0, 0.0);
    expect_sum("its correlation with the path, m", math, &s[WALK_ENDS_TOGETHER], 0.0, 0.0);
    const moment path = {count, s[WALK_ENDS_PATH].sum, s[WALK_ENDS_PATH].squares};
    const moment scatters = {count, s[WALK_ENDS_SCATTERS].sum, s[WALK_ENDS_SCATTERS].squares};
    char text[96];
    expect_value(titled(text, "standard deviation of the path, m", math),
                 sqrt(moment_variance(&path)), 100.0 * sqrt(2.0 / count), 100.0, 0.0);
    expect_value(titled(text, "variance of scatters", math), moment_variance(&scatters),
                 1640.0 * sqrt(8.0 / count), 1640.0, 0.0);
    expect_probability(titled(text, "distribution of scatters", math),
                       histogram_geometric_test(seen.bins, WALK_ENDS_SCATTER_BINS, 2.5 / 102.5));
    expect_quantiles("distribution of path", math, seen.bins + WALK_ENDS_SCATTER_BINS, 1);
    walk_seen_free(&seen);
    stage_world_destroy(&world);
}
END_TEST

/* ---- moments against path length ------------------------------------------------------------- */

START_TEST(moments_against_path)
{
    static const double paths[WALK_PATHS_MOST] = {10, 25, 50, 100, 200, 400, 800};
    static const uint32_t scatters[WALK_SCATTERS_MOST] = {1, 2, 5, 10, 20, 40};
    const double e = 25.0, two = 2.5 / (1.0 - 0.7815); /* lambda_e, lambda_2 */
    const ics_math math = gpu_maths[_i];
    stage_world world = uniform_world(1e9, 2111 + (uint64_t)_i);
    walk_job job = usual_job(0, 0, 1);
    job.path_limit = 800.0f;
    memcpy(job.lengths, paths, sizeof paths);
    job.lengths[WALK_LENGTHS - 1] = 2.5;
    memcpy(job.counts, scatters, sizeof scatters);
    walk_seen seen = walk_run_on_gpu(&world, math, WALK_PATHS, job);
    char what[64];
    for (int k = 0; k < WALK_PATHS_MOST; ++k) {
        const walk_sum *s = &seen.sums[k * WALK_PATHS_EACH];
        const double length = paths[k], x = length / e;
        const double z = e * -expm1(-x), radius_squared = 2.0 * e * e * (x + expm1(-x));
        const double z_squared = radius_squared / 3.0 + 4.0 / (3.0 * (1.0 / two - 1.0 / e)) *
                                                            (z + two * expm1(-length / two));
        /* One photon in 1e5 starts with an absorption depth that counts as 0. */
        ck_assert_double_ge(s->count, 0.9999 * job.photons - 10.0);
        snprintf(what, sizeof what, "<z> at %g m, m", length);
        expect_sum(what, math, &s[0], z, 1e-5);
        snprintf(what, sizeof what, "<cos> at %g m", length);
        expect_sum(what, math, &s[1], exp(-x), 5e-7);
        snprintf(what, sizeof what, "<P2> at %g m", length);
        expect_sum(what, math, &s[2], exp(-length / two), 5e-7);
        snprintf(what, sizeof what, "<r^2> at %g m, m^2", length);
        expect_sum(what, math, &s[3], radius_squared, 1e-6 * radius_squared);
        snprintf(what, sizeof what, "<z^2> at %g m, m^2", length);
        expect_sum(what, math, &s[4], z_squared, 1e-6 * z_squared);
    }
    for (int k = 0; k < WALK_SCATTERS_MOST; ++k) {
        const walk_sum *s = &seen.sums[WALK_PATHS_COSINES + k * WALK_SCATTERS_EACH];
        snprintf(what, sizeof what, "<cos> after %u scatters", scatters[k]);
        expect_sum(what, math, &s[0], pow(0.9, scatters[k]), 5e-7);
        snprintf(what, sizeof what, "<P2> after %u scatters", scatters[k]);
        expect_sum(what, math, &s[1], pow(0.7815, scatters[k]), 5e-7);
    }
    expect_sum("tenth free path, m", math, &seen.sums[WALK_PATHS_TENTH], 2.5, 2e-6);
    expect_quantiles("distribution of tenth free path", math, seen.bins, 1);
    walk_seen_free(&seen);
    stage_world_destroy(&world);
}
END_TEST

/* ---- scattering functions -------------------------------------------------------------------- */

/* physics.md 7.1 to 7.3 at g = 0.9, f_SL = 0.35. The shares of cosines up to 0, 0.5, ... have six
 * digits. */
static const double cut_cosines[WALK_TURN_CUTS] = {0, 0.5, 0.8, 0.9, 0.95, 0.99};
static const struct {
    const char *name;
    ice_variant variant;
    double cosine, p2, shares[WALK_TURN_CUTS];
} functions[] = {
    {"hg-sl",
     ICE_scatter_hg_sl,
     0.9,
     0.7815,
     {0.014888, 0.037293, 0.123965, 0.253367, 0.397206, 0.692123}},
    {"hg", ICE_scatter_hg, 0.9, 0.81, {0.022903, 0.055097, 0.117977, 0.186605, 0.278240, 0.575260}},
    {"sl",
     ICE_scatter_sl,
     0.9,
     0.51 / 0.7,
     {0.000002, 0.004228, 0.135085, 0.377354, 0.618141, 0.909156}},
    {"isotropic", ICE_scatter_isotropic, 0, 0, {0.5, 0.75, 0.9, 0.95, 0.975, 0.995}},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

START_TEST(scattering_functions)
{
    const int which = _i / 2;
    const ics_math math = gpu_maths[_i % 2];
    stage_world world = uniform_world(1e9, 2121 + (uint64_t)_i);
    walk_job job = usual_job(0.48f, 0.6f, 0.64f);
    job.variants.scatter = functions[which].variant;
    job.scatter_limit = 2;
    memcpy(job.lengths, cut_cosines, sizeof cut_cosines);
    walk_seen seen = walk_run_on_gpu(&world, math, WALK_TURN, job);
    const double count = seen.sums[WALK_TURN_COSINE].count;
    char what[64], text[96];
    snprintf(what, sizeof what, "%s: <cos>", functions[which].name);
    expect_sum(what, math, &seen.sums[WALK_TURN_COSINE], functions[which].cosine, 5e-7);
    snprintf(what, sizeof what, "%s: <P2>", functions[which].name);
    expect_sum(what, math, &seen.sums[WALK_TURN_P2], functions[which].p2, 5e-7);
    for (int k = 0; k < WALK_TURN_CUTS; ++k) {
        snprintf(what, sizeof what, "%s: cos up to %g", functions[which].name, cut_cosines[k]);
        expect_share(titled(text, what, math), seen.bins[k], count, functions[which].shares[k],
                     1e-6);
    }
    snprintf(what, sizeof what, "%s: azimuth", functions[which].name);
    expect_quantiles(what, math, seen.bins + WALK_TURN_CUTS, 1);
    walk_seen_free(&seen);
    stage_world_destroy(&world);
}
END_TEST

/* ---- half-spaces ----------------------------------------------------------------------------- */

/* A tenth of the photons is enough: with more, a bin at the face would show errors of 1e-5 m. */
static void walk_half_spaces(int k, ice_variant propagate, const char *name, ics_math math)
{
    stage_world world = half_space_world(k);
    world.options.seed = 2141 + (uint64_t)k;
    world.options.reach_cull = false;
    stage_world_tables(&world);
    walk_job job = usual_job(half_spaces[k].nx, 0, half_spaces[k].nz);
    job.emission.z = half_spaces[k].height;
    job.variants.propagate = propagate;
    job.photons = (uint32_t)fmax(photons() / 10.0, LEAST);
    job.scatter_limit = 1;
    const half_space_law law = half_space_law_of(k);
    const double face = law.to_face, before = law.before, behind = law.behind;
    job.lengths[0] = face;
    job.lengths[1] = before;
    job.lengths[2] = behind;
    walk_seen seen = walk_run_on_gpu(&world, math, WALK_FIRST, job);
    const double mean = -expm1(-face * before) / before + exp(-face * before) / behind;
    char what[64];
    snprintf(what, sizeof what, "%s from %g m, nz %g: mean", name, (double)half_spaces[k].height,
             (double)half_spaces[k].nz);
    expect_sum(what, math, &seen.sums[WALK_FIRST_LENGTH], mean, 1e-5 * mean);
    snprintf(what, sizeof what, "%s from %g m, nz %g", name, (double)half_spaces[k].height,
             (double)half_spaces[k].nz);
    expect_quantiles(what, math, seen.bins, 10);
    walk_seen_free(&seen);
    stage_world_destroy(&world);
}

START_TEST(two_half_spaces)
{
    walk_half_spaces(_i / 2, ICE_propagate_cumulative, "cumulative", gpu_maths[_i % 2]);
    walk_half_spaces(_i / 2, ICE_propagate_layer_walk, "layer-walk", gpu_maths[_i % 2]);
}
END_TEST

/* ---- shells ---------------------------------------------------------------------------------- */

_Static_assert((int)WALK_SHELLS_MOST == SHELLS && (int)WALK_SHELLS_BATCHES == SHELL_BATCHES &&
                   (int)WALK_SHELLS_EXCESS == SHELL_BINS,
               "the view has the shells, batches and bins that expect_shell() compares");

START_TEST(fluence_in_shells)
{
    const ics_math math = gpu_maths[_i];
    stage_world world = uniform_world(100.0, 2151 + (uint64_t)_i);
    walk_job job = usual_job(0, 0, 1);
    job.emission.flags = ICE_EMISSION_ISOTROPIC;
    for (int k = 0; k < WALK_SHELLS_MOST; ++k) {
        job.lengths[k] = shell_references[k].radius;
    }
    walk_seen seen = walk_run_on_gpu(&world, math, WALK_SHELLS, job);
    /* The integral of the fluence over all space is the mean path of a photon. */
    ck_assert_double_eq(seen.sums[WALK_SHELLS_PATH].count, (double)job.photons);
    expect_sum("fluence in all space, m", math, &seen.sums[WALK_SHELLS_PATH], 100.0, 0.0);
    for (int k = 0; k < WALK_SHELLS_MOST; ++k) {
        expect_shell(k, seen.bins + (size_t)k * SHELL_BATCHES * SHELL_BINS, job.photons,
                     math == ICS_MATH_FAST ? ", fast" : ", portable");
    }
    walk_seen_free(&seen);
    stage_world_destroy(&world);
}
END_TEST

/* ---- creation -------------------------------------------------------------------------------- */

/* Quantiles of the biased Cherenkov spectrum (physics.md 3.3), in nm with two decimals. */
static const double wavelengths[WALK_START_CUTS] = {316.52, 340.88, 379.19, 418.75,
                                                    469.77, 549.31, 604.27};
static const double below[WALK_START_CUTS] = {0.01, 0.05, 0.25, 0.50, 0.75, 0.95, 0.99};

START_TEST(cherenkov_photons)
{
    const ics_math math = gpu_maths[_i];
    stage_world world = stage_world_from_config(NULL, "light.acceptance=standard", NULL);
    world.options.seed = 2161 + (uint64_t)_i;
    world.options.reach_cull = false;
    stage_world_tables(&world);
    walk_job job = usual_job(0.48f, 0.6f, 0.64f);
    job.emission.spectrum = 0;
    job.emission.length = 4.0f;
    job.scatter_limit = 0;
    memcpy(job.lengths, wavelengths, sizeof wavelengths);
    walk_seen seen = walk_run_on_gpu(&world, math, WALK_START, job);
    const walk_sum *s = seen.sums;
    const double count = s[WALK_START_SHIFT].count;
    ck_assert_double_eq(count, (double)job.photons);
    expect_sum("start along the track, m", math, &s[WALK_START_SHIFT], 2.0, 1e-6);
    expect_sum("absorption depth", math, &s[WALK_START_ABSORPTION], 1.0, 1e-6);
    /* The expected mean is rounded to 0.005 nm, and the look-up adds at most 0.01 nm between 1 and
     * 99 % (3.4). Where the spectrum is steepest, this is at most 2e-4 of the photons. */
    expect_sum("wavelength, nm", math, &s[WALK_START_WAVELENGTH], 428.60, 0.015);
    char what[64], text[96];
    for (int k = 0; k < WALK_START_CUTS; ++k) {
        snprintf(what, sizeof what, "wavelengths up to %g nm", wavelengths[k]);
        expect_share(titled(text, what, math), seen.bins[k], count, below[k], 2e-4);
    }
    expect_quantiles("position along the track", math, seen.bins + WALK_START_SHIFT_BINS, 1);
    expect_quantiles("azimuth about the track", math, seen.bins + WALK_START_AZIMUTH_BINS, 1);
    expect_quantiles("absorption depth", math, seen.bins + WALK_START_ABSORPTION_BINS, 1);
    walk_seen_free(&seen);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(isotropic_photons)
{
    static const double expected[] = {0, 0, 0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
    static const char *const names[] = {"isotropic: <nx>",   "isotropic: <ny>",
                                        "isotropic: <nz>",   "isotropic: <nx^2>",
                                        "isotropic: <ny^2>", "isotropic: <nz^2>"};
    const ics_math math = gpu_maths[_i];
    stage_world world = uniform_world(100.0, 2171 + (uint64_t)_i);
    walk_job job = usual_job(0, 0, 1);
    job.emission.flags = ICE_EMISSION_ISOTROPIC;
    job.emission.length = 0.1651f;
    job.scatter_limit = 0;
    walk_seen seen = walk_run_on_gpu(&world, math, WALK_START, job);
    for (int k = 0; k < 6; ++k) {
        expect_sum(names[k], math, &seen.sums[WALK_START_X + k], expected[k], 2e-6);
    }
    walk_seen_free(&seen);
    stage_world_destroy(&world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gpu walk");
    TCase *tests = tcase_create("walk");
    tcase_add_loop_test(tests, absorption_points, 0, 2);
    tcase_add_loop_test(tests, moments_against_path, 0, 2);
    tcase_add_loop_test(tests, scattering_functions, 0, 2 * FUNCTIONS);
    tcase_add_loop_test(tests, two_half_spaces, 0, 2 * HALF_SPACES);
    tcase_add_loop_test(tests, fluence_in_shells, 0, 2);
    tcase_add_loop_test(tests, cherenkov_photons, 0, 2);
    tcase_add_loop_test(tests, isotropic_photons, 0, 2);
    suite_add_tcase(suite, tests);
    return gpu_suite_run(suite);
}
