/* The cache: a folder with results of compilers and choices of schedules, for later runs.
 *
 * A file appears in the folder by a rename, from a name that no other process uses, and never
 * changes. Therefore any number of processes may share the folder. If there are too many entries,
 * the least recently used ones are removed. A process that looks for an entry must
 * be able to make the entry again.
 */
#ifndef ICS_KERNELS_CACHE_CACHE_H
#define ICS_KERNELS_CACHE_CACHE_H

#include "base/icestream_error.h"

#include <stddef.h>

/* Writes the path of the cache: $XDG_CACHE_HOME/icestream, else ~/.cache/icestream. The folder is
 * made if it is missing. Returns 0, or -1 if there is no such folder (no home, not writable, too
 * long for `path`), or if another user can write to it: this process must not run the code of
 * others. */
int ics_cache_directory(char *path, size_t size);

/* As ics_cache_directory. If there is no cache, the path is that of a folder of this user in
 * $TMPDIR or /tmp, which the system may remove at any time. */
int ics_cache_directory_somewhere(char *path, size_t size);

/* One of the texts or structs that an entry of the cache is made from. */
typedef struct ics_cache_part {
    const void *bytes;
    size_t size;
} ics_cache_part;

/* A text as a part, without its final 0. */
ics_cache_part ics_cache_text(const char *text);

/* Writes the name of an entry: SHA-256 over all parts and their sizes, 64 hexadecimal digits.
 * Returns 0, or -1 if memory is short. */
int ics_cache_key(const ics_cache_part *parts, size_t count, char key[65]);

/* The largest number of files in the folder and their largest total size (MiB). A program has 30 to
 * 100 kB, a choice of `auto` is one line. */
enum { ICS_CACHE_FILES = 1024, ICS_CACHE_MEBIBYTES = 256 };

/* Sets the access time of an entry, because not every file system does so when a file is read. If
 * this fails, the entry is only removed earlier. */
void ics_cache_used(const char *path);

/* Removes entries, least recently used first, until the folder is within the limits above. Removes
 * also files that killed processes left more than a day ago. Files with other names stay. Errors
 * are ignored, because the folder is only too large then. */
void ics_cache_prune(const char *directory);

/* Removes a folder with everything in it, as far as possible. */
void ics_cache_remove_folder(const char *path);

/* Reads a text file, for example a user's header, and appends a zero byte. The caller frees *text.
 * Returns ICESTREAM_OK, ICESTREAM_E_CONFIG (the file cannot be read) or ICESTREAM_E_MEMORY. */
int ics_cache_read(const char *path, char **text, size_t *size, icestream_error *error);

#endif
