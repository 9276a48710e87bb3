/* The last part for a unit: its claim is ended or given back, on the I/O thread. A unit without a
 * claim only gets its line in the journal there, if it needs one. */
#ifndef ICS_RUN_ENDING_H
#define ICS_RUN_ENDING_H

#include "pipeline/run/state.h"

extern const ics_run_part ics_run_ending_part;

#endif
