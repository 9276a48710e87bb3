/* Photons have the distributions of physics.md 2.2, 2.3 and 12.5 when they are created, and the
 * steps that `generate` makes of a cascade have those of 10.3.
 *
 * How to join: a new kind of light joins with one test, a new direction of tracks in the table
 * `tracks`.
 *
 * About 150 comparisons at 4 sigma or p > 1e-4: a correct program would fail one of them with other
 * seeds in about 1 % of all cases. */
#include "pipeline/photons/generator/workload.h"
#include "stages/create_cherenkov.h"
#include "tests/support/moments.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#define LIGHT_SPEED 0.299792458 /* m/ns */

enum { PHOTONS = 10000000, SAMPLE = 1000000, FEW = 300000 };

static double minimum(double a, double b)
{
    return a < b ? a : b;
}

/* ---- Cherenkov light ------------------------------------------------------------------------- */

/* Tracks in several directions. The first has as many photons as physics.md asks for. */
static const struct {
    float dx, dy, dz, beta;
    size_t photons;
} tracks[] = {
    {0.48f, 0.6f, 0.64f, 1.0f, PHOTONS},
    {0, 0, 1, 1.0f, FEW},
    {0, 0, -1, 0.9f, FEW},
    {1, 0, 0, 0.8f, FEW},
    {0, -1, 0, 1.0f, FEW},
    {0.6f, 0, -0.8f, 0.77f, FEW},
};

static const double start[3] = {12.5, -7.25, 3.0};
static const double track_length = 4.0;

/* The phase index of physics.md 4.1. */
static double phase_index(double wavelength)
{
    const double x = wavelength / 1000.0;
    return 1.55749 + x * (-1.57988 + x * (3.99993 + x * (-4.68271 + x * 2.09354)));
}

/* Makes two unit vectors across a unit vector. */
static void make_frame(const double n[3], double u[3], double w[3])
{
    const int steep = fabs(n[2]) > 0.9;
    const double helper[3] = {steep ? 1.0 : 0.0, 0.0, steep ? 0.0 : 1.0};
    u[0] = n[1] * helper[2] - n[2] * helper[1];
    u[1] = n[2] * helper[0] - n[0] * helper[2];
    u[2] = n[0] * helper[1] - n[1] * helper[0];
    const double norm = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    for (int k = 0; k < 3; ++k) {
        u[k] /= norm;
    }
    w[0] = n[1] * u[2] - n[2] * u[1];
    w[1] = n[2] * u[0] - n[0] * u[2];
    w[2] = n[0] * u[1] - n[1] * u[0];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Quantiles of the biased Cherenkov spectrum (physics.md 3.3), in nm with two decimals. */
static const double quantiles[][2] = {{0.01, 316.52}, {0.05, 340.88}, {0.25, 379.19},
                                      {0.50, 418.75}, {0.75, 469.77}, {0.95, 549.31},
                                      {0.99, 604.27}};
enum { QUANTILES = sizeof quantiles / sizeof *quantiles };

/* Returns the spectrum of physics.md 3.1 and 3.3 at beta = 1, up to a factor. */
static double biased_density(double wavelength)
{
    if (wavelength < 280.0 || wavelength > 680.0) {
        return 0.0;
    }
    const double n = phase_index(wavelength);
    const double acceptance = 0.1342 / (1.0 + exp(-(wavelength - 351.0) / 13.1)) /
                              (1.0 + exp((wavelength - 632.0) / 14.25)) *
                              (0.0916 + 0.9084 / (1.0 + exp((wavelength - 519.0) / 32.8)));
    return (1.0 - 1.0 / (n * n)) / (wavelength * wavelength) * acceptance;
}

/* Its distribution function at 280 + i / 10 nm. */
enum { SPECTRUM_POINTS = 4001 };

static double spectrum_distribution(double wavelength, void *cumulative)
{
    const double *c = cumulative;
    const double position = fmax(minimum((wavelength - 280.0) * 10.0, SPECTRUM_POINTS - 1.001), 0);
    const int i = (int)position;
    return c[i] + (position - i) * (c[i + 1] - c[i]);
}

static double *spectrum_cumulative(void)
{
    double *c = sample_allocate(SPECTRUM_POINTS);
    for (int i = 1; i < SPECTRUM_POINTS; ++i) {
        const double wavelength = 280.0 + 0.1 * i;
        c[i] = c[i - 1] + 0.5 * (biased_density(wavelength - 0.1) + biased_density(wavelength));
    }
    for (int i = 0; i < SPECTRUM_POINTS; ++i) {
        c[i] /= c[SPECTRUM_POINTS - 1];
    }
    return c;
}

enum { SHIFT, WAVELENGTH, AZIMUTH, ABSORPTION, DRAWS };
static const char *const draw_names[DRAWS] = {"start along the track", "wavelength", "azimuth",
                                              "absorption depth"};

static void compare_draws(double *samples[DRAWS], size_t count)
{
    double length = track_length, turn = 2.0 * M_PI, mean = 1.0;
    double *cumulative = spectrum_cumulative();
    /* They are independent: their ranks in the distributions are not correlated. */
    for (int a = 0; a < DRAWS; ++a) {
        for (int b = 0; b < a; ++b) {
            moment product = {0};
            for (size_t i = 0; i < count; ++i) {
                const double ranks[DRAWS] = {
                    samples[SHIFT][i] / length,
                    spectrum_distribution(samples[WAVELENGTH][i], cumulative),
                    samples[AZIMUTH][i] / turn, -expm1(-samples[ABSORPTION][i])};
                moment_add(&product, 12.0 * (ranks[a] - 0.5) * (ranks[b] - 0.5));
            }
            char what[64];
            snprintf(what, sizeof what, "%s and %s", draw_names[a], draw_names[b]);
            expect_mean(what, &product, 0.0, 0.0);
        }
    }
    expect_distribution(draw_names[SHIFT], samples[SHIFT], count, uniform_distribution, &length);
    expect_distribution(draw_names[AZIMUTH], samples[AZIMUTH], count, uniform_distribution, &turn);
    expect_distribution(draw_names[ABSORPTION], samples[ABSORPTION], count,
                        exponential_distribution, &mean);
    expect_distribution(draw_names[WAVELENGTH], samples[WAVELENGTH], count, spectrum_distribution,
                        cumulative);
    free(cumulative);
}

START_TEST(cherenkov_photons)
{
    stage_world world = stage_world_from_config(NULL, "light.acceptance=standard", NULL);
    world.options.seed = 125 + (uint64_t)_i;
    const ice_tables *tables = stage_world_tables(&world);
    const double n[3] = {tracks[_i].dx, tracks[_i].dy, tracks[_i].dz};
    double u[3], w[3];
    make_frame(n, u, w);
    const ice_emission track = {.x = (float)start[0],
                                .y = (float)start[1],
                                .z = (float)start[2],
                                .length = (float)track_length,
                                .dx = tracks[_i].dx,
                                .dy = tracks[_i].dy,
                                .dz = tracks[_i].dz,
                                .beta = tracks[_i].beta,
                                .step_id = 125};
    const size_t count = test_scaled(tracks[_i].photons);
    const size_t sample = count < SAMPLE ? count : SAMPLE;
    double *samples[DRAWS];
    for (int k = 0; k < DRAWS; ++k) {
        samples[k] = sample_allocate(sample);
    }
    moment wavelength = {0}, absorption = {0}, shift = {0};
    double below[QUANTILES] = {0};
    double worst_angle = 0.0, worst_line = 0.0, worst_time = 0.0;

    for (size_t i = 0; i < count; ++i) {
        const ice_photon p = ice_create_cherenkov(tables, &track, 0, (uint32_t)i);
        const double at[3] = {p.x - start[0], p.y - start[1], p.z - start[2]};
        const double direction[3] = {p.dx, p.dy, p.dz};
        const double along = dot(at, n);
        const double cone = minimum(1.0 / (track.beta * phase_index(p.wavelength)), 1.0);
        worst_angle = fmax(worst_angle, fabs(dot(direction, n) - cone));
        worst_line = fmax(worst_line, fmax(fabs(dot(at, u)), fabs(dot(at, w))));
        ck_assert_double_eq_tol(dot(direction, direction), 1.0, 5e-7);
        moment_add(&shift, along);
        moment_add(&wavelength, p.wavelength);
        moment_add(&absorption, p.absorption);
        for (int k = 0; k < QUANTILES; ++k) {
            below[k] += p.wavelength <= quantiles[k][1];
        }
        if (i >= sample) {
            continue;
        }
        const ice_arrival here = {.photon_id = (uint32_t)i, .wavelength = p.wavelength};
        const double delay = ics_tables_arrival_delay(tables, &track, &here);
        worst_time = fmax(worst_time, fabs(delay - along / (LIGHT_SPEED * track.beta)));
        const double azimuth = atan2(dot(direction, w), dot(direction, u));
        samples[SHIFT][i] = fmax(along, 0.0);
        samples[WAVELENGTH][i] = p.wavelength;
        samples[AZIMUTH][i] = azimuth < 0 ? azimuth + 2.0 * M_PI : azimuth;
        samples[ABSORPTION][i] = p.absorption;
    }
    printf("track (%g, %g, %g), beta %g: cos off by up to %.2g, line by %.2g m, time by %.2g ns\n",
           n[0], n[1], n[2], tracks[_i].beta, worst_angle, worst_line, worst_time);
    ck_assert_double_lt(worst_angle, 1e-6);
    ck_assert_double_lt(worst_line, 4e-6);
    ck_assert_double_lt(worst_time, 2e-5);

    expect_mean("start along the track, m", &shift, 0.5 * track_length, 0.0);
    expect_mean("absorption depth", &absorption, 1.0, 0.0);
    /* The table of 1 nm is within 0.005 nm of the spectrum, and the expected number is rounded to
     * 0.005 nm. The look-up adds at most 0.01 nm between 1 and 99 % (3.4). */
    expect_mean("wavelength, nm", &wavelength, 428.60, 0.015);
    for (int k = 0; k < QUANTILES; ++k) {
        char what[64];
        snprintf(what, sizeof what, "share of wavelengths below %g nm", quantiles[k][1]);
        const double slope = biased_density(quantiles[k][1]) / biased_density(383.6) * 0.0082;
        expect_share(what, below[k], (double)count, quantiles[k][0], 0.02 * slope);
    }
    compare_draws(samples, sample);
    for (int k = 0; k < DRAWS; ++k) {
        free(samples[k]);
    }
    stage_world_destroy(&world);
}
END_TEST

/* ---- point sources --------------------------------------------------------------------------- */

START_TEST(isotropic_photons)
{
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100),
                                           world_detector_far(), world_light_line(400));
    world.options.seed = 126;
    const ice_tables *tables = stage_world_tables(&world);
    const double radius = 0.1651;
    const ice_emission lamp = {.x = (float)start[0],
                               .y = (float)start[1],
                               .z = (float)start[2],
                               .length = (float)radius,
                               .dz = 1.0f,
                               .beta = 1.0f,
                               .step_id = 126,
                               .spectrum = 1,
                               .flags = ICE_EMISSION_ISOTROPIC};
    const size_t count = test_scaled(PHOTONS);
    const size_t sample = count < SAMPLE ? count : SAMPLE;
    double *cosines = sample_allocate(sample), *azimuths = sample_allocate(sample);
    moment x = {0}, y = {0}, z = {0}, xx = {0}, yy = {0}, zz = {0};
    double worst_start = 0.0, worst_time = 0.0;
    for (size_t i = 0; i < count; ++i) {
        const ice_photon p = ice_create_cherenkov(tables, &lamp, 0, (uint32_t)i);
        moment_add(&x, p.dx);
        moment_add(&y, p.dy);
        moment_add(&z, p.dz);
        moment_add(&xx, (double)p.dx * p.dx);
        moment_add(&yy, (double)p.dy * p.dy);
        moment_add(&zz, (double)p.dz * p.dz);
        worst_start = fmax(worst_start, fabs(p.x - start[0] - radius * p.dx));
        worst_start = fmax(worst_start, fabs(p.y - start[1] - radius * p.dy));
        worst_start = fmax(worst_start, fabs(p.z - start[2] - radius * p.dz));
        if (i >= sample) {
            continue;
        }
        const ice_arrival here = {.photon_id = (uint32_t)i, .wavelength = 400.0f};
        /* The light takes 0.5507 ns to the surface of the module, as in ppc. */
        worst_time =
            fmax(worst_time, fabs(ics_tables_arrival_delay(tables, &lamp, &here) - 0.5507));
        const double azimuth = atan2((double)p.dy, (double)p.dx);
        cosines[i] = p.dz + 1.0;
        azimuths[i] = azimuth < 0 ? azimuth + 2.0 * M_PI : azimuth;
    }
    ck_assert_double_lt(worst_start, 2e-6);
    ck_assert_double_lt(worst_time, 5e-5);
    expect_mean("isotropic: <nx>", &x, 0.0, 0.0);
    expect_mean("isotropic: <ny>", &y, 0.0, 0.0);
    expect_mean("isotropic: <nz>", &z, 0.0, 0.0);
    expect_mean("isotropic: <nx^2>", &xx, 1.0 / 3.0, 0.0);
    expect_mean("isotropic: <ny^2>", &yy, 1.0 / 3.0, 0.0);
    expect_mean("isotropic: <nz^2>", &zz, 1.0 / 3.0, 0.0);
    double two = 2.0, turn = 2.0 * M_PI;
    expect_distribution("isotropic: nz", cosines, sample, uniform_distribution, &two);
    expect_distribution("isotropic: azimuth", azimuths, sample, uniform_distribution, &turn);
    free(cosines);
    free(azimuths);
    stage_world_destroy(&world);
}
END_TEST

/* ---- cascades -------------------------------------------------------------------------------- */

/* The gamma distribution of shape 8. */
static double erlang_8(double value, void *scale)
{
    return 1.0 - ics_statistics_gamma_upper(8.0, value / *(const double *)scale);
}

/* physics.md 10.3: quantiles of the cosine between the emitters and the axis. */
static const double emitter_quantiles[][2] = {
    {0.1, 0.999756}, {0.25, 0.996827}, {0.5, 0.970447}, {0.75, 0.834966}, {0.9, 0.465313}};
enum { EMITTERS = sizeof emitter_quantiles / sizeof *emitter_quantiles };

START_TEST(cascade_steps)
{
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100),
                                           world_detector_far(), world_light_line(400));
    world.options.seed = 128;
    const ice_tables *tables = stage_world_tables(&world);
    const uint32_t count = (uint32_t)test_scaled(SAMPLE);
    icestream_config config = {
        .workload = {.kind = ICS_WORKLOAD_CASCADE, .steps = count, .photons_per_step = 200}};
    icestream_error error = {0};
    ics_workload *workload = NULL;
    ck_assert_msg(ics_workload_create(&config, &workload, &error) == ICESTREAM_OK, "%s",
                  error.text);

    double *depths = sample_allocate(count), *azimuths = sample_allocate(count);
    moment emitters = {0}, photons = {0};
    double further[EMITTERS] = {0};
    for (uint32_t i = 0; i < count; ++i) {
        icestream_step step;
        ics_workload_fill(workload, i, 1, &step);
        const double cosine = -step.dz; /* the cascade goes down */
        const double azimuth = atan2((double)step.dy, (double)step.dx);
        depths[i] = -400.0 - step.z;
        azimuths[i] = azimuth < 0 ? azimuth + 2.0 * M_PI : azimuth;
        ck_assert_double_eq_tol(step.t, depths[i] / LIGHT_SPEED, 2e-4);
        moment_add(&emitters, cosine);
        for (int k = 0; k < EMITTERS; ++k) {
            further[k] += cosine >= emitter_quantiles[k][1];
        }
        const ice_emission emission = {
            .dx = step.dx, .dy = step.dy, .dz = step.dz, .beta = 1.0f, .step_id = i};
        moment_add(&photons, -ice_create_cherenkov(tables, &emission, 0, 0).dz);
    }
    expect_mean("emitters: <cos> to the axis", &emitters, 0.829689, 5e-7);
    expect_mean("photons: <cos> to the axis", &photons, 0.628825, 5e-7);
    for (int k = 0; k < EMITTERS; ++k) {
        char what[64];
        snprintf(what, sizeof what, "emitters with cos above %g", emitter_quantiles[k][1]);
        /* The quantiles have six digits. The density is largest forwards: 0.1 of the light within
         * 2.4e-4. */
        expect_share(what, further[k], count, emitter_quantiles[k][0], k == 0 ? 1e-4 : 1e-5);
    }
    double scale = 0.6145756974877958, turn = 2.0 * M_PI;
    expect_distribution("cascade: depth", depths, count, erlang_8, &scale);
    expect_distribution("cascade: azimuth", azimuths, count, uniform_distribution, &turn);
    free(depths);
    free(azimuths);
    ics_workload_destroy(workload);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("creation")
{
    TCase *photons = tcase_create("photons");
    tcase_add_loop_test(photons, cherenkov_photons, 0, sizeof tracks / sizeof *tracks);
    tcase_add_test(photons, isotropic_photons);
    tcase_add_test(photons, cascade_steps);
    suite_add_tcase(suite, photons);
}
