/* What a check of the stages found (stages/check.h), as an error for people. */
#ifndef ICS_KERNELS_FAULT_H
#define ICS_KERNELS_FAULT_H

#include "kernels/stage.h"
#include "stages/check.h"

/* Sets an error that names the stage, the user's header if the stage has one, what the stage
 * returned, what it must return, and what it was given. `fault`: not ICE_FAULT_NONE. `custom`: the
 * paths of the user's headers, NULL: none. Returns ICESTREAM_E_CONFIG. */
int ics_fault_report(const ice_fault *fault, const char *const custom[ICS_STAGES],
                     icestream_error *error);

#endif
