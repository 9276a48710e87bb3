/* How much memory this process may still take. */
#ifndef ICS_BASE_MEMORY_H
#define ICS_BASE_MEMORY_H

#include "base/icestream_error.h"

/* Checks a request for memory before it is made, so that a wrong number in a configuration is an
 * error, and not a process that the kernel kills. `what` names what needs `bytes` of memory, with
 * the verb ("the steps need"), and `reserved` bytes of address space in addition (stacks, for
 * example). The limits are the memory that the machine has available, that of the control group
 * (v2) of the process, and for the address space RLIMIT_AS (ulimit -v). A limit that cannot be read
 * is none. ICESTREAM_E_MEMORY: "the steps need 12 GB, but the machine has 3 GB". */
int ics_memory_check(const char *what, double bytes, double reserved, icestream_error *error);

#endif
