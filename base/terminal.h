/* Refuses to write binary data to a terminal and to wait for binary data from a terminal. */
#ifndef ICS_BASE_TERMINAL_H
#define ICS_BASE_TERMINAL_H

#include "base/icestream_error.h"

/* ICESTREAM_E_USAGE: standard output is a terminal. `name`: what chose standard output, for the
 * text. */
int ics_terminal_check_output(const char *name, icestream_error *error);
/* ICESTREAM_E_USAGE: standard input is a terminal. */
int ics_terminal_check_input(const char *name, icestream_error *error);

#endif
