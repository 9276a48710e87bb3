/* SIGINT and SIGTERM as a request to finish what is being computed, as in a run (commands.md). */
#ifndef ICS_COMMANDS_SIGNALS_STOP_SIGNALS_H
#define ICS_COMMANDS_SIGNALS_STOP_SIGNALS_H

#include <stdatomic.h>
#include <stdbool.h>

/* Catches both signals from now on. `at_once`: the first signal already cancels. */
void ics_stop_signals_catch(bool at_once);
/* Gives the signals back what they did before. */
void ics_stop_signals_release(void);

/* The first signal that came: SIGINT or SIGTERM; 0: none yet. */
int ics_stop_signals_first(void);
/* The status of a command that this signal ended. */
int ics_stop_signals_status(void);
/* Becomes true when the work has to be given up: at a second signal. The same signal again within
 * 0.5 s counts as one with the first, because supervisors send it to the process and to its group.
 * Valid until the end of the process. */
const atomic_bool *ics_stop_signals_cancel(void);

#endif
