/* A message on its way into the spool: NAME.part while it comes in, an ordinary step file under its
 * final name once it is whole and on the disk.
 *
 * All functions may wait for the disk and belong on a worker's thread. While a process writes a
 * part it holds a lock on it (flock), so that what killed processes left can be told from what
 * others are writing. Errors: IS_E_OUTPUT, IS_E_MEMORY.
 */
#ifndef IS_INCOMING_FILE_H
#define IS_INCOMING_FILE_H

#include "pipeline/icestream.h"

typedef struct is_incoming_file is_incoming_file;

/* Makes FOLDER/NAME.part, readable for its owner only. */
int is_incoming_file_create(const char *folder, const char *name, is_incoming_file **out,
                            is_error *error);
int is_incoming_file_write(is_incoming_file *file, const void *bytes, size_t size, is_error *error);
/* Makes it the file `path`, in the same folder, and frees it; also after an error, when nothing is
 * left. `path` must not exist. */
int is_incoming_file_commit(is_incoming_file *file, const char *path, is_error *error);
/* Removes and frees it. Accepts NULL. */
void is_incoming_file_abandon(is_incoming_file *file);

/* Removes the parts in a folder that no process is writing. Names begin with `prefix`. */
int is_incoming_file_clean(const char *folder, const char *prefix, is_error *error);

#endif
