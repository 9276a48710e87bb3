/* Setting bad input aside: the file itself where it may be moved, and NAME.reason, a text for
 * people. Nothing in a quarantine is ever overwritten: where a name is taken, the next is NAME.2
 * with NAME.2.reason, and so on.
 *
 * The reason appears first, whole and on the medium, then the file moves. Who is killed between the
 * two does it again, finds its reason and uses it. Any thread; ICESTREAM_E_OUTPUT with the cause,
 * ICESTREAM_E_MEMORY.
 */
#ifndef ICS_SPOOL_QUARANTINE_H
#define ICS_SPOOL_QUARANTINE_H

#include "pipeline/spool/spool_files.h"

typedef struct ics_quarantine {
    const char *folder; /* created where it is missing; the one above it must be there */
    /* On the file system of the files to be moved, created where it is missing; files go there when
     * `folder` is on another one, where they would have to be copied. The reason is in `folder`
     * all the same and tells where the file is. NULL: it is an error then. */
    const char *near;
} ics_quarantine;

/* Writes FOLDER/NAME.reason for a file that stays where it is; the same reason again writes nothing
 * new. `where` (may be NULL) gets the path of the reason. */
int ics_quarantine_note(const ics_quarantine *quarantine, const char *name, const char *reason,
                        ics_path *where, icestream_error *error);

/* Moves a file into the quarantine as `name`. *moved false: there is no such file (any more), and
 * nothing was written. `where` (may be NULL) gets the new path. */
int ics_quarantine_move(const ics_quarantine *quarantine, const char *path, const char *name,
                        const char *reason, bool *moved, ics_path *where, icestream_error *error);

#endif
