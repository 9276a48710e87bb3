/* Where ice comes from: the readers of all file formats, and the built-in ice. */
#ifndef ICS_PHOTONS_MODELS_ICE_SOURCES_H
#define ICS_PHOTONS_MODELS_ICE_SOURCES_H

#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/ice/ice.h"
#include "pipeline/photons/models/ice/layers.h"
#include "pipeline/photons/models/text/text.h"

/* Makes the built-in ice with this name; `place` names the place of the key in messages.
 * ICESTREAM_E_CONFIG for other names, ICESTREAM_E_MEMORY. */
int ics_ice_from_model(const char *place, const char *model, ice_medium **out,
                       icestream_error *error);

/* Reads the ppc ice folder ice.directory. Its oversize is not used. The origin of the tilt is 0. */
int ics_ice_from_ppc(const icestream_config *config, ice_medium **out, ics_ice_factors *factors,
                     ics_warnings *warnings, icestream_error *error);

/* Reads the YAML file ice.file. Relative paths in it refer to the folder of the file. */
int ics_ice_from_yaml(const icestream_config *config, ice_medium **out, ics_warnings *warnings,
                      icestream_error *error);
/* The same for a file with the key 'optics': water. `path` names it in messages, `scatter` is the
 * variant of the scatter stage. */
int ics_ice_from_spectral(const char *path, const ics_yaml_node *root, const char *scatter,
                          ice_medium **out, ics_warnings *warnings, icestream_error *error);

/* ---- tables, also read from memory by tests ---------------------------------------------------
 */

/* The meaning of the columns of icemodel.dat. */
typedef struct ics_ppc_columns {
    double dust_scale, dust_offset; /* adust400 = scale * column 3 + offset */
    /* part of column 3 that is pure ice and has to be subtracted: A exp(-B/400), 1/m; or 0 */
    double pure_ice;
    double anisotropy[2]; /* ln k1, ln k2 of layers without columns 5 and 6 */
} ics_ppc_columns;

/* Reads icemodel.dat: depth, be400, adust400, dtau [, k1 [, k2 [, BFRA [, BFRB]]]]
 * (physics.md 4.3). Rows may have different numbers of columns, as in ppc. */
int ics_ice_ppc_layers_read(const ics_text *text, const ics_ppc_columns *columns,
                            ics_layer_list *out, icestream_error *error);

/* The numbers of cfg.txt that do not describe the ice as a whole (physics.md 4.4; README of the
 * public ice models). */
typedef struct ics_ppc_settings {
    double oversize;
    size_t oversize_line;
    double efficiency; /* efficiency of all modules */
    size_t efficiency_line;
    double anisotropy[2]; /* ln k1, ln k2 */
} ics_ppc_settings;

/* Reads cfg.txt. Numbers that describe the ice as a whole go to `properties`: scattering function,
 * flow axis, absorption anisotropy (scaled, physics.md 6.3), birefringence and hole ice. */
int ics_ice_ppc_settings_read(const ics_text *text, ice_medium *properties, ics_ppc_settings *out,
                              ics_warnings *warnings, icestream_error *error);

/* Reads CSV: depth_m, be400_per_m, adust400_per_m, delta_tau_K and, optionally, bubbles_per_m,
 * anisotropy_along and anisotropy_across (ln k1, ln k2; default `anisotropy`), birefringence
 * (default 1), birefringence_mean_factor (default 1). */
int ics_ice_csv_layers_read(const ics_text *text, const double anisotropy[2], ics_layer_list *out,
                            icestream_error *error);

/* Checks that a folder has the files of an ice that ppc and clsim need. ICESTREAM_E_CONFIG: it has
 * not; the message says what it has instead. */
int ics_ice_ppc_check_folder(const char *directory, icestream_error *error);
/* Adds a warning for each file of a ppc folder that ppc reads and icestream does not. */
void ics_ice_ppc_warn_of_unread(const char *directory, ics_warnings *warnings);

/* ---- public ice models, recognised by the numbers of icemodel.dat
 * --------------------------------
 */

typedef struct ics_ice_known {
    const char *digest; /* SHA-256 of its numbers */
    const char *name;
    const char *subtraction; /* the word of ice.birefringence_subtraction that this model needs */
    ice_taken taken;         /* the same in a medium */
} ics_ice_known;

/* Finds the model in the folder of a ppc ice. *out is NULL if it is none of the public models.
 * ICESTREAM_E_CONFIG: icemodel.dat cannot be read. ICESTREAM_E_MEMORY. */
int ics_ice_known_find(const char *folder, const ics_ice_known **out, icestream_error *error);

#endif
