/* Where what was compiled at run time is kept from one run to the next, and under which names.
 *
 * Files of the folder appear by rename, from names that no other process uses, and never change:
 * any number of processes may share it. Entries that nobody has used for long go when there are too
 * many: whoever looks for one must be able to make it anew.
 */
#ifndef ICS_KERNELS_CACHE_CACHE_H
#define ICS_KERNELS_CACHE_CACHE_H

#include "base/icestream_error.h"

#include <stddef.h>

/* The folder $XDG_CACHE_HOME/icestream, else ~/.cache/icestream, made if need be. Returns 0, or -1:
 * there is none (no home, not writable, too long for `path`), or it belongs to somebody else, whose
 * code this process must not run. */
int ics_cache_directory(char *path, size_t size);

/* The same, or where there is none, a folder of this user's own in $TMPDIR or /tmp: for what cannot
 * do without. It lasts as long as the system lets it. */
int ics_cache_directory_somewhere(char *path, size_t size);

/* One of the things that an entry of the cache is made from. */
typedef struct ics_cache_part {
    const void *bytes;
    size_t size;
} ics_cache_part;

/* A text as a part, without its final 0. */
ics_cache_part ics_cache_text(const char *text);

/* The name of an entry: SHA-256 over all parts and their sizes, 64 hexadecimal digits. Returns 0,
 * or -1: no memory. */
int ics_cache_key(const ics_cache_part *parts, size_t count, char key[65]);

/* What the folder holds at most: a program has 30 to 100 kB, a choice of `auto` a line. */
enum { ICS_CACHE_FILES = 1024, ICS_CACHE_MEBIBYTES = 256 };

/* Notes that an entry is in use, as its time of access, which file systems do not keep by
 * themselves everywhere. Where it cannot be noted the entry goes earlier. */
void ics_cache_used(const char *path);

/* Removes entries from the folder, least recently used first, until it is within the bounds above,
 * and what killed processes left more than a day ago. Files of other names stay. A folder that
 * cannot be read or written stays as it is. */
void ics_cache_prune(const char *directory);

/* Removes a folder with all that is in it, as far as possible. */
void ics_cache_remove_folder(const char *path);

/* Reads a text file, a user's header for example; the caller frees *text. Returns 0, or -1 with a
 * sentence in `why`. */
int ics_cache_read(const char *path, char **text, size_t *size, icestream_error *error);

#endif
