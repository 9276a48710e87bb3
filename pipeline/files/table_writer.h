/* Writing step and hit files (files.md 6.1), and messages on pipes.
 *
 * A file grows as NAME.part and gets its name when it is complete, so that whatever happens to the
 * writer, a file with its final name is whole:
 *
 *     ics_table_writer_create("hits/a.hits.npy", ics_layout_hits(), force, &writer, error)
 *     ics_table_writer_append(writer, hits, count, error)           any number of times
 *     ics_table_writer_commit(writer, metadata, error)
 *     ics_table_writer_destroy(writer)                              without commit: removes the
 * .part
 *
 * The writer holds a lock on NAME.part: two runs cannot write the same output, and a .part that a
 * killed run left behind is overwritten. A writer belongs to one thread at a time. Errors:
 * ICESTREAM_E_OUTPUT with the file's name and the bytes written so far (full disk, quota, lost
 * medium), ICESTREAM_E_MEMORY.
 */
#ifndef ICS_FILES_TABLE_WRITER_H
#define ICS_FILES_TABLE_WRITER_H

#include "pipeline/files/format/layout.h"
#include "pipeline/icestream.h"

#include <jansson.h>

typedef struct ics_table_writer ics_table_writer;

/* Creates NAME.part in an existing folder. Without `force`, an existing NAME is an error, here and
 * again when committing. */
int ics_table_writer_create(const char *path, const ics_layout *schema, bool force,
                            ics_table_writer **out, icestream_error *error);

/* The same with a .part of its own for the writer of that name (output.h); NULL: as above. */
int ics_table_writer_create_as(const char *path, const char *name, const ics_layout *schema,
                               bool force, ics_table_writer **out, icestream_error *error);

/* Appends `count` records (icestream_step, icestream_hit, ..., as the schema says). */
int ics_table_writer_append(ics_table_writer *writer, const void *rows, size_t count,
                            icestream_error *error);

/* Completes a copy of `metadata` (may be NULL; see metadata.h), writes it and gives the file its
 * name. After an error the file is not there under its name. */
int ics_table_writer_commit(ics_table_writer *writer, const json_t *metadata,
                            icestream_error *error);

/* Rows appended so far. */
uint64_t ics_table_writer_rows(const ics_table_writer *writer);

/* Closes; a file that was not committed is removed. Accepts NULL. */
void ics_table_writer_destroy(ics_table_writer *writer);

/* Writes one complete .npy message of `count` rows to a descriptor (a pipe, standard output).
 * `name` is used in messages. A reader that went away is ICESTREAM_E_OUTPUT; the process gets no
 * SIGPIPE.
 */
int ics_table_message_write(int descriptor, const char *name, const ics_layout *schema,
                            const void *rows, size_t count, icestream_error *error);

#endif
