/* The report of `icestream status` for people; private to the command. */
#ifndef IS_STATUS_TEXT_H
#define IS_STATUS_TEXT_H

#include "pipeline/icestream.h"

struct json_t;

/* Writes the object that --json writes as text. IS_E_MEMORY, IS_E_OUTPUT. */
int is_status_print(const struct json_t *report, FILE *out, is_error *error);

#endif
