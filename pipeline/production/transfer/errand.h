/* Moves a file next to a loop of libuv: a program of the user does it, or, if there is no program,
 * a thread of this process copies it (transfer.h). All functions are called on the loop's thread.
 */
#ifndef ICS_PRODUCTION_TRANSFER_ERRAND_H
#define ICS_PRODUCTION_TRANSFER_ERRAND_H

#include "pipeline/production/transfer/program_call.h"
#include "pipeline/production/transfer/transfer.h"

typedef struct ics_errand ics_errand;

typedef struct ics_errand_order {
    ics_program_call call; /* call.words.count 0: there is no program */
    bool ships;            /* without a program: ships; false: fetches */
    ics_transfer_request
        request; /* without a program; its texts are copied, `cancel` is not used */
    /* Called later, once, by the loop. The error says how a program has ended, as
     * ics_program_call_describe() does; without a program it is that of ics_transfer_fetch() or
     * ics_transfer_ship(). An errand that was asked to stop has a cause that may pass. */
    void (*then)(void *user, const icestream_error *why);
    void *user;
} ics_errand_order;

/* Begins an errand; any number may be under way. Everything that fails is reported to `then`. The
 * errand is freed before `then` is called. */
ics_errand *ics_errand_start(uv_loop_t *loop, const ics_errand_order *order);
/* Asks the program to end (SIGTERM, and SIGKILL 5 s later), or the thread to stop; `then` is still
 * called. */
void ics_errand_stop(ics_errand *errand);

#endif
