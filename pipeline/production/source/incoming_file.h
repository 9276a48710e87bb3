/* The file of a message that is being received: NAME.part at first, and a step file with its final
 * name when it is complete and on the disk.
 *
 * All functions may wait for the disk, so call them on a worker thread. A process that writes a
 * part holds a lock on it (flock). A part without a lock was left by a killed process. Errors:
 * ICESTREAM_E_OUTPUT.
 */
#ifndef ICS_PRODUCTION_SOURCE_INCOMING_FILE_H
#define ICS_PRODUCTION_SOURCE_INCOMING_FILE_H

#include "pipeline/icestream.h"

typedef struct ics_incoming_file ics_incoming_file;

/* Creates FOLDER/NAME.part, which only its owner can read. */
int ics_incoming_file_create(const char *folder, const char *name, ics_incoming_file **out,
                             icestream_error *error);
int ics_incoming_file_write(ics_incoming_file *file, const void *bytes, size_t size,
                            icestream_error *error);
/* The path of the part. It belongs to the file. */
const char *ics_incoming_file_part(const ics_incoming_file *file);
/* Renames the part to `path`, in the same folder, and frees `file`. `path` must not exist. After an
 * error neither file is left. */
int ics_incoming_file_commit(ics_incoming_file *file, const char *path, icestream_error *error);
/* Removes the part and frees `file`. Accepts NULL. */
void ics_incoming_file_abandon(ics_incoming_file *file);

/* Removes the parts in a folder whose names begin with `prefix` and that no process is writing. */
int ics_incoming_file_clean(const char *folder, const char *prefix, icestream_error *error);

#endif
