/* A message on its way into the spool: NAME.part while it comes in, an ordinary step file under its
 * final name once it is whole and on the disk.
 *
 * All functions may wait for the disk and belong on a worker's thread. While a process writes a
 * part it holds a lock on it (flock), so that what killed processes left can be told from what
 * others are writing. Errors: ICESTREAM_E_OUTPUT, ICESTREAM_E_MEMORY.
 */
#ifndef ICS_SOURCE_INCOMING_FILE_H
#define ICS_SOURCE_INCOMING_FILE_H

#include "pipeline/icestream.h"

typedef struct ics_incoming_file ics_incoming_file;

/* Makes FOLDER/NAME.part, readable for its owner only. */
int ics_incoming_file_create(const char *folder, const char *name, ics_incoming_file **out,
                             icestream_error *error);
int ics_incoming_file_write(ics_incoming_file *file, const void *bytes, size_t size,
                            icestream_error *error);
/* Makes it the file `path`, in the same folder, and frees it; also after an error, when nothing is
 * left. `path` must not exist. */
int ics_incoming_file_commit(ics_incoming_file *file, const char *path, icestream_error *error);
/* Removes and frees it. Accepts NULL. */
void ics_incoming_file_abandon(ics_incoming_file *file);

/* Removes the parts in a folder that no process is writing. Names begin with `prefix`. */
int ics_incoming_file_clean(const char *folder, const char *prefix, icestream_error *error);

#endif
