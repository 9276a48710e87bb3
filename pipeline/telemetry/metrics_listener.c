#include "pipeline/telemetry/metrics_listener.h"

#include "base/error.h"
#include "base/host_port.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <sys/socket.h>

enum {
    CLIENTS = 64,      /* connections at a time */
    CLIENTS_KEPT = 32, /* of these; with more, the oldest one is shut down */
    CLIENT_SECONDS = 10,
    CLIENT_MEMORY = 16 << 10,
    STACK_BYTES = 1 << 20 /* of the library's thread */
};

/* A connection; used only on the library's thread. */
typedef struct open_connection {
    TAILQ_ENTRY(open_connection) link;
    int descriptor;
    bool is_shut;
} open_connection;

struct ics_metrics_listener {
    struct MHD_Daemon *daemon;
    uint16_t port;
    TAILQ_HEAD(, open_connection) connections; /* the oldest first */
    unsigned connection_count;                 /* of those that are not shut */
    pthread_mutex_t mutex;                     /* for the members below */
    bool published;
    ics_metrics metrics;
    bool starting;     /* a message of the library is now an error of _create */
    char message[256]; /* the first such message */
};

/* ---- addresses ------------------------------------------------------------------------------- */

typedef union listen_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} listen_address;

static int wrong_address(const char *address, const char *expected, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG, "metrics.listen: found '%.200s', expected %s",
                         address, expected);
}

static int parse_address(const char *text, listen_address *out, icestream_error *error)
{
    static const char hosts[] =
        "HOST:PORT with HOST 127.0.0.1, localhost or [::1] (metrics are not served to other "
        "machines)";
    ics_host_port parsed;
    memset(out, 0, sizeof *out);
    switch (ics_host_port_parse(text, &parsed)) {
    case ICS_HOST_PORT_BAD_HOST:
        return wrong_address(text, hosts, error);
    case ICS_HOST_PORT_BAD_PORT:
        return wrong_address(text, "HOST:PORT with PORT 0 .. 65535", error);
    case ICS_HOST_PORT_GOOD:
        break;
    }
    if (strcmp(parsed.host, "::1") == 0) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons(parsed.port);
        out->v6.sin6_addr = in6addr_loopback;
    } else if (!parsed.is_bracketed &&
               (strcmp(parsed.host, "127.0.0.1") == 0 || strcmp(parsed.host, "localhost") == 0)) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(parsed.port);
        out->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        return wrong_address(text, hosts, error);
    }
    return ICESTREAM_OK;
}

int ics_metrics_address_check(const char *address, icestream_error *error)
{
    listen_address parsed;
    return parse_address(address, &parsed, error);
}

/* ---- answers (on the library's thread) ------------------------------------------------------- */

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
                                   const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        return MHD_NO; /* closes the connection */
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_GET);
    }
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result answer_metrics(struct MHD_Connection *connection, char *text, size_t size)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            "text/plain; version=0.0.4; charset=utf-8");
    enum MHD_Result queued = MHD_queue_response(connection, MHD_HTTP_OK, response);
    MHD_destroy_response(response);
    return queued;
}

/* Shuts down the oldest connection if there are too many, so that connections which send nothing,
 * or a byte now and then, cannot keep the next one from being served. */
static void keep_room(ics_metrics_listener *listener)
{
    open_connection *oldest = TAILQ_FIRST(&listener->connections);
    while (oldest != NULL && oldest->is_shut) {
        oldest = TAILQ_NEXT(oldest, link);
    }
    if (oldest != NULL && listener->connection_count > CLIENTS_KEPT) {
        oldest->is_shut = true;
        listener->connection_count--;
        shutdown(oldest->descriptor, SHUT_RDWR); /* the library finds this and closes it */
    }
}

/* The library calls this when a connection begins and when it ends. */
static void note_connection(void *user, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode code)
{
    ics_metrics_listener *listener = user;
    open_connection *entry = *context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED && entry != NULL) {
        TAILQ_REMOVE(&listener->connections, entry, link);
        listener->connection_count -= !entry->is_shut;
        free(entry);
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *about =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (code != MHD_CONNECTION_NOTIFY_STARTED || about == NULL ||
        (entry = calloc(1, sizeof *entry)) == NULL) {
        return; /* the limit of all connections still holds */
    }
    entry->descriptor = about->connect_fd;
    *context = entry;
    TAILQ_INSERT_TAIL(&listener->connections, entry, link);
    listener->connection_count++;
    keep_room(listener);
}

/* Whether the request names this machine by localhost or by an address. A page in a browser can
 * reach this port under another name, if the owner of that name lets it point here; it must not
 * read the metrics. */
static bool is_host_ours(struct MHD_Connection *connection)
{
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    char name[INET6_ADDRSTRLEN + 1];
    struct in6_addr address;
    if (host == NULL) {
        return true; /* HTTP 1.0: no browser */
    }
    const bool brackets = host[0] == '[';
    const size_t length = strcspn(host + brackets, brackets ? "]" : ":");
    if (length >= sizeof name) {
        return false;
    }
    memcpy(name, host + brackets, length);
    name[length] = '\0';
    return brackets ? inet_pton(AF_INET6, name, &address) == 1
                    : strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &address) == 1;
}

/* Answers one request.
 * size: libmicrohttpd defines the parameters. */
static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request)
{
    ics_metrics_listener *listener = user;
    (void)version;
    (void)upload;
    if (!is_host_ours(connection)) {
        return answer_text(connection, MHD_HTTP_FORBIDDEN,
                           "only for the hosts localhost and addresses\n");
    }
    if (strcmp(url, "/metrics") != 0) {
        return answer_text(connection, MHD_HTTP_NOT_FOUND, "only /metrics is served\n");
    }
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0) {
        return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET is allowed\n");
    }
    /* The first call comes after the headers. A body is read and ignored, because an answer before
     * its end would close the connection. */
    if (*request == NULL || *upload_size > 0) {
        *request = listener;
        *upload_size = 0;
        return MHD_YES;
    }
    ics_metrics *metrics = malloc(sizeof *metrics);
    if (metrics == NULL) {
        return answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
    }
    pthread_mutex_lock(&listener->mutex);
    bool published = listener->published;
    *metrics = listener->metrics;
    pthread_mutex_unlock(&listener->mutex);
    char *text = NULL;
    size_t size = 0;
    int status = published ? ics_metrics_text(metrics, &text, &size, NULL) : ICESTREAM_OK;
    free(metrics);
    if (!published) {
        return answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "the run is just starting\n");
    }
    return status == ICESTREAM_OK
               ? answer_metrics(connection, text, size)
               : answer_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
}

/* ---- the listener ---------------------------------------------------------------------------- */

/* While the listener starts, the first message of the library is the error. Later messages are
 * about faults of clients and are ignored. */
static void take_message(void *user, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
static void take_message(void *user, const char *format, va_list arguments)
{
    ics_metrics_listener *listener = user;
    pthread_mutex_lock(&listener->mutex);
    if (listener->starting && listener->message[0] == '\0') {
        vsnprintf(listener->message, sizeof listener->message, format, arguments);
        listener->message[strcspn(listener->message, "\n")] = '\0';
    }
    pthread_mutex_unlock(&listener->mutex);
}

static int start(ics_metrics_listener *listener, const char *text, const listen_address *address,
                 icestream_error *error)
{
    unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ERROR_LOG |
                     (address->any.sa_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG);
    /* The library takes the port from the address, and uses this number only in its messages. */
    uint16_t port =
        ntohs(address->any.sa_family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port);
    listener->starting = true;
    listener->daemon = MHD_start_daemon(
        flags, port, NULL, NULL, answer, listener, MHD_OPTION_EXTERNAL_LOGGER, take_message,
        listener, MHD_OPTION_SOCK_ADDR, &address->any, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CLIENT_SECONDS,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
        note_connection, listener, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY,
        MHD_OPTION_END);
    pthread_mutex_lock(&listener->mutex);
    listener->starting = false;
    pthread_mutex_unlock(&listener->mutex);
    if (listener->daemon == NULL) {
        const char *message = listener->message;
        return ics_error_set(error, ICESTREAM_E_FAILED, "metrics.listen: cannot listen on %s: %s",
                             text,
                             message[0] != '\0' ? message : "the HTTP library does not say why");
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_BIND_PORT);
    listener->port = info != NULL ? info->port : 0;
    return ICESTREAM_OK;
}

int ics_metrics_listener_create(const char *address, ics_metrics_listener **out,
                                icestream_error *error)
{
    *out = NULL;
    listen_address parsed;
    ICS_TRY(parse_address(address, &parsed, error));
    ics_metrics_listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for metrics.listen");
    }
    TAILQ_INIT(&listener->connections);
    pthread_mutex_init(&listener->mutex, NULL); /* cannot fail on Linux */
    int status = start(listener, address, &parsed, error);
    if (status != ICESTREAM_OK) {
        ics_metrics_listener_destroy(listener);
        return status;
    }
    *out = listener;
    return ICESTREAM_OK;
}

void ics_metrics_listener_destroy(ics_metrics_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    if (listener->daemon != NULL) {
        MHD_stop_daemon(listener->daemon);
    }
    pthread_mutex_destroy(&listener->mutex);
    free(listener);
}

void ics_metrics_listener_publish(ics_metrics_listener *listener, const ics_metrics *metrics)
{
    pthread_mutex_lock(&listener->mutex);
    listener->metrics = *metrics;
    listener->published = true;
    pthread_mutex_unlock(&listener->mutex);
}

uint16_t ics_metrics_listener_port(const ics_metrics_listener *listener)
{
    return listener->port;
}
