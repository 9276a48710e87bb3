/* The file NAME.hits.npy.command next to a hit file says that sink.command has not succeeded for
 * the hit file. It is made before the hit file gets its name, and removed after the program has
 * succeeded, so that a run that was killed in between is followed by one that starts the program
 * again. Any thread; the functions wait for the disk. */
#ifndef ICS_PRODUCTION_UNITS_COMMAND_PENDING_H
#define ICS_PRODUCTION_UNITS_COMMAND_PENDING_H

#include "pipeline/icestream.h"

/* Makes the file for the hit file at `path`. ICESTREAM_E_OUTPUT with the cause. */
int ics_command_pending_set(const char *path, icestream_error *error);
/* Whether the file exists. False also if `path` is NULL. */
bool ics_command_pending_has(const char *path);
/* Removes the file if it exists. ICESTREAM_E_OUTPUT with the cause. */
int ics_command_pending_remove(const char *path, icestream_error *error);

#endif
