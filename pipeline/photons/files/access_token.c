#include "pipeline/photons/files/access_token.h"

#include "base/disk.h"
#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <string.h>
#include <unistd.h>

/* A file with a token, and the key of the configuration that names it. */
typedef struct token_file {
    const char *key, *path;
} token_file;

static int token_error(const token_file *file, const char *text, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: %s: %s", file->key, file->path, text);
}

unsigned ics_access_mode_for_others(const struct stat *about)
{
    return (unsigned)about->st_mode & (about->st_uid == 0 ? 0037U : 0077U);
}

static int check_owner(const token_file *file, int descriptor, icestream_error *error)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return token_error(file, strerror(errno), error);
    }
    if (about.st_uid != geteuid() && about.st_uid != 0) {
        return token_error(file, "belongs to another user, expected it to be ours, or root's",
                           error);
    }
    if ((about.st_mode & 07100) != 0 || ics_access_mode_for_others(&about) != 0) {
        return ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "%s: %s: found mode %04o, expected 0600 or stricter (chmod 600 %s); for a "
            "file of root 0640 or stricter",
            file->key, file->path, (unsigned)about.st_mode & 07777, file->path);
    }
    return ICESTREAM_OK;
}

/* The length of the first line without its newline; 0 if it has a blank, or not `least` to `most`
 * characters. */
static size_t first_line(const char *text, size_t size, size_t least, size_t most)
{
    size_t length = 0;
    while (length < size && isgraph((unsigned char)text[length])) {
        ++length;
    }
    const char *end = text + length;
    bool ended =
        length == size || *end == '\n' || (length + 1 < size && end[0] == '\r' && end[1] == '\n');
    return ended && length >= least && length <= most ? length : 0;
}

/* Reads the secret in the first line into text[size]. *length: of the secret. */
static int read_line(const token_file *file, size_t least, char *text, size_t size, size_t *length,
                     icestream_error *error)
{
    const char *why;
    int descriptor = ics_disk_open_regular(file->path, &why);
    if (descriptor < 0) {
        return token_error(file, why, error);
    }
    size_t used = 0;
    ssize_t count = 1;
    int status = check_owner(file, descriptor, error);
    while (status == ICESTREAM_OK && count != 0 && used < size) {
        count = read(descriptor, text + used, size - used);
        if (count < 0 && errno != EINTR) {
            status = token_error(file, strerror(errno), error);
        }
        used += count > 0 ? (size_t)count : 0;
    }
    close(descriptor);
    *length = status == ICESTREAM_OK ? first_line(text, used, least, size - 2) : 0;
    if (status == ICESTREAM_OK && *length == 0) {
        status = ics_error_set(error, ICESTREAM_E_CONFIG,
                               "%s: %s: found no token in the first line, expected %zu to %zu "
                               "printable characters without blanks",
                               file->key, file->path, least, size - 2);
    }
    return status;
}

int ics_access_token_read(const char *key, const char *path, ics_access_token *out,
                          icestream_error *error)
{
    const token_file file = {key, path};
    char text[ICS_ACCESS_TOKEN_MAX + 2];
    size_t length = 0;
    int status = read_line(&file, ICS_ACCESS_TOKEN_MIN, text, sizeof text, &length, error);
    if (status == ICESTREAM_OK) {
        status = ics_digest_of(text, length, out->digest, error);
    }
    OPENSSL_cleanse(text, sizeof text);
    return status;
}

int ics_access_secret_read(const char *key, const char *path, char *out, size_t size,
                           icestream_error *error)
{
    const token_file file = {key, path};
    char text[ICS_ACCESS_TOKEN_MAX + 2];
    size_t length = 0;
    const size_t most = size + 1 < sizeof text ? size + 1 : sizeof text;
    const int status = read_line(&file, 1, text, most, &length, error);
    memcpy(out, text, length);
    out[length] = '\0';
    OPENSSL_cleanse(text, sizeof text);
    return status;
}

bool ics_access_token_matches(const ics_access_token *token, const void *bytes, size_t size)
{
    /* All digests have the same length, so the time does not depend on the length of the token
     * either.
     */
    char digest[ICS_DIGEST_TEXT];
    return ics_digest_of(bytes, size, digest, NULL) == ICESTREAM_OK &&
           CRYPTO_memcmp(token->digest, digest, sizeof digest) == 0;
}
