/* The key table.axes, whether the axes fit to the coordinates of stages.tabulate, and keys of
 * tables that would have no effect. */
#include "pipeline/photons/config/table.h"

#include "base/error.h"
#include "pipeline/photons/config/faults.h"
#include "pipeline/photons/config/fields.h"
#include "pipeline/photons/config/keys.h"
#include "pipeline/photons/config/schema/kinds.def"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file may have axes with one bin more (pipeline/photons/table/table.h). The stage finds a cell
 * with floats (ice_tabulate_cell), which have no number 2^24 + 1 for the overflow of such an axis.
 */
enum { BINS_MOST = (1 << 24) - 1 };

static const ics_schema_field axis_fields[] = {
    MEMBER(ics_axis_config, "name", name, TEXT_LIKE("^[a-z][a-z0-9_]{0,30}$") PLAIN REQUIRED,
           "name of the coordinate"),
    MEMBER(ics_axis_config, "from", from, NUMBER(-1e9, 1e9) REQUIRED, "where the first bin begins"),
    MEMBER(ics_axis_config, "to", to, NUMBER(-1e9, 1e9) REQUIRED, "where the last bin ends"),
    MEMBER(ics_axis_config, "bins", bins, WHOLE(1, BINS_MOST) REQUIRED, "number of bins"),
    MEMBER(ics_axis_config, "power", power, WHOLE(1, 8) DEFAULT("1"),
           "bins are equally wide in this root of the coordinate"),
    MEMBER(ics_axis_config, "unit", unit, TEXT_LIKE("^[A-Za-z0-9/^*.%-]{1,7}$"),
           "unit of a coordinate of a header")};

/* Bins must be at least as wide as the rounding of the floats with which the stage finds a cell,
 * and the inverse of their width must be a float (ice_tabulate_axis). */
static bool are_too_narrow(const ics_axis_config *axis)
{
    const double first = axis->power > 1 ? pow(axis->from, 1.0 / axis->power) : axis->from;
    const double last = axis->power > 1 ? pow(axis->to, 1.0 / axis->power) : axis->to;
    const double width = (last - first) / axis->bins;
    return width < 0x1p-24 * fmax(fabs(first), fabs(last)) || 1.0 / width > FLT_MAX;
}

static int check_axis(const ics_yaml_node *node, const void *item, icestream_error *error)
{
    const ics_axis_config *axis = item;
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

const ics_schema_list ics_config_axes = {
    .expected = "a list of at most 5 of {name, from, to, bins, power, unit}",
    .example = "[{name: r, from: 0, to: 580, bins: 200, power: 2}]",
    .item_size = sizeof(ics_axis_config),
    .most = ICS_CONFIG_AXES,
    .fields = axis_fields,
    .field_count = sizeof axis_fields / sizeof *axis_fields,
    .check = check_axis};

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
    for (size_t i = 0; i < ICS_CONFIG_KEYS; ++i) {
        const char *path = ics_config_keys[i].path;
        if (strncmp(path, section, sizeof section - 1) == 0 && strcmp(path, other) != 0 &&
            k-- == 0) {
            return path;
        }
    }
    return NULL;
}

/* Where coordinates have values. A bin that goes beyond has a wrong volume, and so a wrong fluence.
 */
static const struct {
    const char *name;
    double least, most;
} ranges[] = {{"r", 0, 1e9}, {"rho", 0, 1e9}, {"cosine", -1, 1}, {"impact", -1, 1}};

static const char axes_key[] = "table.axes";
#define WRONG(...) ics_config_fault(config, axes_key, axes_key, error, __VA_ARGS__)

static int check_range(const icestream_config *config, const ics_axis_config *axis,
                       icestream_error *error)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; ++i) {
        const double least = ranges[i].least, most = ranges[i].most;
        if (strcmp(axis->name, ranges[i].name) == 0 && (axis->from < least || axis->to > most)) {
            return WRONG("axis %s: found from %g and to %g, expected a range within %g to %g",
                         axis->name, axis->from, axis->to, least, most);
        }
    }
    return ICESTREAM_OK;
}

/* Names that the coordinates do not have, axes twice or in another order, and ranges that the
 * coordinates do not have. */
static int check_names(const icestream_config *config, ics_tabulate geometry,
                       icestream_error *error)
{
    const char *const *fit = coordinates[geometry];
    int last = -1;
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        const ics_axis_config *axis = &config->table.axes[i];
        const int at = ics_config_table_coordinate(geometry, axis->name);
        if (at <= last) {
            return WRONG("found axis %.40s as number %zu, expected axes from %s, %s, %s, %s, %s, "
                         "each at most once and in this order",
                         axis->name, i + 1, fit[0], fit[1], fit[2], fit[3], fit[4]);
        }
        last = at;
        if (axis->unit != NULL) {
            return WRONG("found the unit %.20s of axis %s, expected none, because units are for "
                         "the axes of a header (stages.tabulate: {source: path})",
                         axis->unit, axis->name);
        }
        ICS_TRY(check_range(config, axis, error));
    }
    return ICESTREAM_OK;
}

/* The same for an axis of a header of the user, whose names and units are free. Tables have the
 * same rules (pipeline/photons/table/table.h). */
static int check_free_axis(const icestream_config *config, size_t i, icestream_error *error)
{
    enum { NAME_LONGEST = 30, UNIT_LONGEST = 7 };
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    static const char marks[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/^*.%-";
    const ics_axis_config *axes = config->table.axes;
    const char *name = axes[i].name, *unit = axes[i].unit != NULL ? axes[i].unit : "1";
    if (name[0] < 'a' || name[0] > 'z' || name[strspn(name, letters)] != 0 ||
        strlen(name) > NAME_LONGEST) {
        return WRONG("found axis '%.40s' as number %zu, expected a name of a letter a-z, then at "
                     "most 29 letters a-z, digits or _",
                     name, i + 1);
    }
    if (unit[strspn(unit, marks)] != 0 || strlen(unit) > UNIT_LONGEST) {
        return WRONG("found the unit '%.20s' of axis %s, expected at most 7 letters, digits or / ^ "
                     "* . %% -",
                     unit, name);
    }
    for (size_t k = 0; k < i; ++k) {
        if (strcmp(axes[k].name, name) == 0) {
            return WRONG("found axis %s twice, expected another name", name);
        }
    }
    return ICESTREAM_OK;
}

static int check_free_names(const icestream_config *config, icestream_error *error)
{
    if (config->table.axis_count == 0) {
        return WRONG("found no axes, expected those of the coordinates of the header of "
                     "stages.tabulate, in their order");
    }
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        ICS_TRY(check_free_axis(config, i, error));
    }
    return ICESTREAM_OK;
}

/* Names that do not fit, too many bins. */
static int check_axes(const icestream_config *config, icestream_error *error)
{
    const ics_tabulate geometry = ics_config_tabulate(config);
    double cells = 1.0;
    ICS_TRY(geometry == ICS_TABULATE_CUSTOM ? check_free_names(config, error)
                                            : check_names(config, geometry, error));
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        cells *= (double)config->table.axes[i].bins + 2.0;
    }
    return cells > ICS_CONFIG_TABLE_CELLS
               ? WRONG("found %.4g bins with their under- and overflow, expected at most %.0f",
                       cells, ICS_CONFIG_TABLE_CELLS)
               : ICESTREAM_OK;
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
        return ics_config_refuse_keys(
            config, of_table, sizeof of_table / sizeof *of_table, "stages.tabulate", error,
            "is for stages.tabulate: spherical or cylindrical, and it is none");
    }
    int status = ICESTREAM_OK, fault = ICESTREAM_OK;
    if (config->table.source != ICS_TABULATE_FIXED) {
        status = ics_config_refuse_keys(config, of_fixed, sizeof of_fixed / sizeof *of_fixed,
                                        "table.source", error,
                                        config->table.source == ICS_TABULATE_STEP
                                            ? "is for table.source: fixed, and the source is step"
                                            : "is for table.source: fixed, and the source is auto");
    }
    if (!ics_config_table_has_axis(config, "azimuth")) {
        fault = ics_config_refuse_keys(config, of_azimuth, 1, "table.axes", error,
                                       "found full, and table.axes has no azimuth");
        status = status ? status : fault;
    }
    if (!ics_config_table_ends(config)) {
        fault = ics_config_refuse_keys(
            config, of_end, 1, "table.axes", error,
            ics_config_tabulate(config) == ICS_TABULATE_CUSTOM
                ? "found end, and with a header photons end only where it says so; expected no "
                  "such key"
                : "found end, and table.axes has no axis at which a photon could end: neither a "
                  "distance nor the delay");
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
        fault = ics_config_fault(
            config, "table.acceptance", "table.acceptance", error,
            "found detector, and table.axes has the axis impact, which keeps the direction; "
            "expected none, or a table without this axis");
        status = status ? status : fault;
    }
    if (config->table.source == ICS_TABULATE_FIXED && d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) {
        fault = ics_config_fault(config, "table.direction", "table.direction", error,
                                 "found [0, 0, 0], expected a direction");
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
    const size_t i = ics_config_find(oversize);
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
    return ics_config_tabulate(config) == ICS_TABULATE_NONE
               ? ICESTREAM_OK
               : ics_config_fault(config, "stages.tabulate", "stages.tabulate", error,
                                  "is not none, and icestream %s records hits; expected icestream "
                                  "tabulate, or --set stages.tabulate=none",
                                  command);
}
