#include "pipeline/photons/files/stream_output.h"

#include "base/disk.h"
#include "base/error.h"
#include "base/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int write_all(int descriptor, const char *name, const void *bytes, size_t size,
                     uint64_t *written, icestream_error *error)
{
    const char *next = bytes;
    while (size > 0) {
        ssize_t count = write(descriptor, next, size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && errno == EAGAIN) {
            struct pollfd room = {.fd = descriptor, .events = POLLOUT};
            (void)poll(&room, 1, -1);
            continue;
        }
        if (count < 0) {
            return ics_error_set_cause(
                error, ICESTREAM_E_OUTPUT, errno,
                "%s: cannot write: %s (after %" PRIu64 " bytes of the message)", name,
                errno == EPIPE ? "the reader has gone" : strerror(errno), *written);
        }
        next += count;
        size -= (size_t)count;
        *written += (uint64_t)count;
    }
    return ICESTREAM_OK;
}

int ics_stream_output_write(int descriptor, const char *name, const void *bytes, size_t size,
                            uint64_t *written, icestream_error *error)
{
    /* A library must not change how the process handles SIGPIPE. So SIGPIPE is blocked in this
     * thread, and if these writes raise it, it is removed before it is unblocked. */
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);

    int status = write_all(descriptor, name, bytes, size, written, error);

    if (!was_pending) {
        const struct timespec at_once = {0, 0};
        int taken;
        do {
            taken = sigtimedwait(&pipe_signal, NULL, &at_once);
        } while (taken < 0 && errno == EINTR);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

int ics_stream_output_temporary(int *descriptor, icestream_error *error)
{
    const char *folder = ics_disk_temporary_folder();
    bool can_get_name;
    *descriptor = ics_disk_open_temporary(folder, &can_get_name);
    return *descriptor >= 0
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                     "%s: cannot make a temporary file (TMPDIR names another "
                                     "folder): %s",
                                     folder, strerror(errno));
}

int ics_stream_output_copy(int descriptor, icestream_error *error)
{
    enum { PIECE = 1 << 16 };
    char bytes[PIECE];
    uint64_t offset = 0;
    for (;;) {
        const ssize_t got =
            TEMP_FAILURE_RETRY(pread(descriptor, bytes, sizeof bytes, (off_t)offset));
        if (got < 0) {
            return ics_error_set_cause(error, ICESTREAM_E_OUTPUT, errno,
                                       "%s: cannot read its temporary file: %s",
                                       ICS_STREAM_OUTPUT_NAME, strerror(errno));
        }
        if (got == 0) {
            return ICESTREAM_OK;
        }
        ICS_TRY(ics_stream_output_write(STDOUT_FILENO, ICS_STREAM_OUTPUT_NAME, bytes, (size_t)got,
                                        &offset, error));
    }
}

static int keep(int descriptor, icestream_error *error)
{
    enum { PIECE = 1 << 16 };
    char bytes[PIECE];
    uint64_t written = 0;
    for (;;) {
        const ssize_t got = TEMP_FAILURE_RETRY(read(STDIN_FILENO, bytes, sizeof bytes));
        if (got < 0 && errno == EAGAIN) {
            struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
            (void)poll(&input, 1, -1);
            continue;
        }
        if (got < 0) {
            return ics_error_set_cause(error, ICESTREAM_E_INPUT, errno,
                                       "standard input: cannot read: %s", strerror(errno));
        }
        if (got == 0) {
            return ICESTREAM_OK;
        }
        ICS_TRY(ics_stream_output_write(descriptor, "temporary file of standard input", bytes,
                                        (size_t)got, &written, error));
    }
}

int ics_stream_output_keep_input(int *descriptor, icestream_error *error)
{
    ICS_TRY(ics_terminal_check_input("-", error));
    ICS_TRY(ics_stream_output_temporary(descriptor, error));
    const int status = keep(*descriptor, error);
    if (status != ICESTREAM_OK) {
        close(*descriptor);
    }
    return status;
}
