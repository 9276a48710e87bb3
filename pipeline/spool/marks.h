/* Marks of files that are done and stay where they are; private to pipeline/spool.
 *
 * A mark is a small file of the same name in a folder of its own. It tells size, modification time
 * and inode of the file that was done, and counts for that file only: a file that is replaced or
 * rewritten is new work.
 */
#ifndef ICS_SPOOL_MARKS_H
#define ICS_SPOOL_MARKS_H

#include "pipeline/spool/spool_files.h"

typedef struct ics_identity {
    uint64_t bytes, inode;
    int64_t modified_ns;
} ics_identity;

ics_identity ics_marks_identity_of(const struct stat *about);
bool ics_marks_identity_same(ics_identity left, ics_identity right);

typedef struct ics_marks ics_marks;

/* `part`: a path on the same file system that nobody else writes to. NULL: out of memory. */
ics_marks *ics_marks_create(const char *folder, const char *part);
/* Accepts NULL. */
void ics_marks_destroy(ics_marks *marks);

/* Whether this very file is marked: 1, 0, or -1 with errno. A mark that cannot be understood is
 * none. What was found once is remembered. */
int ics_marks_has(ics_marks *marks, const char *name, ics_identity identity);
/* Marks a file; the mark is on the medium when this returns. 0 or -1 with errno. */
int ics_marks_set(ics_marks *marks, const char *name, ics_identity identity);
/* Removes a mark, if there is one. */
int ics_marks_remove(ics_marks *marks, const char *name);
/* Removes all marks. */
int ics_marks_clear(ics_marks *marks);

#endif
