/* Moving files about in a spool; private to pipeline/spool.
 *
 * Every function here is one step that is done or not done whatever kills the process, and most
 * return 0 or -1 with errno as the system calls below them do, because what a fault means is known
 * to the caller only.
 */
#ifndef ICS_SPOOL_SPOOL_FILES_H
#define ICS_SPOOL_SPOOL_FILES_H

#include "pipeline/icestream.h"

#include <limits.h>
#include <sys/stat.h>

typedef struct ics_path {
    char text[PATH_MAX];
} ics_path;

/* FOLDER/NAME. A path that does not fit becomes "", which names no file: ENOENT. */
ics_path ics_spool_path_join(const char *folder, const char *name);
ics_path ics_spool_path_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether something has this name, be it a link to nowhere. Where the file system does not tell, it
 * is taken to be there: nobody gives up a file for a fault that passes. */
bool ics_spool_path_exists(const char *path);
/* Whether two names are of one file. */
bool ics_spool_path_same(const char *a, const char *b);

/* Gives a file another name that nothing has yet: EEXIST where something has. Where the file system
 * knows no such rename (NFS) it is a link and an unlink; what is killed between the two leaves one
 * file with both names, and the next try ends it. */
int ics_spool_move(const char *from, const char *to);
/* Moves into a folder as `name`, or where that is taken as `name.2`, `name.3`, ... `where` gets the
 * path. */
int ics_spool_move_numbered(const char *from, const char *folder, const char *name,
                            ics_path *where);

/* Waits until the contents of a file are on the disk. */
int ics_spool_file_sync(const char *path);
/* Writes a small file FOLDER/NAME in place of one that may be there: as `part`, which is nobody
 * else's, on the medium, then renamed, and the name on the medium. */
int ics_spool_file_replace(const char *folder, const char *name, const char *part,
                           const char *text);
/* Reads a small file, at most size - 1 bytes, and ends it with a 0. `about` (may be NULL) gets the
 * state of the very file that was read: opening asks a file server, stat may not. */
int ics_spool_file_read(const char *path, char *text, size_t size, struct stat *about);

/* A modification time, ns since 1970. */
int64_t ics_spool_modified_ns(const struct stat *about);

typedef struct ics_names {
    char **items;
    size_t count, capacity;
} ics_names;

/* Calls a function with every entry of a folder but "." and "..", in no order; what it returns
 * other than 0 (with errno) ends the visit. 0 or -1. */
int ics_spool_folder_visit(const char *path, int (*visit)(void *user, const char *name),
                           void *user);
/* The entries of a folder but "." and "..", by name; names that appear or go meanwhile may be in it
 * or not. Free in any case. */
int ics_spool_folder_list(const char *path, ics_names *out);
/* Appends a copy; -1: ENOMEM. */
int ics_spool_names_add(ics_names *names, const char *name);
void ics_spool_names_sort(ics_names *names);
/* In sorted names. */
bool ics_spool_names_have(const ics_names *names, const char *name);
void ics_spool_names_free(ics_names *names);

/* "PATH: WHAT: CAUSE; REMEDY" from errno, which is kept and is the error's cause; `remedy` NULL:
 * the one that belongs to the cause. ICESTREAM_E_MEMORY for ENOMEM, else ICESTREAM_E_OUTPUT. */
int ics_spool_error(icestream_error *error, const char *path, const char *what, const char *remedy);

#endif
