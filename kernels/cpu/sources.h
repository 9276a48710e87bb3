/* The sources of the CPU kernels as text, for compiling them again with a user's stage headers. */
#ifndef IS_CPU_SOURCES_H
#define IS_CPU_SOURCES_H

#include "kernels/embedded.h"

extern const is_embedded_source is_cpu_sources[];
extern const size_t is_cpu_source_count;

#endif
