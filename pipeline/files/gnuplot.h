/* Pictures drawn by gnuplot in a child process, without a shell and without files of the user. */
#ifndef ICS_FILES_GNUPLOT_H
#define ICS_FILES_GNUPLOT_H

#include "pipeline/icestream.h"

enum { ICS_GNUPLOT_SECONDS = 20 }; /* how long gnuplot may draw one picture */

/* Draws the picture of a script of `size` bytes, whose terminal writes to standard output. *out is
 * that output with a zero byte behind its *out_size bytes; the caller frees it. ICESTREAM_E_FAILED:
 * gnuplot is not installed, fails, or needs more than ICS_GNUPLOT_SECONDS; the text says which.
 * ICESTREAM_E_MEMORY. */
int ics_gnuplot_draw(const char *script, size_t size, char **out, size_t *out_size,
                     icestream_error *error);

#endif
