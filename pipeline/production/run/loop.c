/* The loop of a run: one thread, which owns all state. It waits in libuv until something comes
 * back.
 *
 *   until nothing is left to do {
 *       wait for jobs that threads have done, signals, timers, files, messages of clients
 *       for each of them { call its function, which changes states and sends nothing }
 *       for each part of the loop { begin everything that can be begun now }
 *       if (no job is out and no part waits for anything) {
 *           begin what a part has kept for the end, the last part first
 *           if there was nothing { close all handles; the loop ends }
 *       }
 *   }
 *
 * libuv calls on_turn before it waits: once after all functions that one wait has called. turn.c
 * calls the parts. No part calls another one, and no part calls the loop. A part that needs a turn
 * at a later time, for example for a retry, asks for it with ics_run_wake_at.
 */
#include "pipeline/production/run/loop.h"

#include "base/clock.h"
#include "base/error.h"
#include "kernels/stage_guard.h"
#include "pipeline/production/run/jobs.h"
#include "pipeline/production/run/log.h"
#include "pipeline/production/run/parts.h"
#include "pipeline/production/run/progress.h"
#include "pipeline/production/run/stop.h"
#include "pipeline/production/run/turn.h"

#include <signal.h>

enum { METRICS_PERIOD = 1000 /* ms */ };

/* ---- a turn ---------------------------------------------------------------------------------- */

/* No job will come back any more: closes everything that keeps libuv's loop running. */
static void end_loop(ics_run_state *run)
{
    ics_run_loop *loop = &run->loop;
    run->log.ended = true;
    if (loop->mailbox == NULL) {
        return;
    }
    uv_close((uv_handle_t *)&loop->turn, NULL);
    uv_close((uv_handle_t *)&loop->ticker, NULL);
    uv_close((uv_handle_t *)&loop->waker, NULL);
    uv_close((uv_handle_t *)&loop->limit, NULL);
    uv_close((uv_handle_t *)&loop->metrics, NULL);
    ics_service_notify_close(&loop->service);
    for (size_t i = 0; i < loop->part_count; ++i) {
        if (loop->parts[i]->close != NULL) {
            loop->parts[i]->close(run);
        }
    }
    ics_workers_mailbox_close(loop->mailbox);
    loop->mailbox = NULL;
}

/* Does nothing: the turn that follows does the work. */
static void on_wake(uv_timer_t *timer)
{
    (void)timer;
}

static void set_waker(ics_run_state *run)
{
    double now = ics_clock_seconds(), at = run->jobs.wake_at;
    if (at > 0.0) {
        uint64_t wait = at > now ? (uint64_t)(1000.0 * (at - now)) + 1 : 1;
        uv_timer_start(&run->loop.waker, on_wake, wait, 0);
    }
}

static void on_turn(uv_prepare_t *turn)
{
    ics_run_state *run = turn->data;
    const bool goes_on = ics_run_turn(run);
    ics_run_progress_note_waiting(run);
    if (goes_on) {
        set_waker(run);
    } else {
        end_loop(run);
    }
}

/* ---- signals and timers ---------------------------------------------------------------------- */

/* Equal signals within this time (s) are one wish to stop. timeout(1), scancel and supervisors send
 * a signal to the process and to its group, so a run gets two within a millisecond, or as late as a
 * busy machine delivers the second one. A person that repeats a signal waits longer. */
#define SAME_SIGNAL 0.5

static void report_signal(ics_run_state *run, int number, const char *reason)
{
    const ics_event event = {.kind = ICS_EVENT_SIGNAL, .signal = number, .reason = reason};
    ics_run_log_event(run, &event);
}

static void on_stop_signal(uv_signal_t *handle, int number)
{
    ics_run_state *run = handle->data;
    const double now = ics_clock_seconds();
    if (run->stop.signal == 0) {
        run->stop.signal = number;
        run->stop.signalled = now;
        ics_run_stop_reading(run);
        report_signal(run, number,
                      "stopping: finishing what is being computed (a second signal cancels the "
                      "run)");
    } else if (number == run->stop.signal && now - run->stop.signalled < SAME_SIGNAL) {
        return;
    } else if (!ics_run_is_cancelled(run)) {
        ics_run_cancel(run);
        ics_stage_guard_stop(number);
        report_signal(run, number,
                      "cancelled by a second signal: of unfinished files, what was computed since "
                      "their last checkpoints is lost");
    }
}

static void on_status_signal(uv_signal_t *handle, int number)
{
    (void)number;
    ics_run_progress_show(handle->data);
}

static void on_reopen_signal(uv_signal_t *handle, int number)
{
    (void)number;
    ics_run_log_reopen(handle->data);
}

static void on_time_limit(uv_timer_t *timer)
{
    ics_run_state *run = timer->data;
    run->stop.limit_reached = true;
    ics_run_stop_reading(run);
    ics_run_log_text(run, ICS_EVENT_MESSAGE,
                     "the time limit is reached: finishing what is being computed");
}

static void on_service_failure(void *user, const char *reason)
{
    ics_run_log_text(user, ICS_EVENT_WARNING, "%s", reason);
}

static void on_tick(uv_timer_t *handle)
{
    ics_run_state *run = handle->data;
    ics_run_log_device(run);
    ics_run_progress_show(run);
}

static void on_metrics_time(uv_timer_t *handle)
{
    ics_run_progress_publish(handle->data);
    ics_run_progress_sample(handle->data, false);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The signals that a run handles. */
static const struct {
    int number;
    uv_signal_cb callback;
} wanted[ICS_RUN_SIGNALS] = {{SIGINT, on_stop_signal},
                             {SIGTERM, on_stop_signal},
                             {SIGUSR1, on_status_signal},
                             {SIGHUP, on_reopen_signal}};

static int listen_for_signals(ics_run_state *run)
{
    for (int i = 0; i < ICS_RUN_SIGNALS; ++i) {
        uv_signal_init(&run->loop.uv, &run->loop.signals[i]);
        run->loop.signals[i].data = run;
        sigaction(wanted[i].number, NULL, &run->loop.before[i]);
    }
    run->loop.open = true;
    for (int i = 0; i < ICS_RUN_SIGNALS; ++i) {
        int failure = uv_signal_start(&run->loop.signals[i], wanted[i].callback, wanted[i].number);
        if (failure != 0) {
            return failure;
        }
        /* The handlers stay after the loop has ended: a late signal must not kill the process
         * while it writes its summary. */
        uv_unref((uv_handle_t *)&run->loop.signals[i]);
    }
    return 0;
}

static int check_uv(int failure, const char *what, icestream_error *error)
{
    return failure == 0 ? ICESTREAM_OK
                        : ics_error_set(error, ICESTREAM_E_FAILED, "cannot %s: %s", what,
                                        uv_strerror(failure));
}

int ics_run_loop_open(ics_run_state *run, icestream_error *error)
{
    ics_run_loop *loop = &run->loop;
    uv_timer_t *const timers[] = {&loop->ticker, &loop->waker, &loop->limit, &loop->metrics};
    ICS_TRY(check_uv(uv_loop_init(&loop->uv), "start the event loop", error));
    ICS_TRY(check_uv(listen_for_signals(run), "listen for signals", error));
    ICS_TRY(ics_workers_mailbox_create(&loop->uv, &loop->mailbox, error));
    ics_workers_mailbox_on_delivery(loop->mailbox, ics_run_deliver_job, run);
    uv_prepare_init(&loop->uv, &loop->turn);
    loop->turn.data = run;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; ++i) {
        uv_timer_init(&loop->uv, timers[i]);
        timers[i]->data = run;
    }
    ics_service_notify_open(&loop->service, &loop->uv);
    return ICESTREAM_OK;
}

static void close_handles(ics_run_state *run)
{
    for (int i = 0; i < ICS_RUN_SIGNALS; ++i) {
        uv_close((uv_handle_t *)&run->loop.signals[i], NULL);
    }
    end_loop(run);
    uv_run(&run->loop.uv, UV_RUN_DEFAULT);
    uv_loop_close(&run->loop.uv);
}

/* When its handlers are closed, libuv gives the signals their defaults, which end the process. So
 * the signals wait until they have their new dispositions. The threads of the run, which have
 * ended, blocked all signals, so only this thread can get one. */
void ics_run_loop_close(ics_run_state *run)
{
    sigset_t handled, mask;
    if (!run->loop.open) {
        return;
    }
    sigemptyset(&handled);
    for (int i = 0; i < ICS_RUN_SIGNALS; ++i) {
        sigaddset(&handled, wanted[i].number);
    }
    pthread_sigmask(SIG_BLOCK, &handled, &mask);
    close_handles(run);
    for (int i = 0; i < ICS_RUN_SIGNALS; ++i) {
        const struct sigaction ignored = {.sa_handler = SIG_IGN};
        sigaction(wanted[i].number, run->options->ends_process ? &ignored : &run->loop.before[i],
                  NULL);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    run->loop.open = false;
}

void ics_run_loop_run(ics_run_state *run)
{
    uint32_t period = ics_events_period(&run->log.events);
    run->loop.start = run->log.events.progress.looked = ics_clock_seconds();
    uv_timer_start(&run->loop.ticker, on_tick, period, period);
    if (run->options->time_limit > 0.0) {
        uv_timer_start(&run->loop.limit, on_time_limit,
                       (uint64_t)(1000.0 * run->options->time_limit), 0);
    }
    const ics_event event = {.kind = ICS_EVENT_START,
                             .configuration = run->config->path,
                             .source = run->common.intake_folder,
                             .spool = run->intake.spool,
                             .sink = !run->common.sink->files ? NULL : run->config->sink.directory,
                             .quarantine = run->common.quarantine,
                             .files = run->files_total};
    ics_run_log_start(run, &event);
    ics_run_intake_begin_watch(run);
    ics_service_notify_ready(&run->loop.service, on_service_failure, run);
    uv_timer_start(&run->loop.metrics, on_metrics_time, 0, METRICS_PERIOD);
    double before = ics_clock_thread();
    uv_prepare_start(&run->loop.turn, on_turn);
    uv_run(&run->loop.uv, UV_RUN_DEFAULT);
    run->loop.cpu_seconds = ics_clock_thread() - before;
    ics_events_end(&run->log.events);
    ics_run_log_device(run);
}
