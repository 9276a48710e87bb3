#include "pipeline/files/hit_lines.h"

#include "base/error.h"

#include <stdlib.h>

int ics_hit_lines_export(const char *from, const char *to, bool force, ics_hit_lines_put put,
                         icestream_error *error)
{
    ics_hit_reader *reader = NULL;
    ics_text_output *file = NULL;
    icestream_hit *hits = malloc(ICS_HIT_LINES_BLOCK * sizeof *hits);
    if (hits == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", to);
    }
    int status = ics_hit_reader_open(from, true, &reader, error);
    if (status == ICESTREAM_OK) {
        status = ics_text_output_create(to, force, &file, error);
    }
    if (status == ICESTREAM_OK) {
        status = put(file, reader, hits, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_text_output_commit(file, error);
    }
    ics_text_output_destroy(file);
    ics_hit_reader_destroy(reader);
    free(hits);
    return status;
}
