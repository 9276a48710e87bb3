#include "pipeline/transfer/target.h"

#include "base/error.h"
#include "pipeline/files/access_token.h"
#include "pipeline/transfer/aws_settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int out_of_memory(icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a transfer");
}

static int refuse(const ics_transfer_target *target, const char *expected, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG, "found %.2000s, expected %s", target->shown,
                         expected);
}

char *ics_transfer_encode(const char *text, const char *kept)
{
    static const char digits[] = "0123456789ABCDEF";
    char *made = malloc(3 * strlen(text) + 1), *to = made;
    for (; made != NULL && *text != '\0'; ++text) {
        const unsigned char byte = (unsigned char)*text;
        if ((isascii(byte) && (isalnum(byte) || strchr("-._~", byte) != NULL)) ||
            strchr(kept, byte) != NULL) {
            *to++ = *text;
        } else {
            *to++ = '%';
            *to++ = digits[byte >> 4];
            *to++ = digits[byte & 15];
        }
    }
    if (made != NULL) {
        *to = '\0';
    }
    return made;
}

static int digit_of(char letter)
{
    return isdigit((unsigned char)letter)    ? letter - '0'
           : isxdigit((unsigned char)letter) ? tolower((unsigned char)letter) - 'a' + 10
                                             : -1;
}

/* Replaces %XX by its byte. Returns NULL, or what was expected; a zero is no byte of a name. */
static const char *decode(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; ++from) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        const int high = digit_of(from[1]), low = high >= 0 ? digit_of(from[2]) : -1;
        if (low < 0 || high * 16 + low == 0) {
            return "two hexadecimal digits behind every %, and not %00";
        }
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return NULL;
}

/* ---- file: ----------------------------------------------------------------------------------- */

static int open_file(const char *url, ics_transfer_target *out, icestream_error *error)
{
    const char *rest = url + strlen("file://");
    if (strncmp(rest, "localhost/", 10) == 0) {
        rest += 9;
    }
    if (*rest != '/' || strpbrk(rest, "?#") != NULL) {
        return refuse(out, "file:///FOLDER/NAME, with three slashes and without a query", error);
    }
    out->url = strdup(rest);
    if (out->url == NULL) {
        return out_of_memory(error);
    }
    const char *fault = decode(out->url);
    return fault == NULL ? ICESTREAM_OK : refuse(out, fault, error);
}

/* ---- http(s): -------------------------------------------------------------------------------- */

/* Whether the host of a URL is this machine, to which a token may go unencrypted. */
static bool is_loopback(const char *url)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    const char *host = strstr(url, "://") + 3, *end = host + strcspn(host, "/?#");
    const char *user = memrchr(host, '@', (size_t)(end - host));
    host = user != NULL ? user + 1 : host;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const size_t length = strlen(names[i]);
        if (strncmp(host, names[i], length) == 0 && strchr(":/?#", host[length]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Reads the first line of the file, which nobody else may read. */
static int read_token(const char *path, char **out, icestream_error *error)
{
    enum { MOST = 16 << 10 };
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0 || fstat(file, &about) != 0) {
        const int cause = errno;
        if (file >= 0) {
            close(file);
        }
        return ics_error_set(error, ICESTREAM_E_CONFIG, "BEARER_TOKEN_FILE: %s: %s", path,
                             strerror(cause));
    }
    const bool is_private =
        ics_access_mode_for_others(&about) == 0 && (about.st_uid == geteuid() || about.st_uid == 0);
    char *text = is_private ? calloc(1, MOST + 1) : NULL;
    const ssize_t count = text != NULL ? read(file, text, MOST) : -1;
    close(file);
    if (count > 0) {
        text[strcspn(text, " \t\r\n")] = '\0';
    }
    if (count <= 0 || text[0] == '\0') {
        free(text);
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "BEARER_TOKEN_FILE: %s: expected a file of this user or root that "
                             "nobody else may read (chmod 600), with a token in its first line",
                             path);
    }
    *out = text;
    return ICESTREAM_OK;
}

/* The token of the environment, by the names of the WLCG's Bearer Token Discovery. It goes to
 * servers with TLS, and to this machine. */
static int add_token(const char *url, ics_transfer_target *out, icestream_error *error)
{
    const char *token = getenv("BEARER_TOKEN"), *file = getenv("BEARER_TOKEN_FILE");
    if (strncmp(url, "https://", 8) != 0 && !is_loopback(url)) {
        return ICESTREAM_OK;
    }
    if (token != NULL && token[0] != '\0') {
        out->bearer = strdup(token);
        return out->bearer != NULL ? ICESTREAM_OK : out_of_memory(error);
    }
    return file != NULL && file[0] != '\0' ? read_token(file, &out->bearer, error) : ICESTREAM_OK;
}

static int open_http(const char *url, ics_transfer_target *out, icestream_error *error)
{
    out->url = strndup(url, strcspn(url, "#"));
    return out->url != NULL ? add_token(url, out, error) : out_of_memory(error);
}

/* ---- s3: ------------------------------------------------------------------------------------- */

static bool is_bucket(const char *text, size_t length)
{
    for (size_t i = 0; i < length; ++i) {
        if (!isalnum((unsigned char)text[i]) && strchr("-._", text[i]) == NULL) {
            return false;
        }
    }
    return length >= 3 && length <= 63 && isalnum((unsigned char)text[0]);
}

/* Makes the URL of an object: BUCKET in the name of the host for Amazon, where certificates have
 * no dots in it, and in the path elsewhere. */
static char *object_url(const ics_aws_settings *settings, const char *bucket, const char *key)
{
    char *url = NULL;
    int made;
    if (settings->endpoint != NULL) {
        made = asprintf(&url, "%s/%s/%s", settings->endpoint, bucket, key);
    } else if (strchr(bucket, '.') != NULL) {
        made = asprintf(&url, "https://s3.%s.amazonaws.com/%s/%s", settings->region, bucket, key);
    } else {
        made = asprintf(&url, "https://%s.s3.%s.amazonaws.com/%s", bucket, settings->region, key);
    }
    return made >= 0 ? url : NULL;
}

static int add_credentials(const ics_aws_settings *settings, ics_transfer_target *out,
                           icestream_error *error)
{
    const bool has_session = settings->session != NULL;
    if (asprintf(&out->user, "%s:%s", settings->key, settings->secret) < 0) {
        out->user = NULL;
        return out_of_memory(error);
    }
    if (asprintf(&out->signing, "aws:amz:%s:s3", settings->region) < 0) {
        out->signing = NULL;
        return out_of_memory(error);
    }
    if (has_session && asprintf(&out->session, "x-amz-security-token: %s", settings->session) < 0) {
        out->session = NULL;
        return out_of_memory(error);
    }
    return ICESTREAM_OK;
}

/* The key is decoded and encoded again, because the signature is that of one certain form. */
static int split_object(const char *url, ics_transfer_target *out, char **bucket, char **key,
                        icestream_error *error)
{
    const char *from = url + strlen("s3://"), *slash = strchr(from, '/');
    if (slash == NULL || slash[1] == '\0' || !is_bucket(from, (size_t)(slash - from)) ||
        strpbrk(from, "?#@") != NULL) {
        return refuse(out, "s3://BUCKET/KEY, without a user and a query", error);
    }
    *bucket = strndup(from, (size_t)(slash - from));
    char *plain = strdup(slash + 1);
    const char *fault = plain != NULL ? decode(plain) : NULL;
    *key = plain != NULL ? ics_transfer_encode(plain, "/") : NULL;
    free(plain);
    if (fault != NULL) {
        return refuse(out, fault, error);
    }
    return *bucket != NULL && *key != NULL ? ICESTREAM_OK : out_of_memory(error);
}

static int open_s3(const char *url, ics_transfer_target *out, icestream_error *error)
{
    ics_aws_settings settings;
    char *bucket = NULL, *key = NULL;
    icestream_error why = {.status = ICESTREAM_OK};
    int status = split_object(url, out, &bucket, &key, error);
    if (status == ICESTREAM_OK && bucket != NULL && key != NULL) {
        status = ics_aws_settings_open(&settings, &why);
        if (status == ICESTREAM_OK) {
            out->url = object_url(&settings, bucket, key);
            status =
                out->url != NULL ? add_credentials(&settings, out, error) : out_of_memory(error);
        } else {
            ics_error_set(error, status, "%.2000s: %s", out->shown, why.text);
        }
        ics_aws_settings_close(&settings);
    }
    free(bucket);
    free(key);
    return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int add_authorities(ics_transfer_target *out, icestream_error *error)
{
    const char *file = getenv("CURL_CA_BUNDLE");
    file = file != NULL && file[0] != '\0' ? file : getenv("SSL_CERT_FILE");
    if (file == NULL || file[0] == '\0') {
        return ICESTREAM_OK;
    }
    out->authorities = strdup(file);
    return out->authorities != NULL ? ICESTREAM_OK : out_of_memory(error);
}

int ics_transfer_target_open(const char *url, ics_transfer_target *out, icestream_error *error)
{
    static const struct {
        const char *prefix;
        ics_transfer_scheme scheme;
        int (*open)(const char *url, ics_transfer_target *out, icestream_error *error);
    } schemes[] = {{"file://", ICS_TRANSFER_FILE, open_file},
                   {"http://", ICS_TRANSFER_HTTP, open_http},
                   {"https://", ICS_TRANSFER_HTTP, open_http},
                   {"s3://", ICS_TRANSFER_S3, open_s3}};
    *out = (ics_transfer_target){.url = NULL};
    const char *fault = ics_url_fault(url);
    if (fault != NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "found a URL that is none, %s", fault);
    }
    ics_url_shown(url, out->shown);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
        if (strncmp(url, schemes[i].prefix, strlen(schemes[i].prefix)) == 0) {
            out->scheme = schemes[i].scheme;
            ICS_TRY(schemes[i].open(url, out, error));
            return add_authorities(out, error);
        }
    }
    return refuse(out, ICS_URL_MOVED, error);
}

static void forget(char *secret)
{
    if (secret != NULL) {
        explicit_bzero(secret, strlen(secret));
    }
    free(secret);
}

void ics_transfer_target_close(ics_transfer_target *target)
{
    forget(target->url);
    forget(target->bearer);
    forget(target->user);
    forget(target->session);
    free(target->signing);
    free(target->authorities);
    *target = (ics_transfer_target){.url = NULL};
}
