/* The sources of the kernels as text, made at build time by cmake/Embed.cmake: all of stages/ and
 * kernels/cuda/device/, and what they include. */
#ifndef ICS_KERNELS_CUDA_SOURCES_H
#define ICS_KERNELS_CUDA_SOURCES_H

#include "kernels/embedded.h"

extern const ics_embedded_source ics_embedded_sources[];
extern const size_t ics_embedded_source_count;

#endif
