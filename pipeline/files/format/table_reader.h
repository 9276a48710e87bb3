/* Reading tables: files with their trailer, or messages from a stream, as rows of a schema.
 *
 * What a value may be is not checked here, only that the file is whole: header, length, trailer,
 * checksums. Memory: the header and at most 1 MiB. All functions: IS_E_INPUT, IS_E_MEMORY.
 */
#ifndef IS_TABLE_READER_H
#define IS_TABLE_READER_H

#include "pipeline/files/digest.h"
#include "pipeline/files/format/schema.h"

#include <jansson.h>

typedef struct is_table_reader is_table_reader;

/* Opens a regular file. `schema` NULL: recognised by the fields. */
int is_table_reader_open(const char *path, const is_schema *schema, is_table_reader **out,
                         is_error *error);
/* Reads messages from a descriptor that stays the caller's; is_table_reader_next gives the first.
 * IS_E_INTERRUPTED from any function below as soon as `wake_descriptor` (-1: none) is readable. */
int is_table_reader_open_stream(int descriptor, const char *name, const is_schema *schema,
                                int wake_descriptor, is_table_reader **out, is_error *error);
/* Accepts NULL. */
void is_table_reader_destroy(is_table_reader *reader);

/* Streams: goes on to the next message; the current one must have been read to its end, and its
 * trailer, if it brought one, is checked here. *found: false at the clean end. */
int is_table_reader_next(is_table_reader *reader, bool *found, is_error *error);

/* Files: back to the first row. `digest`: computes the digest of the file while it is read. */
int is_table_reader_rewind(is_table_reader *reader, bool digest, is_error *error);

/* Delivers the next rows in the schema's layout, as many as are left but at most `capacity` (> 0).
 * *got = 0 at the end, where a file's checksums are compared and its size and time of change must
 * be those that it was opened with. */
int is_table_reader_read(is_table_reader *reader, void *rows, size_t capacity, size_t *got,
                         is_error *error);

/* The file's name, with the number of the message in a stream, for messages. */
const char *is_table_reader_name(const is_table_reader *reader);
const is_schema *is_table_reader_schema(const is_table_reader *reader);
/* Rows that the header announces. */
uint64_t is_table_reader_rows(const is_table_reader *reader);
/* Rows delivered so far: the number of the next one. */
uint64_t is_table_reader_position(const is_table_reader *reader);
/* Whether rows are stored in the schema's own layout. */
bool is_table_reader_packed(const is_table_reader *reader);
/* The trailer's metadata; NULL: none. Owned by the reader. */
const json_t *is_table_reader_metadata(const is_table_reader *reader);
/* Digest of a file (after *got = 0) or of a message's header and rows; empty before the first.
 * False: out of memory. */
bool is_table_reader_digest(const is_table_reader *reader, char text[IS_DIGEST_TEXT]);

#endif
