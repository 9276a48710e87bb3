/* The temporary file of a collector. */
#include "base/error.h"
#include "pipeline/collect/collector_state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ics_collector_open_file(ics_collector *collector, icestream_error *error)
{
    int file = open(collector->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    collector->can_get_name = file >= 0;
    if (file < 0) { /* a file system without O_TMPFILE: the file has a name for a moment */
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/.hits-XXXXXX", collector->directory);
        if (length > 0 && (size_t)length < sizeof path) {
            file = mkostemp(path, O_CLOEXEC);
        } else {
            errno = ENAMETOOLONG;
        }
        if (file >= 0) {
            unlink(path);
        }
    }
    if (file < 0) {
        return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                   "%s: cannot make a temporary file for hits: %s",
                                   collector->directory, strerror(errno));
    }
    collector->file = file;
    return ICESTREAM_OK;
}

int ics_collector_write(void *user, const icestream_hit *hits, size_t count, icestream_error *error)
{
    ics_collector *collector = user;
    const char *bytes = (const char *)hits;
    size_t left = count * sizeof *hits;
    while (left > 0) {
        ssize_t put = pwrite(collector->file, bytes, left, collector->file_end);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                       "%s: cannot write the temporary file of hits: %s",
                                       collector->directory, strerror(errno));
        }
        bytes += put;
        left -= (size_t)put;
        collector->file_end += put;
    }
    return ICESTREAM_OK;
}

void ics_collector_undo_writing(ics_collector *collector, off_t end)
{
    int cause = errno;
    collector->file_end = end;
    (void)!ftruncate(collector->file, end); /* if this fails, the next hits overwrite the rest */
    errno = cause;
}
