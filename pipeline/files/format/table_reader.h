/* Reading tables: files with their trailer, or messages from a stream, as rows of a schema.
 *
 * What a value may be is not checked here, only that the file is whole: header, length, trailer,
 * checksums. Memory: the header and at most 1 MiB. All functions: ICESTREAM_E_INPUT,
 * ICESTREAM_E_MEMORY.
 */
#ifndef ICS_FILES_FORMAT_TABLE_READER_H
#define ICS_FILES_FORMAT_TABLE_READER_H

#include "pipeline/files/digest.h"
#include "pipeline/files/format/layout.h"

#include <jansson.h>

typedef struct ics_table_reader ics_table_reader;

/* Opens a regular file. `schema` NULL: recognised by the fields. */
int ics_table_reader_open(const char *path, const ics_layout *schema, ics_table_reader **out,
                          icestream_error *error);
/* Reads messages from a descriptor that stays the caller's; ics_table_reader_next gives the first.
 * ICESTREAM_E_INTERRUPTED from any function below as soon as `wake_descriptor` (-1: none) is
 * readable. */
int ics_table_reader_open_stream(int descriptor, const char *name, const ics_layout *schema,
                                 int wake_descriptor, ics_table_reader **out,
                                 icestream_error *error);
/* Accepts NULL. */
void ics_table_reader_destroy(ics_table_reader *reader);

/* Streams: goes on to the next message; the current one must have been read to its end, and its
 * trailer, if it brought one, is checked here. *found: false at the clean end. */
int ics_table_reader_next(ics_table_reader *reader, bool *found, icestream_error *error);

/* Files: back to the first row. `digest`: computes the digest of the file while it is read. */
int ics_table_reader_rewind(ics_table_reader *reader, bool digest, icestream_error *error);

/* Delivers the next rows in the schema's layout, as many as are left but at most `capacity` (> 0).
 * *got = 0 at the end, where a file's checksums are compared and its size and time of change must
 * be those that it was opened with. */
int ics_table_reader_read(ics_table_reader *reader, void *rows, size_t capacity, size_t *got,
                          icestream_error *error);

/* The file's name, with the number of the message in a stream, for messages. */
const char *ics_table_reader_name(const ics_table_reader *reader);
const ics_layout *ics_table_reader_layout(const ics_table_reader *reader);
/* Rows that the header announces. */
uint64_t ics_table_reader_rows(const ics_table_reader *reader);
/* Rows delivered so far: the number of the next one. */
uint64_t ics_table_reader_position(const ics_table_reader *reader);
/* Whether rows are stored in the schema's own layout. */
bool ics_table_reader_packed(const ics_table_reader *reader);
/* The trailer's metadata; NULL: none. Owned by the reader. */
const json_t *ics_table_reader_metadata(const ics_table_reader *reader);
/* Digest of a file (after *got = 0) or of a message's header and rows; empty before the first.
 * False: out of memory. */
bool ics_table_reader_digest(const ics_table_reader *reader, char text[ICS_DIGEST_TEXT]);

#endif
