/* From rows of an ice table to a checked medium: what all file formats of ice have in common. */
#ifndef ICS_MODELS_ICE_ICE_LAYERS_H
#define ICS_MODELS_ICE_ICE_LAYERS_H

#include "pipeline/config/yaml/yaml.h"
#include "pipeline/models/ice/ice.h"
#include "pipeline/models/text/text.h"

/* A layer as files give it, by the depth of its centre. */
typedef struct ics_layer_row {
    double depth; /* m below the surface */
    ice_layer layer;
    size_t line, column; /* where the row stands; 0: unknown */
} ics_layer_row;

/* Rows in the order of their file, deepest last. */
typedef struct ics_layer_list {
    const char *name; /* of the file, for messages; not owned */
    ics_layer_row *rows;
    size_t count, capacity;
} ics_layer_list;

/* Appends a row. ICESTREAM_OK or ICESTREAM_E_MEMORY. */
int ics_ice_layer_list_add(ics_layer_list *list, const ics_layer_row *row);
void ics_ice_layer_list_free(ics_layer_list *list);

/* Checks one property of the ice as a whole ("alpha", "mean_cosine", ...); `place` is "file:line".
 * ICESTREAM_E_CONFIG. */
int ics_ice_property_check(const char *place, const char *property, double value,
                           icestream_error *error);

/* A medium with `count` zeroed layers, that ics_ice_destroy frees. */
int ics_ice_allocate(const char *name, size_t count, ice_medium **out, icestream_error *error);

/* Checks the rows and makes the medium: increasing depth, equal spacing within 1e-5 of itself,
 * coefficients that are positive and plausible. A single row is homogeneous ice, 100 m thick for
 * reports. `common` gives all that does not depend on depth, already checked, but no name and
 * no tilt. What its birefringence scatters is taken out of the layers as `subtraction` says (AUTO:
 * nothing). ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. */
int ics_ice_from_layers(const char *name, const ics_layer_list *list, const ice_medium *common,
                        ics_subtraction subtraction, ice_medium **out, icestream_error *error);

/* ---- the sources ----------------------------------------------------------------------------- */

/* The built-in ice of this name. ICESTREAM_E_CONFIG for other names, `place` says where it was
 * asked for.*/
int ics_ice_from_model(const char *place, const char *model, ice_medium **out,
                       icestream_error *error);

/* The ppc ice folder ice.directory; its oversize is not used. The tilt's origin is 0. */
int ics_ice_from_ppc(const icestream_config *config, ice_medium **out, ics_ice_factors *factors,
                     ics_warnings *warnings, icestream_error *error);

/* The YAML file ice.file; relative paths in it refer to its own folder. */
int ics_ice_from_yaml(const icestream_config *config, ice_medium **out, ics_warnings *warnings,
                      icestream_error *error);
/* The same for a file with the key 'optics': water. `path` names it in messages. */
int ics_ice_from_spectral(const char *path, const ics_yaml_node *root, ice_medium **out,
                          ics_warnings *warnings, icestream_error *error);

/* ---- tables, also read from memory by tests ---------------------------------------------------
 */

/* How ppc's numbers are meant. */
typedef struct ics_ppc_columns {
    double dust_scale, dust_offset; /* adust400 = scale * column 3 + offset */
    /* what column 3 has of pure ice, to be taken out of it: A exp(-B/400), 1/m; or 0 */
    double pure_ice;
    double anisotropy[2]; /* ln k1, ln k2 of layers without columns 5 and 6 */
} ics_ppc_columns;

/* icemodel.dat: depth, be400, adust400, dtau [, k1, k2 [, BFRA [, BFRB]]] (physics.md 4.3). */
int ics_ice_ppc_layers_read(const ics_text *text, const ics_ppc_columns *columns,
                            ics_layer_list *out, icestream_error *error);

/* What cfg.txt says (physics.md 4.4; README of the public ice models). */
typedef struct ics_ppc_settings {
    double oversize;
    size_t oversize_line;
    double efficiency;
    double anisotropy[2]; /* ln k1, ln k2 */
} ics_ppc_settings;

/* Reads cfg.txt; what it says of the ice as a whole goes to `properties`: scattering function, flow
 * axis, absorption anisotropy (scaled, physics.md 6.3), birefringence and hole ice. */
int ics_ice_ppc_settings_read(const ics_text *text, ice_medium *properties, ics_ppc_settings *out,
                              ics_warnings *warnings, icestream_error *error);

/* CSV: depth_m, be400_per_m, adust400_per_m, delta_tau_K and, if the file has them, bubbles_per_m,
 * anisotropy_along, anisotropy_across (ln k1, ln k2; else those given), birefringence (else 1),
 * birefringence_mean_factor (else 1). */
int ics_ice_csv_layers_read(const ics_text *text, const double anisotropy[2], ics_layer_list *out,
                            icestream_error *error);

#endif
