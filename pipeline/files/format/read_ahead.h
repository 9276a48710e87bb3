/* Reads a file to its end, piece by piece, by a thread that is some pieces ahead.
 *
 * A copy out of the memory of the system takes a fifth of the time of SHA-256, and can be made at
 * the same time. */
#ifndef ICS_FILES_FORMAT_READ_AHEAD_H
#define ICS_FILES_FORMAT_READ_AHEAD_H

#include <stddef.h>
#include <stdint.h>

typedef struct ics_read_ahead ics_read_ahead;

/* Begins at byte `offset` of an open file, which must stay open. If there cannot be one more
 * thread, ics_read_ahead_next() reads. NULL: out of memory. */
ics_read_ahead *ics_read_ahead_begin(int descriptor, uint64_t offset);
/* Returns the next piece in *bytes and *size, which is valid until the next call; *size = 0: the
 * file has ended, or could not be read, and the result is the cause (errno; 0: none). After that it
 * must not be called again. */
int ics_read_ahead_next(ics_read_ahead *ahead, const unsigned char **bytes, size_t *size);
/* Ends the thread and frees all. Accepts NULL. */
void ics_read_ahead_end(ics_read_ahead *ahead);

#endif
