/* `icestream top`: the report of `status` in short, on a terminal once a second. */
#ifndef ICS_TOOLS_TOP_TOP_H
#define ICS_TOOLS_TOP_TOP_H

#include "pipeline/icestream.h"

/* Writes the state of the runs that write into `folder` once, in lines of any length. Errors as
 * icestream_folder_status. */
int ics_top_once(const char *folder, FILE *out, icestream_error *error);

/* Shows the state on the terminal of standard output until a signal ends the process. The terminal
 * is as before then, and also after an error, and while the process is stopped (Ctrl-Z). Only a
 * program's main thread may call it: it sets handlers of signals. Errors as ics_top_once. */
int ics_top_follow(const char *folder, icestream_error *error);

#endif
