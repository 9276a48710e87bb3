/* Reads tables, from files or from messages of a stream, as rows of a schema.
 *
 * Checks that the file is complete and undamaged (header, length, trailer, checksums). Does not
 * check the values of fields. Memory: the header and at most 1 MiB. All functions:
 * ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY.
 */
#ifndef ICS_PHOTONS_FILES_FORMAT_TABLE_READER_H
#define ICS_PHOTONS_FILES_FORMAT_TABLE_READER_H

#include "base/cleanup.h"
#include "pipeline/photons/files/format/layout.h"
#include "pipeline/photons/files/format/parts_digest.h"

#include <jansson.h>
#include <stdatomic.h>

typedef struct ics_table_reader ics_table_reader;

/* Opens a regular file. `schema` NULL: it is recognised by the names of the fields. */
int ics_table_reader_open(const char *path, const ics_layout *schema, ics_table_reader **out,
                          icestream_error *error);
/* Reads messages from a descriptor, which the caller closes. ics_table_reader_next() begins the
 * first message. Functions that wait for input return ICESTREAM_E_INTERRUPTED as soon as
 * `wake_descriptor` (-1: none) is readable. */
int ics_table_reader_open_stream(int descriptor, const char *name, const ics_layout *schema,
                                 int wake_descriptor, ics_table_reader **out,
                                 icestream_error *error);
/* Accepts NULL. */
void ics_table_reader_destroy(ics_table_reader *reader);
ICS_CAN_DESTROY(ics_table_reader, ics_table_reader_destroy)

/* Streams: goes to the next message. The current one must have been read or skipped to its end; a
 * trailer that is still to come is checked here. *found false: the stream has ended after the last
 * message. */
int ics_table_reader_next(ics_table_reader *reader, bool *found, icestream_error *error);
/* Streams: reads the rest of the current message and forgets it, also after ICESTREAM_E_INPUT if
 * ics_table_reader_can_skip(). */
int ics_table_reader_skip(ics_table_reader *reader, icestream_error *error);
/* Streams: whether the end of the current message can be found, after an error. */
bool ics_table_reader_can_skip(const ics_table_reader *reader);

/* Files: goes back to the first row. `digest`: computes the digest of the file while it is read. */
int ics_table_reader_rewind(ics_table_reader *reader, bool digest, icestream_error *error);

/* Files: the same, and begins the digest. Of a file of more than ICS_DIGEST_PART bytes threads
 * compute it in parts, which read the file as well. From then on it is an error if rows that are
 * read again differ from those that were read first. */
int ics_table_reader_rewind_with_digest(ics_table_reader *reader, icestream_error *error);
/* Whether threads compute the digest. */
bool ics_table_reader_has_late_digest(const ics_table_reader *reader);
/* Waits for the digest that ics_table_reader_rewind_with_digest() has begun, once all rows were
 * read. `cancel` (may be NULL): when it becomes true, the function returns ICESTREAM_E_INTERRUPTED.
 * ICESTREAM_E_INPUT also if the file was changed. */
int ics_table_reader_await_digest(ics_table_reader *reader, const atomic_bool *cancel,
                                  char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error);
/* Of a file whose digest is in parts: computes the SHA-256 that sha256sum prints, of the same rows.
 * The same errors. */
int ics_table_reader_plain_digest(ics_table_reader *reader, const atomic_bool *cancel,
                                  char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error);

/* Reads the next rows in the layout of the schema, as many as are left but at most `capacity` (>
 * 0). At the end *got = 0; then checksums are compared, and it is an error if the size or the
 * modification time of a file has changed since it was opened. A message of steps whose header
 * announces a trailer ends with it, so this waits for the trailer, or for what shows that there is
 * none: the next message, or the end of the stream. Messages of hits have the same header with and
 * without a trailer, and are passed on at once: ics_table_reader_next() checks their trailers. */
int ics_table_reader_read(ics_table_reader *reader, void *rows, size_t capacity, size_t *got,
                          icestream_error *error);

/* The name of the file, or of the stream with the number of the message, for error texts. */
const char *ics_table_reader_name(const ics_table_reader *reader);
const ics_layout *ics_table_reader_layout(const ics_table_reader *reader);
/* Number of rows in the header. */
uint64_t ics_table_reader_rows(const ics_table_reader *reader);
/* Number of rows read so far, which is the number of the next row. */
uint64_t ics_table_reader_position(const ics_table_reader *reader);
/* Whether rows are stored in the layout of the schema. */
bool ics_table_reader_packed(const ics_table_reader *reader);
/* Whether a field is stored in single or half precision. */
bool ics_table_reader_is_single(const ics_table_reader *reader, const char *field);
/* The trailer's metadata, or NULL if there is no trailer. The reader owns it. */
const json_t *ics_table_reader_metadata(const ics_table_reader *reader);
/* The record of light (models/light_record.h) in the trailer of a file, or in the header of a file
 * or message; NULL: there is none. The reader owns it. */
const json_t *ics_table_reader_light(const ics_table_reader *reader);
/* Streams: whether the message is one of steps and its header announces a trailer, which may have
 * the record. */
bool ics_table_reader_awaits_trailer(const ics_table_reader *reader);
/* Streams: the record in the trailer of the message, once *got = 0; NULL: there is none. The reader
 * owns it. */
const json_t *ics_table_reader_late_light(const ics_table_reader *reader);
/* Digest of a file or of a message with its trailer (after *got = 0); empty before the first.
 * False: out of memory. */
bool ics_table_reader_digest(const ics_table_reader *reader, char text[ICS_DIGEST_TEXT]);

#endif
