/* Filling is_error inside the library. */
#ifndef IS_ERROR_H
#define IS_ERROR_H

#include "pipeline/icestream.h"

/* Replaces the error's text and status, returns `status`. `error` may be NULL. */
int is_error_set(is_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Appends a line to the error's text (the first one sets it) and keeps the first status, returns
 * the error's status. Text beyond the buffer is replaced by a line that says how many errors more
 * there are. `error` may be NULL. */
int is_error_add(is_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies one error into another; either may be NULL. Returns from's status. */
int is_error_copy(is_error *to, const is_error *from);

#endif
