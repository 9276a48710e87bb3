/* Whether the process that holds a lease has ended, for the spool and `icestream status`.
 *
 * A number of a process means something only in its PID namespace, and the start time distinguishes
 * a process from a later one with the same number. So a process is known to have ended only if it
 * began on this machine, since its last boot, in the PID namespace of this process. Of any other
 * process nothing is known, and the age of its lease decides. */
#ifndef ICS_PRODUCTION_SPOOL_PROCESS_H
#define ICS_PRODUCTION_SPOOL_PROCESS_H

#include <stdbool.h>

typedef struct ics_process {
    /* Boot of the machine, PID namespace and time namespace, in which the numbers below mean
     * something. "": unknown. */
    char space[128];
    long long pid;
    long long start; /* clock ticks since the boot */
} ics_process;

/* Describes this process. If /proc does not show it, `space` is "". */
void ics_process_self(ics_process *out);
/* Whether a process has certainly ended. `self`: this process. */
bool ics_process_is_gone(const ics_process *process, const ics_process *self);
/* Whether no process of this machine has the number `pid`, or the process with this number is a
 * zombie: it has ended, and its parent has not asked for its status. */
bool ics_process_has_ended(long long pid);

#endif
