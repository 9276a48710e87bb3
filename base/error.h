/* Filling icestream_error inside the library. */
#ifndef ICS_BASE_ERROR_H
#define ICS_BASE_ERROR_H

#include "base/icestream_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Calls a function that returns a status, and returns that status from the caller unless it is
 * ICESTREAM_OK. Use it only where the caller holds nothing that it would have to release. */
#define ICS_TRY(call)                                                                              \
    do {                                                                                           \
        const int ics_try_status = (call);                                                         \
        if (ics_try_status != ICESTREAM_OK) {                                                      \
            return ics_try_status;                                                                 \
        }                                                                                          \
    } while (0)

/* Replaces the error's text and status, returns `status`. `error` may be NULL. */
int ics_error_set(icestream_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with the errno that is behind it; the text has to tell it, too. */
int ics_error_set_cause(icestream_error *error, int status, int cause, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether the cause of an error may pass, so that it makes sense to try again: EIO, ESTALE, a full
 * disk, and the like. */
bool ics_error_may_pass(const icestream_error *error);
/* Of those: there is no room on the disk. */
bool ics_error_no_room(const icestream_error *error);

/* Appends a line to the error's text (the first one sets it) and keeps the first status, returns
 * the error's status. Text beyond the buffer is replaced by a line that says how many errors more
 * there are. `error` may be NULL. */
int ics_error_add(icestream_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies one error into another; either may be NULL. Returns from's status. */
int ics_error_copy(icestream_error *to, const icestream_error *from);

/* An error in a structure that lives long: its text is allocated only if there is an error. Zeros
 * mean that there is none. */
typedef struct ics_error_kept {
    int status, cause; /* as in icestream_error */
    char *text;        /* NULL without an error */
} ics_error_kept;

/* Replaces the kept error by a copy of `from`. If there is no memory for the text, the status
 * remains, and its sentence is the text. */
void ics_error_keep(ics_error_kept *kept, const icestream_error *from);
/* Copies a kept error into `to`, which may be NULL. Returns its status. */
int ics_error_copy_kept(icestream_error *to, const ics_error_kept *kept);
/* Frees the text; there is no error any more. */
void ics_error_forget(ics_error_kept *kept);

#endif
