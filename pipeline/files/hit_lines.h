/* Hit files become text of any form: what the forms share. */
#ifndef ICS_FILES_HIT_LINES_H
#define ICS_FILES_HIT_LINES_H

#include "pipeline/files/hit_reader.h"
#include "pipeline/files/text_output.h"

/* Hits that are read at a time. */
enum { ICS_HIT_LINES_BLOCK = 4096 };

/* Writes all hits of the reader. hits[ICS_HIT_LINES_BLOCK] is memory to read them into. */
typedef int (*ics_hit_lines_put)(ics_text_output *file, ics_hit_reader *reader, icestream_hit *hits,
                                 icestream_error *error);

/* Opens the hit file or stream `from`, creates `to`, calls `put`, and commits `to`. After an error
 * `to` is not made. Errors: those of the reader, of the output and of `put`, and
 * ICESTREAM_E_MEMORY. */
int ics_hit_lines_export(const char *from, const char *to, bool force, ics_hit_lines_put put,
                         icestream_error *error);

#endif
