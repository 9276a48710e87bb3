#include "pipeline/run/jobs.h"

#include "base/error.h"
#include "pipeline/run/stop.h"

bool ics_run_send_job(ics_run_state *run, ics_workers *workers, ics_job *job,
                      void (*work)(ics_job *job, void *thread_state), void (*done)(ics_job *job))
{
    job->run = work;
    job->done = done;
    if (ics_workers_submit(workers, job)) {
        run->jobs.out++;
        return true;
    }
    icestream_error full = {.status = ICESTREAM_OK};
    ics_error_set(&full, ICESTREAM_E_FAILED, "internal error: a queue of the run is too short");
    ics_run_fail(run, &full);
    return false;
}

bool ics_run_submit_batch(ics_run_state *run, ics_batch *batch, void (*done)(ics_job *job))
{
    batch->job.done = done;
    bool accepted = ics_device_submit(run->device, batch);
    run->jobs.out += accepted;
    return accepted;
}

void ics_run_deliver_job(void *user, ics_job *job)
{
    ics_run_state *run = user;
    run->jobs.out--;
    job->done(job);
}

void ics_run_wake_at(ics_run_state *run, double due)
{
    if (run->jobs.wake_at == 0.0 || due < run->jobs.wake_at) {
        run->jobs.wake_at = due;
    }
}
