/* A hit file that is damaged. The step file is innocent: the hit file goes to the quarantine, with
 * its reason, and the hits are computed again. */
#ifndef ICS_PRODUCTION_UNITS_DAMAGED_HITS_H
#define ICS_PRODUCTION_UNITS_DAMAGED_HITS_H

#include "pipeline/photons/provenance/hit_check.h"
#include "pipeline/production/spool/quarantine.h"
#include "pipeline/production/units/unit.h"

/* Judges the hit file of the unit (ics_hit_check_judge), and keeps in unit->work->judged which file
 * that was. Sets unit->work->blocked if the system does not let this process read the file. On a
 * reader's or the writer's thread. Errors as ics_hit_check_judge(). */
int ics_unit_judge_hits(ics_unit *unit, const json_t *expected, ics_hit_verdict *out,
                        icestream_error *why, icestream_error *error);

/* Moves a file of the unit to the quarantine of the run; `why` goes next to it. *moved false: it
 * does not exist; otherwise *where is its new path. The errors of ics_quarantine_move(). */
int ics_unit_quarantine(const ics_unit *unit, const char *path, const char *why, bool *moved,
                        ics_path *where, icestream_error *error);

/* Moves the hit file of the unit, which was judged and is not sound, to the quarantine as
 * NAME.hits.npy with NAME.hits.npy.reason, appends a line to the journal, and leaves a notice for
 * the log. `why`: the fault, with the path of the hit file. A file that is gone by now is no error.
 * A file stays if the claim of the unit is lost (unit->work->lost). On a reader's or the writer's
 * thread. ICESTREAM_E_OUTPUT: the hit file cannot be moved, or is a folder or a device, and
 * unit->work->blocked is set; or it is another file now than the one that was judged, with the
 * cause ESTALE, so that the unit is tried again. ICESTREAM_E_MEMORY. */
int ics_unit_quarantine_hits(ics_unit *unit, const char *why, icestream_error *error);
/* Moves every damaged merged file that the search for hits of the unit has found to the quarantine
 * in the same way. ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY. */
int ics_unit_quarantine_merged(ics_unit *unit, icestream_error *error);

#endif
