/* What a program finds on this machine, for a report of a fault. */
#ifndef ICS_COMMANDS_VERSION_MACHINE_H
#define ICS_COMMANDS_VERSION_MACHINE_H

#include <stdio.h>

/* Prints the driver, the GPUs or why none can be used, NVRTC, installed kernels, the cache and the
 * cores, one "name: value" in a line. */
void ics_machine_print(FILE *out);

#endif
