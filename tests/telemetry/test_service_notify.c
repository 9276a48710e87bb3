/* What systemd is told, and when: a datagram socket plays systemd. The loop is turned by hand, so
 * that nothing here depends on how fast the machine is. */
#include "pipeline/telemetry/service_notify.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE = 60000 /* ms */, MESSAGE = 8192 };

typedef struct a_service {
    scratch place;
    int manager; /* the other end, as systemd has it */
    uv_loop_t loop;
    ics_service_notify notify;
    int failures;
    char reason[256];
    char message[MESSAGE];
} a_service;

static void count_failure(void *user, const char *reason)
{
    a_service *service = user;
    service->failures++;
    snprintf(service->reason, sizeof service->reason, "%s", reason);
}

static void listen_as_manager(a_service *service)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[SCRATCH_PATH];
    scratch_path(&service->place, "notify", path);
    ck_assert_uint_lt(strlen(path), sizeof address.sun_path);
    strcpy(address.sun_path, path);
    service->manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(service->manager, 0);
    ck_assert_int_eq(bind(service->manager, (struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", path, 1);
}

/* With signs of life every `watchdog` microseconds; NULL: none wanted. */
static void begin(a_service *service, const char *watchdog)
{
    *service = (a_service){.place = scratch_create(), .manager = -1};
    unsetenv("WATCHDOG_PID");
    unsetenv("WATCHDOG_USEC");
    if (watchdog != NULL) {
        setenv("WATCHDOG_USEC", watchdog, 1);
    }
    listen_as_manager(service);
    ck_assert_int_eq(uv_loop_init(&service->loop), 0);
    ics_service_notify_open(&service->notify, &service->loop);
}

static void finish(a_service *service)
{
    uv_run(&service->loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&service->loop), 0);
    close(service->manager);
    scratch_remove(&service->place);
    unsetenv("NOTIFY_SOCKET");
}

static void end(a_service *service)
{
    ics_service_notify_close(&service->notify);
    finish(service);
}

/* The next message, "" if there is none now: datagrams are there when they have been sent. */
static const char *next_message(a_service *service)
{
    ssize_t size = recv(service->manager, service->message, MESSAGE - 1, MSG_DONTWAIT);
    service->message[size > 0 ? size : 0] = '\0';
    return service->message;
}

static void ready(a_service *service)
{
    ics_service_notify_ready(&service->notify, count_failure, service);
}

START_TEST(a_life)
{
    a_service service;
    begin(&service, NULL);
    ck_assert_str_eq(next_message(&service), "");
    ready(&service);
    ck_assert_str_eq(next_message(&service), "READY=1");
    ck_assert_str_eq(next_message(&service), "");
    ck_assert(!uv_is_active((uv_handle_t *)&service.notify.watchdog));
    ics_service_notify_stopping(&service.notify);
    ck_assert_str_eq(next_message(&service), "STOPPING=1");
    ics_service_notify_stopping(&service.notify);
    ck_assert_str_eq(next_message(&service), "");
    ck_assert_int_eq(service.failures, 0);
    end(&service);
}
END_TEST

/* A run that ends by itself stops as well. */
START_TEST(closing_is_stopping)
{
    a_service service;
    begin(&service, NULL);
    ready(&service);
    ck_assert_str_eq(next_message(&service), "READY=1");
    ics_service_notify_close(&service.notify);
    ck_assert_str_eq(next_message(&service), "STOPPING=1");
    finish(&service);
}
END_TEST

/* What never was ready has nothing to say: systemd sees that it ended. */
START_TEST(silent_before_it_is_ready)
{
    a_service service;
    begin(&service, "1000");
    const ics_progress_state state = {.photons = 1};
    ics_service_notify_progress(&service.notify, &state);
    ics_service_notify_stopping(&service.notify);
    ck_assert_str_eq(next_message(&service), "");
    ck_assert(!uv_is_active((uv_handle_t *)&service.notify.watchdog));
    end(&service);
}
END_TEST

START_TEST(signs_of_life_need_a_loop_that_turns)
{
    a_service service;
    begin(&service, "20000");
    ready(&service);
    ck_assert_str_eq(next_message(&service), "READY=1");
    ck_assert_uint_eq(uv_timer_get_repeat(&service.notify.watchdog), 10);
    /* Long enough for ten of them, and no turn. */
    struct pollfd wait = {.fd = service.manager, .events = POLLIN};
    ck_assert_int_eq(poll(&wait, 1, 100), 0);
    for (int i = 0; i < 3; ++i) {
        uv_run(&service.loop, UV_RUN_ONCE);
        ck_assert_int_eq(poll(&wait, 1, PATIENCE), 1);
        /* A turn may see the timer due twice. */
        int signs = 0;
        while (next_message(&service)[0] != '\0') {
            ck_assert_str_eq(service.message, "WATCHDOG=1");
            signs++;
        }
        ck_assert_int_le(signs, 2);
    }
    ck_assert_int_eq(service.failures, 0);
    end(&service);
}
END_TEST

/* The environment of a parent that is watched is not ours. */
START_TEST(signs_of_life_of_another_process)
{
    a_service service;
    begin(&service, "20000");
    setenv("WATCHDOG_PID", "1", 1);
    ready(&service);
    ck_assert(!uv_is_active((uv_handle_t *)&service.notify.watchdog));
    ck_assert_int_eq(service.failures, 0);
    end(&service);
}
END_TEST

START_TEST(one_line_of_status)
{
    a_service service;
    begin(&service, NULL);
    ready(&service);
    ck_assert_str_eq(next_message(&service), "READY=1");
    const ics_progress_state state = {.photons = 4000000,
                                      .hits = 12,
                                      .files = 5,
                                      .files_taken = 8,
                                      .paused = "no room\nWATCHDOG=trigger",
                                      .stopping = true};
    ics_service_notify_progress(&service.notify, &state);
    const char *text = next_message(&service);
    ck_assert_ptr_eq(strstr(text, "STATUS=paused: no room WATCHDOG=trigger; 4.00 million photons"),
                     text);
    ck_assert_ptr_nonnull(strstr(text, "12 hits, 8 files in, 5 out"));
    ck_assert_ptr_nonnull(strstr(text, ", stopping"));
    ck_assert_ptr_null(strchr(text, '\n'));
    end(&service);
}
END_TEST

START_TEST(nobody_listens)
{
    a_service service;
    begin(&service, "20000");
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    ready(&service);
    const ics_progress_state state = {.photons = 1};
    ics_service_notify_progress(&service.notify, &state);
    ics_service_notify_stopping(&service.notify);
    ck_assert_str_eq(next_message(&service), "");
    ck_assert_int_eq(service.failures, 0);
    end(&service);
}
END_TEST

START_TEST(failures_are_told_once)
{
    a_service service;
    begin(&service, NULL);
    close(service.manager);
    service.manager = -1;
    ready(&service);
    ck_assert_int_eq(service.failures, 1);
    ck_assert_str_eq(service.reason, "systemd cannot be told (READY): Connection refused");
    ics_service_notify_stopping(&service.notify);
    ck_assert_int_eq(service.failures, 1);
    end(&service);
    begin(&service, "a while");
    ready(&service);
    ck_assert_str_eq(next_message(&service), "READY=1");
    ck_assert_int_eq(service.failures, 1);
    ck_assert_str_eq(service.reason, "systemd cannot be told (WATCHDOG_USEC): Invalid argument");
    end(&service);
}
END_TEST

ICS_TEST_MAIN("service_notify")
{
    TCase *cases = tcase_create("all");
    tcase_set_timeout(cases, 300);
    tcase_add_test(cases, a_life);
    tcase_add_test(cases, closing_is_stopping);
    tcase_add_test(cases, silent_before_it_is_ready);
    tcase_add_test(cases, signs_of_life_need_a_loop_that_turns);
    tcase_add_test(cases, signs_of_life_of_another_process);
    tcase_add_test(cases, one_line_of_status);
    tcase_add_test(cases, nobody_listens);
    tcase_add_test(cases, failures_are_told_once);
    suite_add_tcase(suite, cases);
}
