/* Paths, moves and small files in a spool; private to pipeline/production/spool.
 *
 * Every function is one step: if the process is killed, the step is either done or not done. Most
 * functions return 0, or -1 with errno, like system calls, because only the caller knows what an
 * error means.
 */
#ifndef ICS_PRODUCTION_SPOOL_FILES_H
#define ICS_PRODUCTION_SPOOL_FILES_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"

#include <limits.h>
#include <sys/stat.h>

typedef struct ics_path {
    char text[PATH_MAX];
} ics_path;

/* Returns FOLDER/NAME. A path that does not fit becomes "", which no file has (ENOENT). */
ics_path ics_spool_path_join(const char *folder, const char *name);
ics_path ics_spool_path_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether something has this name, even a link that points nowhere. Also true if the file system
 * cannot decide it, so that no file is given up because of an error that passes. */
bool ics_spool_path_exists(const char *path);
/* Whether errno means that a folder or file is no longer there. */
bool ics_spool_is_gone(int cause);
/* Whether two paths are names of the same file. */
bool ics_spool_path_same(const char *a, const char *b);

/* Renames a file; EEXIST if something has the new name. A file system without such a rename (NFS)
 * gets a link and an unlink instead. If the process is killed between the two, the file has both
 * names, and the next call with the same names finishes the move. */
int ics_spool_move(const char *from, const char *to);
/* Moves a file into a folder as `name` or, if that exists, as `name.2`, `name.3` and so on. `where`
 * gets the path. */
int ics_spool_move_numbered(const char *from, const char *folder, const char *name,
                            ics_path *where);

/* Writes a small file FOLDER/NAME, which may replace another one. The text is written to `part`, a
 * path that no other process uses, and is on the disk before `part` is renamed. Syncs the folder.
 */
int ics_spool_file_replace(const char *folder, const char *name, const char *part,
                           const char *text);
/* Reads at most size - 1 bytes of a file and appends a 0. `about` (may be NULL) gets the state of
 * the file that was opened. That is newer than the result of stat(), which may come from a cache of
 * this machine, because opening a file asks the file server. */
int ics_spool_file_read(const char *path, char *text, size_t size, struct stat *about);

/* The modification time (ns since 1970). */
int64_t ics_spool_modified_ns(const struct stat *about);

typedef struct ics_names {
    char **items;
    size_t count, capacity;
} ics_names;

/* Calls a function for every entry of a folder except "." and "..", in any order. A result other
 * than 0 (with errno) ends the visit. Returns 0 or -1. */
int ics_spool_folder_visit(const char *path, int (*visit)(void *user, const char *name),
                           void *user);
/* Lists the entries of a folder except "." and "..", sorted by name. Names that appear or disappear
 * during the call may be in the list or not. The caller frees the list, also after an error
 * (ICS_FREES_NAMES). */
int ics_spool_folder_list(const char *path, ics_names *out);
/* Appends a copy of the name. */
void ics_spool_names_add(ics_names *names, const char *name);
void ics_spool_names_sort(ics_names *names);
/* Whether the sorted list has the name. */
bool ics_spool_names_have(const ics_names *names, const char *name);
/* Keeps errno. */
void ics_spool_names_free(ics_names *names);
/* Stands before a list that a function frees at every exit. */
#define ICS_FREES_NAMES ICS_CLEANUP(ics_spool_names_free)

/* Sets the error "PATH: WHAT: CAUSE; REMEDY" from errno, which becomes the error's cause and is
 * kept. `remedy` NULL: the usual one for this cause. Returns ICESTREAM_E_MEMORY for ENOMEM,
 * otherwise ICESTREAM_E_OUTPUT. */
int ics_spool_error(icestream_error *error, const char *path, const char *what, const char *remedy);

#endif
