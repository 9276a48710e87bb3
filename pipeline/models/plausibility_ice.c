/* Values of the ice, or of water, that are legal and most likely mistakes. */
#include "pipeline/models/ice/ice_medium.h"
#include "pipeline/models/ice/ice_tilt.h"
#include "pipeline/models/light/light_region.h"
#include "pipeline/models/plausibility_parts.h"
#include "pipeline/models/range.h"

#include <math.h>
#include <string.h>

static const char *place_of(const ics_inspection *self, const char *key, size_t setting,
                            char place[ICS_PLAUSIBILITY_PLACE])
{
    return ics_plausibility_ice_place(self->config, key, setting, place, ICS_PLAUSIBILITY_PLACE);
}

/* The shortest length (m) in the clearest layer of natural ice or water. */
static const double shortest = 1;

static bool is_water(const ics_inspection *self)
{
    return self->medium->spectral != NULL;
}

static const char *place_of_layers(const ics_inspection *self, char place[ICS_PLAUSIBILITY_PLACE])
{
    return place_of(self, is_water(self) ? "optics" : "layers", 0, place);
}

/* ---- coefficients ---------------------------------------------------------------------------- */

/* Lengths (m) of the clearest layer. */
static void find_longest(const ice_medium *medium, double *scattering, double *absorption)
{
    *scattering = *absorption = 0;
    for (size_t i = 0; i < medium->layer_count; ++i) {
        *scattering =
            fmax(*scattering, 1 / ics_ice_scattering(medium, i, ICS_PLAUSIBILITY_WAVELENGTH));
        *absorption =
            fmax(*absorption, 1 / ics_ice_absorption(medium, i, ICS_PLAUSIBILITY_WAVELENGTH));
    }
}

/* A file of lengths in place of coefficients makes ice in which light flies some centimetres. */
static int check_coefficients(const ics_inspection *self)
{
    double scattering, absorption;
    char place[ICS_PLAUSIBILITY_PLACE];
    find_longest(self->medium, &scattering, &absorption);
    if (scattering >= shortest && absorption >= shortest) {
        return ICESTREAM_OK;
    }
    const bool scatters = scattering < shortest;
    return ics_warnings_add(
        self->warnings,
        "%s: %s: found %.3g 1/m at 400 nm in the clearest layer, a length of %.3g m; usual: %s; "
        "does the file have lengths (m) where coefficients (1/m) belong%s?",
        place_of_layers(self, place), scatters ? "effective scattering" : "absorption",
        1 / (scatters ? scattering : absorption), scatters ? scattering : absorption,
        scatters ? "0.005 to 0.5 1/m, 2 to 200 m" : "0.003 to 0.2 1/m, 5 to 300 m",
        is_water(self) ? ", or the other way round" : "");
}

/* Coefficients in 1/cm look like ice that is a hundred times clearer. */
static int check_clearness(const ics_inspection *self)
{
    const double longest_scattering = is_water(self) ? 5000 : 1000,
                 longest_absorption = 1000; /* m */
    double scattering = INFINITY, absorption = INFINITY;
    char place[ICS_PLAUSIBILITY_PLACE];
    for (size_t i = 0; i < self->medium->layer_count; ++i) {
        scattering =
            fmin(scattering, 1 / ics_ice_scattering(self->medium, i, ICS_PLAUSIBILITY_WAVELENGTH));
        absorption =
            fmin(absorption, 1 / ics_ice_absorption(self->medium, i, ICS_PLAUSIBILITY_WAVELENGTH));
    }
    const bool scatters = scattering > longest_scattering;
    if (!scatters && absorption <= longest_absorption) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: %s: found %.3g 1/m at 400 nm in the dirtiest layer, a length of %.4g m; usual: %s; is "
        "the unit another one, as 1/cm?",
        place_of_layers(self, place), scatters ? "effective scattering" : "absorption",
        1 / (scatters ? scattering : absorption), scatters ? scattering : absorption,
        scatters ? "0.005 to 0.5 1/m, 2 to 200 m" : "0.003 to 0.2 1/m, 5 to 300 m");
}

/* In ice, dust scatters several times as much light as it absorbs. */
static int check_swapped_columns(const ics_inspection *self)
{
    const ice_layer *layers = self->medium->layers;
    double scattering, absorption;
    char place[ICS_PLAUSIBILITY_PLACE];
    find_longest(self->medium, &scattering, &absorption);
    if (is_water(self) || scattering < shortest || absorption < shortest) {
        return ICESTREAM_OK; /* check_coefficients has warned of the latter */
    }
    for (size_t i = 0; i < self->medium->layer_count; ++i) {
        if (layers[i].dust_absorption <= layers[i].effective_scattering + layers[i].bubbles) {
            return ICESTREAM_OK;
        }
    }
    return ics_warnings_add(
        self->warnings,
        "%s: found more absorption by dust than effective scattering in every layer, such as %.4g "
        "and %.4g 1/m; usual: absorption 0.1 to 0.5 times the scattering; are the two swapped?",
        place_of_layers(self, place), layers[0].dust_absorption,
        layers[0].effective_scattering + layers[0].bubbles);
}

/* How many times a value is larger than both of its neighbours, or smaller. */
static double excess_of(double before, double value, double after)
{
    return fmax(fmin(value / before, value / after), fmin(before / value, after / value));
}

/* Depths in place of heights, or heights in place of depths, put a table of few layers far away
 * from all modules. check_positions of the detector judges tables of many layers. */
static int check_heights(const ics_inspection *self)
{
    const ice_medium *medium = self->medium;
    const double top = medium->bottom + medium->thickness * (double)medium->layer_count;
    const ics_light_limits limits = ics_light_limits_of(medium, self->detector);
    const ics_range *modules = &limits.modules.z;
    char place[ICS_PLAUSIBILITY_PLACE];
    if (medium->layer_count < 2 || isfinite(limits.top) ||
        (modules->high >= medium->bottom && modules->low <= top)) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: found layers from z = %.6g to %.6g m, and all modules are %s (z = %.6g to %.6g m); "
        "usual: layers at the heights of the modules; %s",
        place_of(self, "layers", 0, place), medium->bottom, top,
        modules->low > top ? "above" : "below", modules->low, modules->high,
        is_water(self) ? "are these depths? Layers of water have z"
                       : "are these heights? Layers of ice have depths");
}

/* A decimal point at a wrong place makes one layer unlike its neighbours. */
static int check_single_layers(const ics_inspection *self)
{
    const double most = 8; /* times; measured ice: up to 1.84 (spice_ftp-v3m) */
    const ice_layer *layers = self->medium->layers;
    const ice_medium *medium = self->medium;
    char place[ICS_PLAUSIBILITY_PLACE];
    for (size_t i = 1; i + 1 < medium->layer_count && !is_water(self); ++i) {
        const double values[] = {layers[i].effective_scattering, layers[i].dust_absorption};
        const double before[] = {layers[i - 1].effective_scattering, layers[i - 1].dust_absorption};
        const double after[] = {layers[i + 1].effective_scattering, layers[i + 1].dust_absorption};
        for (size_t k = 0; k < 2; ++k) {
            if (excess_of(before[k], values[k], after[k]) > most) {
                return ics_warnings_add(
                    self->warnings,
                    "%s: %s: found %.4g 1/m in the layer at a depth of %.6g m, between layers of "
                    "%.4g and %.4g 1/m; usual: less than %g times that of both neighbours",
                    place_of_layers(self, place), k == 0 ? "be400" : "adust400", values[k],
                    ICE_DETECTOR_DEPTH - medium->bottom - medium->thickness * ((double)i + 0.5),
                    after[k], before[k], most);
            }
        }
    }
    return ICESTREAM_OK;
}

/* A column of temperatures in place of differences changes absorption by tens of percent. */
static int check_temperatures(const ics_inspection *self)
{
    const double most = 60; /* K: the ice of Antarctica is between -60 and 0 degrees */
    ics_range delta = ics_range_empty;
    char place[ICS_PLAUSIBILITY_PLACE];
    for (size_t i = 0; i < self->medium->layer_count; ++i) {
        ics_range_add(&delta, self->medium->layers[i].delta_tau);
    }
    if (is_water(self) || (delta.low >= -most && delta.high <= most)) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: dtau: found differences of temperature from %.6g to %.6g K; usual: -11 to 28 K, "
        "relative to the ice at a depth of 1730 m; are these the temperatures themselves?",
        place_of_layers(self, place), delta.low, delta.high);
}

/* Dust scatters and absorbs short wavelengths more; pure ice absorbs next to nothing at 400 nm. */
static int check_wavelengths(const ics_inspection *self)
{
    const double most = 0.05; /* 1/m: a hundred times that of ice */
    const ice_medium *medium = self->medium;
    char place[ICS_PLAUSIBILITY_PLACE];
    const struct {
        const char *key;
        double value, usual;
    } exponents[] = {{"alpha", medium->alpha, 0.9}, {"kappa", medium->kappa, 1.08}};
    if (is_water(self)) {
        return ICESTREAM_OK;
    }
    for (size_t i = 0; i < 2; ++i) {
        if (exponents[i].value < 0) {
            ICS_TRY(ics_warnings_add(
                self->warnings,
                "%s: %s: found %g, with which %s grows with the wavelength; "
                "usual: %g",
                place_of(self, exponents[i].key, 0, place), exponents[i].key, exponents[i].value,
                i == 0 ? "scattering" : "absorption by dust", exponents[i].usual));
        }
    }
    const double pure =
        medium->absorption_a * exp(-medium->absorption_b / ICS_PLAUSIBILITY_WAVELENGTH);
    if (pure <= most) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: absorption_a, absorption_b: found %g 1/m and %g nm, with which pure ice absorbs %.3g "
        "1/m at 400 nm; usual: 0.0005 1/m, by 6954.1 1/m and 6617.75 nm",
        place_of(self, "absorption_a", 0, place), medium->absorption_a, medium->absorption_b, pure);
}

/* Positions in kilometres make layers that rise like walls. */
static int check_tilt(const ics_inspection *self)
{
    const double most = 0.5; /* measured layers: up to 0.161 (spice_bfr-v2) */
    const double steepest = ics_ice_tilt_steepness(&self->medium->tilt);
    char place[ICS_PLAUSIBILITY_PLACE];
    return steepest <= most
               ? ICESTREAM_OK
               : ics_warnings_add(self->warnings,
                                  "%s: tilt: found layers that rise by %.4g m per m; usual: at "
                                  "most 0.2; are all positions and shifts in m?",
                                  place_of(self, "tilt", 0, place), steepest);
}

/* ---- directions ------------------------------------------------------------------------------ */

/* ln k of real ice is about 0.04 along the flow and -0.08 across it. */
static int check_anisotropy(const ics_inspection *self)
{
    enum { SETTING = 6, SETTING_ABSORPTION = 13 };
    const double most = 0.5, most_absorption = 1.2;
    ics_range along = ics_range_empty, across = ics_range_empty, absorption = ics_range_empty;
    char place[ICS_PLAUSIBILITY_PLACE];
    for (size_t i = 0; i < self->medium->layer_count; ++i) {
        ics_range_add(&along, self->medium->layers[i].anisotropy_along);
        ics_range_add(&across, self->medium->layers[i].anisotropy_across);
    }
    for (size_t i = 0; i < 3; ++i) {
        ics_range_add(&absorption, self->medium->absorption_anisotropy[i]);
    }
    if (along.high > most || along.low < -most || across.high > most || across.low < -most) {
        return ics_warnings_add(
            self->warnings,
            "%s: anisotropy: found logarithms up to %.4g along and %.4g across the flow, which are "
            "factors of %.4g and %.4g; usual: logarithms between -0.2 and 0.2, such as 0.04 and "
            "-0.08; are these the factors k1 and k2 themselves?",
            place_of(self, "anisotropy", SETTING, place), fmax(along.high, -along.low),
            fmax(across.high, -across.low), exp(fmax(along.high, -along.low)),
            exp(fmax(across.high, -across.low)));
    }
    if (along.low < 0 && along.high <= 0 && across.high > 0 && across.low >= 0) {
        return ics_warnings_add(
            self->warnings,
            "%s: anisotropy: found a logarithm of %.4g along and %.4g across the flow; usual: the "
            "first above 0 and the second below 0, such as 0.04 and -0.08; are they swapped?",
            place_of(self, "anisotropy", SETTING, place), along.low, across.high);
    }
    if (absorption.low < 0 && absorption.low == self->medium->absorption_anisotropy[0]) {
        return ics_warnings_add(
            self->warnings,
            "%s: absorption_anisotropy: found a logarithm of %.4g along the flow, below those "
            "across it; usual: the first above 0 and the others below, such as 0.6, -0.3, -0.3; is "
            "the sign wrong?",
            place_of(self, "absorption_anisotropy", SETTING_ABSORPTION, place), absorption.low);
    }
    if (absorption.high > most_absorption || absorption.low < -most_absorption) {
        return ics_warnings_add(
            self->warnings,
            "%s: absorption_anisotropy: found logarithms from %.4g to %.4g, which are factors from "
            "%.4g to %.4g; usual: 0.6, -0.3, -0.3",
            place_of(self, "absorption_anisotropy", SETTING_ABSORPTION, place), absorption.low,
            absorption.high, exp(absorption.low), exp(absorption.high));
    }
    return ICESTREAM_OK;
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

static int check_mean_cosine(const ics_inspection *self, const char *key, size_t setting,
                             double value)
{
    const double least = 0.6, most = 0.98;
    char place[ICS_PLAUSIBILITY_PLACE];
    const char *text = NULL;
    if (value < 0) {
        text = "light that scatters backwards";
    } else if (value > most) {
        text = "light that scatters by tiny angles, and very often";
    } else if (value > 0 && value < least && scatters_forwards(self)) {
        text = "light that scatters by wide angles";
    }
    return text == NULL
               ? ICESTREAM_OK
               : ics_warnings_add(self->warnings,
                                  "%s: %s: found %g, %s; usual: 0.8 to 0.95 (0 for molecules)",
                                  place_of(self, key, setting, place), key, value, text);
}

static int check_angles(const ics_inspection *self)
{
    enum { SETTING = 4, SETTING_HOLE = 12 };
    const ice_medium *medium = self->medium;
    ICS_TRY(check_mean_cosine(self, is_water(self) ? "scattering.mean_cosine" : "mean_cosine",
                              SETTING, medium->mean_cosine));
    return medium->hole.radius > 0
               ? check_mean_cosine(self, "hole.mean_cosine", SETTING_HOLE, medium->hole.mean_cosine)
               : ICESTREAM_OK;
}

/* ---- holes ----------------------------------------------------------------------------------- */

/* Columns of bubbles have half the radius of a module, drill holes twice. */
static int check_hole_radius(const ics_inspection *self)
{
    enum { SETTING = 8 };
    const double least = 0.4 * self->detector->radius, most = fmax(0.5, 2 * self->detector->radius);
    const double radius = self->medium->hole.radius;
    char place[ICS_PLAUSIBILITY_PLACE];
    if (radius >= least && radius <= most) {
        return ICESTREAM_OK;
    }
    return ics_warnings_add(
        self->warnings,
        "%s: hole.radius: found %.4g m, much %s than the modules (%.4g m), so that %s; usual: 0.08 "
        "m (a column of bubbles) to 0.3 m (the whole drill hole)",
        place_of(self, "hole.radius", SETTING, place), radius,
        radius < least ? "narrower" : "wider", self->detector->radius,
        radius < least ? "light reaches them past the hole ice"
                       : "most of their light is scattered there");
}

/* Coefficients in place of lengths make hole ice that is clearer than the ice around it, or black.
 */
static int check_hole_lengths(const ics_inspection *self)
{
    enum { SETTING_SCATTERING = 9, SETTING_ABSORPTION = 10 };
    const double least = 1; /* m */
    const ice_hole *hole = &self->medium->hole;
    double scattering, absorption;
    char place[ICS_PLAUSIBILITY_PLACE];
    find_longest(self->medium, &scattering, &absorption);
    if (hole->effective_scattering > scattering) {
        ICS_TRY(ics_warnings_add(
            self->warnings,
            "%s: hole.effective_scattering: found a length of %.4g m, longer than that of the "
            "clearest ice (%.4g m), so that the hole ice is clearer than the ice around it; usual: "
            "0.03 to 1 m",
            place_of(self, "hole.effective_scattering", SETTING_SCATTERING, place),
            hole->effective_scattering, scattering));
    }
    return hole->absorption >= least
               ? ICESTREAM_OK
               : ics_warnings_add(self->warnings,
                                  "%s: hole.absorption: found a length of %.4g m, with which the "
                                  "hole ice is black; usual: 100 m",
                                  place_of(self, "hole.absorption", SETTING_ABSORPTION, place),
                                  hole->absorption);
}

static int check_hole(const ics_inspection *self)
{
    if (!(self->medium->hole.radius > 0)) {
        return ICESTREAM_OK;
    }
    ICS_TRY(check_hole_radius(self));
    return check_hole_lengths(self);
}

int ics_plausibility_check_ice(const ics_inspection *self)
{
    static int (*const checks[])(const ics_inspection *) = {
        check_coefficients,  check_clearness,  check_swapped_columns,
        check_single_layers, check_heights,    check_temperatures,
        check_wavelengths,   check_anisotropy, check_angles,
        check_hole,          check_tilt};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        ICS_TRY(checks[i](self));
    }
    return ICESTREAM_OK;
}
