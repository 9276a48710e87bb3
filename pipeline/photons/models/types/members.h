/* Members of a type in YAML that name files or are lists (docs/detectors.md). */
#ifndef ICS_PHOTONS_MODELS_TYPES_MEMBERS_H
#define ICS_PHOTONS_MODELS_TYPES_MEMBERS_H

#include "physics/model.h"
#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/text/text.h"
#include "pipeline/photons/models/warnings.h"

/* Makes the path of the file that a node names; the caller frees it. `key` is that of the node, and
 * `expected` what it may be, for messages. ICESTREAM_E_CONFIG: the node is no name of a file.
 * ICESTREAM_E_MEMORY. */
int ics_type_file_path(const ics_yaml_node *node, const char *key, const char *expected, char **out,
                       icestream_error *error);
/* The same, and reads the file. The caller frees the text. */
int ics_type_file_read(const ics_yaml_node *node, const char *key, ics_text *out,
                       icestream_error *error);

/* Reads the PMTs of a type whose shape, sizes and acceptance are known. A PMT is [zenith, azimuth],
 * or a mapping with some of zenith, azimuth (of the direction in which it looks, degrees), x, y, z
 * (the middle of its window, m), radius (m), efficiency, delay, spread (ns), angular_polynomial,
 * acceptance_ratio (pmt_acceptance.h), transit_times (transit_times.h). A PMT without a place is
 * where the line from the centre in its direction meets the surface; a PMT without a direction
 * looks away from the centre. A text is the name of a CSV file with columns of the
 * numbers. `radius` is that
 * of PMTs that do not give one (m; 0: not known). ICESTREAM_E_CONFIG: all faults are reported
 * together; ICESTREAM_E_MEMORY. */
int ics_pmts_read_yaml(const ics_yaml_node *node, double radius, ice_module_type *type,
                       icestream_error *error);

typedef struct ics_type_mesh {
    const ics_yaml_node *file;  /* the value of mesh: name of a file */
    const ics_yaml_node *parts; /* a mapping of names in the file to glass, absorber or the number
                                   of a PMT; NULL: all is glass */
    double unit;                /* m */
} ics_type_mesh;

/* Reads the mesh of a type, which must be inside the sphere of its radius, and sets its reach.
 * ICESTREAM_E_CONFIG: the file or the parts are wrong; ICESTREAM_E_MEMORY. */
int ics_type_mesh_read(const ics_type_mesh *values, ice_module_type *type, ics_warnings *warnings,
                       icestream_error *error);

/* Checks that every PMT that a part names is a PMT of the type. */
int ics_type_mesh_check(const ics_type_mesh *values, const ice_module_type *type,
                        icestream_error *error);

#endif
