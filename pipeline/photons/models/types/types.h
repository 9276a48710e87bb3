/* The types of modules of a run: detector.types, or ppc's om.conf and om.map (docs/detectors.md).
 */
#ifndef ICS_PHOTONS_MODELS_TYPES_TYPES_H
#define ICS_PHOTONS_MODELS_TYPES_TYPES_H

#include "pipeline/photons/config/config.h"
#include "pipeline/photons/models/text/text.h"
#include "pipeline/photons/models/types/list.h"
#include "pipeline/photons/models/warnings.h"

/* Reads the types that the configuration names. ICESTREAM_E_CONFIG: all faults are reported
 * together; ICESTREAM_E_MEMORY. *out is empty after an error. The warnings are about meshes. */
int ics_types_read(const icestream_config *config, ics_types *out, ics_warnings *warnings,
                   icestream_error *error);
/* Reads the file that detector.om_conf or detector.om_map means: a path, or "auto" for the file
 * `name` of ice.directory, if it exists and detector.types is not given. out->name is NULL if there
 * is no file. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The caller frees *out. */
int ics_types_om_file(const icestream_config *config, const char *value, const char *name,
                      ics_text *out, icestream_error *error);

/* ---- ppc's files ------------------------------------------------------------------------------
 */

/* Reads ppc's om.conf: rows of name, number, area, beta, Rr, Rz, number of PMTs, zenith and azimuth
 * of the first one, azimuth of the cable; then a row of zenith and azimuth for each further PMT. A
 * name becomes the name of the type, area the efficiency of its PMTs. `oversize` is that of all
 * types. ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY; *out is empty then. */
int ics_types_read_om_conf(const ics_text *text, double oversize, ics_types *out,
                           icestream_error *error);

/* Reads ppc's om.map (string, module, number of the type) into modules that are sorted by string
 * and module. Modules that are not listed have type -1 of om.conf; without this type they are an
 * error. Rows of modules that the detector does not have are ignored. ICESTREAM_E_CONFIG,
 * ICESTREAM_E_MEMORY. */
int ics_types_read_om_map(const ics_text *text, const ics_types *types, ice_detector *detector,
                          icestream_error *error);

#endif
