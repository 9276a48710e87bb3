/* ppc's files of module types: om.conf and om.map. */
#ifndef ICS_MODELS_TYPES_OM_CONF_H
#define ICS_MODELS_TYPES_OM_CONF_H

#include "pipeline/models/text/text.h"
#include "pipeline/models/types/type_list.h"

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
