#include "pipeline/transfer/aws_settings.h"

#include "base/error.h"
#include "pipeline/files/access_token.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The value of a variable that is set and not empty; NULL: it is not. */
static const char *value_of(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *first_of(const char *one, const char *other)
{
    return one != NULL ? one : other;
}

/* Copies a text; NULL stays NULL. */
static int copy(const char *text, char **out, icestream_error *error)
{
    *out = text != NULL ? strdup(text) : NULL;
    return text == NULL || *out != NULL
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for credentials");
}

/* ---- the file of credentials ----------------------------------------------------------------- */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    for (size_t length = strlen(text); length > 0 && isspace((unsigned char)text[length - 1]);) {
        text[--length] = '\0';
    }
    return text;
}

/* Takes one line `name = value` of the profile. */
static int take_line(char *line, ics_aws_settings *out, icestream_error *error)
{
    char *equals = strchr(line, '=');
    if (equals == NULL) {
        return ICESTREAM_OK;
    }
    *equals = '\0';
    const char *name = trim(line), *value = trim(equals + 1);
    char **to = strcmp(name, "aws_access_key_id") == 0       ? &out->key
                : strcmp(name, "aws_secret_access_key") == 0 ? &out->secret
                : strcmp(name, "aws_session_token") == 0     ? &out->session
                                                             : NULL;
    if (to == NULL || *value == '\0') {
        return ICESTREAM_OK;
    }
    free(*to);
    return copy(value, to, error);
}

static int read_profile(FILE *file, const char *profile, ics_aws_settings *out,
                        icestream_error *error)
{
    char *line = NULL;
    size_t room = 0;
    bool inside = false;
    int status = ICESTREAM_OK;
    while (status == ICESTREAM_OK && getline(&line, &room, file) >= 0) {
        char *text = trim(line);
        const size_t length = strlen(text);
        if (*text == '[' && length > 1 && text[length - 1] == ']') {
            text[length - 1] = '\0';
            inside = strcmp(trim(text + 1), profile) == 0;
        } else if (inside && *text != '#' && *text != ';') {
            status = take_line(text, out, error);
        }
    }
    if (line != NULL) {
        explicit_bzero(line, room);
    }
    free(line);
    return status;
}

/* Opens the file, which nobody else may read. *out NULL: there is no such file. */
static int open_private(const char *path, FILE **out, icestream_error *error)
{
    struct stat about;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    *out = NULL;
    if (descriptor < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return ICESTREAM_OK;
    }
    if (descriptor < 0 || fstat(descriptor, &about) != 0) {
        const int cause = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        return ics_error_set(error, ICESTREAM_E_CONFIG, "the file of credentials %s: %s", path,
                             strerror(cause));
    }
    if (ics_access_mode_for_others(&about) != 0 ||
        (about.st_uid != geteuid() && about.st_uid != 0)) {
        close(descriptor);
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "the file of credentials %s: found mode %04o, expected a file of this "
                             "user or root that nobody else may read (chmod 600)",
                             path, (unsigned)about.st_mode & 07777);
    }
    *out = fdopen(descriptor, "r");
    if (*out == NULL) {
        close(descriptor);
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for credentials");
    }
    return ICESTREAM_OK;
}

static int read_file(ics_aws_settings *out, icestream_error *error)
{
    const char *given = value_of("AWS_SHARED_CREDENTIALS_FILE"), *home = value_of("HOME");
    const char *profile = first_of(value_of("AWS_PROFILE"), "default");
    char *path = NULL;
    FILE *file = NULL;
    if (asprintf(&path, "%s%s", given != NULL ? given : first_of(home, ""),
                 given != NULL ? "" : "/.aws/credentials") < 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for credentials");
    }
    int status = open_private(path, &file, error);
    if (file != NULL) {
        status = read_profile(file, profile, out, error);
        fclose(file);
    }
    if (status == ICESTREAM_OK && (out->key == NULL || out->secret == NULL)) {
        status = ics_error_set(
            error, ICESTREAM_E_CONFIG,
            "found no keys for S3, expected AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the "
            "environment, or aws_access_key_id and aws_secret_access_key in the profile '%s' of %s",
            profile, path);
    }
    free(path);
    return status;
}

/* ---- everything ------------------------------------------------------------------------------ */

static int read_endpoint(ics_aws_settings *out, icestream_error *error)
{
    const char *given = first_of(value_of("AWS_ENDPOINT_URL_S3"), value_of("AWS_ENDPOINT_URL"));
    if (given == NULL) {
        return ICESTREAM_OK;
    }
    const bool is_http = strncmp(given, "http://", 7) == 0 || strncmp(given, "https://", 8) == 0;
    if (!is_http || strpbrk(given, "?#@ ") != NULL) {
        return ics_error_set(error, ICESTREAM_E_CONFIG,
                             "AWS_ENDPOINT_URL: expected http://HOST:PORT or https://HOST:PORT, "
                             "without a user and a query");
    }
    ICS_TRY(copy(given, &out->endpoint, error));
    for (size_t length = strlen(out->endpoint); out->endpoint[length - 1] == '/';) {
        out->endpoint[--length] = '\0';
    }
    return ICESTREAM_OK;
}

int ics_aws_settings_open(ics_aws_settings *out, icestream_error *error)
{
    *out = (ics_aws_settings){.key = NULL};
    const char *region = first_of(value_of("AWS_REGION"), value_of("AWS_DEFAULT_REGION"));
    const char *key = value_of("AWS_ACCESS_KEY_ID"), *secret = value_of("AWS_SECRET_ACCESS_KEY");
    ICS_TRY(copy(first_of(region, "us-east-1"), &out->region, error));
    ICS_TRY(read_endpoint(out, error));
    if (key == NULL || secret == NULL) {
        return read_file(out, error);
    }
    ICS_TRY(copy(key, &out->key, error));
    ICS_TRY(copy(secret, &out->secret, error));
    return copy(value_of("AWS_SESSION_TOKEN"), &out->session, error);
}

static void forget(char *secret)
{
    if (secret != NULL) {
        explicit_bzero(secret, strlen(secret));
    }
    free(secret);
}

void ics_aws_settings_close(ics_aws_settings *settings)
{
    forget(settings->key);
    forget(settings->secret);
    forget(settings->session);
    free(settings->region);
    free(settings->endpoint);
    *settings = (ics_aws_settings){.key = NULL};
}
