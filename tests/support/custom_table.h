/* A cylindrical table, and a header of the user that repeats its coordinates: both fill the same
 * sums. */
#ifndef CUSTOM_TABLE_H
#define CUSTOM_TABLE_H

#include "stages/tabulate/tabulate.h"

#define CUSTOM_TABLE_STRINGS ICS_SOURCE_DIRECTORY "/configs/stages/nearest_string.h"

/* rho in power 3, azimuth of a whole turn, z, delay and impact; photons do not end outside. */
static inline ice_tabulation custom_table_cylinder(void)
{
    ice_tabulation table = {
        .axes = {{.bins = 20,
                  .power = 3,
                  .inverse_power = 1 / 3.0f,
                  .scale = 20 / 5.3132927f}, /* the third root of 150 */
                 {.coordinate = 1, .bins = 8, .power = 1, .scale = 8 / 6.28318548f},
                 {.coordinate = 2, .bins = 10, .power = 1, .first = -200, .scale = 10 / 400.0f},
                 {.coordinate = 3, .bins = 12, .power = 1, .scale = 12 / 2000.0f},
                 {.coordinate = 4, .bins = 4, .power = 1, .first = -1, .scale = 2}},
        .axis_count = 5,
        .geometry = ICE_TABULATE_CYLINDRICAL,
        .full_azimuth = 1,
        .step = 2.5f,
        .inverse_step = 0.4f,
        .absorption_lengths = 6,
        .inverse_speed = 3.33564095f,
        .cherenkov_tangent = 0.85f};
    uint32_t stride = 1;
    for (int i = 4; i >= 0; --i) {
        table.axes[i].stride = stride;
        stride *= (uint32_t)table.axes[i].bins + 2;
    }
    return table;
}

/* A header that computes these coordinates, and ends a photon above the axis of rho. */
static const char custom_table_header[] =
    "#include \"stages/tabulate/tabulate_custom.h\"\n"
    "#define ICE_TABULATE_COORDINATES 5\n"
    "ICE_FN ice_tabulate_coordinates ice_tabulate_custom(const ice_tables *tables,\n"
    "                                                    const ice_tabulation *table,\n"
    "                                                    const ice_tabulate_view *view)\n"
    "{\n"
    "    const ice_tabulate_sample sample = {view->own[0], view->own[1], view->own[2],\n"
    "                                        view->time,   view->dz,     0.0f, 0.0f};\n"
    "    const ice_tabulate_point at =\n"
    "        ice_tabulate_locate(table, ICE_TABULATE_CYLINDRICAL, &sample);\n"
    "    const ice_tabulate_axis *rho = &table->axes[0];\n"
    "    const int32_t ends = ice_tabulate_cell(rho, 3, at.first) > rho->bins ? 1 : 0;\n"
    "    const ice_tabulate_coordinates result = {\n"
    "        {at.first, at.azimuth, at.third, at.delay, at.impact}, ends};\n"
    "    (void)tables;\n"
    "    return result;\n"
    "}\n";

#endif
