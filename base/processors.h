/* How many processors this process may use. */
#ifndef ICS_BASE_PROCESSORS_H
#define ICS_BASE_PROCESSORS_H

#include <stdint.h>

/* Returns the number of processors (hardware threads) that the system lets this process use, at
 * least 1. Any thread. */
uint32_t ics_processors_count(void);

#endif
