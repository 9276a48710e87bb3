/* Messages on standard output as a sink. */
#include "base/error.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/production/units/sinks.h"
#include "pipeline/production/units/unit.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { POLL_MILLISECONDS = 200 }; /* between checks of `cancel` */

/* Standard output may be a pipe that nobody reads at the moment. A write of PIPE_BUF bytes after a
 * poll never blocks, so that the run can be cancelled at any time. */
static int write_to_stdout(const ics_unit *unit, const void *data, size_t size,
                           icestream_error *error)
{
    const char *bytes = data;
    while (size > 0) {
        if (atomic_load(&unit->common->cancel)) {
            return ics_error_set(error, ICESTREAM_E_INTERRUPTED, "interrupted while writing hits");
        }
        struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
        if (poll(&output, 1, POLL_MILLISECONDS) == 0) {
            continue;
        }
        ssize_t put = write(STDOUT_FILENO, bytes, size < PIPE_BUF ? size : PIPE_BUF);
        if (put < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (put < 0) {
            return ics_error_set(error, ICESTREAM_E_OUTPUT,
                                 "standard output: cannot write hits: %s", strerror(errno));
        }
        bytes += put;
        size -= (size_t)put;
    }
    return ICESTREAM_OK;
}

static int append_to_stdout(void *user, const icestream_hit *hits, size_t count,
                            icestream_error *error)
{
    return write_to_stdout(user, hits, count * sizeof *hits, error);
}

/* The number of hits is known before the first hit is written. So a message of any size is merged
 * directly into the pipe. */
static int write_message(ics_unit *unit, icestream_error *error)
{
    unsigned char header[ICS_NPY_OWN_HEADER];
    ics_npy_write_header(ics_layout_hits(), ics_collector_count(unit->work->collector), header);
    ICS_TRY(write_to_stdout(unit, header, sizeof header, error));
    return ics_collector_merge(unit->work->collector, append_to_stdout, unit, &unit->common->cancel,
                               error);
}

const ics_sink ics_sink_stream = {.write = write_message};
