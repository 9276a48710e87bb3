/* Notifies systemd of the state of the service: ready, alive, progress, stopping (sd_notify,
 * Type=notify).
 *
 * If the environment has no NOTIFY_SOCKET, nothing is sent. A timer of the run's loop sends
 * heartbeats (WATCHDOG=1) twice per WatchdogSec, so a loop that hangs sends none. All calls come
 * from the thread of the loop.
 */
#ifndef ICS_PRODUCTION_TELEMETRY_SERVICE_NOTIFY_H
#define ICS_PRODUCTION_TELEMETRY_SERVICE_NOTIFY_H

#include "pipeline/production/telemetry/progress.h"

#include <uv.h>

typedef struct ics_service_notify {
    uv_timer_t watchdog;
    ics_progress progress; /* rates of the status; the log has its own */
    bool ready, stopping, failed;
    void (*on_failure)(void *user, const char *reason);
    void *user;
} ics_service_notify;

/* Creates the timer without starting it. The struct must not move until the loop has run once after
 * ics_service_notify_close(). */
void ics_service_notify_open(ics_service_notify *service, uv_loop_t *loop);
/* Sends READY=1, and heartbeats from now on. `on_failure` is called once, during this call or
 * later, if systemd cannot be notified; `reason` is valid only during that call. */
void ics_service_notify_ready(ics_service_notify *service,
                              void (*on_failure)(void *user, const char *reason), void *user);
/* Sends STATUS=, the line that `systemctl status` shows. Does nothing before ready(). */
void ics_service_notify_progress(ics_service_notify *service, const ics_progress_state *state);
/* Sends STOPPING=1, once. Does nothing before ready(). Heartbeats continue as long as the loop
 * runs. */
void ics_service_notify_stopping(ics_service_notify *service);
/* Sends STOPPING=1 if it was not sent, and closes the timer. */
void ics_service_notify_close(ics_service_notify *service);

#endif
