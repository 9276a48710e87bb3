/* hiredis makes the socket and reads the protocol. TLS is made here with OpenSSL, because hiredis
 * has it only since its version 1.0: OpenSSL reads from and writes to memory, and this file moves
 * the bytes between that memory and the socket. So both kinds of connection have the same time
 * limits, and neither raises SIGPIPE. */
#include "pipeline/queue/queue_wire.h"

#include "base/clock.h"
#include "base/destroys.h"
#include "base/new.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    BLOCK = 16384, /* bytes of one read */
    TIMES = 4      /* an answer that comes in pieces may take this many times `patience` */
};

struct ics_queue_wire {
    redisContext *context; /* owns the socket */
    redisReader *reader;
    double patience; /* s */
    SSL_CTX *tls;    /* NULL: the connection is not encrypted */
    SSL *session;
    BIO *in, *out; /* of the session: bytes from and for the broker; owned by it */
};

static void describe_errno(char why[256])
{
    const bool late = errno == EAGAIN || errno == EWOULDBLOCK || errno == ETIMEDOUT;
    snprintf(why, 256, "%s", late ? "the broker does not answer" : strerror(errno));
}

static struct timeval timeval_of(double seconds)
{
    return (struct timeval){.tv_sec = (time_t)seconds,
                            .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds))};
}

/* ---- the socket ------------------------------------------------------------------------------ */

static bool send_all(const ics_queue_wire *wire, const char *bytes, size_t size, char why[256])
{
    while (size > 0) {
        const ssize_t sent = send(wire->context->fd, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            describe_errno(why);
            return false;
        }
        bytes += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

/* Returns how many bytes came; 0: the connection is broken. */
static size_t receive(const ics_queue_wire *wire, char bytes[BLOCK], char why[256])
{
    ssize_t count = 0;
    do {
        count = recv(wire->context->fd, bytes, BLOCK, 0);
    } while (count < 0 && errno == EINTR);
    if (count == 0) {
        snprintf(why, 256, "the broker has closed the connection");
    } else if (count < 0) {
        describe_errno(why);
    }
    return count > 0 ? (size_t)count : 0;
}

/* ---- TLS ------------------------------------------------------------------------------------- */

/* Sends what the session has for the broker. */
static bool flush(const ics_queue_wire *wire, char why[256])
{
    char block[BLOCK];
    int count = 0;
    while ((count = BIO_read(wire->out, block, sizeof block)) > 0) {
        if (!send_all(wire, block, (size_t)count, why)) {
            return false;
        }
    }
    return true;
}

static bool feed(const ics_queue_wire *wire, char why[256])
{
    char block[BLOCK];
    const size_t count = receive(wire, block, why);
    return count > 0 && BIO_write(wire->in, block, (int)count) == (int)count;
}

/* Writes why the last call of the session with this result failed. */
static void describe_tls(const ics_queue_wire *wire, char why[256])
{
    const long verified = SSL_get_verify_result(wire->session);
    const unsigned long code = ERR_get_error();
    const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
    snprintf(why, 256, "TLS: %s",
             verified != X509_V_OK ? X509_verify_cert_error_string(verified)
             : reason != NULL      ? reason
                                   : "the broker does not speak it");
}

/* Goes on with a call of the session that returned `result`, by moving bytes. False: it failed. */
static bool continue_tls(const ics_queue_wire *wire, int result, char why[256])
{
    const int what = SSL_get_error(wire->session, result);
    if (!flush(wire, why)) {
        return false;
    }
    if (what == SSL_ERROR_WANT_READ) {
        return feed(wire, why);
    }
    if (what == SSL_ERROR_ZERO_RETURN) {
        snprintf(why, 256, "the broker has closed the connection");
    } else {
        describe_tls(wire, why);
    }
    return what == SSL_ERROR_WANT_WRITE;
}

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
    wire->session = ics_new_made(SSL_new(wire->tls));
    wire->in = ics_new_made(BIO_new(BIO_s_mem()));
    wire->out = ics_new_made(BIO_new(BIO_s_mem()));
    SSL_set_bio(wire->session, wire->in, wire->out);
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
    int result = SSL_connect(wire->session);
    while (result != 1) {
        if (!continue_tls(wire, result, why)) {
            *refused = SSL_get_verify_result(wire->session) != X509_V_OK;
            return false;
        }
        result = SSL_connect(wire->session);
    }
    *refused = false;
    return flush(wire, why);
}

/* ---- both ------------------------------------------------------------------------------------ */

ics_queue_wire *ics_queue_wire_open(const ics_queue_address *address, const char *ca,
                                    double patience, bool *refused, char why[256])
{
    const struct timeval most = timeval_of(patience);
    ICS_DESTROYS(ics_queue_wire_close) ics_queue_wire *wire = ICS_NEW(ics_queue_wire);
    *refused = false;
    wire->patience = patience;
    wire->context = ics_new_made(redisConnectWithTimeout(address->host, address->port, most));
    wire->reader = ics_new_made(redisReaderCreate());
    if (wire->context->err != 0 || redisSetTimeout(wire->context, most) != REDIS_OK) {
        snprintf(why, 256, "%s", wire->context->errstr);
        return NULL;
    }
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
    SSL_free(wire->session);
    SSL_CTX_free(wire->tls);
    redisFree(wire->context);
    redisReaderFree(wire->reader);
    free(wire);
}

static bool write_bytes(ics_queue_wire *wire, const char *bytes, size_t size, char why[256])
{
    if (wire->session == NULL) {
        return send_all(wire, bytes, size, why);
    }
    while (size > 0) {
        const int part = size < BLOCK ? (int)size : BLOCK;
        const int count = SSL_write(wire->session, bytes, part);
        if (count <= 0 ? !continue_tls(wire, count, why) : !flush(wire, why)) {
            return false;
        }
        bytes += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

static size_t read_bytes(ics_queue_wire *wire, char bytes[BLOCK], char why[256])
{
    if (wire->session == NULL) {
        return receive(wire, bytes, why);
    }
    int count = SSL_read(wire->session, bytes, BLOCK);
    while (count <= 0) {
        if (!continue_tls(wire, count, why)) {
            return 0;
        }
        count = SSL_read(wire->session, bytes, BLOCK);
    }
    return (size_t)count;
}

redisReply *ics_queue_wire_call(ics_queue_wire *wire, const char *bytes, size_t size, char why[256])
{
    const double until = ics_clock_seconds() + TIMES * wire->patience;
    char block[BLOCK];
    void *reply = NULL;
    if (!write_bytes(wire, bytes, size, why)) {
        return NULL;
    }
    while (reply == NULL) {
        const size_t count = read_bytes(wire, block, why);
        if (count == 0) {
            return NULL;
        }
        if (redisReaderFeed(wire->reader, block, count) != REDIS_OK ||
            redisReaderGetReply(wire->reader, &reply) != REDIS_OK) {
            snprintf(why, 256, "found an answer that is not of the protocol: %.128s",
                     wire->reader->errstr);
            return NULL;
        }
        if (reply == NULL && ics_clock_seconds() > until) {
            snprintf(why, 256, "the broker does not finish its answer");
            return NULL;
        }
    }
    return reply;
}
