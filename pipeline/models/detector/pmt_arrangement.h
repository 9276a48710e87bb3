/* Whether the PMTs of two modules stand alike, up to a rotation. */
#ifndef ICS_MODELS_DETECTOR_PMT_ARRANGEMENT_H
#define ICS_MODELS_DETECTOR_PMT_ARRANGEMENT_H

#include "physics/model.h"

/* Finds the rotation from the PMTs of a type to `count` PMTs of a module, whose positions are
 * relative to its centre. The PMTs must have the same order. Returns false if there is no rotation
 * with which all directions and positions agree. If the PMTs of the type are parallel, only a
 * module that hangs upright is alike. */
bool ics_pmt_arrangement_turn(const ice_module_type *type, const ice_pmt *pmts, size_t count,
                              ice_orientation *out);

#endif
