/* Reading step files and streams of step messages, with every field checked (files.md 3.2).
 *
 * A file is read twice: ics_step_reader_check() checks all of it and returns a summary, then
 * ics_step_reader_read() returns the rows from the start:
 *
 *     ics_step_reader_open(path, spectra, &reader, error)
 *     ics_step_reader_check(reader, &summary, NULL, error)
 *     do ics_step_reader_read(reader, steps, capacity, &count, error) while (count > 0)
 *     ics_step_reader_destroy(reader)
 *
 * A stream is a sequence of complete .npy messages, each of which is read like a file:
 *
 *     ics_step_reader_open_stream(fd, "standard input", spectra, wake, &reader, error)
 *     while (ics_step_reader_next(reader, &found, error) == 0 && found)
 *         do ics_step_reader_read(...) while (count > 0)
 *
 * The digest takes longer than the check, so threads compute it of a large file, and
 * ics_step_reader_check_rows() does not wait for it.
 *
 * Memory is constant (about 2 MiB, and 24 bytes per MiB of a large file), except if keys do not
 * ascend: then the check that step ids are unique takes up to 16 bytes per step. Rows are numbered
 * from 0 in error texts, as in NumPy. A reader belongs to one thread at a time. All functions:
 * ICESTREAM_E_INPUT (bad data, unreadable file), ICESTREAM_E_MEMORY; the text names file, row and
 * field, what was found and what was expected.
 */
#ifndef ICS_PHOTONS_FILES_STEP_READER_H
#define ICS_PHOTONS_FILES_STEP_READER_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"
#include "pipeline/photons/files/format/parts_digest.h"
#include "pipeline/photons/files/step_extent.h"

#include <jansson.h>
#include <stdatomic.h>

typedef struct ics_step_reader ics_step_reader;

typedef struct ics_step_summary {
    uint64_t rows;
    uint64_t photons;       /* sum over all rows, < 2^62 */
    bool ascending;         /* (event_id, step_id) ascends strictly from row to row */
    ics_step_extent extent; /* extent of the rows of the first read */
    /* Of all bytes of the file: in parts if there are more than ICS_DIGEST_PART, else as sha256sum
     * prints it. */
    char digest[ICS_PARTS_DIGEST_TEXT];
} ics_step_summary;

/* Opens a regular file and reads its header and trailer. A folder, device or pipe with this name is
 * an error. `spectrum_count`: number of spectra of the run, 1 .. 256; the spectrum of a step must
 * be less. */
int ics_step_reader_open(const char *path, uint32_t spectrum_count, ics_step_reader **out,
                         icestream_error *error);

/* Reads messages from a descriptor, which the caller closes. `name` is used in error texts.
 * `wake_descriptor` (-1: none): as soon as it is readable, functions that wait for input return
 * ICESTREAM_E_INTERRUPTED. */
int ics_step_reader_open_stream(int descriptor, const char *name, uint32_t spectrum_count,
                                int wake_descriptor, ics_step_reader **out, icestream_error *error);

/* Accepts NULL. */
void ics_step_reader_destroy(ics_step_reader *reader);
ICS_CAN_DESTROY(ics_step_reader, ics_step_reader_destroy)

/* Files only: reads the whole file, checks every field of every row, that step ids are unique, and
 * the trailer's checksums, and goes back to the first row. `cancel` (may be NULL): when it becomes
 * true, the function returns ICESTREAM_E_INTERRUPTED. */
int ics_step_reader_check(ics_step_reader *reader, ics_step_summary *out, const atomic_bool *cancel,
                          icestream_error *error);

/* The same without waiting for the digest: out->digest is empty if threads still compute it, as
 * they do of a large file. */
int ics_step_reader_check_rows(ics_step_reader *reader, ics_step_summary *out,
                               const atomic_bool *cancel, icestream_error *error);
/* Waits for the digest of a file that passed ics_step_reader_check_rows(). Rows may have been read
 * since. ICESTREAM_E_INPUT: the file was changed, also if only its rows show it.
 * ICESTREAM_E_INTERRUPTED: `cancel` (may be NULL) became true. */
int ics_step_reader_await_digest(ics_step_reader *reader, const atomic_bool *cancel,
                                 char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error);
/* Of a file whose digest is in parts: the SHA-256 that sha256sum prints, by which versions before
 * 0.3.0 name such a file. All of it is read again. The same errors. */
int ics_step_reader_plain_digest(ics_step_reader *reader, const atomic_bool *cancel,
                                 char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error);

/* Streams only: goes to the next message. *found false: the stream has ended after the last
 * message. Rows of the previous message that were not read are read and checked first. */
int ics_step_reader_next(ics_step_reader *reader, bool *found, icestream_error *error);
/* Streams only: reads the rest of the current message and forgets it. */
int ics_step_reader_skip(ics_step_reader *reader, icestream_error *error);
/* Whether the reader can still be used after an error: the message can be skipped, because its end
 * can be found. False for files. */
bool ics_step_reader_can_skip(const ics_step_reader *reader);

/* Reads the next rows, at most `capacity` (> 0); *got = 0 at the end of the file or message. Rows
 * are checked again. Directions are normalised in double precision, and set to (0, 0, 1) if they
 * are ignored. *got = 0 of a message: its trailer, if its header announces one, was checked, too;
 * this waits for the trailer, or for the next message or the end of the stream instead. After an
 * error the reader can only be destroyed, or the message skipped. */
int ics_step_reader_read(ics_step_reader *reader, icestream_step *steps, size_t capacity,
                         size_t *got, icestream_error *error);

/* Number of rows in the header of the file or of the current message. */
uint64_t ics_step_reader_rows(const ics_step_reader *reader);

/* The record of the light of the file or of the current message (models/light_record.h); NULL:
 * there is none. The reader owns it. */
const json_t *ics_step_reader_light(const ics_step_reader *reader);
/* Streams: whether the header of the message announces a trailer, which may have the record. */
bool ics_step_reader_awaits_trailer(const ics_step_reader *reader);
/* Streams: the record in the trailer of the message, after ics_step_reader_read() has returned *got
 * = 0; NULL: there is none. The photons of the message may be computed already. */
const json_t *ics_step_reader_late_light(const ics_step_reader *reader);

/* Streams: the summary of the message, after ics_step_reader_read() has returned *got = 0. The
 * digest is that of the bytes of the message with its trailer. */
void ics_step_reader_summary(const ics_step_reader *reader, ics_step_summary *out);

#endif
