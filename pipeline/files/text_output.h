/* A text file that is written line by line, and appears when it is complete (output.h). */
#ifndef IS_TEXT_OUTPUT_H
#define IS_TEXT_OUTPUT_H

#include "pipeline/icestream.h"

enum { IS_TEXT_OUTPUT_LINE = 512 }; /* longest line, newline and final 0 included */

typedef struct is_text_output is_text_output;

/* As is_output_create. */
int is_text_output_create(const char *path, bool force, is_text_output **out, is_error *error);
/* Closes; a file that was not committed is removed. Accepts NULL. */
void is_text_output_destroy(is_text_output *file);

/* Appends a line, which brings its newline. IS_E_OUTPUT; IS_E_FAILED: it is too long. */
int is_text_output_put(is_text_output *file, is_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As is_output_commit. */
int is_text_output_commit(is_text_output *file, is_error *error);

#endif
