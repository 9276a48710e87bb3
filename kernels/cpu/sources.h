/* The sources of the CPU kernels as text, so that they can be compiled again with a user's stage
 * headers. */
#ifndef ICS_KERNELS_CPU_SOURCES_H
#define ICS_KERNELS_CPU_SOURCES_H

#include "kernels/embedded.h"

extern const ics_embedded_source ics_cpu_sources[];
extern const size_t ics_cpu_source_count;

#endif
