/* Named pipes as streams of step messages. */
#ifndef IS_FIFO_H
#define IS_FIFO_H

#include "pipeline/icestream.h"

/* Whether this path names a pipe, now. */
bool is_fifo(const char *path);

/* Opens a named pipe for reading without waiting for a writer. The descriptor does not block; given
 * to is_step_reader_open_stream() it waits for the first writer (or for the wake descriptor) and
 * ends when the last writer has closed the pipe.
 *
 * To go on with the next writer, open the pipe again and only then close the old descriptor:
 * between the two a writer could come, and would find nobody reading. The caller closes
 * *descriptor. IS_E_INPUT: cannot be opened, no pipe; IS_E_FAILED: no descriptors left. Any thread.
 */
int is_fifo_open(const char *path, int *descriptor, is_error *error);

/* After a bad message, where nobody knows where the next one begins: reads and forgets what the
 * writers still send, until the last one has closed the pipe. `wake_descriptor` (-1: none): as soon
 * as it is readable, IS_E_INTERRUPTED. IS_E_INPUT: cannot be read. Any thread. */
int is_fifo_discard(const char *path, int descriptor, int wake_descriptor, is_error *error);

#endif
