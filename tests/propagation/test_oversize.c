/* Wide modules see the light of true ones (physics.md 8.3, 8.19). An isotropic source in uniform
 * ice, case U of physics.md 12.1 with a short scattering length, and modules on a sphere around it:
 * photons that enter modules five times as wide give the sum, the fluctuations and the times of
 * true modules.
 *
 * How to join: a new rule for the crossing of wide modules is one more run_rule(). */
#include "tests/propagation/halves.h"
#include "tests/support/moments.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <math.h>

enum { MODULES = 200, BLOCKS = 40, PHOTONS = 160000 };
static const double distance = 5.0, wide = 5.0,
                    slowness = 1.0 / 0.2210686; /* m; 1; ns/m at 400 nm */

typedef struct seen {
    double sums[BLOCKS];  /* hits over F^2 of photons of each block */
    double first[BLOCKS]; /* the same of their first hits on each module */
    double hits, squares; /* sums over photons and modules of their hits m, and of m^2 */
    double early;         /* hits before light that goes straight to the point of impact */
    double latest_early;  /* ns, by how much */
} seen;

static void add_hits(const half *run, seen *out)
{
    const ice_detector *detector = run->world->detector;
    const double share = 1.0 / (detector->oversize * detector->oversize);
    double pairs = 0.0;
    for (size_t i = 0; i < run->result.arrivals.count; ++i) {
        const ice_arrival *a = &run->result.arrivals.items[i];
        const ice_module *module = &detector->modules[a->module];
        const double x = module->x + (double)a->x, y = module->y + (double)a->y,
                     z = module->z + (double)a->z;
        const double delay =
            ics_tables_arrival_delay(&run->world->tables->device, &run->emission, a);
        const double early = sqrt(x * x + y * y + z * z) * slowness - delay;
        out->sums[a->photon_id % BLOCKS] += share;
        out->hits += 1.0;
        out->early += early > 0.01;
        out->latest_early = fmax(out->latest_early, early);
        /* All hits of a photon follow each other. m hits on a module are m (m - 1) / 2 pairs. */
        double before = 0.0;
        const ice_arrival *b = a;
        for (size_t k = i; k > 0 && b[-1].photon_id == a->photon_id; --k, --b) {
            before += b[-1].module == a->module;
        }
        pairs += before;
        out->first[a->photon_id % BLOCKS] += before > 0.0 ? 0.0 : share;
    }
    out->squares += (double)run->result.arrivals.count + 2.0 * pairs;
}

static seen run_rule(double oversize, ice_crossing_rule crossing)
{
    const world_ring ring = {.radius = distance, .modules = MODULES};
    stage_world world =
        stage_world_create(world_medium_uniform(0.5, 0.9, 0.35, 25.0),
                           world_detector_rings(&ring, 1, oversize), world_light_line(400.0));
    world.detector->crossing = crossing;
    world.options.seed = 8191;
    stage_world_tables(&world);
    const ice_emission lamp = {
        .dz = 1.0f, .beta = 1.0f, .step_id = 3, .spectrum = 1, .flags = ICE_EMISSION_ISOTROPIC};
    half halves[2];
    run_halves(&world, &lamp, (uint32_t)test_scaled_up(PHOTONS), halves);
    seen out = {.hits = 0};
    for (int i = 0; i < 2; ++i) {
        add_hits(&halves[i], &out);
        world_result_free(&halves[i].result);
    }
    stage_world_destroy(&world);
    return out;
}

/* The ratio of two sums over the same photons and its error: the spread when one block is left out.
 */
static double ratio(const double of[BLOCKS], const double to[BLOCKS], double *error)
{
    double above = 0.0, below = 0.0, mean = 0.0, square = 0.0;
    for (int b = 0; b < BLOCKS; ++b) {
        above += of[b];
        below += to[b];
    }
    for (int b = 0; b < BLOCKS; ++b) {
        const double without = (above - of[b]) / (below - to[b]);
        mean += without / BLOCKS;
        square += without * without / BLOCKS;
    }
    *error = sqrt((BLOCKS - 1) * fmax(square - mean * mean, 0.0));
    return above / below;
}

/* The sums of the rules at F = 5 against F = 1. 4.5 sigma: a false alarm of 7e-6 for each
 * comparison, and the seed is fixed. At 5 m the curvature of the fluence adds 0.4 %
 * (docs/oversize.md). */
START_TEST(entries_see_what_true_modules_see)
{
    const seen truth = run_rule(1.0, ICE_CROSSING_ENTRY);
    const seen entry = run_rule(wide, ICE_CROSSING_ENTRY);
    const seen disc = run_rule(wide, ICE_CROSSING_DISC);
    double error;
    const double of_entry = ratio(entry.sums, truth.sums, &error);
    printf("entry %.4f +- %.4f", of_entry, error);
    ck_assert_double_lt(error, 0.01);
    ck_assert_double_eq_tol(of_entry, 1.004, 4.5 * error);
    const double of_stop = ratio(disc.first, truth.sums, &error);
    printf(", first crossings %.4f +- %.4f", of_stop, error);
    ck_assert_double_lt(of_stop, 0.94); /* about 0.88: what is left if photons stop */
    /* The same photons, so that the difference of two means is known better than each of them. */
    const double of_disc = ratio(disc.sums, entry.sums, &error);
    printf(", disc / entry %.4f +- %.4f\n", of_disc, error);
    ck_assert_double_eq_tol(of_disc, 1.0, 0.002 + 4.5 * error);

    /* Bunching: sum m^2 over sum m. Entries repeat a fifth as often as the disc. */
    const double bunch = entry.squares / entry.hits, bunch_disc = disc.squares / disc.hits;
    printf("bunching: truth %.4f, entry %.4f, disc %.4f\n", truth.squares / truth.hits, bunch,
           bunch_disc);
    ck_assert_double_lt(bunch, 1.08);
    ck_assert_double_gt(bunch_disc, 1.18);

    /* No light comes before light that goes straight to the point of impact. */
    printf("early hits: entry %.0f, at most %.3g ns; disc %.0f of %.0f, at most %.3g ns\n",
           entry.early, entry.latest_early, disc.early, disc.hits, disc.latest_early);
    ck_assert_double_eq(entry.early, 0.0);
    ck_assert_double_gt(disc.early, 0.01 * disc.hits);
}
END_TEST

/* The worked path of physics.md 8.19: straight light that passes a wide module keeps its delay of
 * 0. */
START_TEST(straight_light_comes_when_it_would_at_the_true_module)
{
    static const double at[1][3] = {{10.0, 0.5, 0.0}};
    for (int entry = 0; entry < 2; ++entry) {
        ice_detector *detector = world_detector(at, 1, wide);
        detector->crossing = entry ? ICE_CROSSING_ENTRY : ICE_CROSSING_DISC;
        stage_world world = stage_world_create(world_medium_uniform(25.0, 0.9, 0.35, 100.0),
                                               detector, world_light_line(400.0));
        const ice_tables *tables = stage_world_tables(&world);
        const ice_emission source = {
            .beta = 1.0f, .spectrum = 1, .photons = 1, .flags = ICE_EMISSION_ISOTROPIC};
        const ice_arrival arrival = {
            .x = -0.131370f, .y = -0.1f, .dx = 1.0f, .path = 9.868630f, .wavelength = 400.0f};
        const double path = ics_tables_arrival_delay(tables, &source, &arrival) / slowness;
        ck_assert_double_eq_tol(path, entry ? 9.876733 : 9.868630, 2e-5);
        stage_world_destroy(&world);
    }
}
END_TEST

ICS_TEST_MAIN("oversize")
{
    TCase *oversize = tcase_create("oversize");
    tcase_add_test(oversize, straight_light_comes_when_it_would_at_the_true_module);
    tcase_add_test(oversize, entries_see_what_true_modules_see);
    suite_add_tcase(suite, oversize);
}
