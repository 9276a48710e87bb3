/* The hits of units whose batches are back: written to a file or a message, or
 * discarded if the input is bad. */
#ifndef ICS_RUN_WRITE_H
#define ICS_RUN_WRITE_H

#include "pipeline/run/state.h"

extern const ics_run_part ics_run_write_part;

#endif
