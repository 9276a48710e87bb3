#include "pipeline/production/queue/address.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "base/url.h"
#include "pipeline/photons/files/access_token.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

static const char plain[] = "redis://", encrypted[] = "rediss://";
enum { PORT = 6379 };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool ics_queue_is_address(const char *text)
{
    return begins(text, plain) || begins(text, encrypted);
}

static int refuse(const ics_queue_login *login, const char *what, icestream_error *error)
{
    char shown[ICS_URL_MOST + 1];
    return ics_error_set(error, ICESTREAM_E_CONFIG,
                         "%s: found %.300s, expected redis://[USER@]HOST[:PORT]/STREAM%s%s",
                         login->key, ics_url_shown(login->url, shown), what[0] != '\0' ? ", " : "",
                         what);
}

/* Copies the characters up to `end`. False: they are none or too many, or one is not a letter, a
 * digit or of `more`. */
static bool copy_word(const char *from, const char *end, const char *more, char *out, size_t size)
{
    const size_t length = (size_t)(end - from);
    if (length == 0 || length >= size) {
        return false;
    }
    for (size_t i = 0; i < length; ++i) {
        if (!isalnum((unsigned char)from[i]) && strchr(more, from[i]) == NULL) {
            return false;
        }
        out[i] = from[i];
    }
    out[length] = '\0';
    return true;
}

/* Reads HOST, HOST:PORT, [HOST] or [HOST]:PORT. */
static bool read_host(const char *from, const char *end, ics_queue_address *out)
{
    const char *host_end = NULL;
    out->port = PORT;
    if (*from == '[') {
        host_end = memchr(from, ']', (size_t)(end - from));
        if (host_end == NULL || !copy_word(from + 1, host_end, ":.", out->host, sizeof out->host)) {
            return false;
        }
        host_end++;
    } else {
        const char *colon = memchr(from, ':', (size_t)(end - from));
        host_end = colon != NULL ? colon : end;
        if (!copy_word(from, host_end, "-._", out->host, sizeof out->host)) {
            return false;
        }
    }
    if (host_end == end) {
        return true;
    }
    char digits[6];
    if (*host_end != ':' || !copy_word(host_end + 1, end, "", digits, sizeof digits)) {
        return false;
    }
    char *rest = NULL;
    const long port = strtol(digits, &rest, 10);
    out->port = (uint16_t)port;
    return *rest == '\0' && port >= 1 && port <= UINT16_MAX;
}

int ics_queue_address_parse(const ics_queue_login *login, ics_queue_address *out,
                            icestream_error *error)
{
    *out = (ics_queue_address){.tls = begins(login->url, encrypted)};
    if (!ics_queue_is_address(login->url) || ics_url_fault(login->url) != NULL) {
        return refuse(login, "", error);
    }
    if (ics_url_has_password(login->url)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found a password in the address, which the list of processes "
                             "would show, expected it in the file of %s or in the environment "
                             "variable ICESTREAM_QUEUE_PASSWORD",
                             login->key, login->password_key);
    }
    const char *from = login->url + (out->tls ? sizeof encrypted : sizeof plain) - 1;
    const char *slash = from + strcspn(from, "/");
    const char *at = memchr(from, '@', (size_t)(slash - from));
    if (at != NULL && !copy_word(from, at, "-._", out->user, sizeof out->user)) {
        return refuse(login, "with a user of letters, digits and -._", error);
    }
    if (!read_host(at != NULL ? at + 1 : from, slash, out)) {
        return refuse(login, "with the name or the number of a machine and a port above 0", error);
    }
    if (*slash == '\0' ||
        !copy_word(slash + 1, slash + strlen(slash), "-._:{}", out->stream, sizeof out->stream)) {
        return refuse(login, "with a stream of at most 200 letters, digits and -._:{}", error);
    }
    snprintf(out->shown, sizeof out->shown, "%s%s%s%s:%u/%s", out->tls ? encrypted : plain,
             strchr(out->host, ':') != NULL ? "[" : "", out->host,
             strchr(out->host, ':') != NULL ? "]" : "", out->port, out->stream);
    return ICESTREAM_OK;
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (begins(host, "127.") && host[strspn(host, "0123456789.")] == '\0');
}

/* Copies the password of the environment. Files and commands of the shell give it a newline at its
 * end, which is no part of it. */
static int copy_secret(const char *given, char secret[ICS_QUEUE_SECRET_MAX + 1],
                       icestream_error *error)
{
    size_t length = strlen(given);
    while (length > 0 && (given[length - 1] == '\n' || given[length - 1] == '\r')) {
        --length;
    }
    if (length > ICS_QUEUE_SECRET_MAX) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "ICESTREAM_QUEUE_PASSWORD: found %zu characters, expected at most %d",
                             length, ICS_QUEUE_SECRET_MAX);
    }
    for (size_t i = 0; i < length; ++i) {
        if (iscntrl((unsigned char)given[i])) {
            return ics_error_set(error, ICESTREAM_E_CONFIG,
                                 "ICESTREAM_QUEUE_PASSWORD: found a newline or another control "
                                 "character after %zu characters, expected one line",
                                 i);
        }
    }
    memcpy(secret, given, length);
    secret[length] = '\0';
    return ICESTREAM_OK;
}

/* OpenSSL would wait for the writer of a named pipe. */
static int check_certificates(const ics_queue_login *login, icestream_error *error)
{
    const char *why;
    ICS_CLOSES_DESCRIPTOR int file =
        login->ca != NULL ? ics_disk_open_regular(login->ca, &why) : -1;
    return login->ca == NULL || file >= 0
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_CONFIG, "%s: the file of certificates %s: %s",
                               login->key, login->ca, why);
}

int ics_queue_secret_read(const ics_queue_login *login, const ics_queue_address *address,
                          char secret[ICS_QUEUE_SECRET_MAX + 1], icestream_error *error)
{
    secret[0] = '\0';
    ICS_TRY(check_certificates(login, error));
    const char *given = getenv("ICESTREAM_QUEUE_PASSWORD");
    if (login->password != NULL) {
        ICS_TRY(ics_access_secret_read(login->password_key, login->password, secret,
                                       ICS_QUEUE_SECRET_MAX + 1, error));
    } else if (given != NULL) {
        ICS_TRY(copy_secret(given, secret, error));
    }
    if (secret[0] == '\0' && !address->tls && !is_loopback(address->host)) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found %s, which is another machine, without a password and "
                             "without TLS, expected %s, ICESTREAM_QUEUE_PASSWORD or rediss://",
                             login->key, address->shown, login->password_key);
    }
    if (secret[0] == '\0' && address->user[0] != '\0') {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "%s: found the user %s and no password, expected one in the file of "
                             "%s or in ICESTREAM_QUEUE_PASSWORD",
                             login->key, address->user, login->password_key);
    }
    return ICESTREAM_OK;
}

void ics_queue_secret_wipe(char secret[ICS_QUEUE_SECRET_MAX + 1])
{
    OPENSSL_cleanse(secret, ICS_QUEUE_SECRET_MAX + 1);
}
