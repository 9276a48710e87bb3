/* DETX, the text format of KM3NeT's detectors, versions 1 to 5, and DATX, its binary form. */
#ifndef ICS_PHOTONS_MODELS_DETECTOR_DETX_H
#define ICS_PHOTONS_MODELS_DETECTOR_DETX_H

#include "pipeline/photons/models/detector/module_list.h"

/* Reads modules, and the arrangements of their PMTs as types with the names NAME, NAME-2, ... The
 * string of a module is its line (detection unit), its number is its floor. Floor 0 is the base of
 * a line and has no PMTs; modules without PMTs are left out. Modules with the floor -1 (not known)
 * are numbered from 1 in the order of the file. In files of versions 1 to 3 the centre of a module
 * is the point that is nearest to the axes of its PMTs. Modules whose PMTs stand alike up to a
 * rotation share a type, and the rotation is the orientation of the module. `types` NULL: only the
 * modules are read. `sphere` has what the types have besides their PMTs, which is copied: name,
 * radius, oversize, beta, acceptance and transit times; NULL if `types` is. `pmt_radius` is that of
 * windows (m; 0: not known). ICESTREAM_E_CONFIG, ICESTREAM_E_MEMORY. The caller frees *out and the
 * types. */
int ics_detx_read(const ics_text *text, const ice_module_type *sphere, double pmt_radius,
                  ics_types *types, ics_module_list *out, icestream_error *error);

/* Makes the DETX text of a DATX file of version 5, with all digits. Faults of the text have its
 * lines, which are those that the DETX file of the same detector has without comments.
 * ICESTREAM_E_CONFIG: the file is cut off or another one. ICESTREAM_E_MEMORY. The caller frees
 * *out, also after an error. */
int ics_datx_text(const ics_text *file, ics_text *out, icestream_error *error);

#endif
