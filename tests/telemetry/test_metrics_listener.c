/* Promises of metrics_listener.h: metrics are served on this machine only, or to clients with the
 * token, for GET only, and no client can disturb the listener. How to join: start a listener with
 * listen_on() and send requests with expect_status(). */
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"
#include "tests/telemetry/http_client.h"

#include <pthread.h>
#include <sys/stat.h>

/* Publishes the metrics of a run that has done nothing. */
static void publish_nothing(ics_metrics_listener *listener)
{
    ics_metrics *metrics = calloc(1, sizeof *metrics);
    ics_metrics_listener_publish(listener, metrics);
    free(metrics);
}

START_TEST(metrics_are_served)
{
    ics_metrics_listener *listener = listen_on("127.0.0.1:0");
    uint16_t port = port_of(listener);
    expect_status(port, "GET /metrics", "\r\n", "503");
    ics_metrics *metrics = calloc(1, sizeof *metrics);
    for (uint64_t i = 0; i < 3; ++i) {
        metrics->photons = 41 + i;
        ics_metrics_listener_publish(listener, metrics);
        size_t size = 0;
        char *answer = request(port, "GET /metrics", "\r\n");
        char *expected = ics_metrics_text(metrics, &size);
        ck_assert_int_eq(strncmp(answer, "HTTP/1.1 200", 12), 0);
        ck_assert_ptr_nonnull(
            strstr(answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
        const char *body = strstr(answer, "\r\n\r\n");
        ck_assert_ptr_nonnull(body);
        ck_assert_str_eq(body + 4, expected);
        free(answer);
        free(expected);
    }
    free(metrics);
    ics_metrics_listener_destroy(listener);
}
END_TEST

START_TEST(other_paths_and_methods_are_refused)
{
    ics_metrics_listener *listener = listen_on("localhost:0");
    uint16_t port = port_of(listener);
    publish_nothing(listener);
    expect_status(port, "GET /nothing", "\r\n", "404");
    expect_status(port, "GET /live.html", "\r\n", "200");
    expect_status(port, "POST /", "Content-Length: 5\r\n\r\nhello", "405");
    expect_status(port, "GET /metrics/", "\r\n", "404");
    expect_status(port, "GET /../../etc/passwd", "\r\n", "404");
    expect_status(port, "HEAD /metrics", "\r\n", "200");
    expect_status(port, "HEAD /status.json", "\r\n", "200");
    expect_status(port, "HEAD /nothing", "\r\n", "404");
    expect_status(port, "DELETE /metrics", "\r\n", "405");
    expect_status(port, "POST /metrics", "Content-Length: 5\r\n\r\nhello", "405");
    expect_status(port, "GET /metrics", "Content-Length: 5\r\n\r\nhello", "200");
    expect_status(port, "GET /metrics?x=1", "\r\n", "200");
    ics_metrics_listener_destroy(listener);
}
END_TEST

/* Connections that stay open and send nothing do not keep the next request out. */
START_TEST(idle_connections_do_not_block_a_request)
{
    enum { MANY = 200 };
    ics_metrics_listener *listener = listen_on("127.0.0.1:0");
    uint16_t port = port_of(listener);
    publish_nothing(listener);
    int clients[MANY];
    for (int i = 0; i < MANY; ++i) {
        clients[i] = connect_to(port);
        (void)send(clients[i], "G", 1, MSG_NOSIGNAL);
    }
    expect_status(port, "GET /metrics", "\r\n", "200");
    for (int i = 0; i < MANY; ++i) {
        close(clients[i]);
    }
    ics_metrics_listener_destroy(listener);
}
END_TEST

START_TEST(other_hosts_are_refused)
{
    static const struct {
        const char *host, *status;
    } cases[] = {{"evil.example:9464", "403"},
                 {"localhost.evil.example", "403"},
                 {"", "403"},
                 {"[evil]:1", "403"},
                 {"[::1].evil.example", "403"},
                 {"[::1", "403"},
                 {"[::1]:80.evil.example", "403"},
                 {"127.0.0.1:evil.example", "403"},
                 {"LOCALHOST:9464", "200"},
                 {"127.0.0.1", "200"},
                 {"[::1]:9464", "200"},
                 {"10.0.0.7:80", "200"}};
    ics_metrics_listener *listener = listen_on("127.0.0.1:0");
    publish_nothing(listener);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[256];
        int client = connect_to(port_of(listener));
        snprintf(text, sizeof text,
                 "GET /metrics HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", cases[i].host);
        send_text(client, text);
        char *answer = receive_all(client);
        ck_assert_msg(strncmp(answer + 9, cases[i].status, 3) == 0, "%s: %s", cases[i].host,
                      answer);
        free(answer);
    }
    ics_metrics_listener_destroy(listener);
}
END_TEST

static void *publish_many(void *user)
{
    ics_metrics *metrics = calloc(1, sizeof *metrics);
    for (uint64_t i = 1; metrics != NULL && i <= 2000; ++i) {
        /* Both values must come from the same snapshot. */
        metrics->photons = metrics->hits = i;
        ics_metrics_listener_publish(user, metrics);
    }
    free(metrics);
    return NULL;
}

START_TEST(values_are_of_one_snapshot)
{
    ics_metrics_listener *listener = listen_on("127.0.0.1:0");
    publish_nothing(listener);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, publish_many, listener), 0);
    for (int i = 0; i < 50; ++i) {
        char *answer = request(port_of(listener), "GET /metrics", "\r\n");
        const char *photons = strstr(answer, "\nicestream_photons_total ");
        const char *hits = strstr(answer, "\nicestream_hits_total ");
        ck_assert(photons != NULL && hits != NULL);
        ck_assert_str_eq(strtok(strdupa(photons + 25), "\n"), strtok(strdupa(hits + 22), "\n"));
        free(answer);
    }
    pthread_join(thread, NULL);
    ics_metrics_listener_destroy(listener);
}
END_TEST

static void expect_refused(const char *address, const char *token_file, const char *text)
{
    const ics_metrics_listener_options options = {.address = address, .token_file = token_file};
    ics_metrics_listener *listener = NULL;
    icestream_error error = {0};
    ck_assert_msg(ics_metrics_listener_create(&options, &listener, &error) == ICESTREAM_E_CONFIG,
                  "accepted '%s'", address);
    ck_assert_ptr_null(listener);
    ck_assert_msg(strstr(error.text, text) != NULL, "no '%s' in '%s'", text, error.text);
    ck_assert_int_eq(ics_metrics_listener_check(&options, &error), ICESTREAM_E_CONFIG);
}

/* Writes a file with a token; `path` gets its name. */
static void write_token(scratch *place, mode_t mode, char path[SCRATCH_PATH])
{
    scratch_path(place, "token", path);
    (void)unlink(path);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("0123456789abcdef\n", file);
    ck_assert_int_eq(fchmod(fileno(file), mode), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(addresses)
{
    icestream_error error = {0};
    static const char *const good[] = {"127.0.0.1:9464", "localhost:1", "[::1]:65535", "::1:0"};
    /* These need a token. */
    static const char *const beyond[] = {"0.0.0.0:9464", "192.168.1.1:9464", "[::]:9464",
                                         "127.0.0.2:9464"};
    static const char *const wrong[] = {"",
                                        "9464",
                                        "example.org:80",
                                        ":9464",
                                        "127.0.0.1",
                                        "127.0.0.1:",
                                        "127.0.0.1:-1",
                                        "127.0.0.1:65536",
                                        "127.0.0.1:http",
                                        "*:9464",
                                        "127.0.0.1:+1",
                                        "127.0.0.1:94 64",
                                        "[127.0.0.1]:9464"};
    char token[SCRATCH_PATH];
    scratch place = scratch_create();
    write_token(&place, 0600, token);
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        const ics_metrics_listener_options options = {.address = good[i]};
        ck_assert_msg(ics_metrics_listener_check(&options, &error) == ICESTREAM_OK, "%s",
                      error.text);
    }
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; ++i) {
        const ics_metrics_listener_options options = {.address = beyond[i], .token_file = token};
        expect_refused(beyond[i], NULL, "without metrics.token");
        ck_assert_msg(ics_metrics_listener_check(&options, &error) == ICESTREAM_OK, "%s",
                      error.text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        expect_refused(wrong[i], NULL, "metrics.listen: found '");
        expect_refused(wrong[i], token, "metrics.listen: found '");
    }
    write_token(&place, 0644, token);
    expect_refused("0.0.0.0:0", token, "found mode 0644, expected 0600 or stricter");
    expect_refused("127.0.0.1:0", "/nowhere/token", "metrics.token: /nowhere/token: No such file");
    scratch_remove(&place);
}
END_TEST

/* With a token every path needs it, and the host may have any name. */
START_TEST(token)
{
    static const struct {
        const char *header, *status;
    } cases[] = {
        {"", "401"},
        {"Authorization: Bearer 0123456789abcdef\r\n", "200"},
        {"authorization: bearer 0123456789abcdef\r\n", "200"},
        {"Authorization: Bearer 0123456789abcdeF\r\n", "401"},
        {"Authorization: Bearer 0123456789abcde\r\n", "401"},
        {"Authorization: Bearer 0123456789abcdef0\r\n", "401"},
        {"Authorization: Bearer\r\n", "401"},
        {"Authorization: 0123456789abcdef\r\n", "401"},
        {"Authorization: Basic YW55OjAxMjM0NTY3ODlhYmNkZWY=\r\n", "200"}, /* any:0123456789abcdef */
        {"Authorization: Basic OjAxMjM0NTY3ODlhYmNkZWY=\r\n", "200"},     /* :0123456789abcdef */
        {"Authorization: Basic MDEyMzQ1Njc4OWFiY2RlZg==\r\n", "401"},     /* no ':' */
        {"Authorization: Basic !!!!\r\n", "401"},
        {"Cookie: token=0123456789abcdef\r\n", "401"}};
    static const char *const paths[] = {"/", "/live.js", "/status.json", "/metrics"};
    char token_file[SCRATCH_PATH];
    scratch place = scratch_create();
    write_token(&place, 0600, token_file);
    ics_metrics_listener *listener = NULL;
    icestream_error error = {0};
    ck_assert_msg(
        ics_metrics_listener_create(
            &(ics_metrics_listener_options){.address = "0.0.0.0:0", .token_file = token_file},
            &listener, &error) == ICESTREAM_OK,
        "%s", error.text);
    publish(listener, 1);
    const uint16_t port = port_of(listener);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        for (size_t j = 0; j < sizeof paths / sizeof *paths; ++j) {
            char text[512];
            int client = connect_to(port);
            snprintf(text, sizeof text,
                     "GET %s HTTP/1.1\r\nHost: gpu7.example\r\nConnection: close\r\n%s\r\n",
                     paths[j], cases[i].header);
            send_text(client, text);
            char *answer = receive_all(client);
            ck_assert_msg(strncmp(answer + 9, cases[i].status, 3) == 0, "%s%s: %s", cases[i].header,
                          paths[j], answer);
            ck_assert_ptr_null(strstr(answer, "0123456789"));
            free(answer);
        }
    }
    expect_status(port, "GET /nothing", "\r\n", "401");
    expect_status(port, "GET /?token=0123456789abcdef", "\r\n", "401");
    char *answer = request(port, "GET /", "\r\n");
    ck_assert_ptr_nonnull(strstr(answer, "WWW-Authenticate: Basic realm=\"icestream\""));
    free(answer);
    ics_metrics_listener_destroy(listener);
    scratch_remove(&place);
}
END_TEST

START_TEST(port_in_use)
{
    ics_metrics_listener *first = listen_on("127.0.0.1:0"), *second = NULL;
    icestream_error error = {0};
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", port_of(first));
    ck_assert_int_eq(ics_metrics_listener_create(
                         &(ics_metrics_listener_options){.address = address}, &second, &error),
                     ICESTREAM_E_FAILED);
    ck_assert_ptr_null(second);
    ck_assert_msg(strstr(error.text, address) != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, "in use") != NULL, "%s", error.text);
    ck_assert_msg(strstr(error.text, "port 0") == NULL, "%s", error.text);
    ics_metrics_listener_destroy(first);
    ics_metrics_listener_destroy(NULL);
}
END_TEST

ICS_TEST_MAIN("metrics listener")
{
    TCase *all = tcase_create("HTTP");
    tcase_add_test(all, idle_connections_do_not_block_a_request);
    tcase_add_test(all, other_hosts_are_refused);
    tcase_add_test(all, metrics_are_served);
    tcase_add_test(all, other_paths_and_methods_are_refused);
    tcase_add_test(all, values_are_of_one_snapshot);
    tcase_add_test(all, addresses);
    tcase_add_test(all, token);
    tcase_add_test(all, port_in_use);
    suite_add_tcase(suite, all);
}
