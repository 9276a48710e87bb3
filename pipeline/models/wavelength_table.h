/* Numbers by wavelength: a CSV file, or the same as a list of lists in YAML. */
#ifndef IS_WAVELENGTH_TABLE_H
#define IS_WAVELENGTH_TABLE_H

#include "pipeline/config/yaml.h"
#include "pipeline/models/curve.h"

/* A column that such a table may have besides wavelength_nm. */
typedef struct is_wavelength_column {
    const char *name;
    double low, high; /* of its numbers, both included */
} is_wavelength_column;

enum { IS_WAVELENGTH_COLUMNS_MAX = 8 };

/* The columns that a table has: curves over the wavelength in nm, the others without points. */
typedef struct is_wavelength_table {
    is_curve curves[IS_WAVELENGTH_COLUMNS_MAX];
} is_wavelength_table;

/* Read a table whose first row names its columns, in any order: wavelength_nm, ascending within
 * 100 .. 2000, and some of `columns`. Every fault is reported with its place. IS_E_CONFIG,
 * IS_E_MEMORY; the table is empty then. */
int is_wavelength_table_read_text(const is_text *text, const is_wavelength_column *columns,
                                  size_t count, is_wavelength_table *out, is_error *error);
int is_wavelength_table_read_yaml(const is_yaml_node *node, const is_wavelength_column *columns,
                                  size_t count, is_wavelength_table *out, is_error *error);
void is_wavelength_table_free(is_wavelength_table *table);

/* Slope, at a point of a curve of 3 or more, of the parabola through it and its neighbours; at an
 * end through the two nearest. */
double is_curve_slope(const is_curve *curve, size_t point);

#endif
