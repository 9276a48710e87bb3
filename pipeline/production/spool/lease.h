/* Whether a worker is alive: its lease, and the lock on its name; private to
 * pipeline/production/spool.
 *
 * A worker owns its folder as long as its lease, the file .lease in the folder, has not expired.
 * The modification time of the file is the last heartbeat. Its text (JSON) says how long a
 * heartbeat counts, and names the process. All times come from the clock of the file
 * system, so the clocks of the machines may differ. A folder without .lease has no owner.
 */
#ifndef ICS_PRODUCTION_SPOOL_LEASE_H
#define ICS_PRODUCTION_SPOOL_LEASE_H

#include "pipeline/production/spool/files.h"
#include "pipeline/production/spool/process.h"

/* Another file that the owner writes in its folder: a mark, before it is renamed. */
#define ICS_MARK_PART ".mark.part"

typedef struct ics_lease_state {
    bool there;          /* the folder has a lease */
    int64_t beat_ns;     /* last heartbeat, ns since 1970 */
    double seconds;      /* s, how long a heartbeat counts */
    ics_process process; /* the owner */
    char host[256];
} ics_lease_state;

/* The name of this machine. */
void ics_lease_host(char host[256]);

/* Touches an existing file. *now_ns gets the time by the file system's clock. 0, or -1 with errno.
 */
int ics_lease_file_touch(const char *path, int64_t *now_ns);

/* Writes a lease into a folder, which is created if it is missing. 0, or -1 with errno. */
int ics_lease_write(const char *folder, double seconds);
/* Renews a lease. 0, or -1 with errno. ENOENT: another worker found it expired and removed it. */
int ics_lease_beat(const char *folder, int64_t *now_ns);
/* Reads a lease. If its text cannot be understood, a heartbeat counts `otherwise` (s). 0, or -1
 * with errno; a missing lease is no error. */
int ics_lease_read(const char *folder, double otherwise, ics_lease_state *out);
/* Whether the lease is too old, missing, or dated too far in the future (ics_lease_is_ahead). */
bool ics_lease_expired(const ics_lease_state *state, int64_t now_ns);
/* Whether the last heartbeat is later than the present time by more than a lease: the clock of the
 * file system was set back. A living worker would have renewed the lease within a quarter of it. */
bool ics_lease_is_ahead(const ics_lease_state *state, int64_t now_ns);
/* Removes the lease of this worker or of a dead one, and the folder if nothing else is in it. */
void ics_lease_remove(const char *folder);

typedef enum ics_lock_result {
    ICS_LOCK_TAKEN,
    ICS_LOCK_HELD, /* a living process has it, on this machine or on one that shares its locks */
    ICS_LOCK_NONE, /* the file system has no locks */
    ICS_LOCK_FAULT /* errno */
} ics_lock_result;

/* Locks a file, which is created if it is missing, until *descriptor is closed. */
ics_lock_result ics_lease_lock_take(const char *path, int *descriptor);
/* Removes the file of a lock that this process holds, and unlocks it. */
void ics_lease_lock_remove(const char *path, int descriptor);

#endif
