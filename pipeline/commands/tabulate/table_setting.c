#include "pipeline/commands/tabulate/table_setting.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Wavelengths (nm) of which the fastest light has the delay 0. */
enum { SHORTEST = 300, LONGEST = 600 };

static const ics_table_axis spherical[] = {
    {.name = "r", .unit = "m", .from = 0, .to = 580, .bins = 200, .power = 2},
    {.name = "azimuth", .unit = "deg", .from = 0, .to = 180, .bins = 36, .power = 1},
    {.name = "cosine", .unit = "1", .from = -1, .to = 1, .bins = 100, .power = 1},
    {.name = "delay", .unit = "ns", .from = 0, .to = 7000, .bins = 105, .power = 2},
    {.name = "impact", .unit = "1", .from = -1, .to = 1, .bins = 20, .power = 1}};
static const ics_table_axis cylindrical[] = {
    {.name = "rho", .unit = "m", .from = 0, .to = 580, .bins = 100, .power = 2},
    {.name = "azimuth", .unit = "rad", .from = 0, .to = M_PI, .bins = 36, .power = 1},
    {.name = "z", .unit = "m", .from = -800, .to = 800, .bins = 80, .power = 1},
    {.name = "delay", .unit = "ns", .from = 0, .to = 7000, .bins = 105, .power = 2},
    {.name = "impact", .unit = "1", .from = -1, .to = 1, .bins = 20, .power = 1}};
enum { POSITION_AXES = 3, CLSIM_AXES = 4, AZIMUTH = 1, DELAY = 3 };

static const ics_table_axis *clsim_axes(const icestream_config *config)
{
    return ics_config_tabulate(config) == ICS_TABULATE_CYLINDRICAL ? cylindrical : spherical;
}

/* Takes a name or a unit that the configuration has checked. */
static void copy_word(char *out, size_t size, const char *word)
{
    snprintf(out, size, "%s", word);
}

size_t ics_table_setting_axes(const icestream_config *config, ics_table_axis *out)
{
    const ics_table_axis *known = clsim_axes(config);
    const ics_tabulate geometry = ics_config_tabulate(config);
    if (config->table.axis_count == 0) {
        memcpy(out, known, CLSIM_AXES * sizeof *out);
        if (config->table.azimuth) {
            out[AZIMUTH].to *= 2.0;
            out[AZIMUTH].bins *= 2;
        }
        return CLSIM_AXES;
    }
    for (size_t i = 0; i < config->table.axis_count; ++i) {
        const ics_axis_config *axis = &config->table.axes[i];
        if (geometry == ICS_TABULATE_CUSTOM) {
            out[i] = (ics_table_axis){.edges = NULL};
            copy_word(out[i].name, sizeof out[i].name, axis->name);
            copy_word(out[i].unit, sizeof out[i].unit, axis->unit != NULL ? axis->unit : "1");
        } else {
            out[i] = known[ics_config_table_coordinate(geometry, axis->name)];
        }
        out[i].from = axis->from;
        out[i].to = axis->to;
        out[i].bins = axis->bins;
        out[i].power = axis->power;
    }
    return config->table.axis_count;
}

ics_table_geometry ics_table_setting_geometry(const icestream_config *config)
{
    ics_table_axis axes[ICE_TABULATE_AXES];
    const ics_table_axis *known = clsim_axes(config);
    const size_t count = ics_table_setting_axes(config, axes);
    const ics_tabulate geometry = ics_config_tabulate(config);
    for (size_t i = 0; i < POSITION_AXES; ++i) {
        if (geometry == ICS_TABULATE_CUSTOM || i >= count ||
            strcmp(axes[i].name, known[i].name) != 0) {
            return ICS_TABLE_CUSTOM;
        }
    }
    return geometry == ICS_TABULATE_SPHERICAL ? ICS_TABLE_SPHERICAL : ICS_TABLE_CYLINDRICAL;
}

void ics_table_setting_indices(const ice_tables *tables, double *phase, double *group)
{
    *phase = *group = INFINITY;
    for (int wavelength = SHORTEST; wavelength <= LONGEST; ++wavelength) {
        const double slowness = (double)ice_slowness(tables, (float)wavelength);
        *phase = fmin(*phase, (double)ice_medium_index(tables, (float)wavelength));
        *group = fmin(*group, slowness * ICE_LIGHT_SPEED);
    }
}

/* What the stage does not compute. */
static int check_physics(const icestream_config *config, const ice_tables *tables,
                         icestream_error *error)
{
    if ((tables->features & ICE_HAS_HOLES) != 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "stages.tabulate: found ice with columns of hole ice, which a table "
                             "does not know; expected ice.hole_ice: false");
    }
    if (config->stages.custom[ICS_STAGE_PROPAGATE] != NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "stages.tabulate: found a header for stages.propagate, and a table "
                             "takes absorption from the ice; expected a built-in variant");
    }
    return ICESTREAM_OK;
}

static ice_tabulate_axis axis_of(const ics_table_axis *axis, int coordinate, bool ends,
                                 bool is_distance)
{
    const double first = pow(axis->from, 1.0 / axis->power);
    const double last = pow(axis->to, 1.0 / axis->power);
    const bool from_root = axis->power > 1;
    return (ice_tabulate_axis){
        .coordinate = coordinate,
        .bins = (int32_t)axis->bins,
        .power = (int32_t)axis->power,
        .ends_below = ends && is_distance && coordinate == 2,
        .ends_above = ends && is_distance,
        .inverse_power = (float)(1.0 / axis->power),
        .first = (float)(from_root ? first : axis->from),
        .scale = (float)(axis->bins / (from_root ? last - first : axis->to - axis->from))};
}

/* The weights get the acceptance as hits do: relative to its maximum (physics.md 8.5). */
static int set_acceptance(const icestream_config *config, const ice_angular *angular,
                          ice_tabulation *out, icestream_error *error)
{
    _Static_assert(sizeof angular->coefficients / sizeof *angular->coefficients ==
                       ICE_TABULATE_COEFFICIENTS,
                   "the stage has room for all coefficients");
    if (!config->table.acceptance) {
        return ICESTREAM_OK;
    }
    if (angular->has_edge) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "table.acceptance: found detector, and the angular acceptance of the "
                             "modules is an edge on their surface, of which a table has no record; "
                             "expected none, or a polynomial");
    }
    out->has_acceptance = 1;
    for (size_t k = 0; k < angular->count; ++k) {
        out->acceptance[k] = (float)(angular->coefficients[k] / angular->maximum);
    }
    return ICESTREAM_OK;
}

static ice_tabulate_geometry stage_geometry(ics_tabulate geometry)
{
    static const ice_tabulate_geometry names[] = {[ICS_TABULATE_NONE] = ICE_TABULATE_NONE,
                                                  [ICS_TABULATE_SPHERICAL] = ICE_TABULATE_SPHERICAL,
                                                  [ICS_TABULATE_CYLINDRICAL] =
                                                      ICE_TABULATE_CYLINDRICAL,
                                                  [ICS_TABULATE_CUSTOM] = ICE_TABULATE_CUSTOM};
    return names[geometry];
}

int ics_table_setting_stage(const icestream_config *config, const ice_tables *tables,
                            const ice_detector *detector, ics_device_table *out,
                            icestream_error *error)
{
    ics_table_axis axes[ICE_TABULATE_AXES];
    double phase, group;
    const ics_tabulate geometry = ics_config_tabulate(config);
    const bool is_cylinder = geometry == ICS_TABULATE_CYLINDRICAL;
    const bool is_custom = geometry == ICS_TABULATE_CUSTOM;
    const size_t count = ics_table_setting_axes(config, axes);
    ICS_TRY(check_physics(config, tables, error));
    ics_table_setting_indices(tables, &phase, &group);
    ice_tabulation *stage = &out->stage;
    *stage =
        (ice_tabulation){.axis_count = (int32_t)count,
                         .geometry = stage_geometry(geometry),
                         .full_azimuth = config->table.azimuth,
                         .step = (float)config->table.step,
                         .inverse_step = (float)(1.0 / config->table.step),
                         .absorption_lengths = (float)config->table.absorption_lengths,
                         .inverse_speed = (float)((is_cylinder ? 1.0 : group) / ICE_LIGHT_SPEED),
                         .cherenkov_tangent = (float)sqrt(phase * phase - 1.0)};
    ICS_TRY(set_acceptance(config, &detector->angular, stage, error));
    for (size_t i = 0; i < count; ++i) {
        const int at = is_custom ? (int)i : ics_config_table_coordinate(geometry, axes[i].name);
        const bool is_distance = !is_custom && (at == 0 || at == DELAY || (at == 2 && is_cylinder));
        stage->axes[i] = axis_of(&axes[i], at, !config->table.outside, is_distance);
    }
    uint32_t stride = 1;
    for (size_t i = count; i-- > 0; stride *= axes[i].bins + 2) {
        stage->axes[i].stride = stride;
    }
    return ICESTREAM_OK;
}

void ics_table_setting_digest(const icestream_config *config, const ice_detector *detector,
                              ics_digest *digest)
{
    static const double origin[3] = {0.0, 0.0, 0.0}, up[3] = {0.0, 0.0, 1.0};
    const bool is_fixed = config->table.source == ICS_TABULATE_FIXED;
    const double numbers[] = {config->table.azimuth && ics_config_table_has_axis(config, "azimuth"),
                              config->table.outside && ics_config_table_ends(config), is_fixed,
                              config->table.absorption_lengths,
                              is_fixed ? config->table.time : 0.0};
    ics_digest_add_numbers(digest, numbers, sizeof numbers / sizeof *numbers);
    ics_digest_add_numbers(digest, is_fixed ? config->table.position : origin, 3);
    ics_digest_add_numbers(digest, is_fixed ? config->table.direction : up, 3);
    if (config->table.acceptance) {
        const ice_angular *angular = &detector->angular;
        ics_digest_add_numbers(digest, &angular->maximum, 1);
        ics_digest_add_numbers(digest, angular->coefficients, angular->count);
    }
}
