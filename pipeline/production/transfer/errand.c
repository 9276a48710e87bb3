#include "pipeline/production/transfer/errand.h"

#include "base/error.h"
#include "base/new.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 5000 /* ms between SIGTERM and SIGKILL */ };

struct ics_errand {
    ics_errand_order order;
    bool is_program;
    icestream_error why; /* belongs to the thread until it has ended */
    atomic_bool cancel;
    char *url, *path; /* copies, for the thread */
    pthread_t thread;
    bool has_thread;
    union {
        uv_process_t process;
        uv_async_t ended; /* the thread sends it */
    } handle;
    uv_timer_t patience; /* of a program that was asked to end */
    int handles;         /* that are not closed */
};

static void on_close(uv_handle_t *handle)
{
    ics_errand *errand = handle->data;
    if (--errand->handles > 0) {
        return;
    }
    const ics_errand_order order = errand->order;
    const icestream_error why = errand->why;
    free(errand->url);
    free(errand->path);
    free(errand);
    order.then(order.user, &why);
}

/* ---- a program ------------------------------------------------------------------------------- */

static void close_program(ics_errand *errand)
{
    uv_close((uv_handle_t *)&errand->handle.process, on_close);
    uv_close((uv_handle_t *)&errand->patience, on_close);
}

static void on_exit_of(uv_process_t *process, int64_t status, int number)
{
    ics_errand *errand = process->data;
    char failure[ICS_PROGRAM_FAILURE];
    const int cause = ics_program_call_describe(status, number, failure);
    if (failure[0] != '\0') {
        ics_error_set_cause(&errand->why, ICESTREAM_E_OUTPUT, cause, "%s", failure);
    }
    close_program(errand);
}

static void on_impatience(uv_timer_t *timer)
{
    ics_errand *errand = timer->data;
    uv_process_kill(&errand->handle.process, SIGKILL);
}

static void start_program(uv_loop_t *loop, ics_errand *errand)
{
    uv_timer_init(loop, &errand->patience);
    errand->handles++;
    const int failure =
        ics_program_call_start(loop, &errand->order.call, &errand->handle.process, on_exit_of);
    if (failure != 0) {
        ics_error_set_cause(&errand->why, ICESTREAM_E_OUTPUT, EAGAIN, "cannot be started: %s",
                            uv_strerror(failure));
        close_program(errand);
    }
}

/* ---- a thread -------------------------------------------------------------------------------- */

static void *move(void *user)
{
    ics_errand *errand = user;
    const ics_errand_order *order = &errand->order;
    if (order->ships) {
        (void)ics_transfer_ship(&order->request, &errand->why);
    } else {
        (void)ics_transfer_fetch(&order->request, &errand->why);
    }
    uv_async_send(&errand->handle.ended);
    return NULL;
}

static void on_ended(uv_async_t *async)
{
    ics_errand *errand = async->data;
    if (errand->has_thread) {
        pthread_join(errand->thread, NULL);
        errand->has_thread = false;
    }
    if (errand->why.cause == ECANCELED) { /* a later run may go on */
        errand->why.cause = EAGAIN;
    }
    uv_close((uv_handle_t *)async, on_close);
}

/* Signals are for the loop's thread. */
static int start_quietly(ics_errand *errand)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failure = pthread_create(&errand->thread, NULL, move, errand);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

static void start_thread(uv_loop_t *loop, ics_errand *errand)
{
    ics_transfer_request *request = &errand->order.request;
    request->url = errand->url = ics_new_copy(request->url);
    request->path = errand->path = ics_new_copy(request->path);
    request->cancel = &errand->cancel;
    /* Cannot fail: the loop has its descriptor since it was made. */
    (void)uv_async_init(loop, &errand->handle.ended, on_ended);
    const int failure = start_quietly(errand);
    errand->has_thread = failure == 0;
    if (failure != 0) {
        ics_error_set_cause(&errand->why, ICESTREAM_E_OUTPUT, EAGAIN,
                            "cannot start a thread that moves a file: %s", strerror(failure));
        uv_close((uv_handle_t *)&errand->handle.ended, on_close);
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

ics_errand *ics_errand_start(uv_loop_t *loop, const ics_errand_order *order)
{
    ics_errand *errand = ICS_NEW(ics_errand);
    errand->order = *order;
    errand->is_program = order->call.words.count > 0;
    atomic_init(&errand->cancel, false);
    errand->handle.process.data = errand;
    errand->handle.ended.data = errand;
    errand->patience.data = errand;
    errand->handles = 1;
    if (errand->is_program) {
        start_program(loop, errand);
    } else {
        start_thread(loop, errand);
    }
    return errand;
}

void ics_errand_stop(ics_errand *errand)
{
    atomic_store(&errand->cancel, true);
    if (errand->is_program && !uv_is_closing((uv_handle_t *)&errand->handle.process)) {
        uv_process_kill(&errand->handle.process, SIGTERM);
        uv_timer_start(&errand->patience, on_impatience, PATIENCE, 0);
    }
}
