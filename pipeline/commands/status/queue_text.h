/* The report of `icestream status` for a queue. */
#ifndef ICS_COMMANDS_STATUS_QUEUE_TEXT_H
#define ICS_COMMANDS_STATUS_QUEUE_TEXT_H

#include "pipeline/icestream.h"

/* Asks the broker of the queue at `address` and writes the report as text or JSON. `password`,
 * `ca`: as in ics_queue_login. Errors as ics_queue_status; ICESTREAM_E_OUTPUT. */
int ics_status_of_queue(const char *address, const char *password, const char *ca, bool json,
                        FILE *out, icestream_error *error);

#endif
