#include "pipeline/source/fifo.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ics_fifo_is_fifo(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
}

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

int ics_fifo_discard(const char *path, int descriptor, int wake_descriptor, icestream_error *error)
{
    char forgotten[16384];
    struct pollfd waits[2] = {{.fd = descriptor, .events = POLLIN},
                              {.fd = wake_descriptor, .events = POLLIN}};
    for (;;) {
        ssize_t count = read(descriptor, forgotten, sizeof forgotten);
        if (count == 0) {
            return ICESTREAM_OK;
        }
        if (count < 0 && errno != EAGAIN && errno != EINTR) {
            return ics_error_set(error, ICESTREAM_E_INPUT, "%s: cannot read: %s", path,
                                 strerror(errno));
        }
        if (poll(waits, 2, -1) < 0 && errno != EINTR) {
            return ics_error_set(error, ICESTREAM_E_INPUT, "%s: cannot wait for input: %s", path,
                                 strerror(errno));
        }
        if (waits[1].revents != 0) {
            return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "%s: interrupted while reading",
                                 path);
        }
    }
}
