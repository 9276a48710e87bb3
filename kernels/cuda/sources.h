/* The sources of the kernels as text, made at build time by cmake/Embed.cmake: all of stages/ and
 * kernels/cuda/device/, and what they include. */
#ifndef IS_CUDA_SOURCES_H
#define IS_CUDA_SOURCES_H

#include "kernels/embedded.h"

extern const is_embedded_source is_embedded_sources[];
extern const size_t is_embedded_source_count;

#endif
