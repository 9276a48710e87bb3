/* Light around an isotropic point source in uniform ice (physics.md 12.2, 12.3), case U: what flows
 * through shells, and what modules count of it, with the graph and the detector of a run.
 *
 * About 90 comparisons at 4 sigma (or p > 1e-4), most with the 0.5 % that physics.md allows between
 * a shell's average and a point. */
#include "tests/propagation/walk.h"
#include "tests/support/moments.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <pthread.h>

enum { PHOTONS = 10000000 };

static uint32_t photons(uint32_t full)
{
    return (uint32_t)test_scaled(full);
}

static const ice_emission lamp = {
    .dz = 1.0f, .beta = 1.0f, .step_id = 122, .spectrum = 1, .flags = ICE_EMISSION_ISOTROPIC};

/* ---- shells ---------------------------------------------------------------------------------- */

/* Fluence per photon, 1/m^2, its statistical error there, and quantiles of the excess path, m: from
 * 6e6 photons of an independent program. */
static const struct {
    double radius, fluence, error, quantiles[5];
} reference[] = {
    {10, 9.3304e-4, 3.3e-7, {0.2, 0.4, 0.8, 2.1, 11.6}},
    {20, 2.5542e-4, 1.3e-7, {0.5, 1.4, 3.8, 13.8, 46.3}},
    {30, 1.1204e-4, 0.7e-7, {1.8, 3.9, 10.2, 30.7, 74.8}},
    {50, 3.1553e-5, 2.6e-8, {6.5, 12.6, 28.2, 63.6, 120.2}},
    {75, 8.3033e-6, 1.0e-8, {15.6, 27.7, 53.6, 101.3, 168.6}},
    {100, 2.4513e-6, 4e-9, {27.4, 45.4, 80.2, 137.9, 213.5}},
    {125, 7.743e-7, 2e-9, {41.2, 64.7, 107.0, 172.0, 255.1}},
};
static const double shares[] = {0.10, 0.25, 0.50, 0.75, 0.90};
static const double reference_photons = 6e6;

enum {
    SHELLS = sizeof reference / sizeof *reference,
    SHARES = sizeof shares / sizeof *shares,
    BATCHES = 32, /* of photons, to see how much results scatter */
    BINS = 1500   /* of 1 m of excess path */
};

typedef struct shells {
    moment path;                          /* whole path of a photon, m */
    double excess[SHELLS][BATCHES][BINS]; /* path length in the shell, m */
} shells;

/* The part of the segment between `from` and `to` along it, which lies in shell k. */
static void add_piece(shells *self, int k, uint32_t batch, double path, double closest,
                      double closest_squared, double from, double to)
{
    if (to <= from) {
        return;
    }
    const double middle = 0.5 * (from + to) - closest;
    const double radius = sqrt(closest_squared + middle * middle);
    const double excess = path + 0.5 * (from + to) - radius;
    const int bin = excess > 0.0 ? (int)excess : 0;
    self->excess[k][batch][bin < BINS ? bin : BINS - 1] += to - from;
}

static void see_shells(void *user, const walk_block *b)
{
    shells *self = user;
    for (uint32_t i = 0; i < b->count; ++i) {
        const double x = b->x[i], y = b->y[i], z = b->z[i];
        const double length = b->length[i], path = b->path[i];
        const double radius_squared = x * x + y * y + z * z;
        const double radius = sqrt(radius_squared);
        const double closest = -(x * b->dx[i] + y * b->dy[i] + z * b->dz[i]);
        const double closest_squared = fmax(radius_squared - closest * closest, 0.0);
        const uint32_t batch = b->photon_id[i] % BATCHES;
        if (walk_absorbed(b, i)) {
            moment_add(&self->path, path + length);
        }
        for (int k = 0; k < SHELLS; ++k) {
            const double inner = reference[k].radius - 0.5, outer = reference[k].radius + 0.5;
            if (radius + length < inner) {
                break;
            }
            if (radius - length > outer || closest_squared >= outer * outer) {
                continue;
            }
            const double far = sqrt(outer * outer - closest_squared);
            const double near = sqrt(fmax(inner * inner - closest_squared, 0.0));
            add_piece(self, k, batch, path, closest, closest_squared, fmax(closest - far, 0.0),
                      fmin(closest - near, length));
            add_piece(self, k, batch, path, closest, closest_squared, fmax(closest + near, 0.0),
                      fmin(closest + far, length));
        }
    }
}

/* The standard deviation of the mean of all batches. */
static double error_of(const moment *batches)
{
    return moment_error(batches) * sqrt(BATCHES / (BATCHES - 1.0));
}

static void check_shell(int k, double batches[BATCHES][BINS], double count)
{
    const double outer = reference[k].radius + 0.5, inner = reference[k].radius - 0.5;
    const double volume = 4.0 / 3.0 * M_PI * (outer * outer * outer - inner * inner * inner);
    double all[BINS] = {0};
    moment fluence = {0}, quantiles[SHARES] = {{0}};
    for (int n = 0; n < BATCHES; ++n) {
        for (int i = 0; i < BINS; ++i) {
            all[i] += batches[n][i];
        }
        moment_add(&fluence, histogram_total(batches[n], BINS) * BATCHES / (volume * count));
        for (int q = 0; q < SHARES; ++q) {
            moment_add(&quantiles[q], histogram_quantile(batches[n], BINS, shares[q]));
        }
    }
    char what[64];
    snprintf(what, sizeof what, "fluence at %g m, 1/m^2", reference[k].radius);
    expect_value(what, moment_mean(&fluence), hypot(error_of(&fluence), reference[k].error),
                 reference[k].fluence, 0.005 * reference[k].fluence);
    for (int q = 0; q < SHARES; ++q) {
        const double expected = reference[k].quantiles[q];
        const double error = error_of(&quantiles[q]) * sqrt(1.0 + count / reference_photons);
        snprintf(what, sizeof what, "%g %% of excess path at %g m, m", 100.0 * shares[q],
                 reference[k].radius);
        /* Half a digit; below 2 m the bins are coarse. */
        expect_value(what, histogram_quantile(all, BINS, shares[q]), error, expected,
                     expected < 2.0 ? 0.3 : 0.05);
    }

    /* Diffusion, which wants r >> lambda_e: with the length that suits strong absorption, and
     * without it in the middle distances (12.3); a check of orders, not of percents. */
    const double r = reference[k].radius, inverse_length = 1.0 / 25.0 + 1.0 / 100.0;
    const double corrected =
        3.0 * inverse_length / (4.0 * M_PI * r) * exp(-r * sqrt(3.0 * inverse_length / 100.0));
    const double plain = 3.0 / (4.0 * M_PI * 25.0 * r) * exp(-r / sqrt(25.0 * 100.0 / 3.0));
    if (r > 18.0) {
        ck_assert_double_eq_tol(moment_mean(&fluence) / corrected, 1.0, 0.15);
    }
    if (r > 18.0 && r < 62.0) {
        ck_assert_double_eq_tol(moment_mean(&fluence) / plain, 1.0, 0.15);
    }
}

START_TEST(fluence_in_shells)
{
    stage_world world = stage_world_from_config(NULL, "ice.model=uniform", "light.acceptance=none",
                                                "light.spectra=[{line: 400}]", NULL);
    stage_world_set_detector(&world, world_detector_far());
    world.options.seed = 1221;
    ice_emission point = lamp;
    point.spectrum = 7;
    shells *halves[2];
    for (int i = 0; i < 2; ++i) {
        halves[i] = calloc(1, sizeof **halves);
        ck_assert_ptr_nonnull(halves[i]);
    }
    const walk_job job = {.tables = stage_world_tables(&world),
                          .emission = &point,
                          .variants = world_variants(),
                          .photons = photons(PHOTONS),
                          .path_limit = INFINITY,
                          .scatter_limit = UINT32_MAX,
                          .visit = see_shells};
    walk_run_halves(&job, (void *[2]){halves[0], halves[1]});
    shells *all = halves[0];
    moment_join(&all->path, &halves[1]->path);
    for (int k = 0; k < SHELLS; ++k) {
        for (int n = 0; n < BATCHES; ++n) {
            for (int i = 0; i < BINS; ++i) {
                all->excess[k][n][i] += halves[1]->excess[k][n][i];
            }
        }
    }

    /* The fluence summed over all space is the mean path of a photon. */
    ck_assert_double_eq(all->path.count, (double)photons(PHOTONS));
    expect_mean("fluence in all space, m", &all->path, 100.0, 0.0);
    for (int k = 0; k < SHELLS; ++k) {
        check_shell(k, all->excess[k], all->path.count);
    }
    free(halves[0]);
    free(halves[1]);
    stage_world_destroy(&world);
}
END_TEST

/* ---- modules --------------------------------------------------------------------------------- */

enum { RINGS_MAX = 4 };

typedef struct half {
    const stage_world *world;
    ice_emission emission;
    world_result result;
} half;

static void *run_half(void *argument)
{
    half *self = argument;
    const ice_variants variants = world_variants();
    self->result =
        world_run(self->world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, &self->emission, 1);
    return NULL;
}

static void run_halves(const stage_world *world, uint32_t count, half halves[2])
{
    for (uint32_t i = 0; i < 2; ++i) {
        halves[i] = (half){.world = world, .emission = lamp};
        halves[i].emission.photons = count / 2;
        halves[i].emission.first_photon = i * (count / 2);
    }
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, run_half, &halves[0]), 0);
    run_half(&halves[1]);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* Nothing comes faster than light straight from the source to where it enters the module. */
static void check_causality(const stage_world *world, const half *run)
{
    const ice_detector *detector = world->detector;
    const double speed = 0.2210686; /* m/ns at 400 nm (physics.md 4.1) */
    for (size_t i = 0; i < run->result.arrivals.count; ++i) {
        const ice_arrival *a = &run->result.arrivals.items[i];
        const ice_module *module = &detector->modules[a->module];
        const double along = a->x * a->dx + a->y * a->dy + a->z * a->dz;
        /* From true to enlarged size: only what is across the flight grows. */
        const double f = detector->oversize;
        const double x = module->x + f * a->x + (1.0 - f) * along * a->dx;
        const double y = module->y + f * a->y + (1.0 - f) * along * a->dy;
        const double z = module->z + f * a->z + (1.0 - f) * along * a->dz;
        const double distance = sqrt(x * x + y * y + z * z);
        const double delay = ics_tables_arrival_delay(&world->tables->device, &run->emission, a);
        ck_assert_double_ge(a->path, distance - 1e-3);
        ck_assert_double_ge(delay, (distance - 1e-3) / speed - 1e-3);
        /* Along the way the speed is the group velocity. */
        ck_assert_double_eq_tol(delay, a->path / speed, 1e-6 * delay + 1e-9);
        if (a->scatters == 0) {
            ck_assert_double_eq_tol(a->path, distance, 1e-3);
        }
    }
}

static size_t ring_of(const world_ring *rings, uint32_t module)
{
    size_t k = 0;
    for (size_t first = 0; module >= first + rings[k].modules; ++k) {
        first += rings[k].modules;
    }
    return k;
}

typedef struct tally {
    double hits, squares; /* per ring: hits, and the square of every photon's hits */
} tally;

/* Arrivals of one photon follow each other. */
static void count_hits(const world_ring *rings, const half *run, bool direct,
                       tally tallies[RINGS_MAX])
{
    const ics_arrivals *arrivals = &run->result.arrivals;
    for (size_t i = 0; i < arrivals->count;) {
        double hits[RINGS_MAX] = {0};
        const uint32_t photon = arrivals->items[i].photon_id;
        for (; i < arrivals->count && arrivals->items[i].photon_id == photon; ++i) {
            if (!direct || arrivals->items[i].scatters == 0) {
                hits[ring_of(rings, arrivals->items[i].module)] += 1.0;
            }
        }
        for (int k = 0; k < RINGS_MAX; ++k) {
            tallies[k].hits += hits[k];
            tallies[k].squares += hits[k] * hits[k];
        }
    }
}

/* Runs photons through a world with these rings; returns how many. */
static double run_rings(ice_medium *medium, const world_ring *rings, size_t count, double oversize,
                        bool direct, uint64_t seed, uint32_t full, tally tallies[RINGS_MAX])
{
    stage_world world = stage_world_create(medium, world_detector_rings(rings, count, oversize),
                                           world_light_line(400));
    world.options.seed = seed;
    stage_world_tables(&world);
    half halves[2];
    run_halves(&world, photons(full), halves);
    double emitted = 0.0;
    for (int i = 0; i < RINGS_MAX; ++i) {
        tallies[i] = (tally){0};
    }
    for (int i = 0; i < 2; ++i) {
        check_causality(&world, &halves[i]);
        count_hits(rings, &halves[i], direct, tallies);
        emitted += halves[i].emission.photons;
        world_result_free(&halves[i].result);
    }
    stage_world_destroy(&world);
    return emitted;
}

/* Direct light: physics.md 12.2, fractions per module of true size. A module further out than the
 * others sees through them. */
static const struct {
    const char *name;
    double lambda_s, lambda_a;
    uint32_t photons;
    world_ring rings[3];
    size_t count;
} direct_light[] = {
    {"geometry only", 1e7, 1e7, PHOTONS / 5, {{10, 100, 6.814967e-5}}, 1},
    {"absorption only",
     1e7,
     100,
     PHOTONS / 5,
     {{5, 40, 2.596461e-4}, {10, 100, 6.173271e-5}, {20, 200, 1.396375e-5}},
     3},
    {"direct light", 2.5, 100, PHOTONS, {{5, 40, 3.674533e-5}, {10, 200, 1.182035e-6}}, 2},
};

START_TEST(direct_fractions)
{
    tally tallies[RINGS_MAX];
    const double emitted = run_rings(
        world_medium_uniform(direct_light[_i].lambda_s, 0.9, 0.35, direct_light[_i].lambda_a),
        direct_light[_i].rings, direct_light[_i].count, 1.0, true, 1300 + (uint64_t)_i,
        direct_light[_i].photons, tallies);
    for (size_t k = 0; k < direct_light[_i].count; ++k) {
        const world_ring *at = &direct_light[_i].rings[k];
        char what[64];
        snprintf(what, sizeof what, "%s at %g m", direct_light[_i].name, at->radius);
        /* Where there should be no scattering or absorption, its length is 1e7 m: 2e-6 at 20 m. */
        expect_share(what, tallies[k].hits, emitted * (double)at->modules, at->expected,
                     2e-6 * at->expected);
    }
}
END_TEST

START_TEST(hits_scale_with_size)
{
    static const world_ring rings[] = {
        {20, 60, 2.5542e-4}, {30, 100, 1.1204e-4}, {50, 200, 3.1553e-5}};
    /* Small modules see less of each photon, so they get more photons. */
    static const struct {
        double factor;
        uint32_t photons;
    } sizes[] = {{1, 2 * PHOTONS}, {2, PHOTONS / 2}, {5, PHOTONS / 5}};
    enum { RINGS = 3, SIZES = 3 };
    double rates[SIZES][RINGS], errors[SIZES][RINGS];
    char what[64];
    for (int n = 0; n < SIZES; ++n) {
        tally tallies[RINGS_MAX];
        const double emitted =
            run_rings(world_medium_uniform(2.5, 0.9, 0.35, 100), rings, RINGS, sizes[n].factor,
                      false, 1400 + (uint64_t)n, sizes[n].photons, tallies);
        for (int k = 0; k < RINGS; ++k) {
            const double reach = sizes[n].factor * ICE_MODULE_RADIUS;
            const double scale = emitted * (double)rings[k].modules * M_PI * reach * reach;
            rates[n][k] = tallies[k].hits / scale;
            errors[n][k] = sqrt(tallies[k].squares) / scale;
            snprintf(what, sizeof what, "hits of F = %g at %g m as fluence", sizes[n].factor,
                     rings[k].radius);
            expect_value(what, rates[n][k], errors[n][k], rings[k].expected,
                         0.005 * rings[k].expected);
        }
    }
    for (int n = 1; n < SIZES; ++n) {
        for (int k = 0; k < RINGS; ++k) {
            snprintf(what, sizeof what, "F = %g over F = 1 at %g m", sizes[n].factor,
                     rings[k].radius);
            expect_value(what, rates[n][k] / rates[0][k],
                         hypot(errors[n][k] / rates[n][k], errors[0][k] / rates[0][k]), 1.0, 0.002);
        }
    }
}
END_TEST

ICS_TEST_MAIN("fluence")
{
    TCase *fluence = tcase_create("fluence");
    tcase_set_timeout(fluence, 1000);
    tcase_add_test(fluence, fluence_in_shells);
    tcase_add_loop_test(fluence, direct_fractions, 0, sizeof direct_light / sizeof *direct_light);
    tcase_add_test(fluence, hits_scale_with_size);
    suite_add_tcase(suite, fluence);
}
