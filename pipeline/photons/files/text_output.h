/* A text file that is written line by line and gets its name when it is complete (output.h); the
 * path "-" is standard output. */
#ifndef ICS_PHOTONS_FILES_TEXT_OUTPUT_H
#define ICS_PHOTONS_FILES_TEXT_OUTPUT_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"

enum { ICS_TEXT_OUTPUT_LINE = 512 }; /* bytes of the longest line, with newline and final 0 */

typedef struct ics_text_output ics_text_output;

/* As ics_output_create(). */
int ics_text_output_create(const char *path, bool force, ics_text_output **out,
                           icestream_error *error);
/* Closes the file; removes it if it was not committed. Accepts NULL. */
void ics_text_output_destroy(ics_text_output *file);
ICS_CAN_DESTROY(ics_text_output, ics_text_output_destroy)

/* Appends a line; `format` ends with a newline. ICESTREAM_E_OUTPUT; ICESTREAM_E_FAILED: the line is
 * too long. */
int ics_text_output_put(ics_text_output *file, icestream_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends bytes that need not end with a line. ICESTREAM_E_OUTPUT. */
int ics_text_output_put_bytes(ics_text_output *file, const void *bytes, size_t size,
                              icestream_error *error);
/* Writes the lines so far to standard output, so that its reader need not wait; does nothing to a
 * file. ICESTREAM_E_OUTPUT. */
int ics_text_output_pass_on(ics_text_output *file, icestream_error *error);
/* As ics_output_commit(). */
int ics_text_output_commit(ics_text_output *file, icestream_error *error);

#endif
