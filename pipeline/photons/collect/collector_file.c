/* The temporary file of a collector. */
#include "base/disk.h"
#include "base/error.h"
#include "pipeline/photons/collect/collector_state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int cannot(const ics_collector *collector, const char *what, icestream_error *error)
{
    return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno, "%s: cannot %s: %s",
                               collector->directory, what, strerror(errno));
}

int ics_collector_open_file(ics_collector *collector, icestream_error *error)
{
    if (collector->file < 0) {
        collector->file = ics_disk_open_temporary(collector->directory, &collector->can_get_name);
    }
    return collector->file >= 0 ? ICESTREAM_OK
                                : cannot(collector, "make a temporary file for hits", error);
}

int ics_collector_write(void *user, const icestream_hit *hits, size_t count, icestream_error *error)
{
    ics_collector *collector = user;
    const size_t size = count * sizeof *hits;
    const size_t done = ics_disk_write_at(collector->file, hits, size, collector->file_end);
    collector->file_end += (off_t)done;
    return done == size ? ICESTREAM_OK
                        : cannot(collector, "write the temporary file of hits", error);
}

int ics_collector_sync_rows(const ics_collector *collector, icestream_error *error)
{
    return TEMP_FAILURE_RETRY(fdatasync(collector->file)) == 0
               ? ICESTREAM_OK
               : cannot(collector, "write the temporary file of hits to the disk", error);
}

void ics_collector_undo_writing(ics_collector *collector, off_t end)
{
    int cause = errno;
    collector->file_end = end;
    (void)!ftruncate(collector->file, end); /* if this fails, the next hits overwrite the rest */
    errno = cause;
}
