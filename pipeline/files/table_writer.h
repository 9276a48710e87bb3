/* Writing step and hit files (formats.md, Writing and committing), and messages on pipes.
 *
 * A file grows as NAME.part and gets its name when it is complete, so that whatever happens to the
 * writer, a file with its final name is whole:
 *
 *     is_table_writer_create("hits/a.hits.npy", is_schema_hits(), force, &writer, error)
 *     is_table_writer_append(writer, hits, count, error)           any number of times
 *     is_table_writer_commit(writer, metadata, error)
 *     is_table_writer_destroy(writer)                              without commit: removes the
 * .part
 *
 * The writer holds a lock on NAME.part: two runs cannot write the same output, and a .part that a
 * killed run left behind is overwritten. A writer belongs to one thread at a time. Errors:
 * IS_E_OUTPUT with the file's name and the bytes written so far (full disk, quota, lost medium),
 * IS_E_MEMORY.
 */
#ifndef IS_TABLE_WRITER_H
#define IS_TABLE_WRITER_H

#include "pipeline/files/format/schema.h"
#include "pipeline/icestream.h"

#include <jansson.h>

typedef struct is_table_writer is_table_writer;

/* Creates NAME.part in an existing folder. Without `force`, an existing NAME is an error, here and
 * again when committing. */
int is_table_writer_create(const char *path, const is_schema *schema, bool force,
                           is_table_writer **out, is_error *error);

/* The same with a .part of its own for the writer of that name (output.h); NULL: as above. */
int is_table_writer_create_as(const char *path, const char *name, const is_schema *schema,
                              bool force, is_table_writer **out, is_error *error);

/* Appends `count` records (is_step, is_hit, ..., as the schema says). */
int is_table_writer_append(is_table_writer *writer, const void *rows, size_t count,
                           is_error *error);

/* Completes a copy of `metadata` (may be NULL; see metadata.h), writes it and gives the file its
 * name. After an error the file is not there under its name. */
int is_table_writer_commit(is_table_writer *writer, const json_t *metadata, is_error *error);

/* Rows appended so far. */
uint64_t is_table_writer_rows(const is_table_writer *writer);

/* Closes; a file that was not committed is removed. Accepts NULL. */
void is_table_writer_destroy(is_table_writer *writer);

/* Writes one complete .npy message of `count` rows to a descriptor (a pipe, standard output).
 * `name` is used in messages. A reader that went away is IS_E_OUTPUT; the process gets no SIGPIPE.
 */
int is_table_message_write(int descriptor, const char *name, const is_schema *schema,
                           const void *rows, size_t count, is_error *error);

#endif
