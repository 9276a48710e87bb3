/* hiredis makes the socket and reads the protocol. TLS is made here with OpenSSL, because hiredis
 * has it only since its version 1.0. Bytes go through a BIO of OpenSSL, with TLS or without it,
 * whose end is the socket of hiredis: so both kinds of connection have the same time limits, and
 * neither raises SIGPIPE. */
#include "pipeline/production/queue/wire.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/new.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BLOCK = 16384, /* bytes of one read */
    TIMES = 4,     /* an answer that comes in pieces may take this many times the patience */
    SLICE = 100    /* ms between two looks at whether the process wants to end */
};

/* s that a call waits from the moment at which the process wants to end. */
static const double stopping_seconds = 2.0, cancelled_seconds = 0.5;

struct ics_queue_wire {
    redisContext *context; /* owns the socket */
    redisReader *reader;
    const ics_queue_patience *patience;
    double begun, hurried; /* ics_clock_seconds() when the call began, and when it first saw that
                              the process wants to end; 0: it does not (s) */
    BIO_METHOD *method;    /* of the end of `stream` */
    BIO *stream;           /* to and from the broker */
    SSL_CTX *tls;          /* NULL: the connection is not encrypted */
    SSL *session;          /* belongs to the stream */
};

static struct timeval timeval_of(double seconds)
{
    return (struct timeval){.tv_sec = (time_t)seconds,
                            .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds))};
}

/* ---- the socket ------------------------------------------------------------------------------ */

static bool is_true(const atomic_bool *flag)
{
    return flag != NULL && atomic_load(flag);
}

bool ics_queue_patience_is_short(const ics_queue_patience *patience)
{
    return is_true(patience->stop) || is_true(patience->cancel);
}

static void begin_call(ics_queue_wire *wire)
{
    wire->begun = ics_clock_seconds();
    wire->hurried = 0.0;
}

/* Whether the call takes too long. `since`: ics_clock_seconds() of its last bytes (s). */
static bool is_late(ics_queue_wire *wire, double since)
{
    const double now = ics_clock_seconds(), most = wire->patience->seconds;
    if (!ics_queue_patience_is_short(wire->patience)) {
        return now - since > most || now - wire->begun > TIMES * most;
    }
    wire->hurried = wire->hurried > 0.0 ? wire->hurried : now;
    const double left = is_true(wire->patience->cancel) ? cancelled_seconds : stopping_seconds;
    return now - since > most || now - wire->hurried > left;
}

/* Waits until the socket can be read or written. False: it takes too long. */
static bool await_socket(ics_queue_wire *wire, short events)
{
    const double since = ics_clock_seconds();
    struct pollfd entry = {.fd = wire->context->fd, .events = events};
    while (!is_late(wire, since)) {
        const int count = poll(&entry, 1, SLICE);
        if (count > 0 || (count < 0 && errno != EINTR)) {
            return count > 0;
        }
    }
    errno = ETIMEDOUT;
    return false;
}

static int socket_write(BIO *bio, const char *bytes, int size)
{
    ics_queue_wire *wire = BIO_get_data(bio);
    return await_socket(wire, POLLOUT)
               ? (int)TEMP_FAILURE_RETRY(
                     send(wire->context->fd, bytes, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT))
               : -1;
}

static int socket_read(BIO *bio, char *bytes, int size)
{
    ics_queue_wire *wire = BIO_get_data(bio);
    return await_socket(wire, POLLIN)
               ? (int)TEMP_FAILURE_RETRY(recv(wire->context->fd, bytes, (size_t)size, MSG_DONTWAIT))
               : -1;
}

/* Nothing is kept back, so there is nothing to flush. */
static long socket_control(BIO *bio, int what, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return what == BIO_CTRL_FLUSH;
}

static void make_stream(ics_queue_wire *wire)
{
    wire->method = ics_new_made(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "queue"));
    BIO_meth_set_write(wire->method, socket_write);
    BIO_meth_set_read(wire->method, socket_read);
    BIO_meth_set_ctrl(wire->method, socket_control);
    wire->stream = ics_new_made(BIO_new(wire->method));
    BIO_set_data(wire->stream, wire);
    BIO_set_init(wire->stream, 1);
}

/* Writes why a call of the stream with this result failed. */
static void describe(const ics_queue_wire *wire, int result, char why[256])
{
    const int cause = errno;
    const long verified = wire->session != NULL ? SSL_get_verify_result(wire->session) : X509_V_OK;
    const int what = wire->session != NULL ? SSL_get_error(wire->session, result) : 0;
    const unsigned long code = ERR_get_error();
    const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
    if (verified != X509_V_OK) {
        snprintf(why, 256, "TLS: %s", X509_verify_cert_error_string(verified));
    } else if (what == SSL_ERROR_SSL) {
        snprintf(why, 256, "TLS: %s", reason != NULL ? reason : "the broker does not speak it");
    } else if (result == 0 || what == SSL_ERROR_ZERO_RETURN || cause == 0) {
        snprintf(why, 256, "the broker has closed the connection");
    } else {
        const bool late = cause == EAGAIN || cause == EWOULDBLOCK || cause == ETIMEDOUT;
        snprintf(why, 256, "%s", late ? "the broker does not answer" : strerror(cause));
    }
}

/* ---- TLS ------------------------------------------------------------------------------------- */

/* Makes the session, which checks that the certificate is that of the host. */
static bool make_session(ics_queue_wire *wire, const char *host, const char *ca, char why[256])
{
    wire->tls = SSL_CTX_new(TLS_client_method());
    if (wire->tls == NULL || SSL_CTX_set_min_proto_version(wire->tls, TLS1_2_VERSION) != 1 ||
        (ca != NULL ? SSL_CTX_load_verify_locations(wire->tls, ca, NULL)
                    : SSL_CTX_set_default_verify_paths(wire->tls)) != 1) {
        snprintf(why, 256, "TLS: cannot read the certificates in %.200s",
                 ca != NULL ? ca : "the folder of the system");
        return false;
    }
    SSL_CTX_set_verify(wire->tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(wire->tls, SSL_MODE_AUTO_RETRY);
    /* The protocol says how long answers are, so an end without a farewell hides nothing. */
    SSL_CTX_set_options(wire->tls, SSL_OP_IGNORE_UNEXPECTED_EOF);
    BIO *filter = ics_new_made(BIO_new_ssl(wire->tls, 1));
    BIO_get_ssl(filter, &wire->session);
    wire->stream = BIO_push(filter, wire->stream);
    X509_VERIFY_PARAM *checks = SSL_get0_param(wire->session);
    const bool is_number = X509_VERIFY_PARAM_set1_ip_asc(checks, host) == 1;
    if (!is_number && (SSL_set1_host(wire->session, host) != 1 ||
                       SSL_set_tlsext_host_name(wire->session, host) != 1)) {
        snprintf(why, 256, "TLS: cannot check the name %.200s", host);
        return false;
    }
    ERR_clear_error();
    return true;
}

static bool begin_tls(ics_queue_wire *wire, const ics_queue_address *address, const char *ca,
                      bool *refused, char why[256])
{
    *refused = true;
    if (!make_session(wire, address->host, ca, why)) {
        return false;
    }
    errno = 0;
    const int result = SSL_connect(wire->session);
    *refused = SSL_get_verify_result(wire->session) != X509_V_OK;
    if (result != 1) {
        describe(wire, result, why);
    }
    return result == 1;
}

/* ---- both ------------------------------------------------------------------------------------ */

ics_queue_wire *ics_queue_wire_open(const ics_queue_address *address, const char *ca,
                                    const ics_queue_patience *patience, bool *refused,
                                    char why[256])
{
    const bool hurries = ics_queue_patience_is_short(patience);
    const double seconds = hurries ? stopping_seconds : patience->seconds;
    ICS_DESTROYS(ics_queue_wire_close) ics_queue_wire *wire = ICS_NEW(ics_queue_wire);
    *refused = false;
    wire->patience = patience;
    wire->context =
        ics_new_made(redisConnectWithTimeout(address->host, address->port, timeval_of(seconds)));
    wire->reader = ics_new_made(redisReaderCreate());
    if (wire->context->err != 0) {
        snprintf(why, 256, "%s", wire->context->errstr);
        return NULL;
    }
    make_stream(wire);
    begin_call(wire);
    if (address->tls && !begin_tls(wire, address, ca, refused, why)) {
        return NULL;
    }
    redisEnableKeepAlive(wire->context);
    return ICS_HAND_OVER(wire);
}

void ics_queue_wire_close(ics_queue_wire *wire)
{
    if (wire == NULL) {
        return;
    }
    BIO_free_all(wire->stream);
    BIO_meth_free(wire->method);
    SSL_CTX_free(wire->tls);
    redisFree(wire->context);
    redisReaderFree(wire->reader);
    free(wire);
}

redisReply *ics_queue_wire_call(ics_queue_wire *wire, const char *bytes, size_t size, char why[256])
{
    char block[BLOCK];
    void *reply = NULL;
    errno = 0;
    begin_call(wire);
    for (size_t sent = 0; sent < size;) {
        const int part = size - sent < BLOCK ? (int)(size - sent) : BLOCK;
        const int count = BIO_write(wire->stream, bytes + sent, part);
        if (count <= 0) {
            describe(wire, count, why);
            return NULL;
        }
        sent += (size_t)count;
    }
    while (reply == NULL) {
        const int count = BIO_read(wire->stream, block, sizeof block);
        if (count <= 0) {
            describe(wire, count, why);
            return NULL;
        }
        if (redisReaderFeed(wire->reader, block, (size_t)count) != REDIS_OK ||
            redisReaderGetReply(wire->reader, &reply) != REDIS_OK) {
            snprintf(why, 256, "found an answer that is not of the protocol: %.128s",
                     wire->reader->errstr);
            return NULL;
        }
        if (reply == NULL && is_late(wire, ics_clock_seconds())) {
            snprintf(why, 256, "the broker does not finish its answer");
            return NULL;
        }
    }
    return reply;
}
