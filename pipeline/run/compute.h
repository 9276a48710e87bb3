/* Batches go to the device, and their hits go to the writer of their unit. */
#ifndef ICS_RUN_COMPUTE_H
#define ICS_RUN_COMPUTE_H

#include "pipeline/run/state.h"

extern const ics_run_part ics_run_compute_part;

#endif
