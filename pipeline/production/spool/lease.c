#include "pipeline/production/spool/lease.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/json_read.h"
#include "base/json_text.h"
#include "base/new.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char lease_name[] = ".lease", part_name[] = ".lease.part";

void ics_lease_host(char host[256])
{
    if (gethostname(host, 256) != 0) {
        snprintf(host, 256, "unknown"); /* a longer name than POSIX allows */
    }
    host[255] = 0;
}

/* ---- the lease ------------------------------------------------------------------------------- */

int ics_lease_write(const char *folder, double seconds)
{
    char host[256];
    ics_lease_host(host);
    ics_process self;
    ics_process_self(&self);
    json_auto_t *about = json_pack("{s:o, s:I, s:f, s:s, s:I}", "host", ics_json_text(host), "pid",
                                   (json_int_t)self.pid, "lease_s", seconds, "space", self.space,
                                   "start", (json_int_t)self.start);
    ICS_FREES char *text = ics_new_made(json_dumps(about, JSON_COMPACT));
    int result = -1;
    /* Until the lease is written, the folder looks like one of a dead worker, and another worker
     * may remove it. */
    for (unsigned tries = 0; result != 0 && tries < 100; ++tries) {
        result = ics_disk_make_folder(folder, 0777);
        if (result == 0) {
            result = ics_spool_file_replace(folder, lease_name,
                                            ics_spool_path_join(folder, part_name).text, text);
        }
        if (result != 0 && errno != ENOENT) {
            break;
        }
    }
    return result;
}

int ics_lease_file_touch(const char *path, int64_t *now_ns)
{
    struct stat about;
    ICS_CLOSES_DESCRIPTOR int descriptor =
        TEMP_FAILURE_RETRY(open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    /* Not a time of this machine: the file server uses its own clock for "now". */
    if (descriptor < 0 || futimens(descriptor, NULL) != 0 || fstat(descriptor, &about) != 0) {
        return -1;
    }
    *now_ns = ics_spool_modified_ns(&about);
    return 0;
}

int ics_lease_beat(const char *folder, int64_t *now_ns)
{
    return ics_lease_file_touch(ics_spool_path_join(folder, lease_name).text, now_ns);
}

static void read_text(const char *text, ics_lease_state *out)
{
    const char *host = NULL, *space = "";
    double seconds = 0.0;
    json_int_t pid = 0, begun = 0;
    json_auto_t *about = ics_json_read_text(text, 0, NULL);
    /* Leases of older versions have neither space nor start. */
    if (json_unpack(about, "{s:s, s:I, s:F, s?s, s?I}", "host", &host, "pid", &pid, "lease_s",
                    &seconds, "space", &space, "start", &begun) == 0 &&
        isfinite(seconds) && seconds > 0.0) {
        snprintf(out->host, sizeof out->host, "%s", host);
        out->process.pid = pid;
        out->process.start = begun;
        snprintf(out->process.space, sizeof out->process.space, "%s", space);
        out->seconds = seconds;
    }
}

int ics_lease_read(const char *folder, double otherwise, ics_lease_state *out)
{
    char text[1024];
    struct stat about;
    *out = (ics_lease_state){.seconds = otherwise, .host = "unknown"};
    if (ics_spool_file_read(ics_spool_path_join(folder, lease_name).text, text, sizeof text,
                            &about) != 0) {
        return errno == ENOENT || errno == ENOTDIR || errno == ESTALE ? 0 : -1;
    }
    out->there = true;
    out->beat_ns = ics_spool_modified_ns(&about);
    read_text(text, out);
    return 0;
}

bool ics_lease_expired(const ics_lease_state *state, int64_t now_ns)
{
    return !state->there || (double)(now_ns - state->beat_ns) > state->seconds * 1e9 ||
           ics_lease_is_ahead(state, now_ns);
}

bool ics_lease_is_ahead(const ics_lease_state *state, int64_t now_ns)
{
    return state->there && (double)(state->beat_ns - now_ns) > state->seconds * 1e9;
}

void ics_lease_remove(const char *folder)
{
    /* If something cannot be removed, another worker finds it expired and removes it. */
    (void)unlink(ics_spool_path_join(folder, lease_name).text);
    (void)unlink(ics_spool_path_join(folder, part_name).text);
    (void)unlink(ics_spool_path_join(folder, ICS_MARK_PART).text);
    (void)rmdir(folder);
}

/* ---- the lock on a worker's name ------------------------------------------------------------- */

ics_lock_result ics_lease_lock_take(const char *path, int *descriptor)
{
    *descriptor = ics_disk_lock(path);
    if (*descriptor >= 0) {
        return ICS_LOCK_TAKEN;
    }
    return errno == EWOULDBLOCK                                        ? ICS_LOCK_HELD
           : errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS ? ICS_LOCK_NONE
                                                                       : ICS_LOCK_FAULT;
}

void ics_lease_lock_remove(const char *path, int descriptor)
{
    (void)ics_disk_unlock(path, descriptor); /* a file that stays hinders nobody */
}
