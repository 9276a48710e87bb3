#include "pipeline/photons/files/text_output.h"

#include "base/error.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/photons/files/stream_output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ics_text_output {
    ics_output *output; /* NULL: standard output */
    uint64_t written;   /* bytes of standard output */
    size_t filled;
    char bytes[1 << 16]; /* lines that were not written yet */
};

int ics_text_output_create(const char *path, bool force, ics_text_output **out,
                           icestream_error *error)
{
    ICS_DESTROYS(ics_text_output_destroy) ics_text_output *file = calloc(1, sizeof *file);
    *out = NULL;
    if (file == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    if (strcmp(path, "-") != 0) {
        ICS_TRY(ics_output_create(path, force, &file->output, error));
    }
    *out = ICS_HAND_OVER(file);
    return ICESTREAM_OK;
}

void ics_text_output_destroy(ics_text_output *file)
{
    if (file == NULL) {
        return;
    }
    ics_output_destroy(file->output);
    free(file);
}

static int flush(ics_text_output *file, icestream_error *error)
{
    const size_t filled = file->filled;
    file->filled = 0;
    return file->output != NULL
               ? ics_output_write(file->output, file->bytes, filled, error)
               : ics_stream_output_write(STDOUT_FILENO, ICS_STREAM_OUTPUT_NAME, file->bytes, filled,
                                         &file->written, error);
}

int ics_text_output_put(ics_text_output *file, icestream_error *error, const char *format, ...)
{
    ICS_TRY(sizeof file->bytes - file->filled < ICS_TEXT_OUTPUT_LINE ? flush(file, error)
                                                                     : ICESTREAM_OK);
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(file->bytes + file->filled, ICS_TEXT_OUTPUT_LINE, format, values);
    va_end(values);
    if (length < 0 || length >= ICS_TEXT_OUTPUT_LINE) {
        return ics_error_set(
            error, ICESTREAM_E_FAILED, "internal error: %s: a line of %d characters",
            file->output != NULL ? ics_output_path(file->output) : ICS_STREAM_OUTPUT_NAME, length);
    }
    file->filled += (size_t)length;
    return ICESTREAM_OK;
}

int ics_text_output_put_bytes(ics_text_output *file, const void *bytes, size_t size,
                              icestream_error *error)
{
    for (const unsigned char *next = bytes; size > 0;) {
        const size_t room = sizeof file->bytes - file->filled;
        const size_t part = size < room ? size : room;
        memcpy(file->bytes + file->filled, next, part);
        file->filled += part;
        next += part;
        size -= part;
        if (file->filled == sizeof file->bytes) {
            ICS_TRY(flush(file, error));
        }
    }
    return ICESTREAM_OK;
}

int ics_text_output_pass_on(ics_text_output *file, icestream_error *error)
{
    return file->output == NULL ? flush(file, error) : ICESTREAM_OK;
}

int ics_text_output_commit(ics_text_output *file, icestream_error *error)
{
    int status = flush(file, error);
    return status == ICESTREAM_OK && file->output != NULL ? ics_output_commit(file->output, error)
                                                          : status;
}
