/* Marks of files that are done and stay where they are; private to pipeline/spool.
 *
 * A mark is a small file of the same name in a folder of its own. It tells size, modification time
 * and inode of the file that was done, and counts for that file only: a file that is replaced or
 * rewritten is new work.
 */
#ifndef IS_MARKS_H
#define IS_MARKS_H

#include "pipeline/spool/spool_files.h"

typedef struct is_identity {
    uint64_t bytes, inode;
    int64_t modified_ns;
} is_identity;

is_identity is_identity_of(const struct stat *about);
bool is_identity_same(is_identity left, is_identity right);

typedef struct is_marks is_marks;

/* `part`: a path on the same file system that nobody else writes to. NULL: out of memory. */
is_marks *is_marks_create(const char *folder, const char *part);
/* Accepts NULL. */
void is_marks_destroy(is_marks *marks);

/* Whether this very file is marked: 1, 0, or -1 with errno. A mark that cannot be understood is
 * none. What was found once is remembered. */
int is_marks_has(is_marks *marks, const char *name, is_identity identity);
/* Marks a file; the mark is on the medium when this returns. 0 or -1 with errno. */
int is_marks_set(is_marks *marks, const char *name, is_identity identity);
/* Removes a mark, if there is one. */
int is_marks_remove(is_marks *marks, const char *name);
/* Removes all marks. */
int is_marks_clear(is_marks *marks);

#endif
