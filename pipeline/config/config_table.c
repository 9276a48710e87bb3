/* The key table.axes, whether the axes fit to the coordinates of stages.tabulate, and keys of
 * tables that would have no effect. */
#include "pipeline/config/config_table.h"

#include "base/error.h"
#include "pipeline/config/config_fields.h"
#include "pipeline/config/config_given.h"
#include "pipeline/config/config_keys.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file may have axes with one bin more (pipeline/table/table.h). The stage finds a cell with
 * floats (ice_tabulate_cell), which have no number 2^24 + 1 for the overflow of such an axis. */
enum { BINS_MOST = (1 << 24) - 1 };

static const ics_schema_field axis_fields[] = {
    {.path = "name",
     .type = ICS_SCHEMA_TEXT,
     ICS_SCHEMA_AT(ics_axis_config, name),
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
     .most = BINS_MOST,
     .required = true},
    {.path = "power",
     .type = ICS_SCHEMA_UNSIGNED,
     ICS_SCHEMA_AT(ics_axis_config, power),
     .least = 1,
     .most = 8},
    {.path = "unit", .type = ICS_SCHEMA_TEXT, ICS_SCHEMA_AT(ics_axis_config, unit)},
};
enum { AXIS_FIELDS = sizeof axis_fields / sizeof *axis_fields };

/* Bins must be at least as wide as the rounding of the floats with which the stage finds a cell,
 * and the inverse of their width must be a float (ice_tabulate_axis). */
static bool are_too_narrow(const ics_axis_config *axis)
{
    const double first = axis->power > 1 ? pow(axis->from, 1.0 / axis->power) : axis->from;
    const double last = axis->power > 1 ? pow(axis->to, 1.0 / axis->power) : axis->to;
    const double width = (last - first) / axis->bins;
    return width < 0x1p-24 * fmax(fabs(first), fabs(last)) || 1.0 / width > FLT_MAX;
}

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
    if (are_too_narrow(axis)) {
        return ics_yaml_error(error, node,
                              "table.axes: axis %s: found %u bins from %.17g to %.17g, expected "
                              "wider bins, whose edges are different floats",
                              axis->name, axis->bins, axis->from, axis->to);
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
    fprintf(out, ", bins: %u, power: %u", axis->bins, axis->power);
    if (axis->unit != NULL) {
        fprintf(out, ", unit: \"%s\"", axis->unit);
    }
    fputc('}', out);
}

static void clear_axis(void *item)
{
    ics_schema_clear(axis_fields, AXIS_FIELDS, item);
}

const ics_schema_list ics_config_axes = {
    .expected = "a list of at most 5 of {name, from, to, bins, power, unit}",
    .example = "[{name: r, from: 0, to: 580, bins: 200, power: 2}]",
    .json_shape =
        "{\"type\": \"array\", \"maxItems\": 5, \"items\": {\"type\": \"object\", "
        "\"additionalProperties\": false, \"required\": [\"name\", \"from\", \"to\", "
        "\"bins\"], \"properties\": {\"name\": {\"type\": \"string\", \"pattern\": "
        "\"^[a-z][a-z0-9_]{0,30}$\"}, \"unit\": {\"type\": \"string\", \"pattern\": "
        "\"^[A-Za-z0-9/^*.%-]{1,7}$\"}, \"from\": {\"type\": \"number\"}, \"to\": "
        "{\"type\": \"number\"}, \"bins\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": "
        "16777215}, \"power\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 8}}}}",
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

ics_tabulate ics_config_tabulate(const icestream_config *config)
{
    const char *name = config->stages.tabulate;
    return config->stages.custom[ICS_STAGE_TABULATE] != NULL ? ICS_TABULATE_CUSTOM
           : strcmp(name, "spherical") == 0                  ? ICS_TABULATE_SPHERICAL
           : strcmp(name, "cylindrical") == 0                ? ICS_TABULATE_CYLINDRICAL
                                                             : ICS_TABULATE_NONE;
}

int ics_config_table_coordinate(ics_tabulate geometry, const char *name)
{
    for (int i = 0; i < ICS_CONFIG_AXES; ++i) {
        if (strcmp(coordinates[geometry][i], name) == 0) {
            return i;
        }
    }
    return -1;
}

const char *ics_config_table_key(size_t k)
{
    static const char section[] = "table.", other[] = "table.checkpoint";
    for (size_t i = 0; i < ics_config_key_count; ++i) {
        const char *path = ics_config_keys[i].path;
        if (strncmp(path, section, sizeof section - 1) == 0 && strcmp(path, other) != 0 &&
            k-- == 0) {
            return path;
        }
    }
    return NULL;
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

/* Where coordinates have values. A bin that goes beyond has a wrong volume, and so a wrong fluence.
 */
static const struct {
    const char *name;
    double least, most;
} ranges[] = {{"r", 0, 1e9}, {"rho", 0, 1e9}, {"cosine", -1, 1}, {"impact", -1, 1}};

/* An axis that goes beyond the values of its coordinate. `text`: what is wrong. */
static bool range_is_wrong(const ics_axis_config *axis, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
        const double least = ranges[i].least, most = ranges[i].most;
        if (strcmp(axis->name, ranges[i].name) == 0 && (axis->from < least || axis->to > most)) {
            snprintf(text, size,
                     "axis %s: found from %g and to %g, expected a range within %g to %g",
                     axis->name, axis->from, axis->to, least, most);
            return true;
        }
    }
    return false;
}

/* Names that the coordinates do not have, axes twice or in another order, and ranges that the
 * coordinates do not have. `text`: what is wrong. */
static bool names_are_wrong(const icestream_config *config, ics_tabulate geometry, char *text,
                            size_t size)
{
    const char *const *fit = coordinates[geometry];
    int last = -1;
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        const ics_axis_config *axis = &config->table.axes[i];
        const int at = ics_config_table_coordinate(geometry, axis->name);
        if (at <= last) {
            snprintf(text, size,
                     "found axis %.40s as number %zu, expected axes from %s, %s, %s, %s, %s, each "
                     "at most once and in this order",
                     axis->name, i + 1, fit[0], fit[1], fit[2], fit[3], fit[4]);
            return true;
        }
        last = at;
        if (axis->unit != NULL) {
            snprintf(text, size,
                     "found the unit %.20s of axis %s, expected none, because units are for the "
                     "axes of a header (stages.tabulate: {source: path})",
                     axis->unit, axis->name);
            return true;
        }
        if (range_is_wrong(axis, text, size)) {
            return true;
        }
    }
    return false;
}

/* The same for the axes of a header of the user, whose names and units are free. Tables have the
 * same rules (pipeline/table/table.h). */
static bool free_names_are_wrong(const icestream_config *config, char *text, size_t size)
{
    enum { NAME_LONGEST = 30, UNIT_LONGEST = 7 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    static const char marks[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/^*.%-";
    const ics_axis_config *axes = config->table.axes;
    if (config->table.axis_count == 0) {
        snprintf(text, size,
                 "found no axes, expected those of the coordinates of the header of "
                 "stages.tabulate, in their order");
        return true;
    }
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        const char *name = axes[i].name, *unit = axes[i].unit != NULL ? axes[i].unit : "1";
        if (name[0] < 'a' || name[0] > 'z' || name[strspn(name, letters)] != 0 ||
            strlen(name) > NAME_LONGEST) {
            snprintf(text, size,
                     "found axis '%.40s' as number %zu, expected a name of a letter a-z, then at "
                     "most 29 letters a-z, digits or _",
                     name, i + 1);
            return true;
        }
        if (unit[strspn(unit, marks)] != 0 || strlen(unit) > UNIT_LONGEST) {
            snprintf(text, size,
                     "found the unit '%.20s' of axis %s, expected at most 7 letters, digits or "
                     "/ ^ * . %% -",
                     unit, name);
            return true;
        }
        for (size_t k = 0; k < i; ++k) {
            if (strcmp(axes[k].name, name) == 0) {
                snprintf(text, size, "found axis %s twice, expected another name", name);
                return true;
            }
        }
    }
    return false;
}

/* Names that do not fit, too many bins. */
static int check_axes(const icestream_config *config, icestream_error *error)
{
    const ics_tabulate geometry = ics_config_tabulate(config);
    char text[400];
    double cells = 1.0;
    if (geometry == ICS_TABULATE_CUSTOM ? free_names_are_wrong(config, text, sizeof text)
                                        : names_are_wrong(config, geometry, text, sizeof text)) {
        return fault_at(config, "table.axes", text, error);
    }
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        cells *= (double)config->table.axes[i].bins + 2.0;
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
        const ics_tabulate geometry = ics_config_tabulate(config);
        const int at =
            geometry == ICS_TABULATE_CUSTOM ? -1 : ics_config_table_coordinate(geometry, name);
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
    const bool is_cylinder = ics_config_tabulate(config) == ICS_TABULATE_CYLINDRICAL;
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
        "table.position", "table.direction",  "table.time",    "table.checkpoint"};
    static const char *const of_fixed[] = {"table.position", "table.direction", "table.time"};
    static const char *const of_azimuth[] = {"table.azimuth"}, *const of_end[] = {"table.outside"};
    if (ics_config_tabulate(config) == ICS_TABULATE_NONE) {
        return refuse_keys(config, of_table, sizeof of_table / sizeof *of_table, "stages.tabulate",
                           "is for stages.tabulate: spherical or cylindrical, and it is none",
                           error);
    }
    int status = ICESTREAM_OK, fault = ICESTREAM_OK;
    if (config->table.source != ICS_TABULATE_FIXED) {
        status = refuse_keys(config, of_fixed, sizeof of_fixed / sizeof *of_fixed, "table.source",
                             config->table.source == ICS_TABULATE_STEP
                                 ? "is for table.source: fixed, and the source is step"
                                 : "is for table.source: fixed, and the source is auto",
                             error);
    }
    if (!ics_config_table_has_axis(config, "azimuth")) {
        fault = refuse_keys(config, of_azimuth, 1, "table.axes",
                            "found full, and table.axes has no azimuth", error);
        status = status ? status : fault;
    }
    if (!ics_config_table_ends(config)) {
        fault = refuse_keys(config, of_end, 1, "table.axes",
                            ics_config_tabulate(config) == ICS_TABULATE_CUSTOM
                                ? "found end, and with a header photons end only where it says "
                                  "so; expected no such key"
                                : "found end, and table.axes has no axis at which a photon "
                                  "could end: neither a distance nor the delay",
                            error);
        status = status ? status : fault;
    }
    return status;
}

int ics_config_table_check(const icestream_config *config, icestream_error *error)
{
    const double *d = config->table.direction;
    int status = check_effect(config, error);
    if (ics_config_tabulate(config) == ICS_TABULATE_NONE) {
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

static const char oversize[] = "detector.oversize";

void ics_config_table_complete(icestream_config *config)
{
    if (ics_config_tabulate(config) != ICS_TABULATE_NONE) {
        config->detector.oversize = 1.0;
    }
}

const char *ics_config_table_unused(const icestream_config *config, char *buffer, size_t size)
{
    const size_t i = ics_schema_find(oversize, ics_config_keys, ics_config_key_count);
    const ics_yaml_node *node = config->origin != NULL ? config->origin->given[i] : NULL;
    char place[1024];
    if (node == NULL || node->text == NULL || strtod(node->text, NULL) == 1.0 ||
        ics_config_tabulate(config) == ICS_TABULATE_NONE) {
        return NULL;
    }
    snprintf(buffer, size,
             "%s: %s: found %.40s, which has no effect on a table: its light meets no modules, and "
             "is made as for 1",
             ics_config_place(config, oversize, place, sizeof place), oversize, node->text);
    return buffer;
}

int ics_config_table_refuse(const icestream_config *config, const char *command,
                            icestream_error *error)
{
    char text[200];
    snprintf(text, sizeof text,
             "is not none, and icestream %s records hits; expected icestream tabulate, or --set "
             "stages.tabulate=none",
             command);
    return ics_config_tabulate(config) == ICS_TABULATE_NONE
               ? ICESTREAM_OK
               : fault_at(config, "stages.tabulate", text, error);
}
