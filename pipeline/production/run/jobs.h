/* The jobs of a run, except those of its engine. Only this file counts the jobs that are out, so
 * that no part can forget one. A job that is sent sets job->out, and is counted in jobs.out of the
 * run and in the counter of its sender. When the job is delivered, all three go back before
 * job->done is called. Other files only read job->out and the counters.
 *
 * `counter`: number of the sender's jobs that are out; NULL if the sender needs no number. It must
 * exist until the job is delivered. */
#ifndef ICS_PRODUCTION_RUN_JOBS_H
#define ICS_PRODUCTION_RUN_JOBS_H

#include "pipeline/production/run/state.h"

/* Gives a job to threads. `work` is called on a thread, then `done` on the loop. False: the queue
 * of these threads is too short, which is an internal error that ends the run; the job is not out,
 * and `done` is not called. */
bool ics_run_send_job(ics_run_state *run, ics_workers *workers, ics_job *job, uint32_t *counter,
                      void (*work)(ics_job *job, void *thread_state), void (*done)(ics_job *job));
/* Called by the mailbox on the loop for each job that came back; `run` is the run. */
void ics_run_deliver_job(void *run, ics_job *job);

/* Makes the loop turn again at `due`, a time of ics_clock_seconds() (s). Each turn forgets the
 * earlier requests, so a part asks for its time in each turn. */
void ics_run_wake_at(ics_run_state *run, double due);

#endif
