#include "base/terminal.h"

#include "base/error.h"

#include <unistd.h>

int ics_terminal_check_output(const char *name, icestream_error *error)
{
    return isatty(STDOUT_FILENO) != 1
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "%s: found a terminal as standard output, expected a file or a pipe "
                               "for binary data (> FILE, | PROGRAM)",
                               name);
}

int ics_terminal_check_input(const char *name, icestream_error *error)
{
    return isatty(STDIN_FILENO) != 1
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_USAGE,
                               "%s: found a terminal as standard input, expected a file or a pipe "
                               "with binary data (< FILE, PROGRAM |)",
                               name);
}
