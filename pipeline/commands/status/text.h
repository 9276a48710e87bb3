/* The report of `icestream status` as text. */
#ifndef ICS_COMMANDS_STATUS_TEXT_H
#define ICS_COMMANDS_STATUS_TEXT_H

#include "pipeline/icestream.h"

struct json_t;

/* Writes the report, which is the object of --json, as text. ICESTREAM_E_MEMORY,
 * ICESTREAM_E_OUTPUT. */
int ics_status_print(const struct json_t *report, FILE *out, icestream_error *error);

#endif
