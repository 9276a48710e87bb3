/* The walk of walk_gpu.h in portable maths. */
#define WALK_SYMBOL walk_gpu_portable
#include "tests/gpu/walk_loop.h"
