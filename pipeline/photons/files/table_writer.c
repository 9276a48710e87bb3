#include "pipeline/photons/files/table_writer.h"

#include "base/error.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/photons/files/format/trailer.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/photons/files/stream_output.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUFFER_BYTES = 1 << 20,
    DIRECT_BYTES = 1 << 17 /* rows of at least this size at a time are not copied */
};

struct ics_table_writer {
    ics_output *output;
    const ics_layout *schema;
    ics_trailer_checksums sums;
    uint64_t rows;
    size_t filled;
    unsigned char *buffer; /* [BUFFER_BYTES], rows that were not written yet */
};

/* ---- files ---------------------------------------------------------------------------------- */

int ics_table_writer_create(const char *path, const ics_layout *schema, bool force,
                            ics_table_writer **out, icestream_error *error)
{
    return ics_table_writer_create_as(path, NULL, schema, force, out, error);
}

/* The header says 0 rows until the rows are on the disk, so that the file of a killed writer is
 * readable. */
static int write_header(ics_table_writer *writer, icestream_error *error)
{
    unsigned char header[ICS_NPY_OWN_HEADER];
    ics_npy_write_header(writer->schema, 0, header);
    return ics_output_rewrite(writer->output, 0, header, sizeof header, error);
}

int ics_table_writer_create_as(const char *path, const char *name, const ics_layout *schema,
                               bool force, ics_table_writer **out, icestream_error *error)
{
    ICS_DESTROYS(ics_table_writer_destroy) ics_table_writer *writer = calloc(1, sizeof *writer);
    *out = NULL;
    if (writer == NULL || (writer->buffer = malloc(BUFFER_BYTES)) == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    writer->schema = schema;
    ICS_TRY(ics_output_create_as(path, name, force, &writer->output, error));
    ICS_TRY(write_header(writer, error));
    *out = ICS_HAND_OVER(writer);
    return ICESTREAM_OK;
}

void ics_table_writer_expect(ics_table_writer *writer, const ics_output_mark *mark)
{
    ics_output_expect(writer->output, mark);
}

int ics_table_writer_adopt(ics_table_writer *writer, int file, uint64_t rows,
                           ics_trailer_checksums *sums, bool *adopted, icestream_error *error)
{
    ICS_TRY(ics_output_adopt(writer->output, file, adopted, error));
    ICS_TRY(write_header(writer, error));
    if (*adopted) {
        writer->rows = rows;
        writer->sums = *sums;
        *sums = (ics_trailer_checksums){0};
    }
    return ICESTREAM_OK;
}

static int put_bytes(ics_table_writer *writer, const void *bytes, size_t size,
                     icestream_error *error)
{
    ICS_TRY(ics_trailer_checksums_add(&writer->sums, bytes, size, error));
    return ics_output_write(writer->output, bytes, size, error);
}

static int flush(ics_table_writer *writer, icestream_error *error)
{
    size_t filled = writer->filled;
    writer->filled = 0;
    return put_bytes(writer, writer->buffer, filled, error);
}

int ics_table_writer_append(ics_table_writer *writer, const void *rows, size_t count,
                            icestream_error *error)
{
    const unsigned char *next = rows;
    size_t left = count * writer->schema->row_bytes;
    writer->rows += count;
    if (left >= DIRECT_BYTES) {
        ICS_TRY(flush(writer, error));
        return put_bytes(writer, next, left, error);
    }
    while (left > 0) {
        size_t piece = left < BUFFER_BYTES - writer->filled ? left : BUFFER_BYTES - writer->filled;
        memcpy(writer->buffer + writer->filled, next, piece);
        writer->filled += piece;
        if (writer->filled == BUFFER_BYTES) {
            ICS_TRY(flush(writer, error));
        }
        next += piece;
        left -= piece;
    }
    return ICESTREAM_OK;
}

int ics_table_writer_commit(ics_table_writer *writer, const json_t *metadata,
                            icestream_error *error)
{
    const ics_trailer_table table = {
        .schema = writer->schema, .rows = writer->rows, .row_bytes = writer->schema->row_bytes};
    ics_output *output = writer->output;
    char count[ICS_NPY_COUNT_BYTES];
    ICS_FREES char *trailer = NULL;
    size_t size = 0;
    ics_npy_write_count(writer->rows, count);
    ICS_TRY(flush(writer, error));
    ICS_TRY(ics_trailer_checksums_finish(&writer->sums, error));
    ICS_TRY(ics_trailer_format(metadata, &table, &writer->sums, ics_output_size(output), &trailer,
                               &size, error));
    ICS_TRY(ics_output_sync(output, error));
    ICS_TRY(ics_output_rewrite(output, ICS_NPY_COUNT_OFFSET, count, sizeof count, error));
    ICS_TRY(ics_output_write(output, trailer, size, error));
    return ics_output_commit(output, error);
}

uint64_t ics_table_writer_rows(const ics_table_writer *writer)
{
    return writer->rows;
}

void ics_table_writer_destroy(ics_table_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    ics_output_destroy(writer->output);
    ics_trailer_checksums_free(&writer->sums);
    free(writer->buffer);
    free(writer);
}

/* ---- messages ------------------------------------------------------------------------------- */

int ics_table_message_write(int descriptor, const char *name, const ics_layout *schema,
                            const char *note, const void *rows, size_t count,
                            icestream_error *error)
{
    ICS_FREES unsigned char *header = NULL;
    size_t size = 0;
    uint64_t written = 0;
    ICS_TRY(ics_npy_write_noted_header(schema, count, note, &header, &size, error));
    ICS_TRY(ics_stream_output_write(descriptor, name, header, size, &written, error));
    return ics_stream_output_write(descriptor, name, rows, count * schema->row_bytes, &written,
                                   error);
}
