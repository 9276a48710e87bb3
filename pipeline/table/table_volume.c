#include "pipeline/table/table_volume.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

enum { SPATIAL = 3 };

/* Azimuths may end a little above the half because of rounding. */
static const double half_degrees = 180.0, half_radians = 3.1415927;
static const double radians_per_degree = 0.017453292519943295;

bool ics_table_volume_is_half(ics_table_geometry geometry, const ics_table_axis *azimuth)
{
    return azimuth->to <= (geometry == ICS_TABLE_SPHERICAL ? half_degrees : half_radians);
}

double ics_table_volume(const ics_table *table, const uint32_t bin[SPATIAL])
{
    double low[SPATIAL], high[SPATIAL];
    for (int i = 0; i < SPATIAL; ++i) {
        low[i] = ics_table_edge(&table->axes[i], bin[i]);
        high[i] = ics_table_edge(&table->axes[i], bin[i] + 1);
    }
    const double halves =
        ics_table_volume_is_half(table->facts.geometry, &table->axes[1]) ? 2.0 : 1.0;
    if (table->facts.geometry == ICS_TABLE_SPHERICAL) {
        return (pow(high[0], 3) - pow(low[0], 3)) / 3.0 * halves * radians_per_degree *
               (high[1] - low[1]) * (high[2] - low[2]);
    }
    return (pow(high[0], 2) - pow(low[0], 2)) / 2.0 * halves * (high[1] - low[1]) *
           (high[2] - low[2]);
}

double ics_table_norm(const ics_table *table, uint64_t cell)
{
    uint32_t bin[SPATIAL];
    for (int i = 0; i < SPATIAL; ++i) {
        const uint32_t bins = table->axes[i].bins;
        const uint32_t at = (uint32_t)(cell / table->strides[i] % ((uint64_t)bins + 2));
        bin[i] = at == 0 ? 0 : at > bins ? bins - 1 : at - 1;
    }
    return ics_table_volume(table, bin) / (table->facts.step_length * table->facts.area);
}

int ics_table_volume_check(const ics_table *table, const char *name, icestream_error *error)
{
    static const char *const units[ICS_TABLE_GEOMETRIES][SPATIAL] = {
        [ICS_TABLE_SPHERICAL] = {"m", "deg", "1"},
        [ICS_TABLE_CYLINDRICAL] = {"m", "rad", "m"},
    };
    const ics_table_geometry geometry = table->facts.geometry;
    if (geometry == ICS_TABLE_CUSTOM || table->axis_count < SPATIAL) {
        return ics_error_set(
            error, ICESTREAM_E_INPUT,
            "%s: found a table with %u axes and geometry %s, expected spherical or "
            "cylindrical with its three axes of position, because clsim divides "
            "by the volume of a bin (use .h5 instead)",
            name, table->axis_count, ics_table_geometry_name(geometry));
    }
    for (int i = 0; i < SPATIAL; ++i) {
        if (strcmp(table->axes[i].unit, units[geometry][i]) != 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: axis %s: found the unit %s, expected %s for axis %d of a %s "
                                 "table",
                                 name, table->axes[i].name, table->axes[i].unit, units[geometry][i],
                                 i + 1, ics_table_geometry_name(geometry));
        }
    }
    if (table->axes[0].from < 0.0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: axis %s: found a radius from %.9g, expected 0 or more", name,
                             table->axes[0].name, table->axes[0].from);
    }
    return ICESTREAM_OK;
}
