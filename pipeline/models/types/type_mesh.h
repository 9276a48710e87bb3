/* The mesh of a type: the members mesh, unit and parts of a type in YAML (docs/detectors.md). */
#ifndef ICS_MODELS_TYPES_TYPE_MESH_H
#define ICS_MODELS_TYPES_TYPE_MESH_H

#include "physics/model.h"
#include "pipeline/config/yaml/yaml.h"
#include "pipeline/models/warnings.h"

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
