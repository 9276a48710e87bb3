/* Folders on a disk. Any thread; every function waits for the file system. */
#ifndef ICS_BASE_DISK_H
#define ICS_BASE_DISK_H

#include <sys/types.h>

/* Creates a folder with these permissions (less the umask) unless it exists already; the folder
 * above it must exist. Returns 0, or -1 with errno; ENOTDIR if something else has this name. */
int ics_disk_make_folder(const char *path, mode_t permissions);

/* Creates a folder and every missing folder above it, like mkdir -p. Returns 0, or -1 with errno.
 * ENAMETOOLONG: the path has PATH_MAX bytes or more. */
int ics_disk_make_folders(const char *path, mode_t permissions);

/* Waits until the names in a folder are on the disk: after a file was created, renamed or removed
 * in it. A file system that cannot do this for folders has nothing to wait for. Returns 0, or -1
 * with errno. */
int ics_disk_sync_folder(const char *path);

#endif
