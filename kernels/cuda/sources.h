/* The sources of the GPU kernels as text: the headers in stages/ and kernels/cuda/device/, and
 * kernels/cuda/state.h. cmake/Embed.cmake makes the list at build time. */
#ifndef ICS_KERNELS_CUDA_SOURCES_H
#define ICS_KERNELS_CUDA_SOURCES_H

#include "kernels/embedded.h"

extern const ics_embedded_source ics_embedded_sources[];
extern const size_t ics_embedded_source_count;

#endif
