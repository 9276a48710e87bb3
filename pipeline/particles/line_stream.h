/* Text line by line from a file, a pipe or memory: a few kilobytes are kept, whatever its length.
 */
#ifndef IS_LINE_STREAM_H
#define IS_LINE_STREAM_H

#include "pipeline/models/text.h"

/* A line that is longer is an error. */
enum { IS_LINE_MOST = 4096 };

typedef struct is_line_stream is_line_stream;

/* Opens a file; "-" is standard input. The name stays the caller's. IS_E_CONFIG: it cannot be read;
 * IS_E_MEMORY. */
int is_line_stream_open(const char *path, is_line_stream **out, is_error *error);
/* Text in memory, which stays the caller's. IS_E_MEMORY. */
int is_line_stream_borrow(const char *name, const char *data, size_t size, is_line_stream **out,
                          is_error *error);
/* Accepts NULL. */
void is_line_stream_destroy(is_line_stream *stream);

/* The next line that has fields; *found is false at the end. Fields are split as in text.h, '#'
 * begins a comment; they are valid until the next call. IS_E_CONFIG: a line that is too long, or a
 * file that cannot be read any more. */
int is_line_stream_next(is_line_stream *stream, char separator, is_line *line, bool *found,
                        is_error *error);

const char *is_line_stream_name(const is_line_stream *stream);
/* The number of the last line, from 1. */
size_t is_line_stream_line(const is_line_stream *stream);
/* Adds "NAME:LINE:COLUMN: error: ..." for a place in the last line; column 0: all of it. Returns
 * IS_E_CONFIG. */
int is_line_stream_fault(const is_line_stream *stream, size_t column, is_error *error,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
