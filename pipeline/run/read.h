/* The first two parts for a unit: readers check it, and then cut it into batches. */
#ifndef ICS_RUN_READ_H
#define ICS_RUN_READ_H

#include "pipeline/run/state.h"

extern const ics_run_part ics_run_fill_part;  /* cuts checked units into batches */
extern const ics_run_part ics_run_check_part; /* opens and checks units */

#endif
