#include "tests/support/point_source.h"

#include "tests/support/moments.h"

/* ---- shells ---------------------------------------------------------------------------------- */

const shell_reference shell_references[SHELLS] = {
    {10, 9.3304e-4, 3.3e-7, {0.2, 0.4, 0.8, 2.1, 11.6}},
    {20, 2.5542e-4, 1.3e-7, {0.5, 1.4, 3.8, 13.8, 46.3}},
    {30, 1.1204e-4, 0.7e-7, {1.8, 3.9, 10.2, 30.7, 74.8}},
    {50, 3.1553e-5, 2.6e-8, {6.5, 12.6, 28.2, 63.6, 120.2}},
    {75, 8.3033e-6, 1.0e-8, {15.6, 27.7, 53.6, 101.3, 168.6}},
    {100, 2.4513e-6, 4e-9, {27.4, 45.4, 80.2, 137.9, 213.5}},
    {125, 7.743e-7, 2e-9, {41.2, 64.7, 107.0, 172.0, 255.1}},
};
static const double shares[SHELL_SHARES] = {0.10, 0.25, 0.50, 0.75, 0.90};
static const double reference_photons = 6e6;

/* The standard deviation of the mean of all batches. */
static double error_of(const moment *batches)
{
    return moment_error(batches) * sqrt(SHELL_BATCHES / (SHELL_BATCHES - 1.0));
}

double expect_shell(int k, const double *bins, double count, const char *where)
{
    const shell_reference *shell = &shell_references[k];
    const double outer = shell->radius + 0.5, inner = shell->radius - 0.5;
    const double volume = 4.0 / 3.0 * M_PI * (outer * outer * outer - inner * inner * inner);
    double all[SHELL_BINS] = {0};
    moment fluence = {0}, quantiles[SHELL_SHARES] = {{0}};
    for (int n = 0; n < SHELL_BATCHES; ++n) {
        const double *batch = bins + (size_t)n * SHELL_BINS;
        for (int i = 0; i < SHELL_BINS; ++i) {
            all[i] += batch[i];
        }
        moment_add(&fluence, histogram_total(batch, SHELL_BINS) * SHELL_BATCHES / (volume * count));
        for (int q = 0; q < SHELL_SHARES; ++q) {
            moment_add(&quantiles[q], histogram_quantile(batch, SHELL_BINS, shares[q]));
        }
    }
    char what[96];
    snprintf(what, sizeof what, "fluence at %g m, 1/m^2%s", shell->radius, where);
    expect_value(what, moment_mean(&fluence), hypot(error_of(&fluence), shell->error),
                 shell->fluence, 0.005 * shell->fluence);
    for (int q = 0; q < SHELL_SHARES; ++q) {
        const double expected = shell->quantiles[q];
        const double error = error_of(&quantiles[q]) * sqrt(1.0 + count / reference_photons);
        snprintf(what, sizeof what, "%g %% of excess path at %g m, m%s", 100.0 * shares[q],
                 shell->radius, where);
        /* Half of the last digit. Below 2 m the bins are coarse. */
        expect_value(what, histogram_quantile(all, SHELL_BINS, shares[q]), error, expected,
                     expected < 2.0 ? 0.3 : 0.05);
    }
    return moment_mean(&fluence);
}

/* ---- modules on rings ------------------------------------------------------------------------ */

size_t ring_of(const ring_run *run, uint32_t module)
{
    size_t k = 0;
    for (size_t first = 0; module >= first + run->rings[k].modules; ++k) {
        first += run->rings[k].modules;
    }
    return k;
}

stage_world ring_world(const ring_run *run)
{
    stage_world world = stage_world_create(
        run->medium, world_detector_rings(run->rings, run->ring_count, run->oversize),
        world_light_line(400));
    world.options.seed = run->seed;
    stage_world_tables(&world);
    return world;
}

void ring_tally_add(ring_tally *tally, const ring_run *run, const ics_arrivals *arrivals)
{
    for (size_t i = 0; i < arrivals->count;) {
        double hits[RINGS_MAX] = {0};
        const uint32_t photon = arrivals->items[i].photon_id;
        for (; i < arrivals->count && arrivals->items[i].photon_id == photon; ++i) {
            if (!run->direct || arrivals->items[i].scatters == 0) {
                hits[ring_of(run, arrivals->items[i].module)] += 1.0;
            }
        }
        for (int k = 0; k < RINGS_MAX; ++k) {
            tally->hits[k] += hits[k];
            tally->squares[k] += hits[k] * hits[k];
        }
    }
}

/* Fractions of the photons per module of true size. The rings of one case do not shade each other,
 * because photons go on after a hit. */
static const struct {
    const char *name;
    double lambda_s, lambda_a;
    uint32_t photons;
    world_ring rings[3];
    size_t ring_count;
} direct_light[DIRECT_LIGHTS] = {
    {"geometry only", 1e7, 1e7, POINT_SOURCE_PHOTONS / 5, {{10, 100, 6.814967e-5}}, 1},
    {"absorption only",
     1e7,
     100,
     POINT_SOURCE_PHOTONS / 5,
     {{5, 40, 2.596461e-4}, {10, 100, 6.173271e-5}, {20, 200, 1.396375e-5}},
     3},
    {"direct light",
     2.5,
     100,
     POINT_SOURCE_PHOTONS,
     {{5, 40, 3.674533e-5}, {10, 200, 1.182035e-6}},
     2},
};

void expect_direct_fractions(int which, ring_runner *runner, void *user, uint64_t seed,
                             double slack, const char *where)
{
    const ring_run run = {.medium = world_medium_uniform(direct_light[which].lambda_s, 0.9, 0.35,
                                                         direct_light[which].lambda_a),
                          .rings = direct_light[which].rings,
                          .ring_count = direct_light[which].ring_count,
                          .oversize = 1.0,
                          .direct = true,
                          .seed = seed,
                          .photons = direct_light[which].photons};
    const ring_tally seen = runner(&run, user);
    for (size_t k = 0; k < run.ring_count; ++k) {
        const world_ring *at = &run.rings[k];
        char what[96];
        snprintf(what, sizeof what, "%s at %g m%s", direct_light[which].name, at->radius, where);
        expect_share(what, seen.hits[k], seen.emitted * (double)at->modules, at->expected,
                     slack * at->expected);
    }
}

void expect_hits_scale_with_size(ring_runner *runner, void *user, uint64_t seed, const char *where)
{
    static const world_ring rings[] = {
        {20, 60, 2.5542e-4}, {30, 100, 1.1204e-4}, {50, 200, 3.1553e-5}};
    /* Small modules detect less of the light, so they get more photons. */
    static const struct {
        double factor;
        uint32_t photons;
    } sizes[] = {{1, 2 * POINT_SOURCE_PHOTONS},
                 {2, POINT_SOURCE_PHOTONS / 2},
                 {5, POINT_SOURCE_PHOTONS / 5}};
    enum { RINGS = 3, SIZES = 3 };
    double rates[SIZES][RINGS], errors[SIZES][RINGS];
    char what[96];
    for (int n = 0; n < SIZES; ++n) {
        const ring_run run = {.medium = world_medium_uniform(2.5, 0.9, 0.35, 100),
                              .rings = rings,
                              .ring_count = RINGS,
                              .oversize = sizes[n].factor,
                              .seed = seed + (uint64_t)n,
                              .photons = sizes[n].photons};
        const ring_tally seen = runner(&run, user);
        for (int k = 0; k < RINGS; ++k) {
            const double reach = sizes[n].factor * ICE_MODULE_RADIUS;
            const double scale = seen.emitted * (double)rings[k].modules * M_PI * reach * reach;
            rates[n][k] = seen.hits[k] / scale;
            errors[n][k] = sqrt(seen.squares[k]) / scale;
            snprintf(what, sizeof what, "hits of F = %g at %g m as fluence%s", sizes[n].factor,
                     rings[k].radius, where);
            expect_value(what, rates[n][k], errors[n][k], rings[k].expected,
                         0.005 * rings[k].expected);
        }
    }
    for (int n = 1; n < SIZES; ++n) {
        for (int k = 0; k < RINGS; ++k) {
            snprintf(what, sizeof what, "F = %g over F = 1 at %g m%s", sizes[n].factor,
                     rings[k].radius, where);
            expect_value(what, rates[n][k] / rates[0][k],
                         hypot(errors[n][k] / rates[n][k], errors[0][k] / rates[0][k]), 1.0, 0.002);
        }
    }
}
