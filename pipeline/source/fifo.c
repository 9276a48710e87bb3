#include "pipeline/source/fifo.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int ics_fifo_open(const char *path, int *descriptor, icestream_error *error)
{
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*descriptor < 0) {
        /* If descriptors or memory have run out, the pipe is not at fault. */
        bool ours = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        return ics_error_set(error, ours ? ICESTREAM_E_FAILED : ICESTREAM_E_INPUT,
                             "%s: cannot open: %s", path, strerror(errno));
    }
    struct stat about;
    if (fstat(*descriptor, &about) != 0 || !S_ISFIFO(about.st_mode)) {
        close(*descriptor);
        *descriptor = -1;
        return ics_error_set(error, ICESTREAM_E_INPUT, "%s: found no pipe, expected a named pipe",
                             path);
    }
    return ICESTREAM_OK;
}
