/* A file that appears under its name only when it is complete (files.md 6.1).
 *
 * It grows as NAME.part, under a lock, so that no two processes write the same output; a .part that
 * a killed process left behind is overwritten. Errors: ICESTREAM_E_OUTPUT with the file's name and
 * the bytes written so far, and errno as the cause left it, also after ics_output_destroy;
 * ICESTREAM_E_MEMORY. After an error the file is to be begun anew: what failed to reach the medium
 * is lost there.
 */
#ifndef ICS_FILES_OUTPUT_H
#define ICS_FILES_OUTPUT_H

#include "pipeline/icestream.h"

typedef struct ics_output ics_output;

/* Creates NAME.part in an existing folder. Without `force`, an existing NAME is an error, here and
 * again, without a gap, when committing. */
int ics_output_create(const char *path, bool force, ics_output **out, icestream_error *error);
/* The same with a .part of its own, NAME.WRITER.part: where workers share outputs, one that was
 * stopped in the middle does not hinder the one who does its work again. `writer` NULL: as above.
 */
int ics_output_create_as(const char *path, const char *writer, bool force, ics_output **out,
                         icestream_error *error);
/* Closes; a file that was not committed is removed. Accepts NULL. */
void ics_output_destroy(ics_output *output);

/* Removes the NAME.part that a killed process left beside a complete NAME, which nobody will write
 * again. One that is being written stays, and to have none is fine. ICESTREAM_E_OUTPUT: it cannot
 * be opened. */
int ics_output_clean(const char *path, icestream_error *error);

/* Removes what killed processes left of files that match a pattern (fnmatch, "*.hits.npy.*part") in
 * a folder; files that a living process writes stay. ICESTREAM_E_OUTPUT: the folder cannot be read.
 */
int ics_output_clean_folder(const char *folder, const char *pattern, icestream_error *error);
/* The same for all writers (ics_output_create_as) of one file. Also ICESTREAM_E_MEMORY. */
int ics_output_clean_writers(const char *path, icestream_error *error);

/* Appends bytes; all of them are written, or it is an error. */
int ics_output_write(ics_output *output, const void *bytes, size_t size, icestream_error *error);
/* Overwrites bytes that are there already. */
int ics_output_rewrite(ics_output *output, uint64_t offset, const void *bytes, size_t size,
                       icestream_error *error);
/* Waits until everything so far is on the medium. */
int ics_output_sync(ics_output *output, icestream_error *error);
/* Puts the file on the medium, gives it its name and puts the folder on the medium. */
int ics_output_commit(ics_output *output, icestream_error *error);
/* Puts the names in the folder of `path` on the medium: the last step of a commit, for who finds
 * that somebody else may not have come to it. ICESTREAM_E_OUTPUT with the cause,
 * ICESTREAM_E_MEMORY. */
int ics_output_sync_folder(const char *path, icestream_error *error);

/* The name that the file will have. */
const char *ics_output_path(const ics_output *output);
/* NAME.part, for libraries that write by name. */
const char *ics_output_part(const ics_output *output);
/* Bytes appended so far. */
uint64_t ics_output_size(const ics_output *output);

#endif
