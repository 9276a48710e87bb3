/* A metrics listener and its clients, for tests. */
#ifndef TELEMETRY_HTTP_CLIENT_H
#define TELEMETRY_HTTP_CLIENT_H

#include "pipeline/production/telemetry/metrics_listener.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE = 60 /* (s) */, ANSWER = 64 << 10 /* (B) */ };

static inline uint16_t port_of(const ics_metrics_listener *listener)
{
    char url[ICS_METRICS_URL];
    return (uint16_t)atoi(strrchr(ics_metrics_listener_url(listener, url), ':') + 1);
}

static inline ics_metrics_listener *listen_on(const char *address)
{
    ics_metrics_listener *listener = NULL;
    icestream_error error = {0};
    ck_assert_msg(ics_metrics_listener_create(&(ics_metrics_listener_options){.address = address},
                                              &listener, &error) == ICESTREAM_OK,
                  "%s", error.text);
    ck_assert_uint_ne(port_of(listener), 0);
    return listener;
}

static inline int connect_to(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = PATIENCE};
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(client, 0);
    ck_assert_int_eq(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    ck_assert_int_eq(connect(client, (const struct sockaddr *)&address, sizeof address), 0);
    return client;
}

static inline void send_text(int client, const char *text)
{
    ck_assert_int_eq(send(client, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Receives everything until the server closes the connection. The caller frees it. */
static inline char *receive_all(int client)
{
    char *answer = calloc(1, ANSWER);
    ck_assert_ptr_nonnull(answer);
    size_t used = 0;
    ssize_t got;
    while ((got = recv(client, answer + used, ANSWER - 1 - used, 0)) > 0) {
        used += (size_t)got;
    }
    ck_assert_msg(got == 0 || errno == ECONNRESET, "no answer: %s", strerror(errno));
    close(client);
    return answer;
}

static inline char *request(uint16_t port, const char *line, const char *rest)
{
    char text[1024];
    int client = connect_to(port);
    snprintf(text, sizeof text, "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s", line,
             rest);
    send_text(client, text);
    return receive_all(client);
}

static inline void expect_status(uint16_t port, const char *line, const char *rest,
                                 const char *status)
{
    char *answer = request(port, line, rest);
    ck_assert_msg(strncmp(answer, "HTTP/1.1 ", 9) == 0 && strncmp(answer + 9, status, 3) == 0,
                  "%s: expected %s, found\n%s", line, status, answer);
    free(answer);
}

/* Publishes a snapshot in which everything is 0 but the photons. */
static inline void publish(ics_metrics_listener *listener, uint64_t photons)
{
    ics_metrics *metrics = calloc(1, sizeof *metrics);
    ck_assert_ptr_nonnull(metrics);
    metrics->photons = photons;
    ics_metrics_listener_publish(listener, metrics);
    free(metrics);
}

#endif
