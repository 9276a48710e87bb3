/* Whether a GPU and its driver run a loop as a graph: a WHILE node with an IF node in its body. */
#ifndef ICS_GRAPHS_CUDA_LOOP_CHECK_H
#define ICS_GRAPHS_CUDA_LOOP_CHECK_H

#include "base/icestream_error.h"

#include <stdbool.h>
#include <stddef.h>

/* Lets the current device, of number `ordinal`, run a small loop, once in a process. Sets *works to
 * whether all happened as often as it should. If not, the first call writes a warning that says
 * what happened instead into `warning` [size]; other calls do not change it. A loop that does not
 * end within 5 s is ICESTREAM_E_FAILED: the device cannot be used any more. */
int ics_loop_check(int ordinal, bool *works, char *warning, size_t size, icestream_error *error);

#endif
