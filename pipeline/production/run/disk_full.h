/* A full disk pauses a run: nothing more is read until the hits that are in memory found room. */
#ifndef ICS_PRODUCTION_RUN_DISK_FULL_H
#define ICS_PRODUCTION_RUN_DISK_FULL_H

#include "pipeline/production/run/state.h"

/* Pauses the run because of `error` of `name`, until the owner of a retry has found room. */
void ics_run_disk_full_pause(ics_run_state *run, const char *name, const icestream_error *error);
/* Hits of a unit had to stay in memory: pauses the run, and tries again from
 * time to time to move them to the disk. */
void ics_run_disk_full_of_unit(ics_run_state *run, ics_unit *unit, const icestream_error *error);
/* Something was written to the disk: the next pause begins with the shortest delay. */
void ics_run_disk_full_end(ics_run_state *run);
/* The unit has no hits in memory any more. */
void ics_run_disk_full_forget(ics_run_state *run, const ics_unit *unit);

/* How long to wait after this number of failures in a row, which is 1 or more: 1 s, 2 s, 4 s, ...,
 * 30 s. */
double ics_run_disk_full_delay(uint32_t failures);

extern const ics_run_part ics_run_disk_full_part;

#endif
