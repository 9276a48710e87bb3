#include "pipeline/source/fifo.h"

#include "pipeline/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_fifo(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
}

int is_fifo_open(const char *path, int *descriptor, is_error *error)
{
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*descriptor < 0) {
        /* What this process or the system has run out of is no fault of the pipe. */
        bool ours = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        return is_error_set(error, ours ? IS_E_FAILED : IS_E_INPUT, "%s: cannot open: %s", path,
                            strerror(errno));
    }
    struct stat about;
    if (fstat(*descriptor, &about) != 0 || !S_ISFIFO(about.st_mode)) {
        close(*descriptor);
        *descriptor = -1;
        return is_error_set(error, IS_E_INPUT, "%s: found no pipe, expected a named pipe", path);
    }
    return IS_OK;
}
