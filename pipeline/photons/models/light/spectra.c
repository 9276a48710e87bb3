/* The spectra of a run: Cherenkov light, the built-in light sources, and those of light.spectra. */
#include "base/cleanup.h"
#include "pipeline/photons/models/light/builder.h"
#include "stages/optics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The band (nm) of Cherenkov light if light.acceptance is none, so that all light is generated. */
#define PLAIN_LOW  265
#define PLAIN_HIGH 675

/* The spectra of the LEDs as Gaussians: median and half of the 16-84 % width, nm (physics.md 2.4).
 */
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

/* The Cherenkov yield for a phase index of refraction. */
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

/* ---- what the bias keeps -----------------------------------------------------------------------
 */

/* Integrates a spectrum before the bias: the biased spectrum divided by the bias. */
static double unbiased_integral(const ics_curve *spectrum, const ics_curve *bias)
{
    double sum = 0;
    for (size_t i = 1; i < spectrum->count; ++i) {
        const double left = ics_curve_at(bias, spectrum->x[i - 1]);
        const double right = ics_curve_at(bias, spectrum->x[i]);
        if (left > 0 && right > 0) {
            sum += 0.5 * (spectrum->y[i - 1] / left + spectrum->y[i] / right) *
                   (spectrum->x[i] - spectrum->x[i - 1]);
        }
    }
    return sum;
}

/* Returns the share of the light of a finished spectrum that the bias keeps: int(s bias) / int(s)
 * (physics.md 3.4). `all`: int(s), or 0 to take it over the wavelengths where the bias is above 0.
 */
static double share_kept(const ics_light_builder *builder, size_t index, double all)
{
    const ice_spectrum *spectrum = &builder->light->spectra[index];
    const ics_curve biased = {
        .x = spectrum->wavelength, .y = spectrum->density, .count = spectrum->count};
    if (builder->bias.count == 0) {
        return 1;
    }
    return ics_curve_integral(&biased) /
           (all > 0 ? all : unbiased_integral(&biased, &builder->bias));
}

/* ---- single spectra -------------------------------------------------------------------------- */

static double bias_at(const ics_light_builder *builder, double wavelength)
{
    return builder->bias.count > 0 ? ics_curve_at(&builder->bias, wavelength) : 1;
}

/* The band (nm) in which light can be recorded. */
static void band_of(const ics_light_builder *builder, double *low, double *high)
{
    const ics_curve *bias = &builder->bias;
    *low = bias->count > 0 ? bias->x[0] : ICE_WAVELENGTH_MIN;
    *high = bias->count > 0 ? bias->x[bias->count - 1] : ICE_WAVELENGTH_MAX;
}

/* Makes the curve spectrum number `index`. The light owns the points afterwards, and the curve is
 * empty. */
static int keep_spectrum(ics_light_builder *builder, size_t index, const char *name,
                         ics_curve *curve)
{
    ice_spectrum *spectrum = &builder->light->spectra[index];
    spectrum->name = strdup(name);
    spectrum->wavelength = curve->x;
    spectrum->density = curve->y;
    spectrum->count = curve->count;
    *curve = (ics_curve){0};
    return spectrum->name != NULL ? ICESTREAM_OK : ics_error_no_memory(builder->error, "light");
}

static int keep_line(ics_light_builder *builder, size_t index, double wavelength, const char *name,
                     double kept)
{
    ICS_CLEANUP(ics_curve_free) ics_curve curve = {0};
    ICS_TRY(ics_curve_add(&curve, wavelength, 1, builder->error));
    builder->light->kept[index] = kept;
    return keep_spectrum(builder, index, name, &curve);
}

/* A built-in source outside of the band makes no photons. Its line at the end of the band stands
 * for a spectrum, which must have light. */
static int keep_nothing(ics_light_builder *builder, size_t index, const char *source)
{
    double low, high;
    char name[64];
    band_of(builder, &low, &high);
    if (builder->config->workload.spectrum == index) {
        return ics_error_add(builder->error, ICESTREAM_E_CONFIG,
                             "%s: error: workload.spectrum: found %zu (%s), which has no light "
                             "between %.10g and %.10g nm, where light.acceptance is above 0",
                             builder->place, index, source, low, high);
    }
    snprintf(name, sizeof name, "%s, of which nothing is detected", source);
    return keep_line(builder, index, low, name, 0);
}

static int add_line(ics_light_builder *builder, size_t index, double wavelength, const char *place)
{
    double low, high;
    char name[48];
    band_of(builder, &low, &high);
    snprintf(name, sizeof name, "line %.10g nm", wavelength);
    if (!(wavelength >= low && wavelength <= high)) {
        return index < ICS_SPECTRA_BUILT_IN
                   ? keep_nothing(builder, index, name)
                   : ics_error_add(builder->error, ICESTREAM_E_CONFIG,
                                   "%s: error: spectrum %zu: found a line at %.10g nm, expected "
                                   "%.10g .. %.10g nm, where light.acceptance is above 0",
                                   place, index, wavelength, low, high);
    }
    return keep_line(builder, index, wavelength, name, bias_at(builder, wavelength));
}

/* The light of a source before the bias. */
typedef struct source_light {
    const char *name;
    const char
        *place; /* for messages; NULL: the source is built in, and may have no light in the band */
    double (*density)(const void *source, double wavelength);
    const void *source;
    const ics_curve *points; /* points of the source's own curve, or NULL */
    double integral;  /* integral of all light of the source; 0: of the light that the bias keeps */
    double low, high; /* nm, where the source emits light */
} source_light;

/* The next wavelength after x: a whole nanometre, a point of the source, or the end. */
static double following(const source_light *from, double x, double high, size_t *next)
{
    const ics_curve *points = from->points;
    const double whole = fmin(floor(x) + 1, high);
    while (points != NULL && *next < points->count && points->x[*next] <= x) {
        ++*next;
    }
    return points != NULL && *next < points->count ? fmin(whole, points->x[*next]) : whole;
}

/* Makes spectrum `index` from the product of density and bias: at every whole nanometre, at the
 * ends of the light, and at the points of the source. */
static int add_product(ics_light_builder *builder, size_t index, const source_light *from)
{
    double band_low, band_high;
    ICS_CLEANUP(ics_curve_free) ics_curve curve = {0};
    size_t next = 0;
    bool light = false;
    band_of(builder, &band_low, &band_high);
    const double low = fmax(from->low, band_low), high = fmin(from->high, band_high);
    for (double x = low; low < high; x = following(from, x, high, &next)) {
        const double y = from->density(from->source, x) * bias_at(builder, x);
        ICS_TRY(ics_curve_add(&curve, x, y, builder->error));
        light |= y > 0;
        if (x >= high) {
            break;
        }
    }
    if (!light && from->place == NULL) {
        return keep_nothing(builder, index, from->name);
    }
    if (!light) {
        return ics_error_add(builder->error, ICESTREAM_E_CONFIG,
                             "%s: error: spectrum %zu (%s): found no light between %.10g and "
                             "%.10g nm, expected some where light.acceptance is above 0",
                             from->place, index, from->name, band_low, band_high);
    }
    ICS_TRY(keep_spectrum(builder, index, from->name, &curve));
    builder->light->kept[index] = share_kept(builder, index, from->integral);
    return ICESTREAM_OK;
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

/* ---- spectra --------------------------------------------------------------------------------- */

static int add_cherenkov(ics_light_builder *builder)
{
    const bool biased = builder->bias.count > 0;
    const source_light from = {.name = "Cherenkov",
                               .place = builder->place,
                               .density = cherenkov_density,
                               .source = builder->medium,
                               .low = biased ? ICE_WAVELENGTH_MIN : PLAIN_LOW,
                               .high = biased ? ICE_WAVELENGTH_MAX : PLAIN_HIGH};
    ICS_TRY(add_product(builder, 0, &from));
    const ice_spectrum *spectrum = &builder->light->spectra[0];
    ics_curve curve = {.x = spectrum->wavelength, .y = spectrum->density, .count = spectrum->count};
    builder->light->photons_per_metre = ics_curve_integral(&curve);
    return ICESTREAM_OK;
}

static int add_built_in(ics_light_builder *builder)
{
    const double reach = 5; /* in widths; 6e-7 of the light is outside */
    int status = add_cherenkov(builder);
    for (size_t i = 0; i < LEDS; ++i) {
        double led[2] = {leds[i].median, leds[i].width};
        const source_light from = {.name = leds[i].name,
                                   .density = led_density,
                                   .source = led,
                                   .low = led[0] - reach * led[1],
                                   .high = led[0] + reach * led[1]};
        status = ics_error_first(status, add_product(builder, 1 + i, &from));
    }
    return ics_error_first(status, add_line(builder, 1 + LEDS, NITROGEN_LASER, NULL));
}

static int add_file(ics_light_builder *builder, size_t index, const char *path)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ICS_CLEANUP(ics_curve_free) ics_curve curve = {0};
    ICS_TRY(ics_text_read(path, &text, builder->error));
    ICS_TRY(ics_curve_read_density(&text, &curve, builder->error));
    const source_light from = {.name = path,
                               .place = path,
                               .density = curve_density,
                               .source = &curve,
                               .points = &curve,
                               .integral = ics_curve_integral(&curve),
                               .low = curve.x[0],
                               .high = curve.x[curve.count - 1]};
    return add_product(builder, index, &from);
}

static int add_configured(ics_light_builder *builder)
{
    const icestream_config *config = builder->config;
    char place[512];
    int status = ICESTREAM_OK;
    ics_config_place(config, "light.spectra", place, sizeof place);
    for (size_t i = 0; i < config->light.spectrum_count; ++i) {
        const ics_spectrum_config *entry = &config->light.spectra[i];
        size_t index = ICS_SPECTRA_BUILT_IN + i;
        status = ics_error_first(status, entry->file != NULL
                                             ? add_file(builder, index, entry->file)
                                             : add_line(builder, index, entry->line, place));
    }
    return status;
}

int ics_light_make_spectra(ics_light_builder *builder)
{
    const int status = add_built_in(builder);
    return ics_error_first(status, add_configured(builder));
}
