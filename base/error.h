/* Functions that fill an icestream_error. */
#ifndef ICS_BASE_ERROR_H
#define ICS_BASE_ERROR_H

#include "base/icestream_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Calls a function that returns a status, and returns that status from the caller unless it is
 * ICESTREAM_OK. Use it only where the caller holds nothing that it would have to release, or where
 * the compiler releases it (base/cleanup.h). */
#define ICS_TRY(call)                                                                              \
    do {                                                                                           \
        const int ics_try_status = (call);                                                         \
        if (ics_try_status != ICESTREAM_OK) {                                                      \
            return ics_try_status;                                                                 \
        }                                                                                          \
    } while (0)

/* Returns the first of two results that is not ICESTREAM_OK; ICESTREAM_OK: neither failed. For
 * checks that are all made, so that their errors are reported together. */
static inline int ics_error_first(int status, int next)
{
    return status != 0 ? status : next;
}

/* Sets text and status of the error and returns `status`. `error` may be NULL. */
int ics_error_set(icestream_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the errno of the failed call. The text must name this cause as well. */
int ics_error_set_cause(icestream_error *error, int status, int cause, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether the cause of an error may pass, so that another try may succeed: EIO, ESTALE, ENOMEM, a
 * full disk and others. */
bool ics_error_may_pass(const icestream_error *error);
/* The status of an input that cannot be opened or read for this errno: ICESTREAM_E_FAILED if memory
 * or descriptors have run out, which is no fault of the input; otherwise ICESTREAM_E_INPUT. */
int ics_error_of_input(int cause);
/* Whether the cause is that a disk or a quota is full. */
bool ics_error_no_room(const icestream_error *error);

/* Adds an error as another line. The first call sets the status, later calls keep it. If the text
 * is full, its last line counts the errors that did not fit. Returns the status of `error`, or
 * `status` if `error` is NULL. */
int ics_error_add(icestream_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for an error of a kind of which there may be thousands, such as a fault in each line of
 * a file. The first ICS_ERROR_KIND are added; after them a line counts the others: "NAME: error:
 * and 71 more". `count` counts the errors of this kind; it is 0 before the first one. */
enum { ICS_ERROR_KIND = 10 };
int ics_error_add_counted(icestream_error *error, size_t *count, int status, const char *name,
                          const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds "NAME: error: out of memory". Returns ICESTREAM_E_MEMORY, which analyzers see here. */
static inline int ics_error_no_memory(icestream_error *error, const char *name)
{
    (void)ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", name);
    return ICESTREAM_E_MEMORY;
}

/* Copies an error; both may be NULL. Returns the status of `from`; ICESTREAM_OK if it is NULL. */
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
