/* The walk of walk_gpu.h in fast maths. */
#define ICE_MATH_FAST
#define WALK_SYMBOL walk_gpu_fast
#include "tests/gpu/walk_loop.h"
