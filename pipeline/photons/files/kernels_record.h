/* The kernels of fast maths in the trailer of a hit file: the member `kernels`,
 * {"gpu": "NVIDIA H200", "capability": "9.0", "compiler": "nvrtc 13.0"}, or "mixed". */
#ifndef ICS_PHOTONS_FILES_KERNELS_RECORD_H
#define ICS_PHOTONS_FILES_KERNELS_RECORD_H

#include "base/icestream_error.h"
#include "kernels/identity.h"

#include <jansson.h>

/* Stores the kernels, unless they are not known. ICESTREAM_E_MEMORY. */
int ics_kernels_record_set(json_t *metadata, const ics_kernels *kernels, icestream_error *error);
/* Reads them; all zero: there are none, or they are not understood. */
ics_kernels ics_kernels_record_get(const json_t *metadata);

#endif
