/* The key table.axes, whether the axes fit to the coordinates of stages.tabulate, and keys of
 * tables that would have no effect. */
#include "pipeline/config/config_table.h"

#include "base/error.h"
#include "pipeline/config/config_fields.h"
#include "pipeline/config/config_given.h"
#include "pipeline/config/config_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"r", "azimuth", "cosine", "rho", "z", "delay", "impact", NULL};

static const ics_schema_field axis_fields[] = {
    {.path = "name",
     .type = ICS_SCHEMA_NAME,
     ICS_SCHEMA_AT(ics_axis_config, name),
     .words = names,
     .required = true},
    {.path = "from",
     .type = ICS_SCHEMA_NUMBER,
     ICS_SCHEMA_AT(ics_axis_config, from),
     .low = -1e9,
     .high = 1e9,
     .required = true},
    {.path = "to",
     .type = ICS_SCHEMA_NUMBER,
     ICS_SCHEMA_AT(ics_axis_config, to),
     .low = -1e9,
     .high = 1e9,
     .required = true},
    {.path = "bins",
     .type = ICS_SCHEMA_UNSIGNED,
     ICS_SCHEMA_AT(ics_axis_config, bins),
     .least = 1,
     .most = 1 << 24,
     .required = true},
    {.path = "power",
     .type = ICS_SCHEMA_UNSIGNED,
     ICS_SCHEMA_AT(ics_axis_config, power),
     .least = 1,
     .most = 8},
};
enum { AXIS_FIELDS = sizeof axis_fields / sizeof *axis_fields };

static int read_axis(const ics_yaml_node *node, void *item, icestream_error *error)
{
    ics_axis_config *axis = item;
    int status = ics_schema_read(node, axis_fields, AXIS_FIELDS, item, NULL, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    axis->power = axis->power == 0 ? 1 : axis->power;
    if (axis->from >= axis->to) {
        return ics_yaml_error(error, node,
                              "table.axes: axis %s: found from %.9g and to %.9g, "
                              "expected from below to",
                              axis->name, axis->from, axis->to);
    }
    if (axis->power > 1 && axis->from < 0.0) {
        return ics_yaml_error(error, node,
                              "table.axes: axis %s: found from %.9g and power %u, "
                              "expected from 0 or above, because the bins are equally wide in a "
                              "root of the coordinate",
                              axis->name, axis->from, axis->power);
    }
    return ICESTREAM_OK;
}

static void print_axis(const void *item, FILE *out)
{
    const ics_axis_config *axis = item;
    fprintf(out, "{name: %s, from: ", axis->name);
    ics_schema_print_number(axis->from, out);
    fputs(", to: ", out);
    ics_schema_print_number(axis->to, out);
    fprintf(out, ", bins: %u, power: %u}", axis->bins, axis->power);
}

static void clear_axis(void *item)
{
    ics_schema_clear(axis_fields, AXIS_FIELDS, item);
}

const ics_schema_list ics_config_axes = {
    .expected = "a list of at most 5 of {name, from, to, bins, power}",
    .example = "[{name: r, from: 0, to: 580, bins: 200, power: 2}]",
    .json_shape =
        "{\"type\": \"array\", \"maxItems\": 5, \"items\": {\"type\": \"object\", "
        "\"additionalProperties\": false, \"required\": [\"name\", \"from\", \"to\", "
        "\"bins\"], \"properties\": {\"name\": {\"enum\": [\"r\", \"azimuth\", \"cosine\", "
        "\"rho\", \"z\", \"delay\", \"impact\"]}, \"from\": {\"type\": \"number\"}, \"to\": "
        "{\"type\": \"number\"}, \"bins\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": "
        "16777216}, \"power\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 8}}}}",
    .item_size = sizeof(ics_axis_config),
    .most = ICS_CONFIG_AXES,
    .read = read_axis,
    .print = print_axis,
    .clear = clear_axis};

/* ---- axes and coordinates -------------------------------------------------------------------- */

/* clsim's axes are the first ones of each geometry. */
enum { CLSIM_AXES = 4 };

static const char *const coordinates[][ICS_CONFIG_AXES] = {
    [ICS_TABULATE_SPHERICAL] = {"r", "azimuth", "cosine", "delay", "impact"},
    [ICS_TABULATE_CYLINDRICAL] = {"rho", "azimuth", "z", "delay", "impact"},
};

int ics_config_table_coordinate(ics_tabulate geometry, const char *name)
{
    for (int i = 0; i < ICS_CONFIG_AXES; ++i) {
        if (strcmp(coordinates[geometry][i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* Adds an error about a key, with the place where it was given, unless its value was refused. */
static int fault_at(const icestream_config *config, const char *key, const char *text,
                    icestream_error *error)
{
    const size_t i = ics_schema_find(key, ics_config_keys, ics_config_key_count);
    const ics_yaml_node *node = config->origin->given[i];
    if (config->origin->refused[i]) {
        return ICESTREAM_OK;
    }
    if (node != NULL) {
        return ics_yaml_error(error, node, "%s: %s", key, text);
    }
    ics_error_add(error, ICESTREAM_E_CONFIG, "default: error: %s: %s", key, text);
    return ICESTREAM_E_CONFIG;
}

/* Names that the coordinates do not have, axes twice or in another order, too many bins. */
static int check_axes(const icestream_config *config, icestream_error *error)
{
    const ics_tabulate geometry = config->stages.tabulate;
    const char *const *fit = coordinates[geometry];
    char text[400];
    double cells = 1.0;
    int last = -1;
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        const ics_axis_config *axis = &config->table.axes[i];
        const int at = ics_config_table_coordinate(geometry, axis->name);
        if (at <= last) {
            snprintf(text, sizeof text,
                     "found axis %s as number %zu, expected axes from %s, %s, %s, %s, %s, each at "
                     "most once and in this order",
                     axis->name, i + 1, fit[0], fit[1], fit[2], fit[3], fit[4]);
            return fault_at(config, "table.axes", text, error);
        }
        last = at;
        cells *= (double)axis->bins + 2.0;
    }
    if (cells > ICS_CONFIG_TABLE_CELLS) {
        snprintf(text, sizeof text,
                 "found %.4g bins with their under- and overflow, expected at most %.0f", cells,
                 ICS_CONFIG_TABLE_CELLS);
        return fault_at(config, "table.axes", text, error);
    }
    return ICESTREAM_OK;
}

/* ---- keys without effect --------------------------------------------------------------------- */

bool ics_config_table_has_axis(const icestream_config *config, const char *name)
{
    if (config->table.axis_count == 0) {
        const int at = ics_config_table_coordinate(config->stages.tabulate, name);
        return at >= 0 && at < CLSIM_AXES;
    }
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        if (strcmp(config->table.axes[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool ics_config_table_ends(const icestream_config *config)
{
    const bool is_cylinder = config->stages.tabulate == ICS_TABULATE_CYLINDRICAL;
    return ics_config_table_has_axis(config, is_cylinder ? "rho" : "r") ||
           (is_cylinder && ics_config_table_has_axis(config, "z")) ||
           ics_config_table_has_axis(config, "delay");
}

/* Refuses keys that the value of `off` makes useless, unless --set gave that value. */
static int refuse_keys(const icestream_config *config, const char *const *keys, size_t count,
                       const char *off, const char *text, icestream_error *error)
{
    const bool *refused = config->origin->refused;
    int status = ICESTREAM_OK;
    if (refused[ics_schema_find(off, ics_config_keys, ics_config_key_count)]) {
        return ICESTREAM_OK; /* a default stands in the place of what the user wrote */
    }
    for (size_t i = 0; i < count; ++i) {
        if (ics_config_is_changed(config, keys[i]) &&
            !ics_config_is_overridden(config, keys[i], off)) {
            const int fault = fault_at(config, keys[i], text, error);
            status = status ? status : fault;
        }
    }
    return status;
}

/* Keys that need another value of another key. */
static int check_effect(const icestream_config *config, icestream_error *error)
{
    static const char *const of_table[] = {
        "table.axes",     "table.azimuth",    "table.step",    "table.absorption_lengths",
        "table.outside",  "table.acceptance", "table.squares", "table.source",
        "table.position", "table.direction",  "table.time"};
    static const char *const of_fixed[] = {"table.position", "table.direction", "table.time"};
    static const char *const of_azimuth[] = {"table.azimuth"}, *const of_end[] = {"table.outside"};
    if (config->stages.tabulate == ICS_TABULATE_NONE) {
        return refuse_keys(config, of_table, sizeof of_table / sizeof *of_table, "stages.tabulate",
                           "is for stages.tabulate: spherical or cylindrical, and it is none",
                           error);
    }
    int status = ICESTREAM_OK, fault = ICESTREAM_OK;
    if (config->table.source != ICS_TABULATE_FIXED) {
        status = refuse_keys(config, of_fixed, sizeof of_fixed / sizeof *of_fixed, "table.source",
                             "is for table.source: fixed, and the source is step", error);
    }
    if (!ics_config_table_has_axis(config, "azimuth")) {
        fault = refuse_keys(config, of_azimuth, 1, "table.axes",
                            "found full, and table.axes has no azimuth", error);
        status = status ? status : fault;
    }
    if (!ics_config_table_ends(config)) {
        fault = refuse_keys(config, of_end, 1, "table.axes",
                            "found count, and table.axes has no axis at which a photon could end: "
                            "neither a distance nor the delay",
                            error);
        status = status ? status : fault;
    }
    return status;
}

int ics_config_table_check(const icestream_config *config, icestream_error *error)
{
    const double *d = config->table.direction;
    int status = check_effect(config, error);
    if (config->stages.tabulate == ICS_TABULATE_NONE) {
        return status;
    }
    int fault = check_axes(config, error);
    status = status ? status : fault;
    if (config->table.acceptance && ics_config_table_has_axis(config, "impact")) {
        fault = fault_at(config, "table.acceptance",
                         "found detector, and table.axes has the axis impact, which keeps the "
                         "direction; expected none, or a table without this axis",
                         error);
        status = status ? status : fault;
    }
    if (config->table.source == ICS_TABULATE_FIXED && d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) {
        fault = fault_at(config, "table.direction", "found [0, 0, 0], expected a direction", error);
        status = status ? status : fault;
    }
    return status;
}

int ics_config_table_refuse(const icestream_config *config, const char *command,
                            icestream_error *error)
{
    char text[200];
    snprintf(text, sizeof text,
             "is not none, and icestream %s records hits; expected icestream tabulate, or --set "
             "stages.tabulate=none",
             command);
    return config->stages.tabulate == ICS_TABULATE_NONE
               ? ICESTREAM_OK
               : fault_at(config, "stages.tabulate", text, error);
}
