/* Values of the ice, or of water, that are legal and most likely mistakes. */
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/ice/tilt.h"
#include "pipeline/photons/models/light/region.h"
#include "pipeline/photons/models/plausibility_parts.h"

#include <math.h>
#include <string.h>

/* The shortest length (m) in the clearest layer of natural ice or water. */
static const double shortest = 1;

/* Numbers of all layers. */
typedef struct layer_ranges {
    ics_range scattering, absorption; /* lengths (m) at 400 nm */
    ics_range temperature;            /* differences (K) */
    ics_range along, across;          /* logarithms of the anisotropy of scattering */
} layer_ranges;

static layer_ranges ranges_of(const ice_medium *medium)
{
    layer_ranges all = {.scattering = ics_range_empty,
                        .absorption = ics_range_empty,
                        .temperature = ics_range_empty,
                        .along = ics_range_empty,
                        .across = ics_range_empty};
    for (size_t i = 0; i < medium->layer_count; ++i) {
        const ice_layer *layer = &medium->layers[i];
        ics_range_add(&all.scattering,
                      1 / ics_ice_scattering(medium, i, ICS_PLAUSIBILITY_WAVELENGTH));
        ics_range_add(&all.absorption,
                      1 / ics_ice_absorption(medium, i, ICS_PLAUSIBILITY_WAVELENGTH));
        ics_range_add(&all.temperature, layer->delta_tau);
        ics_range_add(&all.along, layer->anisotropy_along);
        ics_range_add(&all.across, layer->anisotropy_across);
    }
    return all;
}

static bool is_water(const ics_inspection *self)
{
    return self->medium->spectral != NULL;
}

static ics_value_place at_layers(const ics_inspection *self)
{
    return (ics_value_place){.ice = is_water(self) ? "optics" : "layers"};
}

/* ---- coefficients ---------------------------------------------------------------------------- */

/* A file of lengths in place of coefficients makes ice in which light flies some centimetres.
 * Coefficients in 1/cm look like ice that is a hundred times clearer. */
static void check_coefficients(const ics_inspection *self, const layer_ranges *ranges)
{
    const struct {
        const char *name, *usual;
        ics_range length; /* m */
        double longest;   /* m, in the dirtiest layer */
    } rows[] = {{"effective scattering", "0.005 to 0.5 1/m, 2 to 200 m", ranges->scattering,
                 is_water(self) ? 5000 : 1000},
                {"absorption", "0.003 to 0.2 1/m, 5 to 300 m", ranges->absorption, 1000}};
    const size_t low = rows[0].length.high < shortest ? 0 : 1;
    const size_t high = rows[0].length.low > rows[0].longest ? 0 : 1;
    ics_plausibility_expect(
        self, rows[low].length.high >= shortest, at_layers(self),
        "%s: found %.3g 1/m at 400 nm in the clearest layer, a length of %.3g m; usual: %s; does "
        "the file have lengths (m) where coefficients (1/m) belong%s?",
        rows[low].name, 1 / rows[low].length.high, rows[low].length.high, rows[low].usual,
        is_water(self) ? ", or the other way round" : "");
    ics_plausibility_expect(
        self, rows[high].length.low <= rows[high].longest, at_layers(self),
        "%s: found %.3g 1/m at 400 nm in the dirtiest layer, a length of %.4g m; usual: %s; is the "
        "unit another one, as 1/cm?",
        rows[high].name, 1 / rows[high].length.low, rows[high].length.low, rows[high].usual);
}

/* In ice, dust scatters several times as much light as it absorbs. */
static void check_swapped_columns(const ics_inspection *self, const layer_ranges *ranges)
{
    const ice_layer *layers = self->medium->layers;
    bool is_usual = ranges->scattering.high < shortest || ranges->absorption.high < shortest;
    for (size_t i = 0; i < self->medium->layer_count; ++i) {
        is_usual = is_usual ||
                   layers[i].dust_absorption <= layers[i].effective_scattering + layers[i].bubbles;
    }
    ics_plausibility_expect(
        self, is_usual, at_layers(self),
        "found more absorption by dust than effective scattering in every layer, such as %.4g and "
        "%.4g 1/m; usual: absorption 0.1 to 0.5 times the scattering; are the two swapped?",
        layers[0].dust_absorption, layers[0].effective_scattering + layers[0].bubbles);
}

/* How many times a value is larger than both of its neighbours, or smaller. */
static double excess_of(double before, double value, double after)
{
    return fmax(fmin(value / before, value / after), fmin(before / value, after / value));
}

/* A decimal point at a wrong place makes one layer unlike its neighbours. */
static void check_single_layers(const ics_inspection *self)
{
    const double most = 8; /* times; measured ice: up to 1.84 (spice_ftp-v3m) */
    const ice_medium *medium = self->medium;
    bool is_usual = true;
    for (size_t i = 1; i + 1 < medium->layer_count; ++i) {
        const ice_layer *layer = &medium->layers[i], *before = layer - 1, *after = layer + 1;
        const struct {
            const char *name;
            double value, before, after;
        } columns[] = {
            {"be400", layer->effective_scattering, before->effective_scattering,
             after->effective_scattering},
            {"adust400", layer->dust_absorption, before->dust_absorption, after->dust_absorption}};
        for (size_t k = 0; k < 2 && is_usual; ++k) {
            is_usual = excess_of(columns[k].before, columns[k].value, columns[k].after) <= most;
            ics_plausibility_expect(
                self, is_usual, at_layers(self),
                "%s: found %.4g 1/m in the layer at a depth of %.6g m, between layers of %.4g and "
                "%.4g 1/m; usual: less than %g times that of both neighbours",
                columns[k].name, columns[k].value,
                ICE_DETECTOR_DEPTH - medium->bottom - medium->thickness * ((double)i + 0.5),
                columns[k].after, columns[k].before, most);
        }
    }
}

/* Depths in place of heights, or heights in place of depths, put a table of few layers far away
 * from all modules. The table of the detector is about modules outside a table of many layers. */
static void check_heights(const ics_inspection *self)
{
    const ice_medium *medium = self->medium;
    const double top = medium->bottom + medium->thickness * (double)medium->layer_count;
    const ics_light_limits limits = ics_light_limits_of(medium, self->detector);
    const ics_range *modules = &limits.modules.z;
    ics_plausibility_expect(
        self,
        medium->layer_count < 2 || isfinite(limits.top) ||
            (modules->high >= medium->bottom && modules->low <= top),
        (ics_value_place){.ice = "layers"},
        "found layers from z = %.6g to %.6g m, and all modules are %s (z = %.6g to %.6g m); usual: "
        "layers at the heights of the modules; %s",
        medium->bottom, top, modules->low > top ? "above" : "below", modules->low, modules->high,
        is_water(self) ? "are these depths? Layers of water have z"
                       : "are these heights? Layers of ice have depths");
}

/* Laws of the wavelength. Dust scatters and absorbs short wavelengths more; pure ice absorbs next
 * to nothing at 400 nm; a column of temperatures changes absorption by tens of percent. */
static void check_laws(const ics_inspection *self, const layer_ranges *ranges)
{
    const double hottest = 60; /* K: the ice of Antarctica is between -60 and 0 degrees */
    const double most = 0.05;  /* 1/m: a hundred times that of ice */
    const ice_medium *medium = self->medium;
    const double pure =
        medium->absorption_a * exp(-medium->absorption_b / ICS_PLAUSIBILITY_WAVELENGTH);
    ics_plausibility_expect(
        self, ranges->temperature.low >= -hottest && ranges->temperature.high <= hottest,
        at_layers(self),
        "dtau: found differences of temperature from %.6g to %.6g K; usual: -11 to 28 K, relative "
        "to the ice at a depth of 1730 m; are these the temperatures themselves?",
        ranges->temperature.low, ranges->temperature.high);
    ics_plausibility_expect(
        self, medium->alpha >= 0, (ics_value_place){.ice = "alpha"},
        "alpha: found %g, with which scattering grows with the wavelength; usual: 0.9",
        medium->alpha);
    ics_plausibility_expect(
        self, medium->kappa >= 0, (ics_value_place){.ice = "kappa"},
        "kappa: found %g, with which absorption by dust grows with the wavelength; usual: 1.08",
        medium->kappa);
    ics_plausibility_expect(
        self, pure <= most, (ics_value_place){.ice = "absorption_a"},
        "absorption_a, absorption_b: found %g 1/m and %g nm, with which pure ice absorbs %.3g 1/m "
        "at 400 nm; usual: 0.0005 1/m, by 6954.1 1/m and 6617.75 nm",
        medium->absorption_a, medium->absorption_b, pure);
}

/* Positions in kilometres make layers that rise like walls. */
static void check_tilt(const ics_inspection *self)
{
    const double most = 0.5; /* measured layers: up to 0.161 (spice_bfr-v2) */
    const double steepest = ics_ice_tilt_steepness(&self->medium->tilt);
    ics_plausibility_expect(self, steepest <= most, (ics_value_place){.ice = "tilt"},
                            "tilt: found layers that rise by %.4g m per m; usual: at most 0.2; are "
                            "all positions and shifts in m?",
                            steepest);
}

/* ---- directions ------------------------------------------------------------------------------ */

/* The logarithm of k of real ice is about 0.04 along the flow and -0.08 across it. */
static void check_anisotropy(const ics_inspection *self, const layer_ranges *ranges)
{
    const ics_value_place at = {.ice = "anisotropy", .setting = 6};
    const double most = 0.5;
    const ics_range along = ranges->along, across = ranges->across;
    const double along_size = fmax(fabs(along.low), fabs(along.high));
    const double across_size = fmax(fabs(across.low), fabs(across.high));
    const bool is_small = along_size <= most && across_size <= most;
    ics_plausibility_expect(
        self, is_small, at,
        "anisotropy: found logarithms up to %.4g along and %.4g across the flow, which are factors "
        "of %.4g and %.4g; usual: logarithms between -0.2 and 0.2, such as 0.04 and -0.08; are "
        "these the factors k1 and k2 themselves?",
        along_size, across_size, exp(along_size), exp(across_size));
    ics_plausibility_expect(
        self, !is_small || along.low >= 0 || along.high > 0 || across.high <= 0 || across.low < 0,
        at,
        "anisotropy: found a logarithm of %.4g along and %.4g across the flow; usual: the first "
        "above 0 and the second below 0, such as 0.04 and -0.08; are they swapped?",
        along.low, across.high);
}

static void check_absorption_anisotropy(const ics_inspection *self)
{
    const ics_value_place at = {.ice = "absorption_anisotropy", .setting = 13};
    const double most = 1.2;
    const double *logarithms = self->medium->absorption_anisotropy;
    ics_range range = ics_range_empty;
    for (size_t i = 0; i < 3; ++i) {
        ics_range_add(&range, logarithms[i]);
    }
    const bool is_reversed = range.low < 0 && range.low == logarithms[0];
    ics_plausibility_expect(
        self, !is_reversed, at,
        "absorption_anisotropy: found a logarithm of %.4g along the flow, below those across it; "
        "usual: the first above 0 and the others below, such as 0.6, -0.3, -0.3; is the sign "
        "wrong?",
        range.low);
    ics_plausibility_expect(
        self, is_reversed || (range.high <= most && range.low >= -most), at,
        "absorption_anisotropy: found logarithms from %.4g to %.4g, which are factors from %.4g to "
        "%.4g; usual: 0.6, -0.3, -0.3",
        range.low, range.high, exp(range.low), exp(range.high));
}

/* Ice scatters forwards. A header of one's own, and the stage for any direction, may have another
 * mean cosine. */
static bool scatters_forwards(const ics_inspection *self)
{
    static const char *const stages[] = {"hg-sl", "hg", "sl"};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i) {
        if (strcmp(self->config->stages.scatter, stages[i]) == 0) {
            return !is_water(self);
        }
    }
    return false;
}

static void check_mean_cosine(const ics_inspection *self, ics_value_place at, double value)
{
    const double least = 0.6, most = 0.98;
    const struct {
        bool is_found;
        const char *text;
    } rows[] = {
        {value < 0, "light that scatters backwards"},
        {value > most, "light that scatters by tiny angles, and very often"},
        {value > 0 && value < least && scatters_forwards(self),
         "light that scatters by wide angles"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        ics_plausibility_expect(self, !rows[i].is_found, at,
                                "%s: found %g, %s; usual: 0.8 to 0.95 (0 for molecules)", at.ice,
                                value, rows[i].text);
    }
}

/* ---- holes ----------------------------------------------------------------------------------- */

/* Columns of bubbles have half the radius of a module, drill holes twice. Coefficients in place of
 * lengths make hole ice that is clearer than the ice around it, or black. */
static void check_hole(const ics_inspection *self, const layer_ranges *ranges)
{
    const ice_hole *hole = &self->medium->hole;
    const double module = self->detector->radius;
    const double narrowest = 0.4 * module, widest = fmax(0.5, 2 * module);
    ics_plausibility_expect(
        self, hole->radius >= narrowest && hole->radius <= widest,
        (ics_value_place){.ice = "hole.radius", .setting = 8},
        "hole.radius: found %.4g m, much %s than the modules (%.4g m), so that %s; usual: 0.08 m "
        "(a column of bubbles) to 0.3 m (the whole drill hole)",
        hole->radius, hole->radius < narrowest ? "narrower" : "wider", module,
        hole->radius < narrowest ? "light reaches them past the hole ice"
                                 : "most of their light is scattered there");
    ics_plausibility_expect(
        self, hole->effective_scattering <= ranges->scattering.high,
        (ics_value_place){.ice = "hole.effective_scattering", .setting = 9},
        "hole.effective_scattering: found a length of %.4g m, longer than that of the clearest ice "
        "(%.4g m), so that the hole ice is clearer than the ice around it; usual: 0.03 to 1 m",
        hole->effective_scattering, ranges->scattering.high);
    ics_plausibility_expect(
        self, hole->absorption >= shortest,
        (ics_value_place){.ice = "hole.absorption", .setting = 10},
        "hole.absorption: found a length of %.4g m, with which the hole ice is black; usual: 100 m",
        hole->absorption);
}

void ics_plausibility_check_ice(const ics_inspection *self)
{
    const ice_medium *medium = self->medium;
    const layer_ranges ranges = ranges_of(medium);
    check_coefficients(self, &ranges);
    check_heights(self);
    if (!is_water(self)) {
        check_swapped_columns(self, &ranges);
        check_single_layers(self);
        check_laws(self, &ranges);
    }
    check_anisotropy(self, &ranges);
    check_absorption_anisotropy(self);
    check_mean_cosine(
        self,
        (ics_value_place){.ice = is_water(self) ? "scattering.mean_cosine" : "mean_cosine",
                          .setting = 4},
        medium->mean_cosine);
    if (medium->hole.radius > 0) {
        check_mean_cosine(self, (ics_value_place){.ice = "hole.mean_cosine", .setting = 12},
                          medium->hole.mean_cosine);
        check_hole(self, &ranges);
    }
    check_tilt(self);
}
