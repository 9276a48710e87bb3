/* The steps of a unit that the run makes itself, of particles or of a workload (input->generated).
 * All functions run on a reader's thread, for the job that checks or fills the unit. */
#ifndef ICS_UNITS_UNIT_GENERATED_H
#define ICS_UNITS_UNIT_GENERATED_H

#include "pipeline/units/unit.h"

/* Checks the particles and digests everything that the steps depend on. Fills summary (with
 * estimates of rows and photons) and work->forecast. ICESTREAM_E_INPUT: the particles are bad;
 * ICESTREAM_E_CONFIG: the step file that keeps the steps would be too large; ICESTREAM_E_MEMORY. */
int ics_unit_generated_check(ics_unit *unit, icestream_error *error);

/* Gives the next steps like ics_step_reader_read(); the first call begins to make them. At the end
 * (*got = 0) it fills the summary and commits the file that keeps the steps. Also the errors of
 * writing that file. */
int ics_unit_generated_read(ics_unit *unit, icestream_step *steps, size_t capacity, size_t *got,
                            icestream_error *error);

/* Ends the making of steps. */
void ics_unit_generated_close(ics_unit_work *work);

#endif
