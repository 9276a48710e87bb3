/* What becomes of a process in which a stage header of the user crashes or never returns.
 *
 * A header is code of the user, which may do both. A program that calls ics_stage_guard_catch()
 * then says which headers its kernels have. A library does not call it: the signals belong to the
 * process that uses it, and the other functions do nothing but count.
 */
#ifndef ICS_KERNELS_STAGE_GUARD_H
#define ICS_KERNELS_STAGE_GUARD_H

#include "kernels/stage.h"

#include <stdbool.h>

enum { ICS_STAGE_GUARD_TEXT = 1024 };

/* Writes the headers as "stages.scatter: loop.h, stages.create: light.h" into `text`, "" if there
 * is none. Returns the text. */
const char *ics_stage_guard_names(const char *const headers[ICS_STAGES],
                                  char text[ICS_STAGE_GUARD_TEXT]);

/* Lets faults such as SIGSEGV inside of kernels name the headers before they end the process, and
 * lets the other functions end it. Call it once, in main(). */
void ics_stage_guard_catch(void);
/* Whether ics_stage_guard_catch() was called: this process is the program. */
bool ics_stage_guard_catches(void);

/* This thread calls kernels with these headers until it leaves. `names` is valid until the end of
 * all calls of all threads. "": kernels without a header, which nobody guards. */
void ics_stage_guard_enter(const char *names);
void ics_stage_guard_leave(const char *names);

/* `names` is valid until the second call. Between these calls SIGINT and SIGTERM end the process at
 * once, with a line that names the headers: a set-up compiles and tries headers, and nothing has
 * been computed. */
void ics_stage_guard_setup_begin(const char *names);
void ics_stage_guard_setup_end(void);

/* The process was asked to end by this signal. If after some seconds a thread is still inside of
 * kernels with headers, the signal ends the process, with a line that names them. Safe in a handler
 * of signals. */
void ics_stage_guard_stop(int signal_number);

#endif
