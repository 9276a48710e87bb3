#include "pipeline/source/listen_token.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int token_error(const char *path, const char *text, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG, "source.token: %s: %s", path, text);
}

static int check_owner(const char *path, int descriptor, icestream_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return token_error(path, strerror(errno), error);
    }
    if (!S_ISREG(about.st_mode)) {
        return token_error(path, "expected a regular file", error);
    }
    if (about.st_uid != geteuid() && about.st_uid != 0) {
        return token_error(path, "belongs to another user, expected it to be ours, or root's",
                           error);
    }
    if ((about.st_mode & 07177) != 0) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "source.token: %s: found mode %04o, expected 0600 or stricter (chmod "
                             "600 %s)",
                             path, (unsigned)about.st_mode & 07777, path);
    }
    return ICESTREAM_OK;
}

/* The length of the first line without its newline; 0 if it is not a token. */
static size_t first_line(const char *text, size_t size)
{
    size_t length = 0;
    while (length < size && isgraph((unsigned char)text[length])) {
        ++length;
    }
    const char *end = text + length;
    bool ended =
        length == size || *end == '\n' || (length + 1 < size && end[0] == '\r' && end[1] == '\n');
    return ended && length >= ICS_LISTEN_TOKEN_MIN && length <= ICS_LISTEN_TOKEN_MAX ? length : 0;
}

static int read_token(const char *path, int descriptor, ics_listen_token *out,
                      icestream_error *error)
{
    char text[ICS_LISTEN_TOKEN_MAX + 2];
    size_t size = 0;
    ssize_t count = 1;
    int status = check_owner(path, descriptor, error);
    while (status == ICESTREAM_OK && count != 0 && size < sizeof text) {
        count = read(descriptor, text + size, sizeof text - size);
        if (count < 0 && errno != EINTR) {
            status = token_error(path, strerror(errno), error);
        }
        size += count > 0 ? (size_t)count : 0;
    }
    size_t length = status == ICESTREAM_OK ? first_line(text, size) : 0;
    if (status == ICESTREAM_OK && length == 0) {
        status = ics_error_set(error, ICESTREAM_E_CONFIG,
                               "source.token: %s: found no token in the first line, expected %d to "
                               "%d printable characters without blanks",
                               path, ICS_LISTEN_TOKEN_MIN, ICS_LISTEN_TOKEN_MAX);
    }
    if (status == ICESTREAM_OK) {
        status = ics_digest_of(text, length, out->digest, error);
    }
    OPENSSL_cleanse(text, sizeof text);
    return status;
}

int ics_listen_token_read(const char *path, ics_listen_token *out, icestream_error *error)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        return token_error(path, strerror(errno), error);
    }
    int status = read_token(path, descriptor, out, error);
    close(descriptor);
    return status;
}

bool ics_listen_token_matches(const ics_listen_token *token, const void *bytes, size_t size)
{
    /* All digests have the same length, so the time does not depend on the length of the token
     * either.
     */
    char digest[ICS_DIGEST_TEXT];
    return ics_digest_of(bytes, size, digest, NULL) == ICESTREAM_OK &&
           CRYPTO_memcmp(token->digest, digest, sizeof digest) == 0;
}
