/* Tells systemd how the service is: ready, alive, how far, stopping (sd_notify, Type=notify).
 *
 * Where the environment has no NOTIFY_SOCKET, nothing is sent. Signs of life (WATCHDOG=1) come from
 * a timer of the run's loop, twice per WatchdogSec: a loop that hangs gives none. One thread, that
 * of the loop.
 */
#ifndef ICS_TELEMETRY_SERVICE_NOTIFY_H
#define ICS_TELEMETRY_SERVICE_NOTIFY_H

#include "pipeline/telemetry/progress.h"

#include <uv.h>

typedef struct ics_service_notify {
    uv_timer_t watchdog;
    ics_progress progress; /* rates of the status, apart from those of the log */
    bool ready, stopping, failed;
    void (*on_failure)(void *user, const char *reason);
    void *user;
} ics_service_notify;

/* Makes the timer, which does not start yet. The struct must stay where it is, and zeroed outlive
 * the loop, until ics_service_notify_close() and the loop's next turn. */
void ics_service_notify_open(ics_service_notify *service, uv_loop_t *loop);
/* READY=1, and signs of life from now on. `on_failure` is called once, in here or later, if systemd
 * cannot be told; `reason` says what and why and is gone when it returns. */
void ics_service_notify_ready(ics_service_notify *service,
                              void (*on_failure)(void *user, const char *reason), void *user);
/* STATUS=, the line that `systemctl status` shows. Before ready(): nothing. */
void ics_service_notify_progress(ics_service_notify *service, const ics_progress_state *state);
/* STOPPING=1, once; before ready(): nothing. Signs of life go on while the loop turns. */
void ics_service_notify_stopping(ics_service_notify *service);
/* The same, and closes the timer. */
void ics_service_notify_close(ics_service_notify *service);

#endif
