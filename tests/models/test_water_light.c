/* Promise: light in water agrees with independent numbers: its yield, and the share of direct light
 * behind absorption and scattering; and the digest of water follows its numbers. To join: a new
 * number of a water file is one more change in `digests`. */
#include "pipeline/photons/models/ice/ice.h"
#include "pipeline/photons/models/light/light.h"
#include "stages/variants.h"
#include "tables/tables.h"
#include "tests/models/water_files.h"
#include "tests/support/loaded_models.h"
#include "tests/support/model_files.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Loads the models with a file of water. Fails the test on errors. */
static ics_models *models_of(const char *file)
{
    char set[MODEL_PATH + 32];
    snprintf(set, sizeof set, "ice.file=%s", file);
    return models_load(model_config(set, MOLECULES, "light.acceptance=none", NULL));
}

START_TEST(cherenkov_light)
{
    /* Frank and Tamm's integral over 265 .. 675 nm with the index of this water, computed
     * elsewhere; ice has 45023. */
    ics_models *models = models_of(SEA_FILE);
    ck_assert_double_eq_tol(ics_light_cherenkov_yield(models->medium, 400, 1), 130.5017536401,
                            1e-6);
    ck_assert_double_eq_tol(models->light->photons_per_metre, 48172.88, 1);
    ics_models_destroy(models);
}
END_TEST

/* Checks whether the ice digest of a file is the `same` as that of other models, or not. */
static void expect_digests(const model_folder *folder, const char *yaml, const ics_models *like,
                           bool same)
{
    char path[MODEL_PATH];
    ics_models *models = models_of(model_folder_write(folder, "w.yaml", yaml, path));
    ck_assert_msg((strcmp(models->ice_digest, like->ice_digest) == 0) == same, "%s", yaml);
    ics_models_destroy(models);
}

START_TEST(digests)
{
    static const char head[] = "optics: {table: [[wavelength_nm, absorption_per_m, ";
    static const char first[] = "scattering_per_m], [250, 0.25, 0.125], [700, 0.25, 0.125]]}\n";
    model_folder folder = model_folder_create();
    char path[MODEL_PATH], yaml[1024];
#define COMPOSE(...) snprintf(yaml, sizeof yaml, "%s%s%s%s", __VA_ARGS__)
    COMPOSE(head, first, SCATTERING, INDEX);
    ics_models *models = models_of(model_folder_write(&folder, "a.yaml", yaml, path));
    expect_digests(&folder, yaml, models, true);
    COMPOSE(head, "scattering_length_m], [250, 0.25, 8], [700, 0.25, 8]]}\n", SCATTERING, INDEX);
    expect_digests(&folder, yaml, models, true);
    COMPOSE(head, "scattering_per_m], [250, 0.25, 0.125], [700, 0.251, 0.125]]}\n", SCATTERING,
            INDEX);
    expect_digests(&folder, yaml, models, false);
    COMPOSE(head, "scattering_per_m], [250, 0.25, 0.126], [700, 0.25, 0.125]]}\n", SCATTERING,
            INDEX);
    expect_digests(&folder, yaml, models, false);
    COMPOSE(head, first, "scattering: {mean_cosine: 0.9, rayleigh_fraction: 0.01}\n", INDEX);
    expect_digests(&folder, yaml, models, false);
    COMPOSE(head, first, SCATTERING, "index: {salinity: 35, temperature: 11, pressure: 500}\n");
    expect_digests(&folder, yaml, models, false);
    ics_models_destroy(models);
    model_folder_remove(&folder);
}
END_TEST

/* ---- a run ----------------------------------------------------------------------------------- */

enum { LINES = 3, FIRST_LINE = 7 };

/* Pencil beams are aimed at a module. The share exp(-(a + b) distance) arrives without a scatter,
 * at the speed of the group index. */
START_TEST(direct_light)
{
    static const double lines[LINES] = {375, 470, 550}, distance = 40;
    static const double place[1][3] = {{0, 0, 0}};
    const uint32_t photons = (uint32_t)test_scaled(400000);
    stage_world world =
        stage_world_from_config(NULL, "ice.file=" SEA_FILE, MOLECULES, "light.acceptance=none",
                                "light.spectra=[{line: 375}, {line: 470}, {line: 550}]", NULL);
    stage_world_set_detector(&world, world_detector(place, 1, 1.0));
    const ice_tables *tables = stage_world_tables(&world);
    const double way = distance - world.detector->radius;
    ice_emission emissions[LINES];
    for (int i = 0; i < LINES; ++i) {
        emissions[i] = (ice_emission){.z = (float)-distance,
                                      .dz = 1.0f,
                                      .beta = 1.0f,
                                      .photons = photons,
                                      .step_id = (uint32_t)i,
                                      .spectrum = (uint32_t)(FIRST_LINE + i)};
    }
    ice_variants variants = world_variants();
    variants.scatter = ICE_scatter_rayleigh_hg;
    world_result wave =
        world_run(&world, ICS_SCHEDULE_WAVEFRONT, &variants, "auto", 0, emissions, LINES);
    world_result mono =
        world_run(&world, ICS_SCHEDULE_MONOLITHIC, &variants, "auto", 0, emissions, LINES);
    ck_assert_uint_eq(wave.account.created, (uint64_t)LINES * photons);
    ck_assert_mem_eq(&wave.account, &mono.account, sizeof wave.account);
    ck_assert_uint_eq(wave.arrivals.count, mono.arrivals.count);
    ck_assert_mem_eq(wave.arrivals.items, mono.arrivals.items,
                     wave.arrivals.count * sizeof *wave.arrivals.items);

    double direct[LINES] = {0};
    uint64_t scattered = 0;
    for (size_t i = 0; i < wave.arrivals.count; ++i) {
        const ice_arrival *hit = &wave.arrivals.items[i];
        if (hit->scatters > 0) {
            ++scattered;
            continue;
        }
        const double line = lines[hit->emission];
        ck_assert_double_eq(hit->wavelength, line);
        ck_assert_double_eq_tol(ics_tables_arrival_delay(tables, &emissions[hit->emission], hit),
                                way * ice_water_group_index(&sea, line) / ICE_LIGHT_SPEED, 1e-3);
        direct[hit->emission] += 1;
    }
    ck_assert_uint_gt(scattered, 0);
    for (int i = 0; i < LINES; ++i) {
        /* b is the effective coefficient divided by 1 - <cos>, the mean over molecules and
         * particles. */
        const double a = ics_ice_absorption(world.medium, 0, lines[i]);
        const double b = ics_ice_scattering(world.medium, 0, lines[i]) / (1 - 0.83 * 0.924);
        const double share = exp(-(a + b) * way);
        const double sigma = sqrt(photons * share * (1 - share));
        printf("%g nm: %.0f direct of %u, expected %.1f +- %.1f\n", lines[i], direct[i], photons,
               photons * share, sigma);
        ck_assert_double_eq_tol(direct[i], photons * share, 4.5 * sigma);
    }
    world_result_free(&wave);
    world_result_free(&mono);
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("water_light")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, cherenkov_light);
    tcase_add_test(all, digests);
    tcase_add_test(all, direct_light);
    suite_add_tcase(suite, all);
}
