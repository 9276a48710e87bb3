/* Setting bad input aside: the file itself where it may be moved, and NAME.reason, a text for
 * people. Nothing in a quarantine is ever overwritten: where a name is taken, the next is NAME.2
 * with NAME.2.reason, and so on.
 *
 * The reason appears first, whole and on the medium, then the file moves. Who is killed between the
 * two does it again, finds its reason and uses it. Any thread; IS_E_OUTPUT with the cause,
 * IS_E_MEMORY.
 */
#ifndef IS_QUARANTINE_H
#define IS_QUARANTINE_H

#include "pipeline/spool/spool_files.h"

typedef struct is_quarantine {
    const char *folder; /* created where it is missing; the one above it must be there */
    /* On the file system of the files to be moved, created where it is missing; files go there when
     * `folder` is on another one, where they would have to be copied. The reason is in `folder`
     * all the same and tells where the file is. NULL: it is an error then. */
    const char *near;
} is_quarantine;

/* Writes FOLDER/NAME.reason for a file that stays where it is; the same reason again writes nothing
 * new. `where` (may be NULL) gets the path of the reason. */
int is_quarantine_note(const is_quarantine *quarantine, const char *name, const char *reason,
                       is_path *where, is_error *error);

/* Moves a file into the quarantine as `name`. *moved false: there is no such file (any more), and
 * nothing was written. `where` (may be NULL) gets the new path. */
int is_quarantine_move(const is_quarantine *quarantine, const char *path, const char *name,
                       const char *reason, bool *moved, is_path *where, is_error *error);

#endif
