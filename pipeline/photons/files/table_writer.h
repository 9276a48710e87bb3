/* Writing step and hit files (files.md 6.1), and messages on pipes.
 *
 * A file grows as NAME.part and gets its final name when it is complete. So a file with its final
 * name is complete, even if its writer was killed:
 *
 *     ics_table_writer_create("hits/a.hits.npy", ics_layout_hits(), force, &writer, error)
 *     ics_table_writer_append(writer, hits, count, error)           any number of times
 *     ics_table_writer_commit(writer, metadata, error)
 *     ics_table_writer_destroy(writer)                 without a commit it removes the .part
 *
 * The writer holds a lock on NAME.part, so two runs cannot write the same output. A .part that a
 * killed run left behind is overwritten. A writer belongs to one thread at a time. Errors:
 * ICESTREAM_E_OUTPUT with the file's name and the bytes written so far (full disk, quota, lost
 * disk), ICESTREAM_E_MEMORY.
 */
#ifndef ICS_PHOTONS_FILES_TABLE_WRITER_H
#define ICS_PHOTONS_FILES_TABLE_WRITER_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/files/format/layout.h"
#include "pipeline/photons/files/format/trailer.h"
#include "pipeline/photons/files/output.h"

#include <jansson.h>

typedef struct ics_table_writer ics_table_writer;

/* Creates NAME.part in an existing folder. Without `force`, an existing NAME is an error, here and
 * in ics_table_writer_commit(). */
int ics_table_writer_create(const char *path, const ics_layout *schema, bool force,
                            ics_table_writer **out, icestream_error *error);

/* The same, with a .part for the writer with this name (ics_output_create_as); NULL: as above. */
int ics_table_writer_create_as(const char *path, const char *name, const ics_layout *schema,
                               bool force, ics_table_writer **out, icestream_error *error);

/* Lets the commit replace only the file of the mark (ics_output_expect). */
void ics_table_writer_expect(ics_table_writer *writer, const ics_output_mark *mark);

/* Makes an open file without a name, which has ICS_NPY_OWN_HEADER bytes and then `rows` rows, the
 * file of a writer without rows (ics_output_adopt). The writer empties `sums`: the checksums of the
 * rows without the last block. *adopted false: the system cannot do this; nothing has changed. */
int ics_table_writer_adopt(ics_table_writer *writer, int file, uint64_t rows,
                           ics_trailer_checksums *sums, bool *adopted, icestream_error *error);

/* Appends `count` records (icestream_step, icestream_hit, ..., as the schema says). */
int ics_table_writer_append(ics_table_writer *writer, const void *rows, size_t count,
                            icestream_error *error);

/* Completes a copy of `metadata` (may be NULL; see metadata.h), writes it and gives the file its
 * final name. After an error no file has this name. */
int ics_table_writer_commit(ics_table_writer *writer, const json_t *metadata,
                            icestream_error *error);

/* Rows appended so far. */
uint64_t ics_table_writer_rows(const ics_table_writer *writer);

/* Closes the file; removes it if it was not committed. Accepts NULL. */
void ics_table_writer_destroy(ics_table_writer *writer);
ICS_CAN_DESTROY(ics_table_writer, ics_table_writer_destroy)

/* Writes one complete .npy message of `count` rows to a descriptor (a pipe, standard output), with
 * a note in its header (format/npy.h), or NULL. `name` is used in error texts. ICESTREAM_E_OUTPUT
 * if the reader has closed the pipe; the process gets no SIGPIPE. ICESTREAM_E_MEMORY. */
int ics_table_message_write(int descriptor, const char *name, const ics_layout *schema,
                            const char *note, const void *rows, size_t count,
                            icestream_error *error);

#endif
