#include "pipeline/production/run/jobs.h"

#include "base/error.h"
#include "pipeline/production/run/stop.h"

static void count_out(ics_run_state *run, ics_job *job, uint32_t *counter)
{
    job->out = job->counted = true;
    job->counter = counter;
    run->jobs.out++;
    if (counter != NULL) {
        ++*counter;
    }
}

static void count_back(ics_run_state *run, ics_job *job)
{
    uint32_t *counter = job->counter;
    job->out = job->counted = false;
    job->counter = NULL;
    run->jobs.out--;
    if (counter != NULL) {
        --*counter;
    }
}

bool ics_run_send_job(ics_run_state *run, ics_workers *workers, ics_job *job, uint32_t *counter,
                      void (*work)(ics_job *job, void *thread_state), void (*done)(ics_job *job))
{
    job->run = work;
    job->done = done;
    if (ics_workers_submit(workers, job)) {
        count_out(run, job, counter);
        return true;
    }
    icestream_error full = {.status = ICESTREAM_OK};
    ics_error_set(&full, ICESTREAM_E_FAILED, "internal error: a queue of the run is too short");
    ics_run_fail(run, &full);
    return false;
}

void ics_run_deliver_job(void *user, ics_job *job)
{
    ics_run_state *run = user;
    if (job->counted) { /* else it is a job of the engine, which counts its own */
        count_back(run, job);
    }
    job->done(job);
}

void ics_run_wake_at(ics_run_state *run, double due)
{
    if (run->jobs.wake_at == 0.0 || due < run->jobs.wake_at) {
        run->jobs.wake_at = due;
    }
}
