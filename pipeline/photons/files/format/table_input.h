/* What a table reader reads before and after the rows: header, metadata and tail; private to
 * table_input.c and table_reader.c.
 *
 * All functions: ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY; of a stream also ICESTREAM_E_INTERRUPTED.
 */
#ifndef ICS_PHOTONS_FILES_FORMAT_TABLE_INPUT_H
#define ICS_PHOTONS_FILES_FORMAT_TABLE_INPUT_H

#include "pipeline/photons/files/format/conversion.h"
#include "pipeline/photons/files/format/file_digest.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/photons/files/format/table_reader.h"
#include "pipeline/photons/files/format/trailer.h"

#include <sys/stat.h>

struct ics_table_reader {
    char *name;  /* name of the file or stream */
    char *title; /* name; in streams with the number of the message */
    int descriptor, wake_descriptor;
    bool stream, finished;
    /* Streams: where the next message begins is unknown; the stream has ended; the header announces
     * a trailer that was not read yet; `pending` is the first byte of the next message, which was
     * read to see that no trailer follows. */
    bool lost, ended, trailer_due, has_pending;
    unsigned char pending;
    struct stat opened; /* files: state when it was opened */
    uint64_t messages;  /* streams: number of messages begun so far */
    uint64_t offset;    /* offset of the next byte from the start of the file or message */
    uint64_t row;       /* number of the next row */

    const ics_layout *wanted; /* the schema that the caller gave; NULL: any */
    unsigned char *header_bytes;
    ics_npy_header header;
    ics_conversion conversion;
    unsigned char *raw; /* rows as stored, if they must be converted; ICS_BLOCK_BYTES */

    ics_trailer trailer; /* trailer of a file; zero: none */
    json_t *note;        /* the record of light in the header; NULL: none */
    json_t *late;        /* the record of light in the trailer of a message */
    ics_trailer_checksums sums;
    ics_digest *digest;
    bool digesting;
    /* Of a large file, whose digest is computed by a thread; NULL: it is not. `checked` are the
     * checksums of the rows when they were first read since then; their count is 0 before. */
    ics_file_digest *file_digest;
    ics_trailer_checksums checked;
};

/* Reads `size` bytes. *got is smaller only at the end of the input. */
int ics_table_input_read(ics_table_reader *reader, void *bytes, size_t size, size_t *got,
                         icestream_error *error);
/* Reads `size` bytes of `what` (for messages). The end of the input before that is an error. */
int ics_table_input_read_exactly(ics_table_reader *reader, void *bytes, size_t size,
                                 const char *what, icestream_error *error);

/* Reads the header and prepares the conversion of rows. The first `got` bytes of the header have
 * been read into `preamble`. */
int ics_table_input_header(ics_table_reader *reader, const unsigned char preamble[ICS_NPY_PREAMBLE],
                           size_t got, icestream_error *error);

/* Reads and checks the trailer of a file, if it has one, before the rows are read. */
int ics_table_input_file_trailer(ics_table_reader *reader, icestream_error *error);
/* Reads what follows the rows of a message whose header announces a trailer. With `is_checked` a
 * trailer is compared with the rows. Nothing may follow: then the next message, or the end of the
 * stream, shows that the message has no trailer. */
int ics_table_input_message_trailer(ics_table_reader *reader, bool is_checked,
                                    icestream_error *error);

#endif
