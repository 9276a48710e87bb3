/* Folders and files on a disk. Any thread; every function waits for the file system. */
#ifndef ICS_BASE_DISK_H
#define ICS_BASE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Creates a folder with these permissions (less the umask) unless it exists already; the folder
 * above it must exist. Returns 0, or -1 with errno; ENOTDIR if something else has this name. */
int ics_disk_make_folder(const char *path, mode_t permissions);

/* Creates a folder and every missing folder above it, like mkdir -p. Returns 0, or -1 with errno.
 * ENAMETOOLONG: the path has PATH_MAX bytes or more. */
int ics_disk_make_folders(const char *path, mode_t permissions);

/* Whether the system makes the path as a link to an open stream of the process: /dev/stdout,
 * /dev/stderr, /dev/fd/N. */
bool ics_disk_is_own_stream(const char *path);

/* Opens a file to write into it, with the flags of open(2), and does not follow a symbolic link in
 * its last part: in a folder that several users may write to, anyone could make one there. The
 * links of ics_disk_is_own_stream() are followed. A new file gets the permissions 0666 less the
 * umask. Returns the descriptor, or -1 with errno; ELOOP: the path is a symbolic link. */
int ics_disk_open_output(const char *path, int flags);

/* Opens a file to read it, and does not wait if the path is a named pipe. Returns the descriptor,
 * or -1 with errno. `why` gets the cause in words: that of errno, or, with errno EINVAL, what was
 * found that is no regular file. */
int ics_disk_open_regular(const char *path, const char **why);

/* Locks the file `path`, which is made if it is missing, until ics_disk_unlock() or the end of the
 * process. Its mode is 0600: flock(2) needs only the right to read, so users who may read a file
 * could keep other processes from locking it. Does not wait. Returns a descriptor, or -1 with
 * errno; EWOULDBLOCK: another process holds the lock; ENOLCK, EOPNOTSUPP or ENOSYS: the file system
 * has no locks; ELOOP: the path is a symbolic link. */
int ics_disk_lock(const char *path);
/* Locks an open file (flock) and waits at most ICS_DISK_LOCK_WAIT s for it: a process that was
 * killed holds its locks until it has ended, and with a GPU this takes a moment. Returns 0, or -1
 * with errno; EWOULDBLOCK: another process still holds the lock. */
#define ICS_DISK_LOCK_WAIT 2
int ics_disk_lock_open_file(int descriptor);
/* Writes which process holds the lock of an open file: " (process 123)", or "" if the system does
 * not say so. Returns text. */
const char *ics_disk_lock_holder(int descriptor, char text[32]);
/* Removes the file of a lock that this process holds, and unlocks it. Accepts -1. Returns 0, or
 * errno if the file could not be removed: it is unlocked, and stays. */
int ics_disk_unlock(const char *path, int descriptor);

/* The permissions of a new file of this process: 0666 less the umask. */
mode_t ics_disk_file_mode(void);

/* Read or write `size` bytes from `offset` on, in as many calls as it takes. Return the number of
 * bytes that were read or written; if there are fewer, errno is the cause, or 0 at the end of a
 * file that is read. */
size_t ics_disk_read_at(int file, void *bytes, size_t size, off_t offset);
size_t ics_disk_write_at(int file, const void *bytes, size_t size, off_t offset);

/* Opens an empty file without a name in a folder, with the permissions 0600. *can_get_name: whether
 * linkat(2) can give it one; a file system without O_TMPFILE shows it for a moment as
 * .icestream-XXXXXX. Returns the descriptor, or -1 with errno. */
int ics_disk_open_temporary(const char *folder, bool *can_get_name);
/* The folder for such files: TMPDIR, or /tmp. */
const char *ics_disk_temporary_folder(void);

/* Waits until the names in a folder are on the disk: after a file was created, renamed or removed
 * in it. A file system that cannot do this for folders has nothing to wait for. Returns 0, or -1
 * with errno. */
int ics_disk_sync_folder(const char *path);

/* Bytes of a file. */
typedef struct ics_disk_part {
    const void *bytes;
    size_t size;
} ics_disk_part;

/* Writes the parts, one after another, to the file `path`, whole or not at all. They first go to a
 * new file `path`.PROCESS-NUMBER.part in the same folder; when all bytes are on the disk, the file
 * is renamed to `path` and replaces an older file. So a process that opens `path` at any moment,
 * also after the machine has stopped, finds either file whole. Any number of threads and processes
 * may write the same path; the last rename counts. The umask decides which users may read the file.
 * The folder is not synchronised: after a stop of the machine the older file may be there again.
 * Returns 0, or -1 with errno; then `path` is as before and the new file is removed. Only a killed
 * process leaves a .part file. */
int ics_disk_write_whole(const char *path, const ics_disk_part *parts, size_t count);

/* Whether both names lead to the same regular file, which exists. */
bool ics_disk_is_same_file(const char *left, const char *right);

#endif
