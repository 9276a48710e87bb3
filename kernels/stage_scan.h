/* Looks for variables of a stage header that keep a value from one call to the next. */
#ifndef ICS_KERNELS_STAGE_SCAN_H
#define ICS_KERNELS_STAGE_SCAN_H

#include <stddef.h>

/* Returns the line of the first variable that is static, or global, and not const; 0: there is none
 * that can be found without a compiler: declarations that a macro makes, and pointers to functions,
 * are not seen. Writes the name of the variable. */
int ics_stage_scan_state(const char *text, char *name, size_t size);

#endif
