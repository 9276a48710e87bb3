/* Promises of the live page (metrics_listener.h): it loads nothing from elsewhere, its status comes
 * with every snapshot and with the end of the run, and no client keeps the run waiting. How to
 * join: start a listener with listen_on(), publish(), and send requests with request(). */
#include "pipeline/production/telemetry/live_page.h"
#include "tests/support/test_main.h"
#include "tests/telemetry/http_client.h"

#include <jansson.h>

/* Sends a request for the status without closing the connection. */
static void ask(int client, const char *query)
{
    char text[256];
    snprintf(text, sizeof text, "GET /status.json%s HTTP/1.1\r\nHost: localhost\r\n\r\n", query);
    send_text(client, text);
}

/* Receives one answer of a connection that stays open; the caller releases the object. */
static json_t *receive_status(int client)
{
    static const char length_of[] = "Content-Length: ";
    char *answer = calloc(1, ANSWER);
    size_t used = 0, wanted = ANSWER;
    ck_assert_ptr_nonnull(answer);
    while (used < wanted) {
        const ssize_t got = recv(client, answer + used, wanted - used, 0);
        ck_assert_msg(got > 0, "the answer ends after %zu bytes: %s", used, answer);
        used += (size_t)got;
        const char *body = strstr(answer, "\r\n\r\n"), *length = strstr(answer, length_of);
        if (body != NULL && length != NULL) {
            wanted = (size_t)(body + 4 - answer) + strtoull(length + strlen(length_of), NULL, 10);
        }
    }
    json_t *object = json_loads(strstr(answer, "\r\n\r\n") + 4, 0, NULL);
    ck_assert_msg(object != NULL, "no JSON: %s", answer);
    free(answer);
    return object;
}

static void expect_state(int client, const char *state, json_int_t photons)
{
    json_t *object = receive_status(client);
    ck_assert_str_eq(json_string_value(json_object_get(object, "state")), state);
    ck_assert_int_eq(json_integer_value(json_object_get(object, "photons")), photons);
    json_decref(object);
}

/* The page runs only its own script, and no file of it names another machine. */
START_TEST(test_the_page_loads_nothing_from_elsewhere)
{
    ics_metrics_listener *listener = listen_on("127.0.0.1:0");
    char *answer = request(port_of(listener), "GET /", "\r\n");
    ck_assert_ptr_nonnull(strstr(answer, "Content-Type: text/html; charset=utf-8\r\n"));
    ck_assert_ptr_nonnull(strstr(answer, "Content-Security-Policy: default-src 'none'; "));
    ck_assert_ptr_null(strstr(answer, "unsafe-"));
    ck_assert_ptr_nonnull(strstr(answer, "X-Content-Type-Options: nosniff\r\n"));
    ck_assert_ptr_nonnull(strstr(answer, "Cache-Control: no-store\r\n"));
    free(answer);
    for (size_t i = 0; i < ics_live_page_file_count; ++i) {
        const char *text = ics_live_page_files[i].text;
        for (const char *at = text; (at = strstr(at, "//")) != NULL; ++at) {
            ck_assert_msg(strncmp(at, "//www.w3.org/2000/svg", 21) == 0, "%s: %.60s",
                          ics_live_page_files[i].name, at);
        }
        ck_assert_ptr_null(strstr(text, "innerHTML"));
        ck_assert_ptr_null(strstr(text, "style="));
        char line[128];
        snprintf(line, sizeof line, "GET %s", strrchr(ics_live_page_files[i].name, '/'));
        expect_status(port_of(listener), line, "\r\n", "200");
    }
    ck_assert_uint_eq(ics_live_page_file_count, 4);
    ics_metrics_listener_destroy(listener);
}
END_TEST

START_TEST(test_a_status_comes_with_the_next_snapshot)
{
    ics_metrics_listener *listener = listen_on("127.0.0.1:0");
    int client = connect_to(port_of(listener));
    ask(client, "");
    expect_state(client, "starting", 0);
    publish(listener, 41);
    ask(client, "");
    expect_state(client, "running", 41);
    ask(client, "?after=1"); /* the client has this one */
    char byte;
    ck_assert_int_lt(recv(client, &byte, 1, MSG_DONTWAIT), 0);
    /* The listener answers others meanwhile. */
    expect_status(port_of(listener), "GET /metrics", "\r\n", "200");
    ck_assert_int_lt(recv(client, &byte, 1, MSG_DONTWAIT), 0);
    publish(listener, 42);
    expect_state(client, "running", 42);
    /* What is no number of the present snapshot is answered at once. */
    static const char *const others[] = {"?after=1", "?after=", "?after=-3", "?after=x", "?x=2"};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        ask(client, others[i]);
        expect_state(client, "running", 42);
    }
    close(client);
    ics_metrics_listener_destroy(listener);
}
END_TEST

START_TEST(test_pages_learn_of_the_end)
{
    ics_metrics_listener *listener = listen_on("127.0.0.1:0");
    int waiting = connect_to(port_of(listener));
    publish(listener, 1);
    ask(waiting, "");
    expect_state(waiting, "running", 1);
    ask(waiting, "?after=1");
    ics_metrics *last = calloc(1, sizeof *last);
    last->photons = 2;
    last->ended = true;
    ics_metrics_listener_end(listener, last);
    free(last);
    ics_metrics_listener_destroy(listener);
    expect_state(waiting, "ended", 2); /* it came before the listener was gone */
    close(waiting);
}
END_TEST

/* Requests that wait, and clients that read no answer or close without a word, keep neither a
 * snapshot nor the end of the listener waiting. */
START_TEST(test_no_client_keeps_the_run_waiting)
{
    enum { MANY = 100 };
    ics_metrics_listener *listener = listen_on("127.0.0.1:0");
    const uint16_t port = port_of(listener);
    static char path[100000];
    int clients[MANY];
    publish(listener, 1);
    for (int i = 0; i < MANY; ++i) {
        clients[i] = connect_to(port);
        const char text[] = "GET /status.json?after=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
        (void)send(clients[i], text, strlen(text), MSG_NOSIGNAL); /* it may be closed already */
    }
    publish(listener, 2);
    publish(listener, 3);
    for (int i = 0; i < MANY; i += 2) {
        close(clients[i]);
    }
    memset(path, 'a', sizeof path - 1);
    memcpy(path, "GET /", 5);
    int client = connect_to(port);
    (void)send(client, path, strlen(path), MSG_NOSIGNAL);
    shutdown(client, SHUT_WR);
    free(receive_all(client));
    char *answer = request(port, "GET /status.json", "\r\n");
    ck_assert_ptr_nonnull(strstr(answer, "\"photons\":3,"));
    free(answer);
    ics_metrics *last = calloc(1, sizeof *last);
    ck_assert_ptr_nonnull(last);
    last->ended = true;
    /* If a client held the end of the run, the limit of this test would end it. */
    ics_metrics_listener_end(listener, last);
    ics_metrics_listener_destroy(listener);
    free(last);
    for (int i = 1; i < MANY; i += 2) {
        close(clients[i]);
    }
}
END_TEST

ICS_TEST_MAIN("live page")
{
    TCase *all = tcase_create("HTTP");
    tcase_add_test(all, test_the_page_loads_nothing_from_elsewhere);
    tcase_add_test(all, test_a_status_comes_with_the_next_snapshot);
    tcase_add_test(all, test_pages_learn_of_the_end);
    tcase_add_test(all, test_no_client_keeps_the_run_waiting);
    suite_add_tcase(suite, all);
}
