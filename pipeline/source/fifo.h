/* Named pipes from which streams of step messages are read. */
#ifndef ICS_SOURCE_FIFO_H
#define ICS_SOURCE_FIFO_H

#include "pipeline/icestream.h"

/* Opens a named pipe for reading, without waiting for a writer. The caller closes *descriptor,
 * which does not block. A stream of ics_step_reader_open_stream() with it waits for the first
 * writer (or for the wake descriptor), and ends when the last writer has closed the pipe.
 * ICESTREAM_E_INPUT: it cannot be opened or is no pipe; ICESTREAM_E_FAILED: there are no
 * descriptors left. Any thread. */
int ics_fifo_open(const char *path, int *descriptor, icestream_error *error);

#endif
