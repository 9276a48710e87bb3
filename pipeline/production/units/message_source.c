/* The messages of standard input or of a named pipe as a source: each is read once, and the reader
 * goes on to the unit of the next one. */
#include "base/error.h"
#include "pipeline/photons/config/hit_name.h"
#include "pipeline/production/units/hit_path.h"
#include "pipeline/production/units/sources.h"
#include "pipeline/production/units/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *name_output(const icestream_config *config, const ics_input *input, uint64_t message)
{
    return ics_hit_path_of_message(config, input->path, message);
}

/* Opens a named pipe for reading, without waiting for a writer: the stream waits for the first one
 * (or for the wake descriptor), and ends when the last one has closed the pipe. */
static int open_pipe(const char *path, int *descriptor, icestream_error *error)
{
    *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*descriptor < 0) {
        return ics_error_set(error, ics_error_of_input(errno), "%s: cannot open: %s", path,
                             strerror(errno));
    }
    struct stat about;
    return fstat(*descriptor, &about) == 0 && S_ISFIFO(about.st_mode)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT, "%s: found no pipe, expected a named pipe",
                               path);
}

static int open_message(ics_unit *unit, icestream_error *error)
{
    ics_unit_common *common = unit->common;
    ics_unit_work *work = unit->work;
    const char *path = unit->input->path;
    if (work->reader == NULL) {
        if (path != NULL) {
            ICS_TRY(open_pipe(path, &work->pipe, error));
        }
        ICS_TRY(ics_step_reader_open_stream(
            path != NULL ? work->pipe : STDIN_FILENO, path != NULL ? path : "standard input",
            common->spectrum_count, common->wake, &work->reader, error));
    }
    ICS_TRY(ics_step_reader_next(work->reader, &work->found, error));
    if (!work->found) {
        return ICESTREAM_OK;
    }
    if (unit->message > 0 && !ics_hit_name_has_stem(common->config->sink.name) &&
        unit->output != NULL) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "%s: found a second message, expected one, because the name of the "
                             "hit file, %s, has no {stem} (sink.name), which would stand for "
                             "the number of the message",
                             unit->name, unit->output);
    }
    return ics_unit_check_light(unit, error);
}

static int read_message(ics_unit *unit, icestream_step *steps, size_t capacity, size_t *got,
                        icestream_error *error)
{
    ics_step_reader *reader = unit->work->reader;
    ICS_TRY(ics_step_reader_read(reader, steps, capacity, got, error));
    if (*got > 0) {
        return ICESTREAM_OK;
    }
    ics_step_reader_summary(reader, &unit->summary);
    return ics_unit_check_late_light(unit, error);
}

static int skip_message(ics_unit *unit, icestream_error *error)
{
    return ics_step_reader_skip(unit->work->reader, error);
}

static bool can_skip_message(const ics_unit *unit)
{
    return unit->work->reader != NULL && ics_step_reader_can_skip(unit->work->reader);
}

static void pass_stream_on(ics_unit *from, ics_unit *to)
{
    to->work->reader = from->work->reader;
    to->work->pipe = from->work->pipe;
    from->work->reader = NULL;
    from->work->pipe = -1;
}

static void close_message(ics_unit *unit)
{
    ics_step_reader_destroy(unit->work->reader);
    unit->work->reader = NULL;
    if (unit->work->pipe >= 0) {
        close(unit->work->pipe);
        unit->work->pipe = -1;
    }
}

const ics_source ics_source_messages = {.continues = true,
                                        .nameless = "standard input",
                                        .output = name_output,
                                        .open = open_message,
                                        .read = read_message,
                                        .skip = skip_message,
                                        .can_skip = can_skip_message,
                                        .pass_on = pass_stream_on,
                                        .close = close_message};
