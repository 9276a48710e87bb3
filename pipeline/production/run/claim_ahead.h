/* How many step files a run claims ahead: as many as keep its device busy, because no other worker
 * can claim a file that waits here. */
#ifndef ICS_PRODUCTION_RUN_CLAIM_AHEAD_H
#define ICS_PRODUCTION_RUN_CLAIM_AHEAD_H

#include "pipeline/production/run/state.h"

/* Measures how long the run needs for a file. The intake calls it in each turn. `waiting`: number
 * of units that were never opened. */
void ics_run_claim_ahead_measure(ics_run_state *run, uint32_t waiting);
/* Returns how many more files the run may claim (source.claims), and no more than it can open.
 * `waiting`: as above. */
uint32_t ics_run_claim_ahead_count(const ics_run_state *run, uint32_t waiting);

#endif
