/* The quarantine: the folder for bad step files. A file NAME is moved there, with NAME.reason, a
 * text for people. Nothing in a quarantine is overwritten: if a name exists, NAME.2 with
 * NAME.2.reason is used, and so on.
 *
 * The complete reason is on the disk before the file moves. If the process is killed between the
 * two steps, the next call finds the reason and uses it. Any thread. ICESTREAM_E_OUTPUT with the
 * cause.
 */
#ifndef ICS_PRODUCTION_SPOOL_QUARANTINE_H
#define ICS_PRODUCTION_SPOOL_QUARANTINE_H

#include "pipeline/production/spool/files.h"

typedef struct ics_quarantine {
    const char *folder; /* created if it is missing; the folder above it must exist */
    /* A folder on the file system of the files to be moved, created if it is missing. Files go
     * there if `folder` is on another file system, because a file cannot be renamed to another file
     * system. The reason is in `folder` in both cases, and names the path of the file. NULL: such a
     * move is an error. */
    const char *near;
} ics_quarantine;

/* Writes FOLDER/NAME.reason for a file that stays where it is. If the same reason exists already,
 * it is used. `where` (may be NULL) gets the path of the reason. */
int ics_quarantine_note(const ics_quarantine *quarantine, const char *name, const char *reason,
                        ics_path *where, icestream_error *error);

/* Moves a file into the quarantine as `name`. *moved false: the file does not exist, and nothing
 * was written. `where` (may be NULL) gets the new path. */
int ics_quarantine_move(const ics_quarantine *quarantine, const char *path, const char *name,
                        const char *reason, bool *moved, ics_path *where, icestream_error *error);

#endif
