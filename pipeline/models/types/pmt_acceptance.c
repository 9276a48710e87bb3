#include "pipeline/models/types/pmt_acceptance.h"

#include "base/error.h"
#include "pipeline/config/schema/schema_value.h"
#include "pipeline/models/detector/angular.h"
#include "pipeline/models/light/curve.h"

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
    *acceptance = (ice_pmt_acceptance){0};
}

int ics_pmt_acceptance_copy(const ice_pmt_acceptance *from, ice_pmt_acceptance *out,
                            icestream_error *error)
{
    const size_t bytes = from->count * sizeof(double);
    *out = *from;
    out->wavelengths = malloc(bytes + 1);
    out->ratios = malloc(bytes + 1);
    if (out->wavelengths == NULL || out->ratios == NULL) {
        ics_pmt_acceptance_free(out);
        return ics_error_add(error, ICESTREAM_E_MEMORY, "detector: error: out of memory");
    }
    if (from->count > 0) {
        memcpy(out->wavelengths, from->wavelengths, bytes);
        memcpy(out->ratios, from->ratios, bytes);
    }
    return ICESTREAM_OK;
}

static int read_angular(const ics_yaml_node *node, ice_angular *out, icestream_error *error)
{
    double numbers[NUMBERS_MAX];
    char found[128], place[512];
    if (node->kind != ICS_YAML_LIST || node->count < 2 || node->count > NUMBERS_MAX) {
        return ics_yaml_error(error, node,
                              "angular_polynomial: found %s, expected a list of the maximum and 1 "
                              "to %d coefficients",
                              ics_yaml_describe(node, found, sizeof found), NUMBERS_MAX - 1);
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
                                    out, error);
}

static int read_ratio(const ics_yaml_node *node, ice_pmt_acceptance *out, icestream_error *error)
{
    char found[128];
    ics_text text;
    ics_curve curve = {0};
    if (node->kind != ICS_YAML_SCALAR || ics_yaml_is_null(node)) {
        return ics_yaml_error(error, node,
                              "acceptance_ratio: found %s, expected the name of a file",
                              ics_yaml_describe(node, found, sizeof found));
    }
    char *path = ics_schema_join(node->source->folder, node->text, false);
    if (path == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    int status = ics_text_read(path, &text, error);
    if (status == ICESTREAM_OK) {
        status = ics_curve_read_ratio(&text, &curve, error);
        ics_text_free(&text);
    }
    free(path);
    if (status == ICESTREAM_OK) {
        out->wavelengths = curve.x;
        out->ratios = curve.y;
        out->count = curve.count;
    }
    return status;
}

int ics_pmt_acceptance_read(const ics_pmt_acceptance_nodes *nodes, ice_pmt_acceptance *out,
                            icestream_error *error)
{
    int status = ICESTREAM_OK;
    if (nodes->angular != NULL) {
        status = read_angular(nodes->angular, &out->angular, error);
    }
    if (nodes->ratio != NULL) {
        const int result = read_ratio(nodes->ratio, out, error);
        status = status ? status : result;
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
        return ics_error_add(error, ICESTREAM_E_MEMORY, "detector: error: out of memory");
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
