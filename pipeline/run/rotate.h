/* sink.rotate: the hits of many units go to one hit file, a volume. A unit whose hits are in the
 * volume is no longer open. It is complete, and its claim is ended, when the volume is committed:
 * when it is full, or when nothing else is left to do. */
#ifndef ICS_RUN_ROTATE_H
#define ICS_RUN_ROTATE_H

#include "pipeline/run/state.h"

/* With --resume or sink.rotate: prepares the search for hit files that have the hits of several
 * step files. If sink.rotate is set: makes the volume, and removes the incomplete files of writers
 * that were killed. ICESTREAM_E_MEMORY, ICESTREAM_E_OUTPUT. */
int ics_run_rotate_open(ics_run_state *run, icestream_error *error);
/* Whether the volume gets no more hits before it is committed. */
bool ics_run_rotate_is_sealed(const ics_run_state *run);
/* Whether the volume has the hits of a unit. */
bool ics_run_rotate_has_units(const ics_run_state *run);
/* Frees everything. Call it after the workers have ended. */
void ics_run_rotate_destroy(ics_run_state *run);

extern const ics_run_part ics_run_rotate_part;

#endif
