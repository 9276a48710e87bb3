/* Tells systemd how the service is: ready, alive, how far, stopping (sd_notify, Type=notify).
 *
 * Where the environment has no NOTIFY_SOCKET, nothing is sent. Signs of life (WATCHDOG=1) come from
 * a timer of the run's loop, twice per WatchdogSec: a loop that hangs gives none. One thread, that
 * of the loop.
 */
#ifndef IS_SERVICE_NOTIFY_H
#define IS_SERVICE_NOTIFY_H

#include "pipeline/host/progress.h"

#include <uv.h>

typedef struct is_service_notify {
    uv_timer_t watchdog;
    is_progress progress; /* rates of the status, apart from those of the log */
    bool ready, stopping, failed;
    void (*on_failure)(void *user, const char *reason);
    void *user;
} is_service_notify;

/* Makes the timer, which does not start yet. The struct must stay where it is, and zeroed outlive
 * the loop, until is_service_notify_close() and the loop's next turn. */
void is_service_notify_open(is_service_notify *service, uv_loop_t *loop);
/* READY=1, and signs of life from now on. `on_failure` is called once, in here or later, if systemd
 * cannot be told; `reason` says what and why and is gone when it returns. */
void is_service_notify_ready(is_service_notify *service,
                             void (*on_failure)(void *user, const char *reason), void *user);
/* STATUS=, the line that `systemctl status` shows. Before ready(): nothing. */
void is_service_notify_progress(is_service_notify *service, const is_progress_state *state);
/* STOPPING=1, once; before ready(): nothing. Signs of life go on while the loop turns. */
void is_service_notify_stopping(is_service_notify *service);
/* The same, and closes the timer. */
void is_service_notify_close(is_service_notify *service);

#endif
