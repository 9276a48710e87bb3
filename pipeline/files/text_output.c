#include "pipeline/files/text_output.h"

#include "pipeline/error.h"
#include "pipeline/files/output.h"

#include <stdarg.h>
#include <stdlib.h>

struct is_text_output {
    is_output *output;
    size_t filled;
    char bytes[1 << 16]; /* lines on their way to the file */
};

int is_text_output_create(const char *path, bool force, is_text_output **out, is_error *error)
{
    *out = NULL;
    is_text_output *file = calloc(1, sizeof *file);
    if (!file)
        return is_error_set(error, IS_E_MEMORY, "%s: out of memory", path);
    int status = is_output_create(path, force, &file->output, error);
    if (status != IS_OK) {
        is_text_output_destroy(file);
        return status;
    }
    *out = file;
    return IS_OK;
}

void is_text_output_destroy(is_text_output *file)
{
    if (!file)
        return;
    is_output_destroy(file->output);
    free(file);
}

static int flush(is_text_output *file, is_error *error)
{
    const size_t filled = file->filled;
    file->filled = 0;
    return is_output_write(file->output, file->bytes, filled, error);
}

int is_text_output_put(is_text_output *file, is_error *error, const char *format, ...)
{
    int status =
        sizeof file->bytes - file->filled < IS_TEXT_OUTPUT_LINE ? flush(file, error) : IS_OK;
    if (status != IS_OK)
        return status;
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(file->bytes + file->filled, IS_TEXT_OUTPUT_LINE, format, values);
    va_end(values);
    if (length < 0 || length >= IS_TEXT_OUTPUT_LINE)
        return is_error_set(error, IS_E_FAILED, "internal error: %s: a line of %d characters",
                            is_output_path(file->output), length);
    file->filled += (size_t)length;
    return IS_OK;
}

int is_text_output_commit(is_text_output *file, is_error *error)
{
    int status = flush(file, error);
    return status == IS_OK ? is_output_commit(file->output, error) : status;
}
