/* Effective areas of the PMTs of a type over the direction of light, from a CSV file or an
 * array of NumPy (docs/detection.md, physics.md 8.16). */
#ifndef ICS_PHOTONS_MODELS_TYPES_PMT_AREAS_H
#define ICS_PHOTONS_MODELS_TYPES_PMT_AREAS_H

#include "physics/model.h"
#include "pipeline/photons/config/yaml/yaml.h"
#include "pipeline/photons/models/text/text.h"

/* The sum of the areas of all PMTs is at most this times the area that the module turns to the
 * light, as the largest value of an angular acceptance is at most 10. */
#define ICS_PMT_AREAS_MOST 10.0

/* Reads the table of a type whose body and PMTs are known: rows of pmt (from 0), the direction from
 * which the light comes in the module's own frame (zenith and azimuth in degrees, or x, y and z of
 * a unit vector) and area (m2). Directions whose zeniths agree within 1e-4 rad are a ring. Every
 * PMT has every direction once. Within 1e-4 rad of +z and -z all azimuths are one direction, whose
 * area is the mean of the rows. Rings are at most 30 degrees of zenith apart, also from +z and -z,
 * and neighbours on a ring at most 90 degrees of azimuth, unless every ring has one direction. The
 * PMTs get their largest areas.
 *
 * ICESTREAM_E_CONFIG: all faults are reported together; ICESTREAM_E_MEMORY. type->table is empty
 * then. */
int ics_pmt_areas_read_csv(const ics_text *text, ice_module_type *type, icestream_error *error);
/* The same with an array of NumPy (.npy), areas[PMT][pixel] in m2, whose pixels are those of
 * HEALPix in the ring scheme. */
int ics_pmt_areas_read_npy(const ics_text *bytes, ice_module_type *type, icestream_error *error);
/* The same with the key `table` of a type, whose value is the name of the file, which is an array
 * if its name ends with .npy. ICESTREAM_E_CONFIG also if the type has no PMTs. The mesh of a type
 * is read before. */
int ics_pmt_areas_read_yaml(const ics_yaml_node *node, ice_module_type *type,
                            icestream_error *error);

/* Frees the arrays and empties the table. */
void ics_pmt_areas_free(ice_pmt_areas *areas);

#endif
