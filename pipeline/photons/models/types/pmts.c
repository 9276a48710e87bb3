
#include "base/cleanup.h"
#include "physics/body.h"
#include "pipeline/photons/config/schema/schema.h"
#include "pipeline/photons/models/types/direction.h"
#include "pipeline/photons/models/types/members.h"
#include "pipeline/photons/models/types/pmt_acceptance.h"
#include "pipeline/photons/models/types/transit_times.h"

#include <stdlib.h>
#include <string.h>

enum { ZENITH, AZIMUTH, X, Y, Z, RADIUS, EFFICIENCY, DELAY, SPREAD, NUMBERS };

static const struct {
    const char *name;
    double low, high, missing;
} numbers_of_pmt[NUMBERS] = {
    [ZENITH] = {"zenith", 0, 180, NAN},
    [AZIMUTH] = {"azimuth", -360, 360, NAN},
    [X] = {"x", -10, 10, NAN},
    [Y] = {"y", -10, 10, NAN},
    [Z] = {"z", -10, 10, NAN},
    [RADIUS] = {"radius", 0, 10, 0},
    [EFFICIENCY] = {"efficiency", 0, 100, 1},
    [DELAY] = {"delay", 0, 1e6, 0},
    [SPREAD] = {"spread", 0, 1e6, 0},
};

static void set_missing(double values[NUMBERS])
{
    for (int i = 0; i < NUMBERS; ++i) {
        values[i] = numbers_of_pmt[i].missing;
    }
}

/* Makes a PMT of its numbers. Returns NULL, or what is wrong with them. */
static const char *make_pmt(const ice_module_type *type, const double n[NUMBERS], ice_pmt *out)
{
    const int places = !isnan(n[X]) + !isnan(n[Y]) + !isnan(n[Z]);
    const int angles = !isnan(n[ZENITH]) + !isnan(n[AZIMUTH]);
    if (angles == 1) {
        return "found one of zenith and azimuth, expected both, or none";
    }
    if (places > 0 && places < 3) {
        return "found some of x, y and z, expected all of them, or none";
    }
    if (angles == 0 && places == 0) {
        return "found neither a direction nor a position, expected zenith and azimuth, or x, y and "
               "z";
    }
    *out = (ice_pmt){.radius = n[RADIUS],
                     .efficiency = n[EFFICIENCY],
                     .delay = n[DELAY],
                     .spread = n[SPREAD],
                     .centre = {n[X], n[Y], n[Z]}};
    if (angles > 0) {
        ics_direction_of(n[ZENITH], n[AZIMUTH], out->axis);
    }
    if (places == 0) {
        ice_body_point(type->shape, type->radius, type->half_height, out->axis, out->centre);
        return NULL;
    }
    const double distance = sqrt(n[X] * n[X] + n[Y] * n[Y] + n[Z] * n[Z]);
    if (distance > type->reach * 1.001) {
        return "found a position outside the module, expected one on its surface";
    }
    if (angles == 0 && !(distance > 0)) {
        return "found a position in the centre, expected zenith and azimuth, too";
    }
    for (int i = 0; angles == 0 && i < 3; ++i) {
        out->axis[i] = out->centre[i] / distance;
    }
    return NULL;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void read_row(ics_text_reader *reader, const ics_text_table *table, size_t row,
                     ice_module_type *type)
{
    const double *values = ics_text_table_row(table, row);
    for (int i = 0; i < NUMBERS; ++i) {
        if (!isnan(values[i]) &&
            !(values[i] >= numbers_of_pmt[i].low && values[i] <= numbers_of_pmt[i].high)) {
            ics_text_fault(reader, table->lines[row], 0, "%s: found %.10g, expected %g .. %g",
                           numbers_of_pmt[i].name, values[i], numbers_of_pmt[i].low,
                           numbers_of_pmt[i].high);
            return;
        }
    }
    const char *fault = make_pmt(type, values, &type->pmts[row]);
    if (fault != NULL) {
        ics_text_fault(reader, table->lines[row], 0, "%s", fault);
    }
}

static int read_csv(const ics_text *text, double radius, ice_module_type *type,
                    icestream_error *error)
{
    ics_csv_column columns[NUMBERS];
    ICS_CLEANUP(ics_text_table_free) ics_text_table table = {0};
    for (int i = 0; i < NUMBERS; ++i) {
        columns[i] = (ics_csv_column){.name = numbers_of_pmt[i].name,
                                      .index = (size_t)i,
                                      .missing = numbers_of_pmt[i].missing};
    }
    columns[RADIUS].missing = radius;
    ICS_TRY(ics_text_csv_read(text, columns, NUMBERS, ICE_PMTS_MAX,
                              "zenith,azimuth,x,y,z,radius,efficiency,delay,spread", &table,
                              error));
    ics_text_reader reader = ics_text_open(text, ',', error);
    type->pmts = calloc(table.rows + 1, sizeof *type->pmts);
    if (type->pmts == NULL) {
        return ics_error_no_memory(error, text->name);
    }
    type->pmt_count = table.rows;
    for (size_t i = 0; i < table.rows; ++i) {
        read_row(&reader, &table, i, type);
    }
    return ics_text_status(&reader);
}

/* ---- YAML ------------------------------------------------------------------------------------ */

static int read_number(const ics_yaml_node *node, int number, double values[NUMBERS],
                       icestream_error *error)
{
    char what[64];
    snprintf(what, sizeof what, "pmts: %s", numbers_of_pmt[number].name);
    return ics_schema_number(node, what, numbers_of_pmt[number].low, numbers_of_pmt[number].high,
                             &values[number], error);
}

/* A PMT as a mapping in YAML has it. */
typedef struct pmt_values {
    double numbers[NUMBERS];
    ics_pmt_acceptance_nodes acceptance;
    const ics_yaml_node *transit; /* the name of a file; NULL: not given */
} pmt_values;

static int read_entry(const ics_yaml_entry *entry, pmt_values *values, icestream_error *error)
{
    const char *key = entry->key->text;
    if (entry->duplicate_of != NULL) {
        return ics_yaml_error(error, entry->key, "pmts: the key '%.60s' is given twice", key);
    }
    for (int i = 0; i < NUMBERS; ++i) {
        if (strcmp(key, numbers_of_pmt[i].name) == 0) {
            return read_number(entry->value, i, values->numbers, error);
        }
    }
    const struct {
        const char *key;
        const ics_yaml_node **value;
    } nodes[] = {{"angular_polynomial", &values->acceptance.angular},
                 {"acceptance_ratio", &values->acceptance.ratio},
                 {"transit_times", &values->transit}};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; ++i) {
        if (strcmp(key, nodes[i].key) == 0) {
            *nodes[i].value = entry->value;
            return ICESTREAM_OK;
        }
    }
    return ics_yaml_error(error, entry->key,
                          "pmts: unknown key '%.60s', expected some of zenith, azimuth, x, y, z, "
                          "radius, efficiency, delay, spread, angular_polynomial, "
                          "acceptance_ratio, transit_times",
                          key);
}

static int read_pmt(const ics_yaml_node *node, double radius, ice_module_type *type, ice_pmt *out,
                    icestream_error *error)
{
    pmt_values values = {0};
    int status = ICESTREAM_OK;
    set_missing(values.numbers);
    values.numbers[RADIUS] = radius;
    if (node->kind == ICS_YAML_LIST && node->count == 2) {
        status = read_number(node->items[0], ZENITH, values.numbers, error);
        status =
            ics_error_first(status, read_number(node->items[1], AZIMUTH, values.numbers, error));
    } else if (node->kind == ICS_YAML_MAPPING) {
        for (size_t i = 0; i < node->count; ++i) {
            status = ics_error_first(status, read_entry(&node->entries[i], &values, error));
        }
    } else {
        return ics_yaml_unexpected(error, node, "pmts",
                                   "[zenith, azimuth] or a mapping with these");
    }
    const char *fault = status == ICESTREAM_OK ? make_pmt(type, values.numbers, out) : NULL;
    if (fault != NULL) {
        return ics_yaml_error(error, node, "pmts: %s", fault);
    }
    if (values.acceptance.angular != NULL || values.acceptance.ratio != NULL) {
        status =
            ics_error_first(status, ics_pmt_acceptance_add(&values.acceptance, type, out, error));
    }
    if (values.transit != NULL) {
        status = ics_error_first(status, ics_transit_times_add(values.transit, type, out, error));
    }
    return status;
}

int ics_pmts_read_yaml(const ics_yaml_node *node, double radius, ice_module_type *type,
                       icestream_error *error)
{
    if (node->kind == ICS_YAML_SCALAR && !ics_yaml_is_null(node)) {
        ICS_CLEANUP(ics_text_free) ics_text text = {0};
        ICS_TRY(ics_type_file_read(node, "pmts", &text, error));
        return read_csv(&text, radius, type, error);
    }
    if (node->kind != ICS_YAML_LIST || node->count > ICE_PMTS_MAX) {
        return ics_yaml_unexpected(error, node, "pmts",
                                   "a list of at most %d, or the name of a CSV file", ICE_PMTS_MAX);
    }
    type->pmts = calloc(node->count + 1, sizeof *type->pmts);
    if (type->pmts == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    type->pmt_count = node->count;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        status =
            ics_error_first(status, read_pmt(node->items[i], radius, type, &type->pmts[i], error));
    }
    return status;
}
