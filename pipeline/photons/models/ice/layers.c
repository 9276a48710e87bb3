#include "pipeline/photons/models/ice/layers.h"

#include "base/error.h"
#include "base/memory.h"
#include "pipeline/photons/models/ice/features.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/ice/tilt.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The ranges are wide: they detect wrong units and columns, not unusual ice. */
static const struct {
    const char *name, *unit;
    double low, high;
    bool open; /* the ends themselves are excluded */
} properties[] = {
    {"alpha", "", -10, 10, false},           {"kappa", "", -10, 10, false},
    {"absorption_a", " 1/m", 0, 1e9, false}, {"absorption_b", " nm", 0, 1e6, false},
    {"mean_cosine", "", -1, 1, true},        {"liu_fraction", "", 0, 1, false},
};

int ics_ice_property_check(const char *place, const char *property, double value,
                           icestream_error *error)
{
    for (size_t i = 0; i < sizeof properties / sizeof *properties; ++i) {
        if (strcmp(properties[i].name, property) != 0) {
            continue;
        }
        double low = properties[i].low, high = properties[i].high;
        bool inside =
            properties[i].open ? value > low && value < high : value >= low && value <= high;
        if (inside) {
            return ICESTREAM_OK;
        }
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: %s: found %.10g, expected %g .. %g%s%s", place, property,
                             value, low, high, properties[i].unit,
                             properties[i].open ? ", without the ends" : "");
    }
    return ICESTREAM_OK;
}

int ics_ice_layer_list_add(ics_layer_list *list, const ics_layer_row *row, icestream_error *error)
{
    void *rows = ics_memory_grow(list->rows, list->count, &list->capacity, sizeof *list->rows);
    if (rows == NULL) {
        return ics_error_no_memory(error, list->name);
    }
    list->rows = rows;
    list->rows[list->count++] = *row;
    return ICESTREAM_OK;
}

void ics_ice_layer_list_free(ics_layer_list *list)
{
    free(list->rows);
    *list = (ics_layer_list){0};
}

/* ---- checks ---------------------------------------------------------------------------------- */

typedef struct layer_check {
    const ics_layer_list *list;
    icestream_error *error;
    int status;
    size_t faults; /* faults so far */
} layer_check;

static void fault(layer_check *check, const ics_layer_row *row, const char *field, double found,
                  const char *expected)
{
    char place[64] = "";
    if (row->line > 0 && row->column > 0) {
        snprintf(place, sizeof place, ":%zu:%zu", row->line, row->column);
    } else if (row->line > 0) {
        snprintf(place, sizeof place, ":%zu", row->line);
    }
    check->status = ICESTREAM_E_CONFIG;
    ics_error_add_counted(check->error, &check->faults, ICESTREAM_E_CONFIG, check->list->name,
                          "%s%s: error: %s: found %.10g, expected %s", check->list->name, place,
                          field, found, expected);
}

static bool within(double value, double low, double high)
{
    return value >= low && value <= high; /* false for NaN */
}

static void check_row(layer_check *check, const ics_layer_row *row)
{
    const ice_layer *layer = &row->layer;
    if (!within(row->depth, -10000, 20000)) {
        fault(check, row, "depth", row->depth, "metres below the surface, -10000 .. 20000");
    }
    if (!within(layer->effective_scattering, 0, 1e4)) {
        fault(check, row, "be400", layer->effective_scattering,
              "effective scattering at 400 nm, 0 .. 10000 1/m");
    } else if (!within(layer->bubbles, 0, 1e4)) {
        fault(check, row, "bubbles", layer->bubbles, "scattering by bubbles, 0 .. 10000 1/m");
    } else if (!(layer->effective_scattering + layer->bubbles > 0)) {
        fault(check, row, "be400", layer->effective_scattering, "more than 0 1/m");
    }
    if (!within(layer->dust_absorption, 0, 1e6)) {
        fault(check, row, "adust400", layer->dust_absorption,
              "dust absorption at 400 nm, 0 .. 1000000 1/m");
    }
    const struct {
        const char *name, *expected;
        double value, most;
    } others[] = {
        {"dtau", "a temperature difference, -300 .. 300 K", layer->delta_tau, 300},
        {"k1", "the logarithm of a factor, -3 .. 3", layer->anisotropy_along, 3},
        {"k2", "the logarithm of a factor, -3 .. 3", layer->anisotropy_across, 3},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        if (!(fabs(others[i].value) <= others[i].most)) {
            fault(check, row, others[i].name, others[i].value, others[i].expected);
        }
    }
    if (!within(layer->birefringence, 0, 1000)) {
        fault(check, row, "birefringence", layer->birefringence, "a strength, 0 .. 1000");
    } else if (!within(layer->birefringence_mean, 0, 1e6)) {
        fault(check, row, "birefringence of the mean", layer->birefringence_mean,
              "a strength, 0 .. 1000000");
    }
}

/* How far depths may be away from equal steps (m). */
static double uneven_most(double step)
{
    return fmin(ICS_UNEVEN_MOST, 0.01 * step);
}

static void check_spacing(layer_check *check)
{
    const ics_layer_list *list = check->list;
    if (list->count < 2) {
        return;
    }
    bool increases = true;
    for (size_t i = 1; i < list->count; ++i) {
        if (!(list->rows[i].depth > list->rows[i - 1].depth)) {
            fault(check, &list->rows[i], "depth", list->rows[i].depth, "increasing depths");
            increases = false;
        }
    }
    if (!increases) {
        return;
    }
    const ics_ice_steps steps =
        ics_ice_steps_of(&list->rows[0].depth, sizeof *list->rows, list->count);
    char expected[96];
    snprintf(expected, sizeof expected, "%.10g: equal spacing of %.10g m, which may be %.3g m off",
             steps.expected, steps.usual, uneven_most(steps.step));
    if (!(steps.uneven <= uneven_most(steps.step))) {
        fault(check, &list->rows[steps.row], "depth", list->rows[steps.row].depth, expected);
    }
    if (!within(steps.step, 0.1, 10000)) {
        fault(check, &list->rows[1], "layer spacing", steps.step, "0.1 .. 10000 m");
    }
}

/* Checks that every layer absorbs at every nanometre of the band. The ends of the band are not
 * enough: dust and pure ice have different slopes in wavelength, and the part of pure ice is
 * negative for a delta_tau below -100 K. */
static void check_absorption(layer_check *check, const ice_medium *medium)
{
    enum { POINTS = (int)(ICE_WAVELENGTH_MAX - ICE_WAVELENGTH_MIN) + 1 };
    double dust[POINTS], pure[POINTS];
    for (int k = 0; k < POINTS; ++k) {
        double wavelength = ICE_WAVELENGTH_MIN + k;
        dust[k] = pow(wavelength / 400, -medium->kappa);
        pure[k] = medium->absorption_a * exp(-medium->absorption_b / wavelength);
    }
    for (size_t i = 0; i < check->list->count; ++i) {
        const ics_layer_row *row = &check->list->rows[i];
        double lowest = INFINITY, at = 0;
        for (int k = 0; k < POINTS; ++k) {
            double absorption =
                row->layer.dust_absorption * dust[k] + pure[k] * (1 + 0.01 * row->layer.delta_tau);
            if (absorption < lowest) {
                lowest = absorption;
                at = ICE_WAVELENGTH_MIN + k;
            }
        }
        char expected[96];
        snprintf(expected, sizeof expected, "more than 0 1/m (at %g nm) from %g to %g nm", at,
                 ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX);
        if (!(lowest > 0)) {
            fault(check, row, "absorption", lowest, expected);
        }
    }
}

/* Checks that every layer scatters after the subtraction of birefringence. Powers of the wavelength
 * are monotonous, so the smallest scattering is at one end of the band. */
static void check_scattering(layer_check *check, const ice_medium *medium)
{
    static const double ends[] = {ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX};
    for (size_t i = 0; i < check->list->count; ++i) {
        for (int k = 0; k < 2; ++k) {
            double left = ics_ice_scattering(medium, check->list->count - 1 - i, ends[k]);
            char expected[96];
            if (left > 0) {
                continue;
            }
            snprintf(expected, sizeof expected,
                     "more than 0 1/m (at %g nm) after birefringence is subtracted", ends[k]);
            fault(check, &check->list->rows[i], "scattering", left, expected);
            break;
        }
    }
}

/* Copies everything that does not depend on depth. */
static void set_properties(ice_medium *medium, const ice_medium *common)
{
    const ice_medium allocated = *medium;
    *medium = *common;
    medium->name = allocated.name;
    medium->layers = allocated.layers;
    medium->layer_count = allocated.layer_count;
    medium->absorb_above = allocated.absorb_above;
    medium->absorb_below = allocated.absorb_below;
}

static void set_layers(ice_medium *medium, const ics_layer_list *list)
{
    bool birefringent = ics_ice_birefringence_scattering(&medium->birefringence) > 0;
    bool anisotropic = false;
    size_t last = list->count - 1;
    double deepest = list->rows[last].depth;
    medium->thickness = last ? (deepest - list->rows[0].depth) / (double)last : 100;
    medium->uneven =
        last ? ics_ice_steps_of(&list->rows[0].depth, sizeof *list->rows, list->count).uneven : 0;
    medium->bottom = ICE_DETECTOR_DEPTH - deepest - 0.5 * medium->thickness;
    for (size_t i = 0; i <= last; ++i) {
        medium->layers[i] = list->rows[last - i].layer;
        /* Values without effect become 0, so that the same ice has the same digest. */
        if (!birefringent) {
            medium->layers[i].birefringence = medium->layers[i].birefringence_mean = 0;
        }
        anisotropic |= medium->layers[i].anisotropy_along != 0;
        anisotropic |= medium->layers[i].anisotropy_across != 0;
    }
    if (!anisotropic) {
        medium->absorption_exponent = 0;
    }
}

int ics_ice_from_layers(const char *name, const ics_layer_list *list, const ice_medium *common,
                        ics_subtraction subtraction, ice_medium **out, icestream_error *error)
{
    layer_check check = {.list = list, .error = error, .status = ICESTREAM_OK};
    if (list->count < 1 || list->count > ICE_LAYERS_MAX) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: layers: found %zu, expected 1 .. %d", list->name,
                             list->count, ICE_LAYERS_MAX);
    }
    for (size_t i = 0; i < list->count; ++i) {
        check_row(&check, &list->rows[i]);
    }
    check_spacing(&check);
    if (check.status == ICESTREAM_OK) {
        check_absorption(&check, common);
    }
    if (check.status != ICESTREAM_OK) {
        return check.status;
    }

    ice_medium *medium;
    ICS_TRY(ics_ice_allocate(name, list->count, &medium, error));
    set_properties(medium, common);
    set_layers(medium, list);
    ics_ice_birefringence_subtract(subtraction, medium);
    check_scattering(&check, medium);
    if (check.status != ICESTREAM_OK) {
        ics_ice_destroy(medium);
        return check.status;
    }
    *out = medium;
    return ICESTREAM_OK;
}
