/* Photons in uniform ice have the exact results of physics.md 12.1: case U is a scattering length
 * of 2.5 m, g = 0.9, f_SL = 0.35 and an absorption length of 100 m, with a pencil beam along z.
 *
 * How to join: a new result joins in a table of path lengths or of scatters, or as one more
 * comparison of absorption points.
 *
 * About 60 comparisons at 4 sigma or p > 1e-4: a correct program would fail one of them with other
 * seeds in less than 1 % of all cases. */
#include "tests/propagation/walk.h"
#include "tests/support/moments.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

/* ---- the beam -------------------------------------------------------------------------------- */

/* Photons of a test, and how many of them a test of a distribution takes, before scaling. */
enum { PHOTONS = 10000000, SAMPLE = 1000000 };

static uint32_t pencil_photons(void)
{
    return (uint32_t)test_scaled(PHOTONS);
}

static uint32_t pencil_sample(void)
{
    const uint32_t all = pencil_photons();
    return all < SAMPLE ? all : SAMPLE;
}

/* A beam of light from the origin in one direction. */
static ice_emission pencil_beam(float dx, float dy, float dz)
{
    const ice_emission emission = {
        .dx = dx, .dy = dy, .dz = dz, .beta = 1.0f, .step_id = 12, .spectrum = 1};
    return emission;
}

/* The Legendre polynomial P2. */
static double legendre_2(double cosine)
{
    return 1.5 * cosine * cosine - 0.5;
}

/* ---- absorbed photons ------------------------------------------------------------------------ */

enum { SCATTERS_MAX = 2000 };

typedef struct absorbed {
    moment path, scatters, z, radius_squared, excess, together;
    double histogram[SCATTERS_MAX]; /* photons by their number of scatters */
    double *paths;                  /* of the first photons, by photon_id; shared by both halves */
    uint32_t sample;
} absorbed;

static void see_absorbed(void *user, const walk_block *b)
{
    absorbed *self = user;
    for (uint32_t i = 0; i < b->count; ++i) {
        if (!walk_absorbed(b, i)) {
            continue;
        }
        const double length = b->length[i];
        const double path = b->path[i] + length;
        const double x = b->x[i] + length * b->dx[i];
        const double y = b->y[i] + length * b->dy[i];
        const double z = b->z[i] + length * b->dz[i];
        const uint32_t n = b->scatters[i];
        moment_add(&self->path, path);
        moment_add(&self->scatters, n);
        moment_add(&self->z, z);
        moment_add(&self->radius_squared, x * x + y * y + z * z);
        /* On a path of this length the scatters are Poisson distributed about path / 2.5 m. */
        moment_add(&self->excess, n - path / 2.5);
        moment_add(&self->together, (n - path / 2.5) * (path - 100.0));
        self->histogram[n < SCATTERS_MAX ? n : SCATTERS_MAX - 1] += 1;
        if (b->photon_id[i] < self->sample) {
            self->paths[b->photon_id[i]] = path;
        }
    }
}

START_TEST(absorption_points)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", "light.acceptance=none",
                                                "light.spectra=[{line: 400}]", NULL);
    stage_world_set_detector(&world, world_detector_far());
    world.options.seed = 1201;
    ice_emission beam = pencil_beam(0.0f, 0.0f, 1.0f);
    beam.spectrum = 7;
    absorbed halves[2] = {{.sample = pencil_sample()}, {.sample = pencil_sample()}};
    halves[0].paths = halves[1].paths = sample_allocate(pencil_sample());
    const walk_job job = {.tables = stage_world_tables(&world),
                          .emission = &beam,
                          .variants = world_variants(),
                          .photons = pencil_photons(),
                          .path_limit = INFINITY,
                          .scatter_limit = UINT32_MAX,
                          .visit = see_absorbed};
    walk_run_halves(&job, (void *[2]){&halves[0], &halves[1]});
    absorbed all = halves[0];
    moment_join(&all.path, &halves[1].path);
    moment_join(&all.scatters, &halves[1].scatters);
    moment_join(&all.z, &halves[1].z);
    moment_join(&all.radius_squared, &halves[1].radius_squared);
    moment_join(&all.excess, &halves[1].excess);
    moment_join(&all.together, &halves[1].together);
    for (int i = 0; i < SCATTERS_MAX; ++i) {
        all.histogram[i] += halves[1].histogram[i];
    }
    const double count = all.path.count;
    ck_assert_double_eq(count, (double)pencil_photons());

    expect_mean("absorption path, m", &all.path, 100.0, 0.0);
    expect_value("its standard deviation, m", sqrt(moment_variance(&all.path)),
                 100.0 * sqrt(2.0 / count), 100.0, 0.0);
    expect_mean("scatters before absorption", &all.scatters, 40.0, 0.0);
    expect_value("their variance", moment_variance(&all.scatters), 1640.0 * sqrt(8.0 / count),
                 1640.0, 0.0);
    expect_mean("scatters less path / 2.5 m", &all.excess, 0.0, 0.0);
    expect_value("variance of that, over path / 2.5 m", moment_variance(&all.excess) / 40.0,
                 sqrt(5.025 / count), 1.0, 0.0);
    expect_mean("its correlation with the path, m", &all.together, 0.0, 0.0);
    expect_mean("<z> of absorption, m", &all.z, 20.0, 0.0);
    expect_mean("<r^2> of absorption, m^2", &all.radius_squared, 4000.0, 0.0);
    expect_probability("distribution of scatters",
                       histogram_geometric_test(all.histogram, SCATTERS_MAX, 2.5 / 102.5));
    double mean = 100.0;
    expect_distribution("distribution of absorption path", halves[0].paths, pencil_sample(),
                        exponential_distribution, &mean);
    free(halves[0].paths);
    stage_world_destroy(&world);
}
END_TEST

/* ---- moments against path length ------------------------------------------------------------- */

/* physics.md 12.1, and 400 m for the diffusion limit. */
static const struct {
    double path, z, cosine, p2, radius_squared, z_squared;
    double diffusion; /* KS distance of the radius to its diffusion limit (12.3); 0: unknown */
} by_path[] = {
    {10, 8.2420, 0.67032, 0.41728, 87.900, 73.596, 0},
    {25, 15.8030, 0.36788, 0.11248, 459.849, 312.166, 0},
    {50, 21.6166, 0.13534, 0.01265, 1419.169, 763.344, 0},
    {100, 24.5421, 0.01832, 0.00016, 3772.895, 1626.191, 0.18},
    {200, 24.9916, 0.00034, 0, 8750.419, 3297.959, 0.067},
    {400, 0, 0, 0, 0, 0, 0.027},
    {800, 25.0000, 0, 0, 38750.000, 13298.06, 0.013},
};
/* Half of the last digits above. */
static const double digits[] = {5e-5, 5e-6, 5e-6, 5e-4, 5e-3};

static const struct {
    uint32_t scatters;
    double cosine, p2; /* 0.9^k, 0.7815^k */
} by_scatters[] = {
    {1, 0.9, 0.7815},         {2, 0.81, 0.610742},       {5, 0.59049, 0.291503},
    {10, 0.348678, 0.084974}, {20, 0.121577, 0.0072206}, {40, 0.0147809, 5.2137e-5},
};

enum {
    PATHS = sizeof by_path / sizeof *by_path,
    SCATTERS = sizeof by_scatters / sizeof *by_scatters,
    RADIUS_BINS = 800 /* of 1 m */
};

typedef struct beam_moments {
    moment z, cosine, p2, radius_squared, z_squared;
    uint64_t radius[RADIUS_BINS];
} beam_moments;

typedef struct travelled {
    beam_moments at[PATHS];
    moment cosine[SCATTERS], p2[SCATTERS];
    moment first_length, tenth_length;
    double *lengths; /* of the first segments of the first photons; shared by both halves */
    uint32_t sample;
} travelled;

static void see_path(beam_moments *at, const walk_block *b, uint32_t i, double path)
{
    const double along = path - b->path[i];
    const double x = b->x[i] + along * b->dx[i];
    const double y = b->y[i] + along * b->dy[i];
    const double z = b->z[i] + along * b->dz[i];
    const double radius_squared = x * x + y * y + z * z;
    const int bin = (int)sqrt(radius_squared);
    moment_add(&at->z, z);
    moment_add(&at->z_squared, z * z);
    moment_add(&at->radius_squared, radius_squared);
    moment_add(&at->cosine, b->dz[i]);
    moment_add(&at->p2, legendre_2(b->dz[i]));
    at->radius[bin < RADIUS_BINS ? bin : RADIUS_BINS - 1] += 1;
}

static void see_travelling(void *user, const walk_block *b)
{
    travelled *self = user;
    for (uint32_t i = 0; i < b->count; ++i) {
        const double begin = b->path[i], end = begin + b->length[i];
        for (int k = PATHS; k-- > 0 && by_path[k].path >= begin;) {
            if (by_path[k].path < end) {
                see_path(&self->at[k], b, i, by_path[k].path);
            }
        }
        const uint32_t n = b->scatters[i];
        if (n > by_scatters[SCATTERS - 1].scatters) {
            continue;
        }
        for (int k = 0; k < SCATTERS; ++k) {
            if (by_scatters[k].scatters == n) {
                moment_add(&self->cosine[k], b->dz[i]);
                moment_add(&self->p2[k], legendre_2(b->dz[i]));
            }
        }
        if (n == 0) {
            moment_add(&self->first_length, b->length[i]);
        }
        if (n == 9) {
            moment_add(&self->tenth_length, b->length[i]);
        }
        if (n == 0 && b->photon_id[i] < self->sample) {
            self->lengths[b->photon_id[i]] = b->length[i];
        }
    }
}

/* Returns the largest distance, at the edges of bins, between the distribution of the radii and the
 * Maxwell distribution with sigma^2 = 2 lambda_e L / 3. */
static double distance_to_diffusion(const beam_moments *at, double path)
{
    const double sigma = sqrt(2.0 * 25.0 * path / 3.0);
    double below = 0.0, distance = 0.0;
    for (int i = 0; i < RADIUS_BINS - 1; ++i) {
        below += (double)at->radius[i] / at->z.count;
        const double r = (i + 1) / sigma;
        const double limit = erf(r * M_SQRT1_2) - sqrt(2.0 / M_PI) * r * exp(-0.5 * r * r);
        distance = fmax(distance, fabs(below - limit));
    }
    return distance;
}

static void join_travelled(travelled *to, const travelled *from)
{
    for (int k = 0; k < PATHS; ++k) {
        moment_join(&to->at[k].z, &from->at[k].z);
        moment_join(&to->at[k].z_squared, &from->at[k].z_squared);
        moment_join(&to->at[k].radius_squared, &from->at[k].radius_squared);
        moment_join(&to->at[k].cosine, &from->at[k].cosine);
        moment_join(&to->at[k].p2, &from->at[k].p2);
        for (int i = 0; i < RADIUS_BINS; ++i) {
            to->at[k].radius[i] += from->at[k].radius[i];
        }
    }
    for (int k = 0; k < SCATTERS; ++k) {
        moment_join(&to->cosine[k], &from->cosine[k]);
        moment_join(&to->p2[k], &from->p2[k]);
    }
    moment_join(&to->first_length, &from->first_length);
    moment_join(&to->tenth_length, &from->tenth_length);
}

START_TEST(moments_against_path)
{
    /* Absorption is independent of scattering, so it is left out: all photons reach 800 m. */
    stage_world world = stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 1e9),
                                           world_detector_far(), world_light_line(400));
    world.options.seed = 1202;
    const ice_emission beam = pencil_beam(0.0f, 0.0f, 1.0f);
    travelled *halves = calloc(2, sizeof *halves);
    ck_assert_ptr_nonnull(halves);
    halves[0].lengths = halves[1].lengths = sample_allocate(pencil_sample());
    halves[0].sample = halves[1].sample = pencil_sample();
    const walk_job job = {.tables = stage_world_tables(&world),
                          .emission = &beam,
                          .variants = world_variants(),
                          .photons = pencil_photons(),
                          .path_limit = 800.0f,
                          .scatter_limit = UINT32_MAX,
                          .visit = see_travelling};
    walk_run_halves(&job, (void *[2]){&halves[0], &halves[1]});
    travelled *all = &halves[0];
    join_travelled(all, &halves[1]);

    expect_mean("first free path, m", &all->first_length, 2.5, 0.0);
    expect_mean("tenth free path, m", &all->tenth_length, 2.5, 0.0);
    double mean = 2.5;
    expect_distribution("distribution of first free path", all->lengths, pencil_sample(),
                        exponential_distribution, &mean);
    for (int k = 0; k < SCATTERS; ++k) {
        char what[64];
        snprintf(what, sizeof what, "<cos> after %u scatters", by_scatters[k].scatters);
        expect_mean(what, &all->cosine[k], by_scatters[k].cosine, 5e-7);
        snprintf(what, sizeof what, "<P2> after %u scatters", by_scatters[k].scatters);
        expect_mean(what, &all->p2[k], by_scatters[k].p2, 5e-7);
    }
    for (int k = 0; k < PATHS; ++k) {
        const beam_moments *at = &all->at[k];
        /* One photon in 1e5 starts with an absorption depth that counts as 0. */
        ck_assert_double_ge(at->z.count, 0.9999 * pencil_photons() - 10.0);
        char what[64];
        if (by_path[k].z > 0) {
            snprintf(what, sizeof what, "<z> at %g m, m", by_path[k].path);
            expect_mean(what, &at->z, by_path[k].z, digits[0]);
            snprintf(what, sizeof what, "<cos> at %g m", by_path[k].path);
            expect_mean(what, &at->cosine, by_path[k].cosine, digits[1]);
            snprintf(what, sizeof what, "<P2> at %g m", by_path[k].path);
            expect_mean(what, &at->p2, by_path[k].p2, digits[2]);
            snprintf(what, sizeof what, "<r^2> at %g m, m^2", by_path[k].path);
            expect_mean(what, &at->radius_squared, by_path[k].radius_squared, digits[3]);
            snprintf(what, sizeof what, "<z^2> at %g m, m^2", by_path[k].path);
            expect_mean(what, &at->z_squared, by_path[k].z_squared, digits[4]);
        }
        if (by_path[k].diffusion > 0) {
            /* The number has two digits: half of the last one, and the noise of a largest distance.
             */
            const double digit = by_path[k].diffusion > 0.1 ? 0.005 : 0.0005;
            snprintf(what, sizeof what, "distance to diffusion at %g m", by_path[k].path);
            expect_value(what, distance_to_diffusion(at, by_path[k].path), 0.0,
                         by_path[k].diffusion, digit + 2.0 / sqrt(at->z.count));
        }
    }
    free(halves[0].lengths);
    free(halves);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("uniform ice")
{
    TCase *exact = tcase_create("exact results");
    tcase_add_test(exact, absorption_points);
    tcase_add_test(exact, moments_against_path);
    suite_add_tcase(suite, exact);
}
