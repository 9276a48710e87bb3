/* Promises of service_notify.h: what is sent to systemd, and when. In the tests a datagram socket
 * receives the messages instead of systemd. The tests run the loop step by step, so that the result
 * does not depend on the speed of the machine. How to join: call begin(), do what a run does, look
 * at next_message(), and call end(). */
#include "pipeline/production/telemetry/service_notify.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE = 60000 /* (ms) */, MESSAGE = 8192 /* (B) */ };

/* A build without libsystemd sends no messages. Only its warning can be tested. */
#ifdef ICS_HAVE_SYSTEMD
enum { HAS_LIBSYSTEMD = 1 };
#else
enum { HAS_LIBSYSTEMD = 0 };
#endif

/* The service of a test. */
static struct {
    scratch place;
    int manager; /* the socket that receives */
    uv_loop_t loop;
    ics_service_notify notify;
    int failures;          /* number of reported failures */
    char reason[256];      /* of the last failure */
    char message[MESSAGE]; /* the last message */
} service;

static void count_failure(void *user, const char *reason)
{
    (void)user;
    service.failures++;
    snprintf(service.reason, sizeof service.reason, "%s", reason);
}

static void listen_as_manager(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[SCRATCH_PATH];
    scratch_path(&service.place, "notify", path);
    ck_assert_uint_lt(strlen(path), sizeof address.sun_path);
    strcpy(address.sun_path, path);
    service.manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(service.manager, 0);
    ck_assert_int_eq(bind(service.manager, (struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", path, 1);
}

/* With heartbeats every `watchdog` (us); NULL: without heartbeats. */
static void begin(const char *watchdog)
{
    memset(&service, 0, sizeof service);
    service.place = scratch_create();
    unsetenv("WATCHDOG_PID");
    unsetenv("WATCHDOG_USEC");
    if (watchdog != NULL) {
        setenv("WATCHDOG_USEC", watchdog, 1);
    }
    listen_as_manager();
    ck_assert_int_eq(uv_loop_init(&service.loop), 0);
    ics_service_notify_open(&service.notify, &service.loop);
}

static void finish(void)
{
    uv_run(&service.loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&service.loop), 0);
    close(service.manager);
    scratch_remove(&service.place);
    unsetenv("NOTIFY_SOCKET");
}

static void end(void)
{
    ics_service_notify_close(&service.notify);
    finish();
}

/* The next message; "" if there is none. A datagram can be read as soon as it was sent. */
static const char *next_message(void)
{
    ssize_t size = recv(service.manager, service.message, MESSAGE - 1, MSG_DONTWAIT);
    service.message[size > 0 ? size : 0] = '\0';
    return service.message;
}

static void ready(void)
{
    ics_service_notify_ready(&service.notify, count_failure, NULL);
}

/* Begins, and sends READY. */
static void begin_ready(const char *watchdog)
{
    begin(watchdog);
    ready();
    ck_assert_str_eq(next_message(), "READY=1");
}

START_TEST(messages_of_a_run)
{
    begin(NULL);
    ck_assert_str_eq(next_message(), "");
    ready();
    ck_assert_str_eq(next_message(), "READY=1");
    ck_assert_str_eq(next_message(), "");
    ck_assert(!uv_is_active((uv_handle_t *)&service.notify.watchdog));
    ics_service_notify_stopping(&service.notify);
    ck_assert_str_eq(next_message(), "STOPPING=1");
    ics_service_notify_stopping(&service.notify);
    ck_assert_str_eq(next_message(), "");
    ck_assert_int_eq(service.failures, 0);
    end();
}
END_TEST

/* A run that ends without a signal also sends STOPPING. */
START_TEST(closing_sends_stopping)
{
    begin_ready(NULL);
    ics_service_notify_close(&service.notify);
    ck_assert_str_eq(next_message(), "STOPPING=1");
    finish();
}
END_TEST

/* A service that was never ready sends nothing, because systemd notices the end of the process. */
START_TEST(silent_before_it_is_ready)
{
    begin("1000");
    const ics_progress_state state = {.photons = 1};
    ics_service_notify_progress(&service.notify, &state);
    ics_service_notify_stopping(&service.notify);
    ck_assert_str_eq(next_message(), "");
    ck_assert(!uv_is_active((uv_handle_t *)&service.notify.watchdog));
    end();
}
END_TEST

START_TEST(heartbeats_need_a_running_loop)
{
    begin_ready("20000");
    ck_assert_uint_eq(uv_timer_get_repeat(&service.notify.watchdog), 10);
    /* Long enough for ten heartbeats, but the loop does not run. */
    struct pollfd wait = {.fd = service.manager, .events = POLLIN};
    ck_assert_int_eq(poll(&wait, 1, 100), 0);
    for (int i = 0; i < 3; ++i) {
        uv_run(&service.loop, UV_RUN_ONCE);
        ck_assert_int_eq(poll(&wait, 1, PATIENCE), 1);
        /* The timer may be due twice in one iteration of the loop. */
        int signs = 0;
        while (next_message()[0] != '\0') {
            ck_assert_str_eq(service.message, "WATCHDOG=1");
            signs++;
        }
        ck_assert_int_le(signs, 2);
    }
    ck_assert_int_eq(service.failures, 0);
    end();
}
END_TEST

/* WATCHDOG_PID names the process that must send heartbeats. Here it is another process. */
START_TEST(heartbeats_for_another_process)
{
    begin("20000");
    setenv("WATCHDOG_PID", "1", 1);
    ready();
    ck_assert(!uv_is_active((uv_handle_t *)&service.notify.watchdog));
    ck_assert_int_eq(service.failures, 0);
    end();
}
END_TEST

START_TEST(the_status_is_one_line)
{
    begin_ready(NULL);
    const ics_progress_state state = {.photons = 4000000,
                                      .hits = 12,
                                      .files = 5,
                                      .files_taken = 8,
                                      .paused = "no room\nWATCHDOG=trigger",
                                      .stopping = true};
    ics_service_notify_progress(&service.notify, &state);
    const char *text = next_message();
    ck_assert_ptr_eq(strstr(text, "STATUS=paused: no room WATCHDOG=trigger; 4.00 million photons"),
                     text);
    ck_assert_ptr_nonnull(strstr(text, "12 hits, 8 files in, 5 out"));
    ck_assert_ptr_nonnull(strstr(text, ", stopping"));
    ck_assert_ptr_null(strchr(text, '\n'));
    end();
}
END_TEST

START_TEST(without_systemd)
{
    begin("20000");
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    ready();
    const ics_progress_state state = {.photons = 1};
    ics_service_notify_progress(&service.notify, &state);
    ics_service_notify_stopping(&service.notify);
    ck_assert_str_eq(next_message(), "");
    ck_assert_int_eq(service.failures, 0);
    end();
}
END_TEST

START_TEST(failures_are_reported_once)
{
    begin(NULL);
    close(service.manager);
    service.manager = -1;
    ready();
    ck_assert_int_eq(service.failures, 1);
    ck_assert_str_eq(service.reason, "systemd cannot be notified (READY): Connection refused");
    ics_service_notify_stopping(&service.notify);
    ck_assert_int_eq(service.failures, 1);
    end();
    begin_ready("a while");
    ck_assert_int_eq(service.failures, 1);
    ck_assert_str_eq(service.reason,
                     "systemd cannot be notified (WATCHDOG_USEC): Invalid argument");
    end();
}
END_TEST

START_TEST(a_build_without_libsystemd_warns_once)
{
    begin("20000");
    ready();
    ck_assert_int_eq(service.failures, 1);
    ck_assert_str_eq(service.reason,
                     "systemd cannot be notified (READY): this build was made without libsystemd");
    ck_assert(!uv_is_active((uv_handle_t *)&service.notify.watchdog));
    ics_service_notify_stopping(&service.notify);
    ck_assert_int_eq(service.failures, 1);
    end();
}
END_TEST

ICS_TEST_MAIN("service_notify")
{
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, silent_before_it_is_ready);
    tcase_add_test(cases, without_systemd);
    if (HAS_LIBSYSTEMD) {
        tcase_add_test(cases, messages_of_a_run);
        tcase_add_test(cases, closing_sends_stopping);
        tcase_add_test(cases, heartbeats_need_a_running_loop);
        tcase_add_test(cases, heartbeats_for_another_process);
        tcase_add_test(cases, the_status_is_one_line);
        tcase_add_test(cases, failures_are_reported_once);
    } else {
        tcase_add_test(cases, a_build_without_libsystemd_warns_once);
    }
    suite_add_tcase(suite, cases);
}
