/* Named pipes as streams of step messages. */
#ifndef ICS_SOURCE_FIFO_H
#define ICS_SOURCE_FIFO_H

#include "pipeline/icestream.h"

/* Whether this path names a pipe, now. */
bool ics_fifo_is_fifo(const char *path);

/* Opens a named pipe for reading without waiting for a writer. The descriptor does not block; given
 * to ics_step_reader_open_stream() it waits for the first writer (or for the wake descriptor) and
 * ends when the last writer has closed the pipe.
 *
 * To go on with the next writer, open the pipe again and only then close the old descriptor:
 * between the two a writer could come, and would find nobody reading. The caller closes
 * *descriptor. ICESTREAM_E_INPUT: cannot be opened, no pipe; ICESTREAM_E_FAILED: no descriptors
 * left. Any thread.
 */
int ics_fifo_open(const char *path, int *descriptor, icestream_error *error);

/* After a bad message, where nobody knows where the next one begins: reads and forgets what the
 * writers still send, until the last one has closed the pipe. `wake_descriptor` (-1: none): as soon
 * as it is readable, ICESTREAM_E_INTERRUPTED. ICESTREAM_E_INPUT: cannot be read. Any thread. */
int ics_fifo_discard(const char *path, int descriptor, int wake_descriptor, icestream_error *error);

#endif
