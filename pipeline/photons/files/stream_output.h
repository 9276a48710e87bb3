/* Bytes to a pipe or to standard output, and files that standard streams need. */
#ifndef ICS_PHOTONS_FILES_STREAM_OUTPUT_H
#define ICS_PHOTONS_FILES_STREAM_OUTPUT_H

#include "pipeline/icestream.h"

/* What error texts call standard output, which a path "-" stands for. */
#define ICS_STREAM_OUTPUT_NAME "standard output"

/* Writes all bytes to a descriptor, also to one that does not wait. `name` is for error texts, and
 * *written is the number of bytes written before, which grows. ICESTREAM_E_OUTPUT: the cause is
 * EPIPE if the reader has closed the pipe; the process gets no SIGPIPE. */
int ics_stream_output_write(int descriptor, const char *name, const void *bytes, size_t size,
                            uint64_t *written, icestream_error *error);

/* Opens an empty file without a name in the folder $TMPDIR, or in /tmp. The caller closes
 * *descriptor. ICESTREAM_E_OUTPUT. */
int ics_stream_output_temporary(int *descriptor, icestream_error *error);

/* Writes a file from its beginning to standard output. ICESTREAM_E_OUTPUT. */
int ics_stream_output_copy(int descriptor, icestream_error *error);

/* Reads all of standard input into such a temporary file, for readers that need to know the end
 * first. ICESTREAM_E_USAGE: standard input is a terminal; ICESTREAM_E_INPUT, ICESTREAM_E_OUTPUT. */
int ics_stream_output_keep_input(int *descriptor, icestream_error *error);

#endif
