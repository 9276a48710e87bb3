/* A file with the optics of water in YAML: its values, before they are checked together. */
#ifndef ICS_MODELS_ICE_ICE_WATER_FILE_H
#define ICS_MODELS_ICE_ICE_WATER_FILE_H

#include "physics/water.h"
#include "pipeline/models/ice/ice_file.h"
#include "pipeline/models/light/wavelength_table.h"

/* A layer: its coefficients are those of the table times these factors. */
typedef struct ics_water_layer {
    double z; /* z of its centre (m) */
    double scattering, absorption;
} ics_water_layer;

typedef struct ics_water_file {
    char *name;
    char *optics_path, *index_path;     /* paths of CSV files, or NULL */
    ics_wavelength_table optics, index; /* an index without points: the formula of water */
    bool optics_extend, index_extend;   /* the values at the ends of a table hold beyond them */
    double rayleigh_fraction, mean_cosine;
    double scatter[ICS_ICE_SCATTER_MAX]; /* parameters of scatter variants (ice_scatter.h) */
    ice_water water;
    double density;          /* g/cm3; 0: not given */
    ics_water_layer *layers; /* [layer_count], from below; none: one layer, as the table */
    size_t layer_count;
} ics_water_file;

/* Columns of the two tables. */
enum {
    ICS_WATER_ABSORPTION_LENGTH,
    ICS_WATER_ABSORPTION,
    ICS_WATER_SCATTERING_LENGTH,
    ICS_WATER_SCATTERING,
    ICS_WATER_EFFECTIVE_LENGTH,
    ICS_WATER_EFFECTIVE,
    ICS_WATER_OPTICS
};
enum { ICS_WATER_PHASE_INDEX, ICS_WATER_GROUP_INDEX, ICS_WATER_INDICES };

/* The range of a group index. */
#define ICS_WATER_INDEX_MIN 1.001
#define ICS_WATER_INDEX_MAX 3.0

/* Reads all keys of a file and its CSV files; `keys` says where the keys were given. All errors are
 * reported together. The caller frees the file with ics_ice_water_file_clear(), also after an
 * error. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_ice_water_file_read(const ics_yaml_node *root, ics_ice_keys *keys, ics_water_file *file,
                            icestream_error *error);
void ics_ice_water_file_clear(const ics_ice_keys *keys, ics_water_file *file);

/* Whether a table has a column. */
static inline bool ics_water_file_has(const ics_wavelength_table *table, int column)
{
    return table->curves[column].count > 0;
}

#endif
