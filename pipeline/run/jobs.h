/* The jobs of a run. This file alone counts the jobs that are out, so that no step can forget one:
 * sending a job counts it, and its delivery, before job->done is called, counts it back. */
#ifndef ICS_RUN_JOBS_H
#define ICS_RUN_JOBS_H

#include "pipeline/run/state.h"

/* Gives a job to threads. `work` is called on a thread, then `done` on the loop. False: the queue
 * of these threads is too short, which is an internal error that ends the run; `done` is not
 * called. */
bool ics_run_send_job(ics_run_state *run, ics_workers *workers, ics_job *job,
                      void (*work)(ics_job *job, void *thread_state), void (*done)(ics_job *job));
/* Gives a batch to the device. `done` is called on the loop. False: the device accepts no batch at
 * the moment. */
bool ics_run_submit_batch(ics_run_state *run, ics_batch *batch, void (*done)(ics_job *job));
/* Called by the mailbox on the loop for each job that came back; `run` is the run. */
void ics_run_deliver_job(void *run, ics_job *job);

/* Makes the loop turn again at `due`, a time of ics_clock_seconds() (s). Each turn forgets the
 * earlier requests, so a step asks for its time in each turn. */
void ics_run_wake_at(ics_run_state *run, double due);

#endif
