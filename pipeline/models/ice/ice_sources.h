/* Where ice comes from: the readers of all file formats, and the built-in ice. */
#ifndef ICS_MODELS_ICE_ICE_SOURCES_H
#define ICS_MODELS_ICE_ICE_SOURCES_H

#include "pipeline/config/yaml/yaml.h"
#include "pipeline/models/ice/ice.h"
#include "pipeline/models/ice/ice_layers.h"
#include "pipeline/models/text/text.h"

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
/* The same for a file with the key 'optics': water. `path` names it in messages, `scatter` is the
 * variant of the scatter stage. */
int ics_ice_from_spectral(const char *path, const ics_yaml_node *root, const char *scatter,
                          ice_medium **out, ics_warnings *warnings, icestream_error *error);

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
