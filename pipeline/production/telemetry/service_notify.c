#include "pipeline/production/telemetry/service_notify.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef ICS_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#else
/* A build without libsystemd. A service that waits to be notified gets a warning in its log. */
static int sd_notify(int keep, const char *text)
{
    (void)keep;
    (void)text;
    return getenv("NOTIFY_SOCKET") != NULL ? -ENOSYS : 0;
}

static int sd_watchdog_enabled(int keep, uint64_t *period)
{
    (void)keep;
    *period = 0;
    return 0;
}
#endif

/* Reports the first failure. systemd believes that a service without heartbeats hangs, so
 * users should know the reason. */
static void report_failure(ics_service_notify *service, const char *what, int code)
{
    char reason[256];
    if (service->failed) {
        return;
    }
    service->failed = true;
    snprintf(reason, sizeof reason, "systemd cannot be notified (%.32s): %.128s", what,
             code == -ENOSYS ? "this build was made without libsystemd" : strerror(-code));
    service->on_failure(service->user, reason);
}

static void send_text(ics_service_notify *service, const char *what, const char *text)
{
    int sent = sd_notify(0, text); /* 0: there is no NOTIFY_SOCKET */
    if (sent < 0) {
        report_failure(service, what, sent);
    }
}

static void on_watchdog(uv_timer_t *timer)
{
    send_text(timer->data, "WATCHDOG", "WATCHDOG=1");
}

void ics_service_notify_open(ics_service_notify *service, uv_loop_t *loop)
{
    *service = (ics_service_notify){.progress = ics_progress_begin(NULL)};
    uv_timer_init(loop, &service->watchdog);
    service->watchdog.data = service;
}

void ics_service_notify_ready(ics_service_notify *service,
                              void (*on_failure)(void *user, const char *reason), void *user)
{
    uint64_t period = 0; /* us */
    service->on_failure = on_failure;
    service->user = user;
    service->ready = true;
    send_text(service, "READY", "READY=1");
    int watched = sd_watchdog_enabled(0, &period);
    if (watched < 0) {
        report_failure(service, "WATCHDOG_USEC", watched);
    } else if (watched > 0) {
        uint64_t half = period / 2000 > 0 ? period / 2000 : 1; /* ms */
        uv_timer_start(&service->watchdog, on_watchdog, 0, half);
    }
}

void ics_service_notify_progress(ics_service_notify *service, const ics_progress_state *state)
{
    static const char begin[] = "STATUS=";
    char text[sizeof begin + ICS_PROGRESS_TEXT];
    ics_progress_figures figures;
    if (!service->ready || getenv("NOTIFY_SOCKET") == NULL) {
        return; /* no NOTIFY_SOCKET, as in most runs: nothing to compute */
    }
    ics_progress_measure(&service->progress, state, ics_clock_seconds(), &figures);
    memcpy(text, begin, sizeof begin);
    ics_progress_text(state, &figures, text + strlen(begin));
    /* A newline would begin another message. */
    for (char *at = strchr(text, '\n'); at != NULL; at = strchr(at, '\n')) {
        *at = ' ';
    }
    send_text(service, "STATUS", text);
}

void ics_service_notify_stopping(ics_service_notify *service)
{
    if (service->ready && !service->stopping) {
        service->stopping = true;
        send_text(service, "STOPPING", "STOPPING=1");
    }
}

void ics_service_notify_close(ics_service_notify *service)
{
    ics_service_notify_stopping(service);
    uv_close((uv_handle_t *)&service->watchdog, NULL);
}
