/* Marks of files that are done and stay in the shared folder; private to pipeline/production/spool.
 *
 * A mark is a small file with the same name in the folder of marks. It contains size, modification
 * time and inode of the file that is done, and is valid for this file only: a file that was
 * replaced or rewritten is new work.
 */
#ifndef ICS_PRODUCTION_SPOOL_MARKS_H
#define ICS_PRODUCTION_SPOOL_MARKS_H

#include "pipeline/production/spool/files.h"

typedef struct ics_identity {
    uint64_t bytes, inode;
    int64_t modified_ns;
} ics_identity;

ics_identity ics_marks_identity_of(const struct stat *about);
bool ics_marks_identity_same(ics_identity left, ics_identity right);

typedef struct ics_marks ics_marks;

/* `part`: a path on the same file system that no other process writes to. */
ics_marks *ics_marks_create(const char *folder, const char *part);
/* Accepts NULL. */
void ics_marks_destroy(ics_marks *marks);

/* Returns 1 if this file is marked, 0 if not, -1 with errno. A mark that cannot be understood does
 * not count. A mark that was found is remembered and not read again. */
int ics_marks_has(ics_marks *marks, const char *name, ics_identity identity);
/* Marks a file. The mark is on the disk when this returns. 0, or -1 with errno. */
int ics_marks_set(ics_marks *marks, const char *name, ics_identity identity);
/* Forgets the marks that were read: the folder of marks is another one now. */
void ics_marks_forget(ics_marks *marks);
/* Removes all marks. 0, or -1 with errno. */
int ics_marks_clear(ics_marks *marks);

#endif
