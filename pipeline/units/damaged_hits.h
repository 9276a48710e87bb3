/* A hit file that is damaged. The step file is innocent: the hit file goes to the quarantine, with
 * its reason, and the hits are computed again. */
#ifndef ICS_UNITS_DAMAGED_HITS_H
#define ICS_UNITS_DAMAGED_HITS_H

#include "pipeline/units/unit.h"

/* Moves the hit file of the unit, which is not sound, to the quarantine as NAME.hits.npy with
 * NAME.hits.npy.reason, appends a line to the journal, and leaves a notice for the log. `why`: the
 * fault, with the path of the hit file. A file that is gone by now is no error. On a reader's or
 * the writer's thread. ICESTREAM_E_OUTPUT: the hit file cannot be moved, or is a folder or a
 * device; ICESTREAM_E_MEMORY. */
int ics_unit_quarantine_hits(ics_unit *unit, const char *why, icestream_error *error);

#endif
