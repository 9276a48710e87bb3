/* The first two steps of a unit: readers check it, and then cut it into batches. */
#ifndef ICS_RUN_READ_H
#define ICS_RUN_READ_H

#include "pipeline/run/state.h"

extern const ics_run_step ics_run_fill_step;  /* cuts checked units into batches */
extern const ics_run_step ics_run_check_step; /* opens and checks units */

#endif
