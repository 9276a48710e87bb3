#include "base/cleanup.h"
#include "base/error.h"
#include "physics/body.h"
#include "physics/light/light_curve.h"
#include "pipeline/photons/models/detector/parts.h"
#include "pipeline/photons/models/detector/pmt_detection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = (int)(ICE_WAVELENGTH_MAX - ICE_WAVELENGTH_MIN) + 1 };

/* The types that modules of the detector have, and that have PMTs. */
typedef struct used_types {
    size_t items[ICE_TYPES_MAX], count; /* numbers of types */
} used_types;

static used_types find_used(const ice_detector *detector)
{
    bool is_used[ICE_TYPES_MAX] = {false};
    used_types used = {.count = 0};
    for (size_t i = 0; i < detector->module_count && detector->type_count > 0; ++i) {
        is_used[detector->modules[i].type] = true;
    }
    for (size_t k = 0; k < detector->type_count; ++k) {
        if (is_used[k] && detector->types[k].pmt_count > 0) {
            used.items[used.count++] = k;
        }
    }
    return used;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Whether all modules of a type are what detect: pe assumes: one PMT that looks down. */
static bool looks_down(const ice_detector *detector, size_t type)
{
    const ice_module_type *self = &detector->types[type];
    for (size_t i = 0; self->pmt_count == 1 && i < detector->module_count; ++i) {
        const ice_module *module = &detector->modules[i];
        double axis[3];
        memcpy(axis, self->pmts[0].axis, sizeof axis);
        if (module->orientation != 0) {
            ice_orient(&detector->orientations[module->orientation], axis, axis);
        }
        if (module->type == type && axis[2] > -1 + 1e-6) {
            return false;
        }
    }
    return self->pmt_count == 1;
}

/* detect: pe is for modules with one PMT that looks down. */
static int check_pe(const icestream_config *config, const ice_detector *detector,
                    const used_types *used, icestream_error *error)
{
    for (size_t k = 0; k < used->count; ++k) {
        const ice_module_type *type = &detector->types[used->items[k]];
        if (!looks_down(detector, used->items[k])) {
            return ics_config_error(
                config, "stages.detect", error,
                "found pe, which takes a module for one PMT that looks down, and the type %s has "
                "%zu PMT%s; expected pmt-place (or pmt-plane, pmt-table)",
                type->name, type->pmt_count, type->pmt_count == 1 ? " that looks elsewhere" : "s");
        }
    }
    return ICESTREAM_OK;
}

static int refuse(const icestream_config *config, const ice_module_type *type,
                  icestream_error *error)
{
    return ics_config_error(
        config, "stages.detect", error,
        "%s makes photo-electrons, and the type %s does not say which share of the light its PMTs "
        "detect; expected acceptance in the type: the name of a table of wavelength (nm) and "
        "quantum efficiency, or standard, the acceptance of a module of IceCube (0.128 at 400 nm); "
        "or light.acceptance for all types",
        config->stages.detect, type->name);
}

/* ---- the acceptance of all types ------------------------------------------------------------- */

static double own_at(const ice_module_type *type, double wavelength)
{
    const ice_pmt_acceptance *self = &type->acceptance;
    return ice_curve_at(self->own_wavelengths, self->own, self->own_count, wavelength);
}

/* Makes the largest acceptance of the types at every whole nanometre. */
static int make_envelope(ice_detector *detector, const used_types *used, icestream_error *error)
{
    detector->acceptance_wavelengths = calloc(POINTS, sizeof(double));
    detector->acceptance = calloc(POINTS, sizeof(double));
    if (detector->acceptance_wavelengths == NULL || detector->acceptance == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    for (int i = 0; i < POINTS; ++i) {
        const double wavelength = ICE_WAVELENGTH_MIN + i;
        double most = 0;
        for (size_t k = 0; k < used->count; ++k) {
            most = fmax(most, own_at(&detector->types[used->items[k]], wavelength));
        }
        if (most > 0) {
            detector->acceptance_wavelengths[detector->acceptance_count] = wavelength;
            detector->acceptance[detector->acceptance_count++] = most;
        }
    }
    return ICESTREAM_OK;
}

/* Multiplies the ratios of an acceptance by those of its type to the acceptance of all types. */
static int multiply(ice_pmt_acceptance *self, const ice_module_type *type,
                    const ice_detector *detector, icestream_error *error)
{
    const size_t count = detector->acceptance_count;
    ICS_FREES double *wavelengths = malloc(count * sizeof *wavelengths);
    ICS_FREES double *ratios = malloc(count * sizeof *ratios);
    if (wavelengths == NULL || ratios == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    for (size_t i = 0; i < count; ++i) {
        const double x = detector->acceptance_wavelengths[i];
        const double before =
            self->count > 0 ? ice_curve_at_or_end(self->wavelengths, self->ratios, self->count, x)
                            : 1;
        wavelengths[i] = x;
        ratios[i] = before * own_at(type, x) / detector->acceptance[i];
    }
    free(self->wavelengths);
    free(self->ratios);
    self->wavelengths = wavelengths;
    self->ratios = ratios;
    self->count = count;
    wavelengths = ratios = NULL;
    return ICESTREAM_OK;
}

/* A type whose acceptance is that of all types needs no ratios. */
static int make_ratios(const ice_detector *detector, ice_module_type *type, icestream_error *error)
{
    bool differs = false;
    for (size_t i = 0; i < detector->acceptance_count; ++i) {
        differs |= own_at(type, detector->acceptance_wavelengths[i]) != detector->acceptance[i];
    }
    if (!differs) {
        return ICESTREAM_OK;
    }
    for (size_t k = 0; k < type->own_count; ++k) {
        ICS_TRY(multiply(&type->own_acceptances[k], type, detector, error));
    }
    return multiply(&type->acceptance, type, detector, error);
}

/* ---- all together ---------------------------------------------------------------------------- */

int ics_detector_acceptance_create(const icestream_config *config, ice_detector *detector,
                                   ics_warnings *warnings, icestream_error *error)
{
    const used_types used = find_used(detector);
    const bool is_auto = strcmp(config->light.acceptance, "auto") == 0;
    const ice_module_type *with = NULL, *without = NULL;
    for (size_t k = 0; k < used.count; ++k) {
        const ice_module_type *type = &detector->types[used.items[k]];
        *(type->acceptance.own_count > 0 ? &with : &without) = type;
    }
    if (strcmp(config->stages.detect, "pe") == 0) {
        ICS_TRY(check_pe(config, detector, &used, error));
    }
    if (!is_auto) { /* light.acceptance is for all types, so that what the types say does not count
                     */
        if (with != NULL) {
            char place[512];
            ics_warnings_add(warnings,
                             "%s: light.acceptance: found %s, which holds for all modules; the "
                             "acceptance of the type %s has no effect",
                             ics_config_place(config, "light.acceptance", place, sizeof place),
                             config->light.acceptance, with->name);
        }
        return ICESTREAM_OK;
    }
    if (without != NULL) {
        /* ppc measures PMTs by the standard module. Tables have areas in m2. */
        const bool is_relative =
            without->is_of_ppc && with == NULL && strcmp(config->stages.detect, "pmt-table") != 0;
        return ics_pmt_detection_is(config->stages.detect) && !is_relative
                   ? refuse(config, without, error)
                   : ICESTREAM_OK;
    }
    if (with == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(make_envelope(detector, &used, error));
    for (size_t k = 0; k < used.count; ++k) {
        ICS_TRY(make_ratios(detector, &detector->types[used.items[k]], error));
    }
    return ICESTREAM_OK;
}
