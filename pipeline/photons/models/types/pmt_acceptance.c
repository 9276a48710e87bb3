#include "pipeline/photons/models/types/pmt_acceptance.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/config/schema/schema.h"
#include "pipeline/photons/models/detector/angular.h"
#include "pipeline/photons/models/light/acceptance_table.h"
#include "pipeline/photons/models/types/members.h"

#include <stdlib.h>
#include <string.h>

enum { NUMBERS_MAX = 17 }; /* the maximum and 16 coefficients, as in detector.angular_polynomial */

static void free_ratios(ice_pmt_acceptance *acceptance)
{
    free(acceptance->wavelengths);
    free(acceptance->ratios);
    acceptance->wavelengths = NULL;
    acceptance->ratios = NULL;
    acceptance->count = 0;
}

void ics_pmt_acceptance_free(ice_pmt_acceptance *acceptance)
{
    free_ratios(acceptance);
    free(acceptance->own_wavelengths);
    free(acceptance->own);
    *acceptance = (ice_pmt_acceptance){0};
}

/* Returns a copy of numbers, also of none. NULL: out of memory. */
static double *copy_of(const double *numbers, size_t count)
{
    double *copy = malloc(count * sizeof *copy + 1);
    if (copy != NULL && count > 0) {
        memcpy(copy, numbers, count * sizeof *copy);
    }
    return copy;
}

int ics_pmt_acceptance_copy(const ice_pmt_acceptance *from, ice_pmt_acceptance *out,
                            icestream_error *error)
{
    *out = *from;
    out->wavelengths = copy_of(from->wavelengths, from->count);
    out->ratios = copy_of(from->ratios, from->count);
    out->own_wavelengths = copy_of(from->own_wavelengths, from->own_count);
    out->own = copy_of(from->own, from->own_count);
    if (out->wavelengths == NULL || out->ratios == NULL || out->own_wavelengths == NULL ||
        out->own == NULL) {
        ics_pmt_acceptance_free(out);
        return ics_error_no_memory(error, "detector");
    }
    return ICESTREAM_OK;
}

static int read_angular(const ics_yaml_node *node, ice_angular *out, icestream_error *error)
{
    double numbers[NUMBERS_MAX];
    char place[512];
    if (node->kind != ICS_YAML_LIST || node->count < 2 || node->count > NUMBERS_MAX) {
        return ics_yaml_unexpected(error, node, "angular_polynomial",
                                   "a list of the maximum and 1 to %d coefficients",
                                   NUMBERS_MAX - 1);
    }
    for (size_t i = 0; i < node->count; ++i) {
        ICS_TRY(
            ics_schema_number(node->items[i], "angular_polynomial", -1e6, 1e6, &numbers[i], error));
    }
    if (!(numbers[0] > 0)) {
        return ics_yaml_error(error, node->items[0],
                              "angular_polynomial: found the maximum %.10g, expected more than 0",
                              numbers[0]);
    }
    return ics_angular_from_numbers(ics_yaml_place(node, place, sizeof place), numbers, node->count,
                                    out, NULL, error);
}

static int read_ratio(const ics_yaml_node *node, ice_pmt_acceptance *out, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    ics_curve curve;
    ICS_TRY(ics_type_file_read(node, "acceptance_ratio", &text, error));
    ICS_TRY(ics_curve_read_ratio(&text, &curve, error));
    out->wavelengths = curve.x;
    out->ratios = curve.y;
    out->count = curve.count;
    return ICESTREAM_OK;
}

/* Reads a table of wavelength and acceptance. ppc's cumulative form is that of all modules. */
static int read_table(const ics_yaml_node *node, ics_curve *out, icestream_error *error)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    bool is_cumulative = false;
    ICS_TRY(ics_type_file_read(node, "acceptance", &text, error));
    ICS_TRY(ics_acceptance_table_read(&text, &is_cumulative, out, error));
    return !is_cumulative
               ? ICESTREAM_OK
               : ics_error_add(error, ICESTREAM_E_CONFIG,
                               "%s: error: acceptance: found ppc's cumulative form, as of wv.dat, "
                               "expected wavelength (nm) and acceptance; light.acceptance takes it",
                               text.name);
}

static int read_own(const ics_yaml_node *node, ice_pmt_acceptance *out, icestream_error *error)
{
    ICS_CLEANUP(ics_curve_free) ics_curve curve = {0};
    if (node->kind == ICS_YAML_SCALAR && strcmp(node->text, "standard") == 0) {
        ICS_TRY(ics_light_standard_curve(&curve, error));
    } else {
        ICS_TRY(read_table(node, &curve, error));
        out->is_of_window = true;
    }
    out->own_wavelengths = curve.x;
    out->own = curve.y;
    out->own_count = curve.count;
    curve = (ics_curve){0};
    return ICESTREAM_OK;
}

int ics_pmt_acceptance_read(const ics_pmt_acceptance_nodes *nodes, ice_pmt_acceptance *out,
                            icestream_error *error)
{
    int status = ICESTREAM_OK;
    if (nodes->angular != NULL) {
        status = read_angular(nodes->angular, &out->angular, error);
    }
    if (nodes->ratio != NULL) {
        status = ics_error_first(status, read_ratio(nodes->ratio, out, error));
    }
    if (nodes->own != NULL) {
        status = ics_error_first(status, read_own(nodes->own, out, error));
    }
    return status;
}

int ics_pmt_acceptance_add(const ics_pmt_acceptance_nodes *nodes, ice_module_type *type,
                           ice_pmt *pmt, icestream_error *error)
{
    ice_pmt_acceptance own;
    ice_pmt_acceptance *all =
        realloc(type->own_acceptances, (type->own_count + 1) * sizeof *type->own_acceptances);
    if (all == NULL) {
        return ics_error_no_memory(error, "detector");
    }
    type->own_acceptances = all;
    ICS_TRY(ics_pmt_acceptance_copy(&type->acceptance, &own, error));
    if (nodes->ratio != NULL) {
        free_ratios(&own);
    }
    const int status = ics_pmt_acceptance_read(nodes, &own, error);
    if (status != ICESTREAM_OK) {
        ics_pmt_acceptance_free(&own);
        return status;
    }
    all[type->own_count] = own;
    pmt->acceptance = ++type->own_count;
    return ICESTREAM_OK;
}
