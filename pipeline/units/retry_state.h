/* What is known about work that failed for a reason that may pass, and that is tried again later. A
 * unit, the intake and each program of sink.command own one ics_retry.
 * pipeline/run/retry.h has the functions. */
#ifndef ICS_UNITS_RETRY_STATE_H
#define ICS_UNITS_RETRY_STATE_H

#include <stdbool.h>
#include <stdint.h>

/* What is tried again. */
typedef enum ics_retry_what {
    ICS_RETRY_NOTHING,
    ICS_RETRY_CHECK,   /* a unit is read again from its beginning */
    ICS_RETRY_WRITE,   /* the hits of a unit are written */
    ICS_RETRY_CLAIM,   /* the claim of a unit is ended */
    ICS_RETRY_COMMAND, /* sink.command is run */
    ICS_RETRY_LOOK     /* the intake looks for files */
} ics_retry_what;

/* All zero: nothing failed. */
typedef struct ics_retry {
    ics_retry_what what; /* ICS_RETRY_NOTHING: no retry is pending */
    double due;          /* ics_clock_seconds() from which the retry may begin (s) */
    double failed;       /* ics_clock_seconds() of the last failure (s) */
    uint32_t tries;      /* number of failures in a row */
    bool needs_room;     /* the last failure was a full disk, and nothing has succeeded since */
} ics_retry;

#endif
