/* A file that appears under its name only when it is complete (formats.md, Writing and committing).
 *
 * It grows as NAME.part, under a lock, so that no two processes write the same output; a .part that
 * a killed process left behind is overwritten. Errors: IS_E_OUTPUT with the file's name and the
 * bytes written so far, and errno as the cause left it, also after is_output_destroy; IS_E_MEMORY.
 * After an error the file is to be begun anew: what failed to reach the medium is lost there.
 */
#ifndef IS_OUTPUT_H
#define IS_OUTPUT_H

#include "pipeline/icestream.h"

typedef struct is_output is_output;

/* Creates NAME.part in an existing folder. Without `force`, an existing NAME is an error, here and
 * again, without a gap, when committing. */
int is_output_create(const char *path, bool force, is_output **out, is_error *error);
/* The same with a .part of its own, NAME.WRITER.part: where workers share outputs, one that was
 * stopped in the middle does not hinder the one who does its work again. `writer` NULL: as above.
 */
int is_output_create_as(const char *path, const char *writer, bool force, is_output **out,
                        is_error *error);
/* Closes; a file that was not committed is removed. Accepts NULL. */
void is_output_destroy(is_output *output);

/* Removes the NAME.part that a killed process left beside a complete NAME, which nobody will write
 * again. One that is being written stays, and to have none is fine. IS_E_OUTPUT: it cannot be
 * opened. */
int is_output_clean(const char *path, is_error *error);

/* Removes what killed processes left of files that match a pattern (fnmatch, "*.hits.npy.*part") in
 * a folder; files that a living process writes stay. IS_E_OUTPUT: the folder cannot be read. */
int is_output_clean_folder(const char *folder, const char *pattern, is_error *error);
/* The same for all writers (is_output_create_as) of one file. Also IS_E_MEMORY. */
int is_output_clean_writers(const char *path, is_error *error);

/* Appends bytes; all of them are written, or it is an error. */
int is_output_write(is_output *output, const void *bytes, size_t size, is_error *error);
/* Overwrites bytes that are there already. */
int is_output_rewrite(is_output *output, uint64_t offset, const void *bytes, size_t size,
                      is_error *error);
/* Waits until everything so far is on the medium. */
int is_output_sync(is_output *output, is_error *error);
/* Puts the file on the medium, gives it its name and puts the folder on the medium. */
int is_output_commit(is_output *output, is_error *error);
/* Puts the names in the folder of `path` on the medium: the last step of a commit, for who finds
 * that somebody else may not have come to it. IS_E_OUTPUT with the cause, IS_E_MEMORY. */
int is_output_sync_folder(const char *path, is_error *error);

/* The name that the file will have. */
const char *is_output_path(const is_output *output);
/* NAME.part, for libraries that write by name. */
const char *is_output_part(const is_output *output);
/* Bytes appended so far. */
uint64_t is_output_size(const is_output *output);

#endif
