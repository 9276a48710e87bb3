/* The messages of standard input or of a named pipe as a source: each is read once, and the reader
 * goes on to the unit of the next one. */
#include "base/error.h"
#include "pipeline/config/hit_name.h"
#include "pipeline/source/fifo.h"
#include "pipeline/units/hit_path.h"
#include "pipeline/units/sources.h"
#include "pipeline/units/unit.h"

#include <unistd.h>

static char *name_output(const icestream_config *config, const ics_input *input, uint64_t message)
{
    return ics_hit_path_of_message(config, input->path, message);
}

static int open_message(ics_unit *unit, icestream_error *error)
{
    ics_unit_common *common = unit->common;
    int status = ICESTREAM_OK;
    const char *path = unit->input->path;
    if (unit->work->reader == NULL && path != NULL) {
        status = ics_fifo_open(path, &unit->work->pipe, error);
    }
    if (unit->work->reader == NULL && status == ICESTREAM_OK) {
        status = ics_step_reader_open_stream(
            path != NULL ? unit->work->pipe : STDIN_FILENO, path != NULL ? path : "standard input",
            common->spectrum_count, common->wake, &unit->work->reader, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_step_reader_next(unit->work->reader, &unit->work->found, error);
    }
    if (status == ICESTREAM_OK && unit->work->found && unit->message > 0 &&
        !ics_hit_name_has_stem(common->config->sink.name) && unit->output != NULL) {
        status = ics_error_set(error, ICESTREAM_E_OUTPUT,
                               "%s: found a second message, expected one, because the name of the "
                               "hit file, %s, has no {stem} (sink.name), which would stand for "
                               "the number of the message",
                               unit->name, unit->output);
    }
    if (status == ICESTREAM_OK && unit->work->found) {
        status = ics_unit_check_light(unit, error);
    }
    return status;
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
