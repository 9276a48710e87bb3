#include "pipeline/models/light/light.h"

#include "base/error.h"
#include "pipeline/models/detector/detector.h"
#include "pipeline/models/detector/sensors.h"
#include "pipeline/models/light/curve.h"
#include "stages/optics.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Bands of Cherenkov light, nm. */
#define PLAIN_LOW     265
#define PLAIN_HIGH    675
#define STANDARD_LOW  280
#define STANDARD_HIGH 680

/* Photons that the standard module would see per metre of bare track, for acceptances that are
 * known only up to a factor (the public code's constant, physics.md 3.2). */
#define NOMINAL_YIELD 2450.08

/* Gaussian stand-ins of the LEDs, median and half of the 16-84 % width in nm (physics.md 2.4). */
static const struct {
    const char *name;
    double median, width;
} leds[] = {{"LED 340", 341.7, 10.7},
            {"LED 370", 371.0, 7.5},
            {"LED 405", 402.8, 8.0},
            {"LED 450", 451.3, 10.2},
            {"LED 505", 489.8, 16.2}};
enum { LEDS = sizeof leds / sizeof *leds, NITROGEN_LASER = 337 };
_Static_assert(1 + LEDS + 1 == ICS_SPECTRA_BUILT_IN, "Cherenkov light, LEDs, laser");

/* For any index of refraction. */
static double frank_tamm(double wavelength, double beta, double phase_index)
{
    const double fine_structure = 1 / 137.035999084;
    const double nanometres_per_metre = 1e9;
    double index = beta * phase_index;
    return nanometres_per_metre * 2 * M_PI * fine_structure / (wavelength * wavelength) *
           (1 - 1 / (index * index));
}

double ics_light_frank_tamm(double wavelength, double beta)
{
    return frank_tamm(wavelength, beta, ice_phase_index_double(wavelength));
}

double ics_light_cherenkov_yield(const ice_medium *medium, double wavelength, double beta)
{
    return frank_tamm(wavelength, beta, ics_ice_phase_index(medium, wavelength));
}

double ics_light_standard_acceptance(double wavelength)
{
    if (wavelength < STANDARD_LOW || wavelength > STANDARD_HIGH) {
        return 0;
    }
    return 0.1342 / (1 + exp(-(wavelength - 351) / 13.1)) / (1 + exp((wavelength - 632) / 14.25)) *
           (0.0916 + 0.9084 / (1 + exp((wavelength - 519) / 32.8)));
}

/* ---- building -------------------------------------------------------------------------------- */

typedef struct light_builder {
    const icestream_config *config;
    const ice_medium *medium;
    ice_light *light;
    ics_curve bias;  /* without points: 1 everywhere */
    ics_curve ratio; /* of the high-efficiency acceptance to the standard one; no points: 1 */
    icestream_error *error;
    char place[512]; /* of light.acceptance */
} light_builder;

static int no_memory(const light_builder *builder)
{
    return ics_error_add(builder->error, ICESTREAM_E_MEMORY, "light: error: out of memory");
}

static double bias_at(const light_builder *builder, double wavelength)
{
    return builder->bias.count > 0 ? ics_curve_at(&builder->bias, wavelength) : 1;
}

/* The wavelengths at which light can be recorded. */
static void band_of(const light_builder *builder, double *low, double *high)
{
    const ics_curve *bias = &builder->bias;
    *low = bias->count > 0 ? bias->x[0] : ICE_WAVELENGTH_MIN;
    *high = bias->count > 0 ? bias->x[bias->count - 1] : ICE_WAVELENGTH_MAX;
}

/* Takes over the curve as spectrum number `index`. */
static int keep_spectrum(light_builder *builder, size_t index, const char *name, ics_curve *curve)
{
    ice_spectrum *spectrum = &builder->light->spectra[index];
    spectrum->name = strdup(name);
    spectrum->wavelength = curve->x;
    spectrum->density = curve->y;
    spectrum->count = curve->count;
    *curve = (ics_curve){0};
    return spectrum->name != NULL ? ICESTREAM_OK : no_memory(builder);
}

static int add_line(light_builder *builder, size_t index, double wavelength, const char *place)
{
    double low, high;
    char name[48];
    ics_curve curve = {0};
    band_of(builder, &low, &high);
    if (!(wavelength >= low && wavelength <= high)) {
        return ics_error_add(builder->error, ICESTREAM_E_CONFIG,
                             "%s: error: spectrum %zu: found a line at %.10g nm, expected %.10g .. "
                             "%.10g nm, where light.acceptance sees light",
                             place, index, wavelength, low, high);
    }
    if (ics_curve_add(&curve, wavelength, 1) != ICESTREAM_OK) {
        ics_curve_free(&curve);
        return no_memory(builder);
    }
    snprintf(name, sizeof name, "line %.10g nm", wavelength);
    return keep_spectrum(builder, index, name, &curve);
}

/* A spectrum before the bias, at a wavelength. */
typedef double density_function(const void *source, double wavelength);

/* Multiplies density and bias at every whole nanometre between low and high, at the ends, and at
 * the source's own points, where there are any. */
static int add_product(light_builder *builder, size_t index, const char *name,
                       density_function *density, const void *source, const ics_curve *points,
                       double low, double high, const char *place)
{
    double band_low, band_high;
    ics_curve curve = {0};
    size_t next = 0;
    int status = ICESTREAM_OK;
    bool light = false;
    band_of(builder, &band_low, &band_high);
    low = fmax(low, band_low);
    high = fmin(high, band_high);
    for (double x = low; low < high && status == ICESTREAM_OK;) {
        double y = density(source, x) * bias_at(builder, x);
        status = ics_curve_add(&curve, x, y);
        light |= y > 0;
        if (x >= high) {
            break;
        }
        double following = fmin(floor(x) + 1, high);
        while (points != NULL && next < points->count && points->x[next] <= x) {
            ++next;
        }
        x = points != NULL && next < points->count ? fmin(following, points->x[next]) : following;
    }
    if (status != ICESTREAM_OK) {
        no_memory(builder);
    } else if (!light) {
        status = ics_error_add(builder->error, ICESTREAM_E_CONFIG,
                               "%s: error: spectrum %zu (%s): found no light between %.10g and "
                               "%.10g nm, expected some where light.acceptance sees it",
                               place, index, name, band_low, band_high);
    } else {
        status = keep_spectrum(builder, index, name, &curve);
    }
    ics_curve_free(&curve);
    return status;
}

static double cherenkov_density(const void *source, double wavelength)
{
    return ics_light_cherenkov_yield(source, wavelength, 1);
}

static double led_density(const void *source, double wavelength)
{
    const double *led = source; /* median, width */
    double distance = (wavelength - led[0]) / led[1];
    return exp(-0.5 * distance * distance);
}

static double curve_density(const void *source, double wavelength)
{
    return ics_curve_at(source, wavelength);
}

/* ---- bias ------------------------------------------------------------------------------------ */

/* Shares of detected Cherenkov light are divided by the Cherenkov spectrum of ice, in which such
 * files were made; what they say of modules is true in every medium. Points where nothing is
 * seen are left out: a photon drawn exactly there would have an infinite weight. */
static int bias_from_shares(light_builder *builder, const ics_curve *shares)
{
    ics_curve detected = {0};
    int status = ICESTREAM_OK;
    double low = fmax(ceil(shares->x[0]), ICE_WAVELENGTH_MIN);
    double high = fmin(floor(shares->x[shares->count - 1]), ICE_WAVELENGTH_MAX);
    for (double x = low; x <= high && status == ICESTREAM_OK; x += 1) {
        double share = ics_curve_at(shares, x);
        if (share > 0) {
            status = ics_curve_add(&detected, x, share);
        }
    }
    double sum = ics_curve_integral(&detected);
    if (status == ICESTREAM_OK && !(sum > 0)) {
        status =
            ics_error_add(builder->error, ICESTREAM_E_CONFIG,
                          "%s: error: light.acceptance: found less than 2 nm of light, expected "
                          "a wider band",
                          builder->place);
    } else if (status != ICESTREAM_OK) {
        no_memory(builder);
    }
    if (status == ICESTREAM_OK) {
        ics_curve_scale(&detected, NOMINAL_YIELD / sum);
        for (size_t i = 0; i < detected.count; ++i) {
            detected.y[i] /= ics_light_frank_tamm(detected.x[i], 1);
        }
        builder->bias = detected;
        return ICESTREAM_OK;
    }
    ics_curve_free(&detected);
    return status;
}

static int bias_from_file(light_builder *builder, const char *path)
{
    ics_text text;
    ics_curve shares = {0};
    int status = ics_text_read(path, &text, builder->error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    status = ics_curve_read_cumulative(&text, &shares, builder->error);
    ics_text_free(&text);
    if (status == ICESTREAM_OK) {
        status = bias_from_shares(builder, &shares);
    }
    ics_curve_free(&shares);
    return status;
}

static int bias_from_formula(light_builder *builder)
{
    for (int x = STANDARD_LOW; x <= STANDARD_HIGH; ++x) {
        if (ics_curve_add(&builder->bias, x, ics_light_standard_acceptance(x)) != ICESTREAM_OK) {
            return no_memory(builder);
        }
    }
    return ICESTREAM_OK;
}

/* light.acceptance: auto takes the wv.dat of a ppc ice folder where there is one. */
static int make_bias(light_builder *builder)
{
    const icestream_config *config = builder->config;
    const char *acceptance = config->light.acceptance;
    if (strcmp(acceptance, "none") == 0) {
        return ICESTREAM_OK;
    }
    if (strcmp(acceptance, "standard") == 0) {
        return bias_from_formula(builder);
    }
    if (strcmp(acceptance, "auto") != 0) {
        return bias_from_file(builder, acceptance);
    }
    if (config->ice.directory == NULL) {
        return bias_from_formula(builder);
    }
    char *path;
    if (asprintf(&path, "%s/wv.dat", config->ice.directory) < 0) {
        return no_memory(builder);
    }
    struct stat status;
    bool there = stat(path, &status) == 0 || errno != ENOENT;
    int result = there ? bias_from_file(builder, path) : bias_from_formula(builder);
    free(path);
    return result;
}

/* ---- modules that differ -----------------------------------------------------------------------
 */

static int read_ratio(light_builder *builder)
{
    const icestream_config *config = builder->config;
    const char *value = config->light.high_efficiency;
    char *path;
    ics_text text;
    if (strcmp(value, "auto") == 0 && !ics_sensors_detecting(config)) {
        return ICESTREAM_OK;
    }
    int status = ics_sensors_model_file(config, value, "wv.rde", &path, builder->error);
    if (status != ICESTREAM_OK || path == NULL) {
        return status;
    }
    status = ics_text_read(path, &text, builder->error);
    if (status == ICESTREAM_OK) {
        status = ics_curve_read_ratio(&text, &builder->ratio, builder->error);
        ics_text_free(&text);
    }
    free(path);
    return status;
}

static double ratio_at(const light_builder *builder, size_t acceptance, double wavelength)
{
    return acceptance > 0 && builder->ratio.count > 0
               ? ics_curve_at_or_end(&builder->ratio, wavelength)
               : 1;
}

/* The acceptance in the builder's bias becomes the bias: `best`, which is that of the best
 * direction, times the acceptance of whatever module sees most at a wavelength, over F^2. What
 * single modules see of it goes to the light. */
static int finish_bias(light_builder *builder, const ice_detector *detector, double best)
{
    ice_light *light = builder->light;
    ics_curve *bias = &builder->bias;
    const double area = detector->oversize * detector->oversize, factor = best / area;
    double efficiencies[ICE_ACCEPTANCES];
    ics_detector_efficiencies(detector, efficiencies);
    light->flat_acceptance = factor;
    for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
        light->acceptances[k] = calloc(bias->count + 1, sizeof(double));
        if (light->acceptances[k] == NULL) {
            return no_memory(builder);
        }
        for (size_t i = 0; i < bias->count; ++i) {
            light->acceptances[k][i] = bias->y[i] * factor * ratio_at(builder, k, bias->x[i]);
        }
    }
    if (builder->ratio.count == 0 || efficiencies[1] == 0) {
        ics_curve_scale(bias, best * ics_detector_efficiency(detector) / area);
        return ICESTREAM_OK;
    }
    for (size_t i = 0; i < bias->count; ++i) {
        double most = 0;
        for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
            most = fmax(most, efficiencies[k] * ratio_at(builder, k, bias->x[i]));
        }
        bias->y[i] *= factor * most;
    }
    return ICESTREAM_OK;
}

/* ---- spectra --------------------------------------------------------------------------------- */

static int add_cherenkov(light_builder *builder)
{
    int status =
        add_product(builder, 0, "Cherenkov", cherenkov_density, builder->medium, NULL,
                    builder->bias.count > 0 ? ICE_WAVELENGTH_MIN : PLAIN_LOW,
                    builder->bias.count > 0 ? ICE_WAVELENGTH_MAX : PLAIN_HIGH, builder->place);
    if (status != ICESTREAM_OK) {
        return status;
    }
    const ice_spectrum *spectrum = &builder->light->spectra[0];
    ics_curve curve = {.x = spectrum->wavelength, .y = spectrum->density, .count = spectrum->count};
    builder->light->photons_per_metre = ics_curve_integral(&curve);
    return ICESTREAM_OK;
}

static int add_built_in(light_builder *builder)
{
    const double reach = 5; /* widths: beyond are 6e-7 of the light */
    int status = add_cherenkov(builder);
    for (size_t i = 0; i < LEDS; ++i) {
        double led[2] = {leds[i].median, leds[i].width};
        int result = add_product(builder, 1 + i, leds[i].name, led_density, led, NULL,
                                 led[0] - reach * led[1], led[0] + reach * led[1], builder->place);
        status = status ? status : result;
    }
    int result = add_line(builder, 1 + LEDS, NITROGEN_LASER, builder->place);
    return status ? status : result;
}

static int add_file(light_builder *builder, size_t index, const char *path)
{
    ics_text text;
    ics_curve curve = {0};
    int status = ics_text_read(path, &text, builder->error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    status = ics_curve_read_density(&text, &curve, builder->error);
    ics_text_free(&text);
    if (status == ICESTREAM_OK) {
        status = add_product(builder, index, path, curve_density, &curve, &curve, curve.x[0],
                             curve.x[curve.count - 1], path);
    }
    ics_curve_free(&curve);
    return status;
}

static int add_configured(light_builder *builder)
{
    const icestream_config *config = builder->config;
    char place[512];
    int status = ICESTREAM_OK;
    ics_config_place(config, "light.spectra", place, sizeof place);
    for (size_t i = 0; i < config->light.spectrum_count; ++i) {
        const ics_spectrum_config *entry = &config->light.spectra[i];
        size_t index = ICS_SPECTRA_BUILT_IN + i;
        int result = entry->file != NULL ? add_file(builder, index, entry->file)
                                         : add_line(builder, index, entry->line, place);
        status = status ? status : result;
    }
    return status;
}

static int build(light_builder *builder, const ics_ice_factors *factors,
                 const ice_detector *detector)
{
    const icestream_config *config = builder->config;
    ice_light *light = builder->light;
    if (config->light.spectrum_count > ICS_SPECTRA_MAX - ICS_SPECTRA_BUILT_IN) {
        char place[512];
        return ics_error_add(builder->error, ICESTREAM_E_CONFIG,
                             "%s: error: light.spectra: found %zu spectra, expected at most %d",
                             ics_config_place(config, "light.spectra", place, sizeof place),
                             config->light.spectrum_count, ICS_SPECTRA_MAX - ICS_SPECTRA_BUILT_IN);
    }
    int status = make_bias(builder);
    if (status != ICESTREAM_OK) {
        return status;
    }
    status = read_ratio(builder);
    if (status == ICESTREAM_OK) {
        status = finish_bias(builder, detector, detector->angular.maximum * factors->efficiency);
    }
    if (status != ICESTREAM_OK) {
        return status;
    }
    light->count = ICS_SPECTRA_BUILT_IN + config->light.spectrum_count;
    light->spectra = calloc(light->count, sizeof *light->spectra);
    if (light->spectra == NULL) {
        light->count = 0;
        return no_memory(builder);
    }
    status = add_built_in(builder);
    int result = add_configured(builder);
    status = status ? status : result;
    light->bias_wavelength = builder->bias.x;
    light->bias = builder->bias.y;
    light->bias_count = builder->bias.count;
    builder->bias = (ics_curve){0};
    return status;
}

int ics_light_create(const icestream_config *config, const ice_medium *medium,
                     const ics_ice_factors *factors, const ice_detector *detector, ice_light **out,
                     icestream_error *error)
{
    light_builder builder = {.config = config, .medium = medium, .error = error};
    *out = NULL;
    ics_config_place(config, "light.acceptance", builder.place, sizeof builder.place);
    builder.light = calloc(1, sizeof *builder.light);
    int status = builder.light != NULL ? build(&builder, factors, detector) : no_memory(&builder);
    ics_curve_free(&builder.bias);
    ics_curve_free(&builder.ratio);
    if (status != ICESTREAM_OK) {
        ics_light_destroy(builder.light);
        return status;
    }
    *out = builder.light;
    return ICESTREAM_OK;
}

void ics_light_destroy(ice_light *light)
{
    if (light == NULL) {
        return;
    }
    for (size_t i = 0; i < light->count; ++i) {
        free(light->spectra[i].name);
        free(light->spectra[i].wavelength);
        free(light->spectra[i].density);
    }
    for (size_t k = 0; k < ICE_ACCEPTANCES; ++k) {
        free(light->acceptances[k]);
    }
    free(light->spectra);
    free(light->bias_wavelength);
    free(light->bias);
    free(light);
}
