/* Numbers by wavelength: a CSV file, or the same as a list of lists in YAML. */
#ifndef ICS_PHOTONS_MODELS_LIGHT_WAVELENGTH_TABLE_H
#define ICS_PHOTONS_MODELS_LIGHT_WAVELENGTH_TABLE_H

#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/light/curve.h"

/* A column that such a table may have besides wavelength_nm. */
typedef struct ics_wavelength_column {
    const char *name;
    double low, high; /* limits of its numbers, both included */
} ics_wavelength_column;

enum { ICS_WAVELENGTH_COLUMNS_MAX = 8 };

/* The columns of a table as curves over the wavelength (nm). A column that the table does not have
 * is a curve without points. */
typedef struct ics_wavelength_table {
    ics_curve curves[ICS_WAVELENGTH_COLUMNS_MAX];
} ics_wavelength_table;

/* Read a table whose first row names its columns, in any order: wavelength_nm, ascending within
 * 100 .. 2000, and some of `columns`. Every fault is reported with its place. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY; the table is empty then. */
int ics_wavelength_table_read_text(const ics_text *text, const ics_wavelength_column *columns,
                                   size_t count, ics_wavelength_table *out, icestream_error *error);
int ics_wavelength_table_read_yaml(const ics_yaml_node *node, const ics_wavelength_column *columns,
                                   size_t count, ics_wavelength_table *out, icestream_error *error);
void ics_wavelength_table_free(ics_wavelength_table *table);

/* Returns the slope at a point of a curve with at least 3 points: that of the parabola through the
 * point and its neighbours. At an end it is the parabola through the end and the two nearest
 * points. */
double ics_wavelength_table_slope(const ics_curve *curve, size_t point);

#endif
