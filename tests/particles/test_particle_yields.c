/* Promise: particles make as many photons as the yields of physics.md 3 and 10 say, and as many as
 * the public program ppc made of the same lists. To join: a new kind of particle with its own
 * yield gets a line in `yields`.
 *
 * There are 12 statistical comparisons. tests/support/moments.h says how likely a correct
 * program fails one of them. */
#include "tests/particles/particle_world.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <unistd.h>

START_TEST(yields)
{
    const double energy = 1e5;
    const ice_muon_loss ice = ice_muon_loss_in(ICE_DENSITY);
    expect_photons("electron", photons_of("", "{type: e-, energy: 1e5, " HERE "}"),
                   energy * EM * YIELD);
    expect_photons("electron of clsim",
                   photons_of("conventions: clsim, ", "{type: e-, energy: 1e5, " HERE "}"),
                   energy * 5.22357 * YIELD * 1.000263);
    expect_photons("gamma below 1 GeV", photons_of("", "{type: gamma, energy: 0.5, " HERE "}"),
                   0.5 * EM * YIELD);
    expect_photons("muon, 1 TeV, 1 km",
                   photons_of("losses: none, ", "{type: mu, energy: 1000, length: 1000, " HERE "}"),
                   1000 * YIELD * 1.31976);
    expect_photons("tau",
                   photons_of("decays: none, ", "{type: tau, energy: 100, length: 2000, " HERE "}"),
                   2000 * YIELD * 1.27931);
    expect_photons("muon of clsim",
                   photons_of("conventions: clsim, losses: none, ",
                              "{type: mu, energy: 1000, length: 1000, " HERE "}"),
                   1000 * YIELD * 1.33030 * 1.000263);
    expect_photons(
        "muon with its range",
        photons_of("track_length: range, losses: none, ", "{type: mu, energy: 100, " HERE "}"),
        (ice_muon_range(&ice, 100) * 1.25846 - 0.69) * YIELD);
}
END_TEST

/* Without an acceptance, all light from 265 to 675 nm is made. */
START_TEST(plain_yield)
{
    world w = open_world(PLAIN "light: {acceptance: none}\n"
                               "particles: {list: [{type: e+, energy: 1000, " HERE "}]}\n");
    expect_photons("plain light", (double)count_all(&w).photons, 1000 * 236554.0);
    close_world(&w);
}
END_TEST

/* Returns the number of photons of an electron in water. `density` is a line of the water file, or
 * empty. */
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

/* The light of a cascade is proportional to 1 / density of the medium. Without a density it is that
 * of the salinity, temperature and pressure of the index: UNESCO 1983 has 1026.952 kg/m3. */
START_TEST(light_in_water)
{
    const double ice = photons_in_water("density: 0.9216\n");
    expect_photons("density by salinity", photons_in_water(""), ice * 0.9216 / 1.026952);
    expect_photons("another water", photons_in_water("density: 1.038\n"), ice * 0.9216 / 1.038);
}
END_TEST

/* The mean and the spread of the light of protons of one energy. */
START_TEST(hadrons)
{
    const size_t count = test_scaled(2000);
    world w = open_equal_particles("cascades: steps, photons_per_step: 1000000000,",
                                   "type: p, energy: 1000", count);
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

/* ---- the public program's inputs ------------------------------------------------------------- */

#define SHARED ICS_SHARED_DIRECTORY

/* The numbers of photons are those of peer_speed_h200.csv for the full ice. ppc thins light by the
 * acceptance of the best module of the ice, as this program does with stages.detect: pe. */
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
        test_skip(SHARED " has no reference inputs");
        return;
    }
    for (size_t i = 0; i < COUNT(runs); ++i) {
        char text[2048];
        snprintf(text, sizeof text,
                 "ice: {directory: \"" SHARED "/ice/%s\", birefringence: false}\n"
                 "stages: {detect: pe}\n"
                 "detector: {oversize: %s, file: \"" SHARED "/ice/%s/geo-f2k\"}\n"
                 "particles: {losses: none, photons_per_step: 2000, file: \"" SHARED
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

ICS_TEST_MAIN("particle yields")
{
    TCase *light = tcase_create("yields");
    tcase_add_test(light, yields);
    tcase_add_test(light, plain_yield);
    tcase_add_test(light, light_in_water);
    tcase_add_test(light, hadrons);
    tcase_add_test(light, public_inputs);
    suite_add_tcase(suite, light);
}
