/* The loop of a run: it owns all state, listens to signals and timers, and gives every station what
 * it can do whenever something has come back. */
#include "base/error.h"
#include "pipeline/run/state.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { METRICS_PERIOD = 5000 /* ms */ };

/* ---- stopping -------------------------------------------------------------------------------- */

bool ics_run_stopping(const ics_run_state *run)
{
    return atomic_load(&run->common.stop);
}

/* No reader goes on; batches that are made are finished. */
static void stop_reading(ics_run_state *run)
{
    atomic_store(&run->common.stop, true);
    ics_service_notify_stopping(&run->service);
    ics_run_clients_stop(run);
    const uint64_t one = 1;
    ssize_t put = write(run->common.wake, &one, sizeof one);
    (void)put; /* fails only when the counter is full, which is readable as well */
}

static void give_up(ics_run_state *run)
{
    atomic_store(&run->common.cancel, true);
    ics_run_stop_commands(run);
    stop_reading(run);
}

void ics_run_fail(ics_run_state *run, const icestream_error *cause)
{
    if (cause->status == ICESTREAM_E_INTERRUPTED) {
        return; /* a worker obeyed `stop` or `cancel` */
    }
    if (run->fatal.status == ICESTREAM_OK) {
        ics_error_copy(&run->fatal, cause);
    }
    give_up(run);
}

static void tell_signal(ics_run_state *run, int number, const char *what)
{
    const ics_event event = {.kind = ICS_EVENT_SIGNAL, .signal = number, .reason = what};
    ics_run_tell(run, &event);
}

static void on_stop_signal(uv_signal_t *handle, int number)
{
    ics_run_state *run = handle->data;
    if (run->signal == 0) {
        run->signal = number;
        stop_reading(run);
        tell_signal(run, number,
                    "stopping: finishing what is being computed "
                    "(a second signal gives up at once)");
    } else {
        give_up(run);
    }
}

static void on_status_signal(uv_signal_t *handle, int number)
{
    (void)number;
    ics_run_show_progress(handle->data);
}

static void on_reopen_signal(uv_signal_t *handle, int number)
{
    (void)number;
    ics_run_reopen_logs(handle->data);
}

static void on_time_limit(uv_timer_t *timer)
{
    ics_run_state *run = timer->data;
    run->limit_reached = true;
    stop_reading(run);
    ics_run_say(run, ICS_EVENT_MESSAGE,
                "the time limit is reached: finishing what is being computed");
}

static void on_service_failure(void *user, const char *reason)
{
    ics_run_say(user, ICS_EVENT_WARNING, "%s", reason);
}

static void on_tick(uv_timer_t *handle)
{
    ics_run_state *run = handle->data;
    ics_run_tell_news(run);
    ics_run_show_progress(run);
}

static void on_metrics_time(uv_timer_t *handle)
{
    ics_run_publish(handle->data);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

void ics_run_send_job(ics_run_state *run, ics_workers *workers, ics_job *job,
                      void (*work)(ics_job *job, void *thread_state), void (*done)(ics_job *job))
{
    job->run = work;
    job->done = done;
    if (ics_workers_submit(workers, job)) {
        run->jobs_out++;
        return;
    }
    icestream_error full = {.status = ICESTREAM_OK};
    ics_error_set(&full, ICESTREAM_E_FAILED, "internal error: a queue of the run is too short");
    ics_run_fail(run, &full);
}

bool ics_run_submit_batch(ics_run_state *run, ics_batch *batch, void (*done)(ics_job *job))
{
    batch->job.done = done;
    bool accepted = ics_device_submit(run->device, batch);
    run->jobs_out += accepted;
    return accepted;
}

/* What a job has done is known: the mailbox calls it on the loop for each job. */
static void deliver(void *user, ics_job *job)
{
    ics_run_state *run = user;
    run->jobs_out--;
    job->done(job);
}

/* Nothing will be posted any more: what keeps the loop running is closed, and it ends. */
static void end_loop(ics_run_state *run)
{
    run->ended = true;
    if (run->mailbox != NULL) {
        uv_close((uv_handle_t *)&run->turn, NULL);
        uv_close((uv_handle_t *)&run->ticker, NULL);
        uv_close((uv_handle_t *)&run->waker, NULL);
        uv_close((uv_handle_t *)&run->limit, NULL);
        uv_close((uv_handle_t *)&run->metrics_timer, NULL);
        ics_service_notify_close(&run->service);
        ics_run_intake_close(run);
        ics_run_clients_close(run);
        ics_workers_mailbox_close(run->mailbox);
        run->mailbox = NULL;
    }
}

/* Gives every station what it can do now. When no job is out any more and nothing is waited for,
 * the loop ends. */
static void advance(ics_run_state *run)
{
    if (run->ended) {
        return;
    }
    if (!ics_run_stopping(run)) {
        ics_run_take_files(run);
        ics_run_do_retries(run);
    }
    if (!ics_run_stopping(run) && !run->pause.on) {
        ics_run_read_units(run);
        ics_run_open_units(run);
    }
    ics_run_compute_batches(run);
    if (!atomic_load(&run->common.cancel)) {
        ics_run_write_units(run);
    }
    ics_run_rotate(run);
    if (run->jobs_out == 0 && run->commands == NULL && !ics_run_commit_rest(run) &&
        !ics_run_intake_waits(run) && !ics_run_retries_wait(run) && !ics_run_give_back(run)) {
        end_loop(run);
    }
}

/* libuv calls it once in each turn of the loop, after timers and before it waits. */
static void on_turn(uv_prepare_t *turn)
{
    advance(turn->data);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int listen_for_signals(ics_run_state *run)
{
    static const struct {
        int number;
        uv_signal_cb callback;
    } wanted[ICS_RUN_SIGNALS] = {{SIGINT, on_stop_signal},
                                 {SIGTERM, on_stop_signal},
                                 {SIGUSR1, on_status_signal},
                                 {SIGHUP, on_reopen_signal}};
    for (int i = 0; i < ICS_RUN_SIGNALS; ++i) {
        uv_signal_init(&run->loop, &run->signals[i]);
        run->signals[i].data = run;
    }
    run->loop_open = true;
    for (int i = 0; i < ICS_RUN_SIGNALS; ++i) {
        int failure = uv_signal_start(&run->signals[i], wanted[i].callback, wanted[i].number);
        if (failure != 0) {
            return failure;
        }
        /* They outlive the loop's work: a late signal must not kill the process while it writes
         * its summary. */
        uv_unref((uv_handle_t *)&run->signals[i]);
    }
    return 0;
}

int ics_run_loop_open(ics_run_state *run, icestream_error *error)
{
    int failure = uv_loop_init(&run->loop);
    if (failure != 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot start the event loop: %s",
                             uv_strerror(failure));
    }
    failure = listen_for_signals(run);
    if (failure != 0) {
        return ics_error_set(error, ICESTREAM_E_FAILED, "cannot listen for signals: %s",
                             uv_strerror(failure));
    }
    int status = ics_workers_mailbox_create(&run->loop, &run->mailbox, error);
    if (status == ICESTREAM_OK) {
        ics_workers_mailbox_on_delivery(run->mailbox, deliver, run);
        uv_prepare_init(&run->loop, &run->turn);
        run->turn.data = run;
        uv_timer_t *const timers[] = {&run->ticker, &run->waker, &run->limit, &run->metrics_timer};
        for (size_t i = 0; i < sizeof timers / sizeof *timers; ++i) {
            uv_timer_init(&run->loop, timers[i]);
            timers[i]->data = run;
        }
        ics_service_notify_open(&run->service, &run->loop);
    }
    return status;
}

void ics_run_loop_close(ics_run_state *run)
{
    if (run->loop_open) {
        for (int i = 0; i < ICS_RUN_SIGNALS; ++i) {
            uv_close((uv_handle_t *)&run->signals[i], NULL);
        }
        end_loop(run);
        uv_run(&run->loop, UV_RUN_DEFAULT);
        uv_loop_close(&run->loop);
        run->loop_open = false;
    }
}

/* CPU time of this thread. */
static double thread_seconds(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int ics_run_loop(ics_run_state *run, icestream_error *error)
{
    uint32_t period = ics_events_period(&run->events);
    run->start = ics_progress_seconds();
    uv_timer_start(&run->ticker, on_tick, period, period);
    if (run->options->time_limit > 0.0) {
        uv_timer_start(&run->limit, on_time_limit, (uint64_t)(1000.0 * run->options->time_limit),
                       0);
    }
    const ics_event event = {.kind = ICS_EVENT_START,
                             .configuration = run->config->path,
                             .source = run->common.intake_folder,
                             .spool = run->intake.spool,
                             .sink = run->common.to_stdout ? NULL : run->config->sink.directory,
                             .quarantine = run->common.quarantine,
                             .files = run->files_total};
    ics_run_tell_start(run, &event);
    ics_run_intake_start(run);
    ics_service_notify_ready(&run->service, on_service_failure, run);
    uv_timer_start(&run->metrics_timer, on_metrics_time, 0, METRICS_PERIOD);
    double before = thread_seconds();
    uv_prepare_start(&run->turn, on_turn);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    run->loop_seconds = thread_seconds() - before;
    ics_events_end(&run->events);
    ics_run_tell_news(run);
    return ics_run_judge(run, error);
}
