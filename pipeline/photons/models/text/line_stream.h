/* Text line by line from a file, a pipe or memory. A few kilobytes are in memory, independent of
 * the length of the text. */
#ifndef ICS_PHOTONS_MODELS_TEXT_LINE_STREAM_H
#define ICS_PHOTONS_MODELS_TEXT_LINE_STREAM_H

#include "pipeline/photons/models/text/text.h"

/* A line that is longer is an error. */
enum { ICS_LINE_MOST = 4096 };

typedef struct ics_line_stream ics_line_stream;

/* Opens a file; "-" is standard input. The caller keeps the name alive. ICESTREAM_E_CONFIG: the
 * file cannot be read. ICESTREAM_E_MEMORY. */
int ics_line_stream_open(const char *path, ics_line_stream **out, icestream_error *error);
/* Opens a text in memory, which the caller keeps alive. ICESTREAM_E_MEMORY. */
int ics_line_stream_borrow(const char *name, const char *data, size_t size, ics_line_stream **out,
                           icestream_error *error);
/* While a read waits for more text of a pipe, it ends with ICESTREAM_E_INTERRUPTED as soon as this
 * descriptor (-1: none) is readable. Without this call nothing interrupts it. */
void ics_line_stream_wake_by(ics_line_stream *stream, int descriptor);
/* Accepts NULL. */
void ics_line_stream_destroy(ics_line_stream *stream);

/* The next line that has fields; *found is false at the end. Fields are split as in text.h, '#'
 * begins a comment; they are valid until the next call. ICESTREAM_E_CONFIG: a line that is too
 * long, or a file that cannot be read any more. */
int ics_line_stream_next(ics_line_stream *stream, char separator, ics_text_line *line, bool *found,
                         icestream_error *error);

const char *ics_line_stream_name(const ics_line_stream *stream);
/* The number of the last line, from 1. */
size_t ics_line_stream_line(const ics_line_stream *stream);
/* Adds "NAME:LINE:COLUMN: error: ..." for a place in the last line; column 0: all of it. Returns
 * ICESTREAM_E_CONFIG. */
int ics_line_stream_fault(const ics_line_stream *stream, size_t column, icestream_error *error,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
