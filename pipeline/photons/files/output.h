/* A file that gets its final name only when it is complete (files.md 6.1).
 *
 * The file grows as NAME.part. A lock on NAME.part keeps two processes from writing the same
 * output. A .part that a killed process left behind is overwritten. Errors: ICESTREAM_E_OUTPUT with
 * the file's name and the bytes written so far, with errno still set after ics_output_destroy();
 * ICESTREAM_E_MEMORY. After an error the file must be written again from its beginning, because
 * some of its bytes may be lost.
 *
 * The path "-" is standard output: the file grows in a temporary folder without a name, and the
 * commit writes all of it to standard output, because some bytes of a file are known only at its
 * end. Such an output has no .part with a name.
 */
#ifndef ICS_PHOTONS_FILES_OUTPUT_H
#define ICS_PHOTONS_FILES_OUTPUT_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"

#include <sys/types.h>
#include <time.h>

typedef struct ics_output ics_output;

/* Which file has a name at a certain time. */
typedef struct ics_output_mark {
    bool there;
    dev_t device;
    ino_t number;
    struct timespec modified;
} ics_output_mark;

/* Remembers which file has the name `path`, for ics_output_expect(). */
ics_output_mark ics_output_mark_of(const char *path);
/* With `force`, the commit replaces only the file of the mark: if the name has another file by
 * then, which another process made, it is ICESTREAM_E_OUTPUT with the cause EEXIST. */
void ics_output_expect(ics_output *output, const ics_output_mark *mark);

/* Creates NAME.part in an existing folder. Without `force`, an existing NAME is an error, both here
 * and in ics_output_commit(), which never replaces a file that appeared in between. */
int ics_output_create(const char *path, bool force, ics_output **out, icestream_error *error);
/* The same, with NAME.WRITER.part as the growing file. If workers share outputs, a worker that was
 * stopped while it writes does not block the worker that does the work again. `writer` NULL: as
 * ics_output_create(). */
int ics_output_create_as(const char *path, const char *writer, bool force, ics_output **out,
                         icestream_error *error);
/* Refuses a name whose ending is that of a format other than the one that is written: `ending`,
 * such as ".npy". Other endings are good. A command that writes several formats accepts their
 * endings itself, and gives their list as `ending`, which the error shows. `what` is for the error.
 * ICESTREAM_E_USAGE. */
int ics_output_check_ending(const char *what, const char *path, const char *ending,
                            icestream_error *error);
/* Closes the file; removes it if it was not committed. Accepts NULL. */
void ics_output_destroy(ics_output *output);
ICS_CAN_DESTROY(ics_output, ics_output_destroy)

/* Removes the NAME.part that a killed process left next to a complete NAME. A NAME.part that a
 * process is writing stays, and a missing one is no error. ICESTREAM_E_OUTPUT: it cannot be opened.
 */
int ics_output_clean(const char *path, icestream_error *error);

/* Removes the files NAME.WRITER.part in a folder that killed processes of this user left
 * (ics_output_create_as), WRITER being eight hexadecimal digits, if NAME matches a pattern
 * (fnmatch, such as "*.hits.npy"). Files that a living process is writing stay, and so do all
 * others: another program may use the ending .part. ICESTREAM_E_OUTPUT: the folder cannot be read.
 */
int ics_output_clean_folder(const char *folder, const char *pattern, icestream_error *error);
/* The same for the .part files of all writers (ics_output_create_as) of one file. Also
 * ICESTREAM_E_MEMORY. */
int ics_output_clean_writers(const char *path, icestream_error *error);

/* Makes an open file that has no name (O_TMPFILE) the growing file of an output without bytes. The
 * caller keeps its descriptor. *adopted false: the system cannot name the file. */
int ics_output_adopt(ics_output *output, int file, bool *adopted, icestream_error *error);
/* Appends all bytes. */
int ics_output_write(ics_output *output, const void *bytes, size_t size, icestream_error *error);
/* Overwrites bytes that were written before. */
int ics_output_rewrite(ics_output *output, uint64_t offset, const void *bytes, size_t size,
                       icestream_error *error);
/* Waits until all bytes written so far are on the disk. */
int ics_output_sync(ics_output *output, icestream_error *error);
/* Waits until the file is on the disk, gives it its final name, and waits until the folder is on
 * the disk. */
int ics_output_commit(ics_output *output, icestream_error *error);
/* Waits until the folder of `path` is on the disk: the last step of a commit. Call it for a
 * finished file whose writer may have been killed before this step. ICESTREAM_E_OUTPUT with the
 * cause, ICESTREAM_E_MEMORY. */
int ics_output_sync_folder(const char *path, icestream_error *error);

/* The final name of the file. */
const char *ics_output_path(const ics_output *output);
/* Bytes appended so far. */
uint64_t ics_output_size(const ics_output *output);

#endif
