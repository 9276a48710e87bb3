#include "pipeline/production/telemetry/metrics_listener.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/host_port.h"
#include "base/new.h"
#include "pipeline/production/telemetry/live_page.h"
#include "pipeline/production/telemetry/metrics_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

enum {
    CLIENTS = 64,      /* connections at a time */
    CLIENTS_KEPT = 32, /* of these; with more, the oldest one is shut down */
    CLIENT_SECONDS = 10,
    CLIENT_MEMORY = 16 << 10,
    STACK_BYTES = 1 << 20 /* of the library's thread */
};

/* How long (s) the end of a run waits for the pages that show it: those that asked for the status
 * in the last WATCH_TIME (s). */
#define END_PATIENCE 2.0
#define WATCH_TIME   3.0

/* A connection. */
typedef struct open_connection {
    TAILQ_ENTRY(open_connection) link;
    int descriptor;
    bool is_shut;
    double watched; /* ics_clock_seconds() when it asked for the status (s); 0: never, or it has got
                       the last one */
    struct MHD_Connection *waiting; /* suspended until the next snapshot; NULL: it is not */
} open_connection;

/* What the page shows. */
typedef struct snapshot {
    bool published;
    ics_metrics metrics;
    ics_live_history history;
} snapshot;

struct ics_metrics_listener {
    struct MHD_Daemon *daemon;
    uint16_t port;
    char host[256]; /* as URLs have it */
    ics_live_about about;
    bool has_token;
    ics_access_token token;
    pthread_mutex_t mutex; /* for the members below */
    pthread_cond_t fewer;  /* a connection that watched is closed, or has the last status */
    TAILQ_HEAD(, open_connection) connections; /* the oldest first */
    unsigned connection_count;                 /* of those that are not shut */
    bool closing;                              /* no request waits any more */
    snapshot now;
    bool starting;     /* a message of the library is now an error of _create */
    char message[256]; /* the first such message */
};

/* ---- the address ----------------------------------------------------------------------------- */

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

/* Whether only processes of this machine reach an address. */
static bool is_loopback(const listen_address *address)
{
    return address->any.sa_family == AF_INET6
               ? IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr)
               : address->v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
}

/* Returns whether the host is an address, and sets it. Brackets belong to IPv6 only. */
static bool parse_host(const ics_host_port *parsed, listen_address *out)
{
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET6, parsed->host, &out->v6.sin6_addr) == 1) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons(parsed->port);
        return true;
    }
    memset(out, 0, sizeof *out);
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(parsed->port);
    out->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return !parsed->is_bracketed && (strcmp(parsed->host, "localhost") == 0 ||
                                     inet_pton(AF_INET, parsed->host, &out->v4.sin_addr) == 1);
}

/* Reads HOST:PORT, where HOST is 127.0.0.1, localhost (the same) or [::1], or with `beyond` any
 * address. ICESTREAM_E_CONFIG. */
static int parse_address(const char *text, bool beyond, listen_address *out, icestream_error *error)
{
    static const char near[] =
        "HOST:PORT with HOST 127.0.0.1, localhost or [::1] (without metrics.token, metrics are not "
        "served to other machines)";
    static const char any[] = "HOST:PORT with HOST an address such as 127.0.0.1, 0.0.0.0 or [::]";
    const char *expected = beyond ? any : near;
    ics_host_port parsed;
    switch (ics_host_port_parse(text, &parsed)) {
    case ICS_HOST_PORT_BAD_HOST:
        return wrong_address(text, expected, error);
    case ICS_HOST_PORT_BAD_PORT:
        return wrong_address(text, "HOST:PORT with PORT 0 .. 65535", error);
    case ICS_HOST_PORT_GOOD:
        break;
    }
    return parse_host(&parsed, out) && (beyond || is_loopback(out))
               ? ICESTREAM_OK
               : wrong_address(text, expected, error);
}

/* Writes the HOST of a good HOST:PORT as URLs have it: an address of IPv6 stands in brackets. */
static void write_host(const char *text, char *host, size_t size)
{
    const char *end = strrchr(text, ':');
    const bool is_bare = text[0] != '[' && strchr(text, ':') != end;
    snprintf(host, size, "%s%.*s%s", is_bare ? "[" : "", (int)(end - text), text,
             is_bare ? "]" : "");
}

static int prepare(const ics_metrics_listener_options *options, listen_address *address,
                   ics_access_token *token, icestream_error *error)
{
    const bool has_token = options->token_file != NULL;
    ICS_TRY(parse_address(options->address, has_token, address, error));
    return has_token ? ics_access_token_read("metrics.token", options->token_file, token, error)
                     : ICESTREAM_OK;
}

int ics_metrics_listener_check(const ics_metrics_listener_options *options, icestream_error *error)
{
    listen_address address;
    ics_access_token token;
    return prepare(options, &address, &token, error);
}

/* ---- connections (on the library's thread) --------------------------------------------------- */

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

static void add_connection(ics_metrics_listener *listener, int descriptor, void **context)
{
    open_connection *entry = ICS_NEW(open_connection);
    entry->descriptor = descriptor;
    *context = entry;
    pthread_mutex_lock(&listener->mutex);
    TAILQ_INSERT_TAIL(&listener->connections, entry, link);
    listener->connection_count++;
    keep_room(listener);
    pthread_mutex_unlock(&listener->mutex);
}

/* The library calls this when a connection begins and when it ends. */
static void note_connection(void *user, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode code)
{
    ics_metrics_listener *listener = user;
    open_connection *entry = *context;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED && entry != NULL) {
        pthread_mutex_lock(&listener->mutex);
        TAILQ_REMOVE(&listener->connections, entry, link);
        listener->connection_count -= !entry->is_shut;
        pthread_cond_signal(&listener->fewer);
        pthread_mutex_unlock(&listener->mutex);
        free(entry);
        *context = NULL;
        return;
    }
    const union MHD_ConnectionInfo *about =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (code == MHD_CONNECTION_NOTIFY_STARTED && about != NULL) {
        add_connection(listener, about->connect_fd, context);
    }
}

static open_connection *entry_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *about =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return about != NULL ? about->socket_context : NULL;
}

/* A request that carries this mark is answered with the last status. */
static char last_status;

/* The library calls this when an answer is sent, or cannot be sent. */
static void note_answer(void *user, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode code)
{
    ics_metrics_listener *listener = user;
    open_connection *entry = entry_of(connection);
    (void)code;
    if (entry != NULL && *request == &last_status) {
        pthread_mutex_lock(&listener->mutex);
        entry->watched = 0.0;
        pthread_cond_signal(&listener->fewer);
        pthread_mutex_unlock(&listener->mutex);
    }
}

/* ---- answers (on the library's thread) ------------------------------------------------------- */

/* Copies what is served now; the caller frees it. */
static snapshot *copy_now(ics_metrics_listener *listener)
{
    snapshot *copy = ICS_NEW(snapshot);
    pthread_mutex_lock(&listener->mutex);
    *copy = listener->now;
    pthread_mutex_unlock(&listener->mutex);
    return copy;
}

static enum MHD_Result answer_metrics(ics_metrics_listener *listener,
                                      struct MHD_Connection *connection)
{
    ICS_FREES snapshot *now = copy_now(listener);
    size_t size = 0;
    if (!now->published) {
        return ics_metrics_http_answer_line(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                            "the run is just starting\n");
    }
    char *text = ics_metrics_text(&now->metrics, &size);
    return ics_metrics_http_answer_made(connection, "text/plain; version=0.0.4; charset=utf-8",
                                        text, size);
}

/* Suspends the request if the client has the present snapshot already, which it says by ?after= and
 * the number of that snapshot. The next one, or the end, resumes the request; so a page learns of
 * the end before the listener is gone. Returns whether the request waits. */
static bool must_wait(ics_metrics_listener *listener, struct MHD_Connection *connection)
{
    const char *after = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "after");
    open_connection *entry = entry_of(connection);
    if (entry == NULL) {
        return false;
    }
    pthread_mutex_lock(&listener->mutex);
    const bool waits = after != NULL && !listener->closing && !listener->now.metrics.ended &&
                       listener->now.history.snapshots == strtoull(after, NULL, 10);
    entry->watched = ics_clock_seconds();
    if (waits) {
        entry->waiting = connection;
        MHD_suspend_connection(connection);
    }
    pthread_mutex_unlock(&listener->mutex);
    return waits;
}

static enum MHD_Result answer_status(ics_metrics_listener *listener,
                                     struct MHD_Connection *connection, void **request)
{
    if (must_wait(listener, connection)) {
        return MHD_YES;
    }
    ICS_FREES snapshot *now = copy_now(listener);
    if (now->metrics.ended) {
        *request = &last_status;
    }
    char *text = ics_live_history_text(&now->history, now->published ? &now->metrics : NULL,
                                       &listener->about);
    return ics_metrics_http_answer_made(connection, "application/json", text, strlen(text));
}

/* The file of the page that the path of a request names, and its media type. NULL: there is none.
 */
static const char *find_page(const char *path, const char **type)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".js", "text/javascript; charset=utf-8"},
                                           {".svg", "image/svg+xml"}};
    const char *wanted = strcmp(path, "/") == 0 ? "/live.html" : path;
    for (size_t i = 0; i < ics_live_page_file_count; ++i) {
        const char *name = strrchr(ics_live_page_files[i].name, '/');
        const char *ending = strrchr(name, '.');
        if (strcmp(wanted, name) != 0) {
            continue;
        }
        for (size_t j = 0; j < sizeof types / sizeof *types; ++j) {
            if (strcmp(ending, types[j][0]) == 0) {
                *type = types[j][1];
            }
        }
        return ics_live_page_files[i].text;
    }
    return NULL;
}

/* Answers one request.
 * size: libmicrohttpd defines the parameters. */
static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request)
{
    ics_metrics_listener *listener = user;
    const bool is_metrics = strcmp(url, "/metrics") == 0,
               is_status = strcmp(url, "/status.json") == 0;
    const char *type = NULL, *page = find_page(url, &type);
    (void)version;
    (void)upload;
    if (listener->has_token && !ics_metrics_http_has_token(connection, &listener->token)) {
        return ics_metrics_http_answer_line(connection, MHD_HTTP_UNAUTHORIZED,
                                            "expected the token of metrics.token, as a bearer "
                                            "token or as the password of any user\n");
    }
    /* With a token the name does not matter: a browser sends it to the name only that it is for. */
    if (!listener->has_token && !ics_metrics_http_is_host_ours(connection)) {
        return ics_metrics_http_answer_line(connection, MHD_HTTP_FORBIDDEN,
                                            "only for the hosts localhost and addresses\n");
    }
    if (!is_metrics && !is_status && page == NULL) {
        return ics_metrics_http_answer_line(connection, MHD_HTTP_NOT_FOUND,
                                            "only /, /status.json and /metrics are served\n");
    }
    const bool is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    if (!is_head && strcmp(method, MHD_HTTP_METHOD_GET) != 0) {
        return ics_metrics_http_answer_line(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                                            "only GET and HEAD are allowed\n");
    }
    /* The first call comes after the headers. A body is read and ignored, because an answer before
     * its end would close the connection. */
    if (*request == NULL || *upload_size > 0) {
        *request = listener;
        *upload_size = 0;
        return MHD_YES;
    }
    void *no_page = NULL; /* the headers alone show nobody the last status */
    return page != NULL ? ics_metrics_http_answer(connection, MHD_HTTP_OK, type, page)
           : is_status  ? answer_status(listener, connection, is_head ? &no_page : request)
                        : answer_metrics(listener, connection);
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
                     MHD_ALLOW_SUSPEND_RESUME |
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
        note_connection, listener, MHD_OPTION_NOTIFY_COMPLETED, note_answer, listener,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY, MHD_OPTION_END);
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

int ics_metrics_listener_create(const ics_metrics_listener_options *options,
                                ics_metrics_listener **out, icestream_error *error)
{
    *out = NULL;
    listen_address parsed = {.any = {.sa_family = AF_UNSPEC}};
    ics_access_token token = {.digest = ""};
    ICS_TRY(prepare(options, &parsed, &token, error));
    ICS_DESTROYS(ics_metrics_listener_destroy)
    ics_metrics_listener *listener = ICS_NEW(ics_metrics_listener);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic); /* this and the rest cannot fail on Linux */
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&listener->fewer, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&listener->mutex, NULL);
    TAILQ_INIT(&listener->connections);
    write_host(options->address, listener->host, sizeof listener->host);
    listener->about = options->about;
    listener->has_token = options->token_file != NULL;
    listener->token = token;
    ics_live_history_begin(&listener->now.history);
    ICS_TRY(start(listener, options->address, &parsed, error));
    *out = ICS_HAND_OVER(listener);
    return ICESTREAM_OK;
}

/* Lets the requests that wait go on. A suspended connection stays valid until it is resumed, and
 * only the thread that publishes resumes it. The library's own locks are not taken inside ours. */
static void resume_all(ics_metrics_listener *listener)
{
    struct MHD_Connection *waiting[CLIENTS];
    size_t count = 0;
    open_connection *entry;
    pthread_mutex_lock(&listener->mutex);
    TAILQ_FOREACH(entry, &listener->connections, link)
    {
        if (entry->waiting != NULL && count < CLIENTS) {
            waiting[count++] = entry->waiting;
            entry->waiting = NULL;
            entry->watched = ics_clock_seconds(); /* it was there, however long it has waited */
        }
    }
    pthread_mutex_unlock(&listener->mutex);
    for (size_t i = 0; i < count; ++i) {
        MHD_resume_connection(waiting[i]);
    }
}

void ics_metrics_listener_destroy(ics_metrics_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    if (listener->daemon != NULL) {
        pthread_mutex_lock(&listener->mutex);
        listener->closing = true;
        pthread_mutex_unlock(&listener->mutex);
        resume_all(listener);
        MHD_stop_daemon(listener->daemon);
    }
    pthread_cond_destroy(&listener->fewer);
    pthread_mutex_destroy(&listener->mutex);
    free(listener);
}

void ics_metrics_listener_publish(ics_metrics_listener *listener, const ics_metrics *metrics)
{
    pthread_mutex_lock(&listener->mutex);
    listener->now.metrics = *metrics;
    listener->now.published = true;
    ics_live_history_add(&listener->now.history, metrics, ics_clock_seconds());
    pthread_mutex_unlock(&listener->mutex);
    resume_all(listener);
}

static bool is_watched(const ics_metrics_listener *listener)
{
    const double since = ics_clock_seconds() - WATCH_TIME;
    const open_connection *entry;
    TAILQ_FOREACH(entry, &listener->connections, link)
    {
        if (entry->watched > since && !entry->is_shut) {
            return true;
        }
    }
    return false;
}

void ics_metrics_listener_end(ics_metrics_listener *listener, const ics_metrics *metrics)
{
    const struct timespec deadline = ics_clock_deadline(END_PATIENCE);
    ics_metrics_listener_publish(listener, metrics);
    pthread_mutex_lock(&listener->mutex);
    while (is_watched(listener) &&
           pthread_cond_timedwait(&listener->fewer, &listener->mutex, &deadline) == 0) {
    }
    pthread_mutex_unlock(&listener->mutex);
}

const char *ics_metrics_listener_url(const ics_metrics_listener *listener,
                                     char url[ICS_METRICS_URL])
{
    snprintf(url, ICS_METRICS_URL, "http://%s:%u/", listener->host, listener->port);
    return url;
}
