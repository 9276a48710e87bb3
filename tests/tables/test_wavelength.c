/* Promise: the create stage draws wavelengths as the exact inverse of the spectrum's distribution
 * in double precision does, within the bounds of stages/tables.h, and the spectra have the
 * quantiles of physics.md 3.3 and 3.4.
 *
 * How to join: a new built-in spectrum joins in inverse_of_every_built_in_spectrum. */
#include "pipeline/photons/models/light/light.h"
#include "stages/create_cherenkov.h"
#include "tests/support/stage_world.h"
#include "tests/support/test_main.h"
#include "tests/support/test_scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Computes the cumulative distribution at the points of a spectrum, which is linear between them.
 */
typedef struct distribution {
    const ice_spectrum *spectrum;
    double *cumulative;
} distribution;

static distribution distribution_create(const ice_spectrum *spectrum)
{
    distribution result = {spectrum, calloc(spectrum->count, sizeof(double))};
    ck_assert_ptr_nonnull(result.cumulative);
    for (size_t i = 1; i < spectrum->count; ++i) {
        result.cumulative[i] =
            result.cumulative[i - 1] + 0.5 * (spectrum->density[i - 1] + spectrum->density[i]) *
                                           (spectrum->wavelength[i] - spectrum->wavelength[i - 1]);
    }
    const double total = result.cumulative[spectrum->count - 1];
    for (size_t i = 1; i < spectrum->count; ++i) {
        result.cumulative[i] /= total;
    }
    return result;
}

/* Returns the probability of a shorter wavelength. */
static double probability_below(const distribution *d, double wavelength)
{
    const ice_spectrum *s = d->spectrum;
    if (wavelength <= s->wavelength[0]) {
        return 0.0;
    }
    size_t bin = 0;
    while (bin + 2 < s->count && s->wavelength[bin + 1] <= wavelength) {
        ++bin;
    }
    const double width = s->wavelength[bin + 1] - s->wavelength[bin];
    const double x = fmin((wavelength - s->wavelength[bin]) / width, 1.0);
    const double left = s->density[bin], right = s->density[bin + 1];
    const double share = d->cumulative[bin + 1] - d->cumulative[bin];
    const double area = left + right;
    const double part = area > 0.0 ? (2.0 * left * x + (right - left) * x * x) / area : 0.0;
    return d->cumulative[bin] + share * part;
}

/* Returns the exact inverse by bisection, which is slow and simple. */
static double exact_wavelength(const distribution *d, double u)
{
    double low = d->spectrum->wavelength[0];
    double high = d->spectrum->wavelength[d->spectrum->count - 1];
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        if (probability_below(d, middle) < u) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return 0.5 * (low + high);
}

typedef struct errors {
    double mean;    /* over 1 .. 99 % */
    double inner;   /* largest, 1 .. 99 % */
    double outer;   /* largest, 1e-4 .. 1 - 1e-4 */
    double extreme; /* largest of all u */
} errors;

static errors measure(const ice_tables *tables, uint32_t spectrum, const distribution *d)
{
    errors result = {0};
    const size_t n = test_scaled(40000);
    size_t counted = 0;
    uint64_t state = 11;
    for (size_t i = 0; i < n; ++i) {
        /* A third of the numbers lies in each tail, and half of these in its last thousandth. */
        double u = test_uniform(&state);
        const size_t kind = i % 6;
        if (kind == 1 || kind == 3) {
            u *= kind == 1 ? 0.01 : 1e-3;
        }
        if (kind == 2 || kind == 4) {
            u = 1.0 - (kind == 2 ? 0.01 : 1e-3) * u;
        }
        const uint32_t word = (uint32_t)(fmin(u, 1.0 - 0x1p-24) * 0x1p24) << 8;
        const float drawn = ice_uniform(word);
        const double error =
            fabs(ice_wavelength(tables, spectrum, drawn) - exact_wavelength(d, (double)drawn));
        result.extreme = fmax(result.extreme, error);
        if (drawn >= 1e-4f && drawn <= 1.0f - 1e-4f) {
            result.outer = fmax(result.outer, error);
        }
        if (drawn >= 0.01f && drawn <= 0.99f) {
            result.inner = fmax(result.inner, error);
            result.mean += error;
            ++counted;
        }
    }
    result.mean /= (double)counted;
    return result;
}

static stage_world standard_world(void)
{
    return stage_world_from_config(NULL, "light.acceptance=standard", NULL);
}

START_TEST(inverse_of_the_standard_spectrum)
{
    stage_world world = standard_world();
    const ice_tables *tables = stage_world_tables(&world);
    distribution d = distribution_create(&world.light->spectra[0]);
    const errors e = measure(tables, 0, &d);
    /* The bounds stated in stages/tables.h; physics.md 3.4 has 0.008, 0.018 and 8.8 nm for one
     * table of as many knots over all of [0, 1]. */
    ck_assert_double_lt(e.mean, 0.001);
    ck_assert_double_lt(e.inner, 0.012);
    ck_assert_double_lt(e.outer, 0.012);
    ck_assert_double_lt(e.extreme, 0.05);
    free(d.cumulative);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(inverse_of_every_built_in_spectrum)
{
    stage_world world = standard_world();
    const ice_tables *tables = stage_world_tables(&world);
    ck_assert_uint_eq(world.light->count, ICS_SPECTRA_BUILT_IN);
    for (uint32_t k = 1; k <= 5; ++k) {
        distribution d = distribution_create(&world.light->spectra[k]);
        const errors e = measure(tables, k, &d);
        ck_assert_double_lt(e.inner, 0.005);
        ck_assert_double_lt(e.outer, 0.020);
        free(d.cumulative);
    }
    /* A laser is one line. */
    ck_assert(ice_wavelength(tables, 6, 0.0f) == 337.0f);
    ck_assert(ice_wavelength(tables, 6, 0.37f) == 337.0f);
    ck_assert(ice_wavelength(tables, 6, 1.0f - 0x1p-24f) == 337.0f);
    stage_world_destroy(&world);
}
END_TEST

/* Checks the wavelengths (nm) of the first spectrum at some quantiles: rows of both. */
static void check_quantiles(stage_world *world, const double rows[][2], size_t count,
                            double tolerance)
{
    const ice_tables *tables = stage_world_tables(world);
    for (size_t i = 0; i < count; ++i) {
        ck_assert_double_eq_tol(ice_wavelength(tables, 0, (float)rows[i][0]), rows[i][1],
                                tolerance);
    }
}

static double mean_wavelength(stage_world *world)
{
    const ice_tables *tables = stage_world_tables(world);
    double sum = 0.0;
    const size_t n = 1000000;
    for (size_t i = 0; i < n; ++i) {
        sum += ice_wavelength(tables, 0, (float)(((double)i + 0.5) / (double)n));
    }
    return sum / (double)n;
}

START_TEST(quantiles_of_the_standard_spectrum)
{
    /* physics.md 3.3 has the numbers of the continuous spectrum. A 1 nm grid is within 0.005 nm of
     * them, and the look-up within 0.02 nm. */
    static const double rows[][2] = {{0.01, 316.52}, {0.05, 340.88}, {0.25, 379.19}, {0.50, 418.75},
                                     {0.75, 469.77}, {0.95, 549.31}, {0.99, 604.27}};
    stage_world world = standard_world();
    check_quantiles(&world, rows, COUNT(rows), 0.03);
    ck_assert_double_eq_tol(mean_wavelength(&world), 428.60, 0.02);
    stage_world_destroy(&world);
}
END_TEST

/* Replaces the first spectrum of the world by one on a 1 nm grid from 300 to 600 nm. */
static void put_spectrum(stage_world *world, double (*density)(double wavelength))
{
    ice_spectrum *spectrum = &world->light->spectra[0];
    spectrum->count = 301;
    spectrum->wavelength = realloc(spectrum->wavelength, 301 * sizeof(double));
    spectrum->density = realloc(spectrum->density, 301 * sizeof(double));
    ck_assert(spectrum->wavelength && spectrum->density);
    for (size_t i = 0; i < 301; ++i) {
        spectrum->wavelength[i] = 300.0 + (double)i;
        spectrum->density[i] = density(spectrum->wavelength[i]);
    }
}

static stage_world line_world(void)
{
    return stage_world_create(world_medium_uniform(2.5, 0.9, 0.35, 100.0), world_detector_far(),
                              world_light_line(400.0));
}

static double cherenkov_density(double wavelength)
{
    return ics_light_frank_tamm(wavelength, 1.0);
}

START_TEST(quantiles_of_unbiased_cherenkov_light)
{
    /* physics.md 3.4, 300-600 nm. */
    static const double rows[][2] = {
        {0.10, 315.39}, {0.25, 341.90}, {0.50, 398.34}, {0.75, 478.30}, {0.90, 544.42}};
    stage_world world = line_world();
    put_spectrum(&world, cherenkov_density);
    check_quantiles(&world, rows, COUNT(rows), 0.012);
    ck_assert_double_eq_tol(mean_wavelength(&world), 414.717, 0.005);
    stage_world_destroy(&world);
}
END_TEST

static double without_dispersion(double wavelength)
{
    return 1.0 / (wavelength * wavelength);
}

START_TEST(closed_form_without_dispersion)
{
    stage_world world = line_world();
    put_spectrum(&world, without_dispersion);
    const ice_tables *tables = stage_world_tables(&world);
    for (uint32_t k = 0; k < 100000; ++k) {
        const float u = (float)k * 1e-5f;
        const double exact = 300.0 * 600.0 / (600.0 - (double)u * 300.0);
        ck_assert_double_eq_tol(ice_wavelength(tables, 0, u), exact, 0.004);
    }
    ck_assert_double_eq_tol(ice_wavelength(tables, 0, 0.5f), 400.0, 0.004);
    stage_world_destroy(&world);
}
END_TEST

static double two_bands(double wavelength)
{
    /* Dark between 400 and 500 nm, and at both ends. */
    return (wavelength > 320.0 && wavelength < 400.0) || (wavelength > 500.0 && wavelength < 580.0);
}

START_TEST(nothing_is_drawn_where_there_is_no_light)
{
    stage_world world = line_world();
    put_spectrum(&world, two_bands);
    const ice_tables *tables = stage_world_tables(&world);
    size_t dark = 0, low = 0;
    const uint32_t n = 1u << 20;
    for (uint32_t k = 0; k < n; ++k) {
        const double wavelength = ice_wavelength(tables, 0, (float)k * 0x1p-20f);
        ck_assert_double_ge(wavelength, 319.999);
        ck_assert_double_le(wavelength, 580.001);
        dark += wavelength > 400.001 && wavelength < 499.999;
        low += wavelength < 450.0;
    }
    /* Half of the light is in each band. Interpolation crosses the gap within one knot. */
    ck_assert_double_eq_tol((double)low / n, 0.5, 1e-3);
    ck_assert_double_le((double)dark / n, 1.0 / ICE_WAVELENGTH_KNOTS);
    stage_world_destroy(&world);
}
END_TEST

START_TEST(wavelengths_rise_with_u)
{
    stage_world world = standard_world();
    const ice_tables *tables = stage_world_tables(&world);
    const uint32_t stride = (uint32_t)((1u << 24) / test_scaled(1u << 22));
    for (uint32_t spectrum = 0; spectrum < tables->spectrum_count; ++spectrum) {
        float before = ice_wavelength(tables, spectrum, 0.0f);
        size_t falls = 0;
        for (uint32_t k = stride; k < 1u << 24; k += stride) {
            const float wavelength = ice_wavelength(tables, spectrum, (float)k * 0x1p-24f);
            falls += !(wavelength >= before);
            before = wavelength;
        }
        ck_assert_uint_eq(falls, 0);
        ck_assert(before <= (float)ICE_WAVELENGTH_MAX);
        ck_assert(ice_wavelength(tables, spectrum, 0.0f) >= (float)ICE_WAVELENGTH_MIN);
    }
    stage_world_destroy(&world);
}
END_TEST

ICS_TEST_MAIN("wavelength")
{
    TCase *all = tcase_create("all");
    tcase_add_test(all, inverse_of_the_standard_spectrum);
    tcase_add_test(all, inverse_of_every_built_in_spectrum);
    tcase_add_test(all, quantiles_of_the_standard_spectrum);
    tcase_add_test(all, quantiles_of_unbiased_cherenkov_light);
    tcase_add_test(all, closed_form_without_dispersion);
    tcase_add_test(all, nothing_is_drawn_where_there_is_no_light);
    tcase_add_test(all, wavelengths_rise_with_u);
    suite_add_tcase(suite, all);
}
