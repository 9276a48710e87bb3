/* What failed for a reason that may pass is tried again after growing delays: as long as necessary
 * where the disk is full, otherwise a few times. Only these functions change an ics_retry. */
#ifndef ICS_PRODUCTION_RUN_RETRY_H
#define ICS_PRODUCTION_RUN_RETRY_H

#include "pipeline/production/run/state.h"

typedef enum ics_run_retry_answer {
    ICS_RUN_RETRY_LATER,   /* a retry is pending */
    ICS_RUN_RETRY_LEAVE,   /* the run stops: the work is left to others, which is no error */
    ICS_RUN_RETRY_REFUSED, /* the error is final */
} ics_run_retry_answer;

/* `what` of `name` failed with `error`. Decides whether it is tried again, and reports that.
 * `lasting`: tried as long as necessary although the disk has room. */
ics_run_retry_answer ics_run_retry_after(ics_run_state *run, ics_retry *retry, ics_retry_what what,
                                         const char *name, bool lasting,
                                         const icestream_error *error);
/* Whether nothing keeps the owner from going on: no retry is pending, or its time has come. If a
 * retry must wait, the loop is woken at its time. */
bool ics_run_retry_is_due(ics_run_state *run, const ics_retry *retry);
/* The retry begins. How often it failed is not forgotten. */
void ics_run_retry_begin(ics_run_state *run, ics_retry *retry);
/* What was tried has succeeded. If the disk had been full, others are tried at once. */
void ics_run_retry_succeeded(ics_run_state *run, ics_retry *retry);
/* Forgets the retry: its owner has no use for it any more. */
void ics_run_retry_clear(ics_run_state *run, ics_retry *retry);
/* Whether so much work waits to be tried again that no more should be begun. */
bool ics_run_retry_is_crowded(const ics_run_state *run);
/* Whether something will be tried again. */
bool ics_run_retry_is_expected(const ics_run_state *run);

#endif
