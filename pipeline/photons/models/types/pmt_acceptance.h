/* What PMTs accept by angle and by wavelength: the members angular_polynomial and acceptance_ratio
 * of a type or of a PMT, and acceptance of a type, in YAML (docs/detectors.md, physics.md 8.17). */
#ifndef ICS_PHOTONS_MODELS_TYPES_PMT_ACCEPTANCE_H
#define ICS_PHOTONS_MODELS_TYPES_PMT_ACCEPTANCE_H

#include "physics/model.h"
#include "pipeline/photons/config/yaml/yaml.h"

typedef struct ics_pmt_acceptance_nodes {
    const ics_yaml_node *angular; /* a list of numbers; NULL: not given */
    const ics_yaml_node *ratio;   /* the name of a file like wv.rde; NULL: not given */
    const ics_yaml_node *own;     /* standard, or the name of a table of wavelength and acceptance;
                                     NULL: not given */
} ics_pmt_acceptance_nodes;

/* Reads all. ICESTREAM_E_CONFIG: all faults are reported together; ICESTREAM_E_MEMORY. */
int ics_pmt_acceptance_read(const ics_pmt_acceptance_nodes *nodes, ice_pmt_acceptance *out,
                            icestream_error *error);
/* Reads what a PMT gives, appends it to the acceptances of its type, and gives the PMT the number.
 * The rest is that of the type, whose acceptance must be read before. The same errors; the type
 * owns the acceptance. */
int ics_pmt_acceptance_add(const ics_pmt_acceptance_nodes *nodes, ice_module_type *type,
                           ice_pmt *pmt, icestream_error *error);
/* Copies. ICESTREAM_E_MEMORY; *out is empty then. The caller frees *out. */
int ics_pmt_acceptance_copy(const ice_pmt_acceptance *from, ice_pmt_acceptance *out,
                            icestream_error *error);
/* Frees the arrays and empties the acceptance. */
void ics_pmt_acceptance_free(ice_pmt_acceptance *acceptance);

#endif
