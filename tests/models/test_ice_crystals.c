/* Promise: anisotropy, birefringence and hole ice of ppc folders have the worked numbers of
 * physics.md 6, the scattering by birefringence is subtracted from the layers as
 * configured, and each faulty file is refused with its place. To join: a new fault is a row of
 * `bad_folders`. */
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/sources.h"
#include "tables/tables.h"
#include "tests/support/loaded_ice.h"
#include "tests/support/model_files.h"
#include "tests/support/ppc_folder.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_zeros(const double *values, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        ck_assert_double_eq(values[i], 0);
    }
}

/* ---- formulas -------------------------------------------------------------------------------- */

START_TEST(deflections)
{
    /* physics.md 6.4 */
    static const struct {
        double degrees, along, across, mean;
    } rows[] = {{0, 0.076795, 0.077381, 0},
                {30, 0.062604, 0.068607, 0.004248},
                {60, 0.038317, 0.048744, 0.001638},
                {90, 0.029460, 0.040100, 0}};
    for (size_t i = 0; i < COUNT(rows); ++i) {
        ics_deflection d =
            ics_ice_birefringence_at(&ppc_crystals, cos(rows[i].degrees * M_PI / 180));
        ck_assert_double_eq_tol(d.along, rows[i].along, 6e-7);
        ck_assert_double_eq_tol(d.across, rows[i].across, 6e-7);
        ck_assert_double_eq_tol(d.mean, rows[i].mean, 6e-7);
    }
    ics_deflection d = ics_ice_birefringence_at(&ppc_crystals, 0.1510886);
    ck_assert_double_eq_tol(d.along * sqrt(10), 0.0954558, 6e-8);
    ck_assert_double_eq_tol(d.across * sqrt(10), 0.1291528, 6e-8);
    ck_assert_double_eq_tol(d.mean * 10, 0.00273251, 6e-9);
    ck_assert_double_eq_tol(ics_ice_birefringence_scattering(&ppc_crystals), 0.00246854, 6e-9);
    const ice_birefringence dv1 = {{0.0430182, 0.592883, 1.59179, 0.985916},
                                   {0.0549068, 13.9764, 2.69849, 0.348646},
                                   {0.00364047, 1.13778, 2.04729, 0.424402}};
    ck_assert_double_eq_tol(ics_ice_birefringence_scattering(&dv1), 0.0011979, 6e-8);
    ck_assert_double_eq(ics_ice_birefringence_scattering(&(ice_birefringence){0}), 0);
}
END_TEST

START_TEST(absorption_is_scaled_to_a_mean_of_one)
{
    static const struct {
        double given[3], scaled[3];
    } rows[] = {
        {{0.6, -0.3, -0.3}, {1.6954500, 0.6893185, 0.6893185}}, /* physics.md 6.3 */
        {{0, 0, 0}, {1, 1, 1}},
        {{0.4, 0.4, 0.4}, {1, 1, 1}},
        {{-0.3, 0.6, -0.3}, {0.740818, 1.822119, 0.740818}}, /* as given */
    };
    for (size_t i = 0; i < COUNT(rows); ++i) {
        double scaled[3];
        ics_ice_absorption_anisotropy_scale(rows[i].given, scaled);
        for (int k = 0; k < 3; ++k) {
            ck_assert_double_eq_tol(exp(scaled[k]), rows[i].scaled[k], 6e-7);
        }
    }
    /* The mean of 1/|K n| over the sphere is 1 for every ratio. */
    static const double ratios[] = {1e-9, 1e-4, 0.5, 3};
    for (size_t i = 0; i < COUNT(ratios); ++i) {
        enum { POINTS = 20000 };
        double scaled[3], sum = 0;
        ics_ice_absorption_anisotropy_scale((double[]){ratios[i] - 0.2, -0.2, -0.2}, scaled);
        for (int k = 0; k < POINTS; ++k) {
            double along = (k + 0.5) / POINTS, across = 1 - along * along;
            sum += 1 / sqrt(exp(2 * scaled[0]) * along * along + exp(2 * scaled[1]) * across);
        }
        ck_assert_double_eq_tol(sum / POINTS, 1, 1e-6);
    }
}
END_TEST

/* ---- the real models ------------------------------------------------------------------------- */

START_TEST(real_models)
{
    static const char *const names[] = {"ice/spice_bfr-v2", "ice/spice_ftp-v3m"};
    for (size_t k = 0; k < COUNT(names); ++k) {
        char path[MODEL_PATH];
        if (model_shared(names[k], path) == NULL) {
            return;
        }
        loaded_ice ice =
            ice_load("ice.directory", path, "ice.birefringence_subtraction=none", NULL);
        expect_ice(&ice);
        const ice_medium *m = ice.medium;
        ck_assert_uint_eq(ics_tables_find_features(m),
                          (k == 0 ? ICE_HAS_TILT_LINE : ICE_HAS_TILT_MAP) |
                              ICE_HAS_ABSORPTION_ANISOTROPY | ICE_HAS_BIREFRINGENCE);
        ck_assert_double_eq_tol(m->flow_azimuth, 130 * M_PI / 180, 1e-15);
        ck_assert_double_eq_tol(exp(m->absorption_anisotropy[0]), 1.69545, 6e-6);
        ck_assert_double_eq_tol(exp(m->absorption_anisotropy[1]), 0.689318, 6e-7);
        ck_assert_double_eq_tol(exp(m->absorption_anisotropy[2]), 0.689318, 6e-7);
        ck_assert_double_eq(m->absorption_exponent, 0);
        ck_assert_mem_eq(&m->birefringence, &ppc_crystals, sizeof ppc_crystals);
        ck_assert_double_eq(m->hole.radius, 0);
        expect_zeros(&m->hole.effective_scattering, 1);
        /* Column 7; there is no column 8. */
        ck_assert_double_eq(m->layers[170].birefringence, (k == 0 ? 2 : 2.00744));
        double most = 0;
        for (size_t i = 0; i < m->layer_count; ++i) {
            most = fmax(most, m->layers[i].birefringence);
            ck_assert_double_eq(m->layers[i].birefringence, m->layers[i].birefringence_mean);
            expect_zeros(&m->layers[i].anisotropy_along, 2);
        }
        ck_assert_double_gt(most, 3.2);
        ck_assert_double_lt(most, 3.3);
        ice_unload(&ice);
    }
}
END_TEST

START_TEST(real_subtraction)
{
    static const struct {
        const char *setting;
        double constant, scaled; /* shares of r_A S that are subtracted */
    } cases[] = {{"ice.birefringence_subtraction=constant", 1, 0},
                 {"ice.birefringence_subtraction=scaled", 0, 1},
                 {"ice.birefringence_subtraction=none", 0, 0},
                 {"ice.birefringence=false", 0, 0}};
    char path[MODEL_PATH];
    if (model_shared("ice/spice_bfr-v2", path) == NULL) {
        return;
    }
    loaded_ice plain = ice_load("ice.directory", path, "ice.birefringence_subtraction=none", NULL);
    expect_ice(&plain);
    for (size_t c = 0; c < COUNT(cases); ++c) {
        loaded_ice ice = ice_load("ice.directory", path, cases[c].setting, NULL);
        expect_ice(&ice);
        for (size_t i = 0; i < plain.medium->layer_count; ++i) {
            const ice_layer *is = &ice.medium->layers[i], *was = &plain.medium->layers[i];
            double taken = was->birefringence * 0.00246854;
            ck_assert_double_eq_tol(is->bubbles, was->bubbles - cases[c].constant * taken, 2e-8);
            ck_assert_double_eq_tol(is->effective_scattering,
                                    was->effective_scattering - cases[c].scaled * taken, 2e-8);
            for (double wavelength = 250; wavelength <= 700; wavelength += 50) {
                ck_assert_double_gt(ics_ice_scattering(ice.medium, i, wavelength), 0);
            }
        }
        bool off = strcmp(cases[c].setting, "ice.birefringence=false") == 0;
        ck_assert((ice.medium->layers[100].birefringence == 0) == off);
        ck_assert(!(ics_tables_find_features(ice.medium) & ICE_HAS_BIREFRINGENCE) == off);
        ice_unload(&ice);
    }
    ice_unload(&plain);
}
END_TEST

START_TEST(real_model_switched_off)
{
    char path[MODEL_PATH];
    if (model_shared("ice/spice_bfr-v2", path) == NULL) {
        return;
    }
    loaded_ice ice =
        ice_load("ice.directory", path, "ice.anisotropy=false", "ice.birefringence=false");
    expect_ice(&ice);
    expect_zeros(ice.medium->absorption_anisotropy, 3);
    expect_zeros(ice.medium->birefringence.along, 4);
    ck_assert_uint_eq(ics_tables_find_features(ice.medium), ICE_HAS_TILT_LINE);
    for (size_t i = 0; i < ice.warnings.count; ++i) {
        ck_assert_ptr_null(strstr(ice.warnings.items[i], "anisotropy"));
        ck_assert_ptr_null(strstr(ice.warnings.items[i], "birefringence"));
    }
    ice_unload(&ice);
}
END_TEST

/* ---- small ppc folders ----------------------------------------------------------------------- */

#define GOOD_DAT "1900 0.03 0.01 0\n1910 0.04 0.01 0.5\n"
static model_folder write_folder(const char *cfg, const char *dat, const char *version)
{
    char path[MODEL_PATH];
    model_folder folder = model_folder_create();
    ppc_folder_write(&folder, PPC_PARAMETERS, cfg, dat);
    if (version != NULL) {
        model_folder_write(&folder, "version", version, path);
    }
    return folder;
}

static loaded_ice load_folder(const char *cfg, const char *dat, const char *version,
                              const char *set)
{
    model_folder folder = write_folder(cfg, dat, version);
    loaded_ice ice = ice_load("ice.directory", folder.path, set, NULL);
    model_folder_remove(&folder);
    return ice;
}

START_TEST(settings_of_all_lengths)
{
    /* A file switches on the features for which it has numbers. */
    loaded_ice ice = load_folder(PPC_SETTINGS, GOOD_DAT, NULL, NULL);
    expect_ice(&ice);
    ck_assert_uint_eq(ics_tables_find_features(ice.medium), 0);
    ice_unload(&ice);

    ice = load_folder(PPC_FLOW, GOOD_DAT, NULL, NULL);
    expect_ice(&ice);
    ck_assert_uint_eq(ics_tables_find_features(ice.medium),
                      ICE_HAS_SCATTERING_ANISOTROPY | ICE_HAS_OLD_ABSORPTION_ANISOTROPY);
    ck_assert_double_eq_tol(ice.medium->flow_azimuth, 216 * M_PI / 180, 1e-14);
    ck_assert_double_eq(ice.medium->layers[0].anisotropy_along, 0.04);
    ck_assert_double_eq(ice.medium->layers[1].anisotropy_across, -0.08);
    ck_assert_double_eq(ice.medium->absorption_exponent, 1);
    expect_zeros(ice.medium->absorption_anisotropy, 3);
    ice_unload(&ice);

    ice = load_folder(PPC_FLOW "0.5\n0.03\n100\n", GOOD_DAT, NULL, NULL);
    expect_ice(&ice);
    ck_assert_double_eq_tol(ice.medium->hole.radius, 0.08255, 1e-15);
    ck_assert_double_eq(ice.medium->hole.effective_scattering, 0.03);
    ck_assert_double_eq(ice.medium->hole.absorption, 100);
    ck_assert_double_eq(ice.medium->hole.mean_cosine, 0.9); /* those of the ice */
    ck_assert_double_eq(ice.medium->hole.liu_fraction, 0.45);
    ck_assert(ics_tables_find_features(ice.medium) & ICE_HAS_HOLES);
    ice_unload(&ice);

    ice = load_folder(PPC_FLOW PPC_HOLE, GOOD_DAT, NULL, NULL);
    expect_ice(&ice);
    ck_assert_double_eq(ice.medium->hole.mean_cosine, 0.8);
    ck_assert_double_eq(ice.medium->hole.liu_fraction, 0.25);
    ice_unload(&ice);

    ice = load_folder(PPC_FLOW PPC_HOLE "0.6\n-0.3\n-0.3\n", GOOD_DAT, NULL, NULL);
    expect_ice(&ice);
    ck_assert_double_eq(ice.medium->absorption_exponent, 1);
    ck_assert_double_eq_tol(exp(ice.medium->absorption_anisotropy[0]), 1.69545, 6e-6);
    ice_unload(&ice);

    ice = load_folder(PPC_ALL, GOOD_DAT, "0\n", NULL);
    expect_ice(&ice);
    ck_assert_double_eq(ice.medium->absorption_exponent, 0.5);
    ck_assert_mem_eq(&ice.medium->birefringence, &ppc_crystals, sizeof ppc_crystals);
    ck_assert_double_eq(ice.medium->layers[0].birefringence, 1); /* without a column 7 */
    ck_assert_double_eq(ice.medium->layers[0].birefringence_mean, 1);
    ice_unload(&ice);
}
END_TEST

/* cfg.txt of every length: the numbers behind the last whole group have no effect, as in ppc. */
START_TEST(settings_of_any_length)
{
    static const size_t groups[] = {4, 7, 10, 12, 15, 16, 28, 31};
    static const char all[] = PPC_ALL "77\n88\n99\n";
    static const uint32_t hole = ICE_HAS_HOLES, crystals = ICE_HAS_BIREFRINGENCE;
    char cfg[sizeof all], expected[96];
    size_t numbers = 0, group = 0;
    for (const char *end = strchr(all, '\n'); end != NULL; end = strchr(end + 1, '\n')) {
        memcpy(cfg, all, (size_t)(end + 1 - all));
        cfg[end + 1 - all] = '\0';
        ++numbers;
        while (group + 1 < COUNT(groups) && groups[group + 1] <= numbers && numbers < 31) {
            ++group;
        }
        if (numbers < 4) {
            continue;
        }
        loaded_ice ice = load_folder(cfg, GOOD_DAT, NULL, "ice.birefringence_subtraction=none");
        expect_ice(&ice);
        const ice_medium *m = ice.medium;
        const uint32_t features = ics_tables_find_features(m);
        ck_assert_int_eq((features & hole) != 0, numbers >= 10);
        ck_assert_int_eq((features & crystals) != 0, numbers >= 28);
        ck_assert_int_eq(m->layers[0].anisotropy_along != 0, numbers >= 7);
        ck_assert_int_eq(m->absorption_anisotropy[0] != 0, numbers >= 15);
        ck_assert_double_eq(m->absorption_exponent, numbers < 7 ? 0 : numbers < 16 ? 1 : 0.5);
        ck_assert_double_eq(m->hole.mean_cosine, numbers < 10 ? 0 : numbers < 12 ? 0.9 : 0.8);
        snprintf(expected, sizeof expected,
                 "found %zu numbers, of which ppc and icestream use the "
                 "first %zu",
                 numbers, groups[group]);
        ck_assert_int_eq(ice_warned(&ice, expected), numbers != groups[group]);
        ck_assert_int_eq(ice_warned(&ice, "of which ppc"), numbers != groups[group]);
        ice_unload(&ice);
    }
    ck_assert_uint_eq(numbers, 31);
}
END_TEST

START_TEST(columns_of_layers)
{
    loaded_ice ice =
        load_folder(PPC_ALL, "1900 0.03 0.01 0 0.1 -0.2 2 1.5\n1910 0.04 0.01 0.5 0 0 0 3\n", NULL,
                    "ice.birefringence_subtraction=none");
    expect_ice(&ice);
    const ice_layer *upper = &ice.medium->layers[1], *lower = &ice.medium->layers[0];
    ck_assert_double_eq(upper->anisotropy_along, 0.1);
    ck_assert_double_eq(upper->anisotropy_across, -0.2);
    ck_assert_double_eq(upper->birefringence, 2);
    ck_assert_double_eq(upper->birefringence_mean, 3);
    expect_zeros(&lower->anisotropy_along, 4);
    ice_unload(&ice);
    /* Rows may have different numbers of columns; what is missing comes from cfg.txt. */
    ice = load_folder(PPC_ALL, "1900 0.03 0.01 0\n1910 0.03 0.01 0 0.3\n1920 0.03 0.01 0 0.3 0.2\n",
                      NULL, "ice.birefringence_subtraction=none");
    expect_ice(&ice);
    static const double factors[3][2] = {{0.3, 0.2}, {0.3, -0.08}, {0.04, -0.08}};
    for (size_t i = 0; i < 3; ++i) {
        ck_assert_double_eq(ice.medium->layers[i].anisotropy_along, factors[i][0]);
        ck_assert_double_eq(ice.medium->layers[i].anisotropy_across, factors[i][1]);
        ck_assert_double_eq(ice.medium->layers[i].birefringence_mean, 1);
    }
    ice_unload(&ice);
    /* Without hole, crystals and flow, the numbers that belong to them are zero. */
    ice = load_folder(PPC_SETTINGS "216\n0\n0\n0\n-1\n-1\n", "1900 0.03 0.01 0 0 0 2 1.5\n", NULL,
                      NULL);
    expect_ice(&ice);
    ck_assert_uint_eq(ics_tables_find_features(ice.medium), 0);
    ck_assert_double_eq(ice.medium->absorption_exponent, 0);
    expect_zeros(&ice.medium->layers[0].anisotropy_along, 4);
    expect_zeros(&ice.medium->hole.effective_scattering, 1);
    ice_unload(&ice);
    ice = load_folder(PPC_ALL, GOOD_DAT, "0\n", "ice.hole_ice=false");
    expect_ice(&ice);
    ck_assert(!(ics_tables_find_features(ice.medium) & ICE_HAS_HOLES));
    ice_unload(&ice);
}
END_TEST

START_TEST(versions)
{
    static const double s = 0.00246854;
    const double pure = 6954.1 * exp(-6617.75 / 400);
    static const char dat[] = "1900 0.03 0.01 10\n";
    loaded_ice ice = load_folder(PPC_ALL, dat, "0\n", NULL);
    expect_ice(&ice);
    ck_assert_double_eq_tol(ice.medium->layers[0].bubbles, -s, 6e-9);
    ice_unload(&ice);
    ice = load_folder(PPC_ALL, dat, "10\n", NULL);
    expect_ice(&ice);
    ck_assert_double_eq(ice.medium->layers[0].bubbles, 0);
    ck_assert_double_eq(ice.medium->layers[0].effective_scattering, 0.03);
    ck_assert_double_eq(ice.medium->layers[0].dust_absorption, 0.01);
    ice_unload(&ice);
    ice = load_folder(PPC_ALL, dat, "10\n", "ice.birefringence_subtraction=constant");
    expect_ice(&ice);
    ck_assert_double_eq_tol(ice.medium->layers[0].bubbles, -s, 6e-9);
    ice_unload(&ice);
    /* Column 3 is the whole absorption at 400 nm. */
    ice = load_folder(PPC_ALL, dat, "20\n", NULL);
    expect_ice(&ice);
    ck_assert_double_eq(ice.medium->layers[0].bubbles, 0);
    ck_assert_double_eq_tol(ice.medium->layers[0].effective_scattering, 0.03 - s, 6e-9);
    ck_assert_double_eq_tol(ics_ice_absorption(ice.medium, 0, 400), 0.01, 1e-15);
    double at_300 =
        0.01 * pow(0.75, -1.1) + 1.1 * (6954.1 * exp(-6617.75 / 300) - pure * pow(0.75, -1.1));
    ck_assert_double_eq_tol(ics_ice_absorption(ice.medium, 0, 300), at_300, 1e-14);
    ice_unload(&ice);
}
END_TEST

/* A public model needs no ice.birefringence_subtraction, also if its files went through an editor
 * that changes line ends; with other numbers it is another model. */
START_TEST(public_models_are_known)
{
    static const struct {
        const char *name;
        ice_taken taken;
    } models[] = {{"ice/spice_bfr-v2", ICE_TAKEN_CONSTANT},
                  {"ice/spice_ftp-v3m", ICE_TAKEN_NOTHING}};
    char path[MODEL_PATH], dat[MODEL_PATH + 16], line[512];
    for (size_t i = 0; i < COUNT(models) && model_shared(models[i].name, path) != NULL; ++i) {
        loaded_ice ice = ice_load("ice.directory", path, NULL, NULL);
        expect_ice(&ice);
        ck_assert_int_eq(ice.medium->taken, models[i].taken);
        ice_unload(&ice);

        char *text = NULL;
        size_t size = 0;
        snprintf(dat, sizeof dat, "%s/icemodel.dat", path);
        FILE *in = fopen(dat, "r"), *out = open_memstream(&text, &size);
        ck_assert(in != NULL && out != NULL);
        fputs("# edited\r\n", out);
        while (fgets(line, sizeof line, in) != NULL) {
            fprintf(out, "  %.*s\r\n", (int)strcspn(line, "\n"), line);
        }
        fclose(in);
        ck_assert_int_eq(fclose(out), 0);
        ice = load_folder(PPC_ALL, text, NULL, NULL);
        expect_ice(&ice);
        ck_assert_int_eq(ice.medium->taken, models[i].taken);
        ice_unload(&ice);
        char *number = strstr(text, "1108.47 ");
        ck_assert_ptr_nonnull(number);
        number[6] = '8'; /* 1 cm deeper */
        ice = load_folder(PPC_ALL, text, NULL, NULL);
        expect_no_ice(&ice, "and is no public model");
        ice_unload(&ice);
        free(text);
    }
}
END_TEST

/* Both kinds of table are public, so the kind of a folder without a version is not guessed. */
START_TEST(subtraction_that_is_not_given)
{
    loaded_ice ice = load_folder(PPC_ALL, GOOD_DAT, NULL, NULL);
    expect_no_ice(&ice, "--set ice.directory: error: ice.birefringence_subtraction: found auto");
    expect_no_ice(&ice, "has no file 'version' that says what icemodel.dat contains, and is no "
                        "public model; expected constant");
    ice_unload(&ice);
    ice = load_folder(PPC_ALL, GOOD_DAT, NULL, "ice.birefringence=false");
    expect_ice(&ice);
    ice_unload(&ice);
    /* The layers are not birefringent. */
    ice = load_folder(PPC_ALL, "1900 0.03 0.01 0 0 0 0 1\n", NULL, NULL);
    expect_ice(&ice);
    ice_unload(&ice);
}
END_TEST

static const struct {
    const char *cfg, *dat, *message;
} bad_folders[] = {
    {PPC_SETTINGS "130\n0\n30\n", GOOD_DAT,
     "cfg.txt:7: error: logarithm of an anisotropy: found 30, expected -3 .. 3"},
    {PPC_FLOW "1\n1\n-3\n", GOOD_DAT, "cfg.txt:10: error: hole ice absorption length: found -3"},
    {PPC_FLOW "1\n1\n1\n2\n0.9\n", GOOD_DAT, "cfg.txt:11: error: liu_fraction: found 2"},
    {PPC_FLOW PPC_HOLE "0.6\n-0.3\n9\n", GOOD_DAT,
     "cfg.txt:15: error: logarithm of an absorption anisotropy: found 9, expected -3 .. 3"},
    {PPC_FLOW PPC_HOLE "0.6\n-0.3\n-0.3\n99\n", GOOD_DAT,
     "cfg.txt:16: error: scaling of the old absorption anisotropy: found 99"},
    {PPC_ALL, "1900 0.03 0.01 0 5 0 1\n",
     "icemodel.dat:1: error: k1: found 5, expected the logarithm"},
    {PPC_ALL, "1900 0.03 0.01 0 0 -5 1\n", "icemodel.dat:1: error: k2: found -5"},
    {PPC_ALL, "1900 0.03 0.01 0 0 0 1 -1\n",
     "icemodel.dat:1: error: birefringence of the mean: found -1"},
    /* 0.003 1/m at 400 nm is less than 0.00247 1/m at 700 nm. */
    {PPC_ALL, "1890 0.03 0.01 0\n1900 0.003 0.01 0\n",
     "icemodel.dat:2: error: scattering: found -0.0006"},
};

START_TEST(bad_folder)
{
    loaded_ice ice = load_folder(bad_folders[_i].cfg, bad_folders[_i].dat, NULL, NULL);
    expect_no_ice(&ice, bad_folders[_i].message);
    ice_unload(&ice);
}
END_TEST

START_TEST(subtraction_needs_birefringence)
{
    loaded_ice ice = ice_load("ice.model", "uniform", "ice.birefringence_subtraction=scaled", NULL);
    expect_no_ice(&ice, "--set ice.birefringence_subtraction: error: ice.birefringence_subtraction:"
                        " found scaled, but this ice has no birefringence");
    ice_unload(&ice);
    ice = ice_load("ice.model", "uniform", "ice.birefringence_subtraction=none", NULL);
    ck_assert_int_eq(ice.status, ICESTREAM_OK);
    ice_unload(&ice);
}
END_TEST

START_TEST(full_absorption_less_than_pure_ice)
{
    loaded_ice ice = load_folder(PPC_ALL, "1900 0.03 0.0001 0\n", "20\n", NULL);
    expect_no_ice(&ice, "icemodel.dat:1: error: adust400: found -0.00035");
    ice_unload(&ice);
}
END_TEST

ICS_TEST_MAIN("ice_crystals")
{
    TCase *good = tcase_create("good");
    tcase_add_test(good, deflections);
    tcase_add_test(good, absorption_is_scaled_to_a_mean_of_one);
    tcase_add_test(good, real_models);
    tcase_add_test(good, real_subtraction);
    tcase_add_test(good, real_model_switched_off);
    tcase_add_test(good, settings_of_all_lengths);
    tcase_add_test(good, columns_of_layers);
    tcase_add_test(good, versions);
    tcase_add_test(good, settings_of_any_length);
    tcase_add_test(good, public_models_are_known);
    tcase_add_test(good, subtraction_that_is_not_given);
    suite_add_tcase(suite, good);
    TCase *bad = tcase_create("bad");
    tcase_add_loop_test(bad, bad_folder, 0, COUNT(bad_folders));
    tcase_add_test(bad, full_absorption_less_than_pure_ice);
    tcase_add_test(bad, subtraction_needs_birefringence);
    suite_add_tcase(suite, bad);
}
