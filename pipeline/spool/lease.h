/* Who is alive: the heartbeat of a worker, and the lock on its name; private to pipeline/spool.
 *
 * A worker's folder is its as long as the file .lease in it is young: its modification time is the
 * heartbeat, the text (JSON) says for how long one counts, and tells people who it is. Times are
 * all taken by the file system's clock, so clocks of hosts may differ. A folder without .lease has
 * no owner.
 */
#ifndef ICS_SPOOL_LEASE_H
#define ICS_SPOOL_LEASE_H

#include "pipeline/spool/spool_files.h"

/* What else its owner writes there before it is renamed to another place. */
#define ICS_MARK_PART ".mark.part"

typedef struct ics_lease_state {
    bool there;
    int64_t beat_ns; /* last heartbeat */
    double seconds;  /* how long it counts */
    long long pid;
    char host[256];
} ics_lease_state;

/* This machine's name. */
void ics_lease_host(char host[256]);

/* Touches a file that is there; *now_ns gets the file system's time. 0 or -1 with errno. */
int ics_lease_file_touch(const char *path, int64_t *now_ns);

/* Takes possession of a folder, which is created where it is missing. 0 or -1 with errno. */
int ics_lease_write(const char *folder, double seconds);
/* A heartbeat, touches the lease. ENOENT: somebody found it expired. */
int ics_lease_beat(const char *folder, int64_t *now_ns);
/* Reads a lease; what has no readable text counts `otherwise` seconds. -1 with errno; a lease that
 * is not there is no fault. */
int ics_lease_read(const char *folder, double otherwise, ics_lease_state *out);
bool ics_lease_expired(const ics_lease_state *state, int64_t now_ns);
/* Removes an owner's or a dead one's lease and, if nothing else is in it, the folder. */
void ics_lease_remove(const char *folder);

typedef enum ics_lock_result {
    ICS_LOCK_TAKEN,
    ICS_LOCK_HELD, /* a living process has it, on this host or on any that shares locks */
    ICS_LOCK_NONE, /* the file system has no locks */
    ICS_LOCK_FAULT /* errno */
} ics_lock_result;

/* Locks a file, which is created where it is missing, until *descriptor is closed. */
ics_lock_result ics_lease_lock_take(const char *path, int *descriptor);
/* Removes the file of a lock that this process has, and unlocks. */
void ics_lease_lock_remove(const char *path, int descriptor);

#endif
