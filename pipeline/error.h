/* Filling is_error inside the library. */
#ifndef IS_ERROR_H
#define IS_ERROR_H

#include "pipeline/icestream.h"

/* Replaces the error's text and status, returns `status`. `error` may be NULL. */
int is_error_set(is_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the errno that is behind it; the text has to tell it, too. */
int is_error_set_cause(is_error *error, int status, int cause, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether the cause of an error may pass, so that it makes sense to try again: EIO, ESTALE, a full
 * disk, and the like. */
bool is_error_may_pass(const is_error *error);
/* Of those: there is no room on the disk. */
bool is_error_no_room(const is_error *error);

/* Appends a line to the error's text (the first one sets it) and keeps the first status, returns
 * the error's status. Text beyond the buffer is replaced by a line that says how many errors more
 * there are. `error` may be NULL. */
int is_error_add(is_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies one error into another; either may be NULL. Returns from's status. */
int is_error_copy(is_error *to, const is_error *from);

#endif
