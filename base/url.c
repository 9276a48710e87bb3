#include "base/url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Bytes that a name keeps free, for endings such as .hits.npy.checkpoint and .01234567.part. */
enum { ENDINGS = 55 };

static const char mark[] = "{name}";
enum { MARK = sizeof mark - 1 };

/* The length of SCHEME://; 0: there is none. */
static size_t scheme_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) ||
           (text[length] != '\0' && length > 0 && strchr("+.-", text[length]) != NULL)) {
        length++;
    }
    return length > 0 && isalpha((unsigned char)text[0]) && strncmp(text + length, "://", 3) == 0
               ? length + 3
               : 0;
}

bool ics_url_is(const char *text)
{
    return scheme_length(text) > 0;
}

bool ics_url_is_moved(const char *text)
{
    return strncmp(text, "file://", strlen("file://")) == 0;
}

const char *ics_url_fault(const char *url)
{
    if (strlen(url) > ICS_URL_MOST) {
        return "expected at most 8191 bytes";
    }
    for (const char *at = url; *at != '\0'; ++at) {
        if (!isascii((unsigned char)*at) || !isgraph((unsigned char)*at)) {
            return "expected printable ASCII characters only, others as %XX";
        }
    }
    return NULL;
}

/* The end of HOST in SCHEME://HOST/PATH?QUERY. */
static const char *authority_end(const char *url)
{
    const char *from = url + scheme_length(url);
    return from + strcspn(from, "/?#");
}

static const char *user_end(const char *url)
{
    const char *from = url + scheme_length(url), *end = authority_end(url);
    return memrchr(from, '@', (size_t)(end - from));
}

bool ics_url_has_password(const char *url)
{
    const char *from = url + scheme_length(url), *end = ics_url_is(url) ? user_end(url) : NULL;
    return end != NULL && memchr(from, ':', (size_t)(end - from)) != NULL;
}

bool ics_url_may_be_secret(const char *url)
{
    return strchr(url, '?') != NULL || (ics_url_is(url) && user_end(url) != NULL);
}

const char *ics_url_prefix_fault(const char *prefix)
{
    const char *end = authority_end(prefix);
    if (!ics_url_is(prefix) || end == prefix + scheme_length(prefix) || *end != '/' ||
        prefix[strlen(prefix) - 1] != '/') {
        return "expected SCHEME://HOST/ or SCHEME://HOST/FOLDER/, with a slash at the end";
    }
    if (user_end(prefix) != NULL || strpbrk(prefix, "?#") != NULL) {
        return "expected a prefix without a user, a query and a fragment";
    }
    const char *fault = ics_url_fault(prefix);
    return fault != NULL || ics_url_is_below(prefix, prefix)
               ? fault
               : "expected a path without the parts . and .., backslashes and encoded slashes";
}

/* The length of a dot, or of an encoded one, at the beginning of the text; 0: there is none. */
static size_t dot_length(const char *text)
{
    return *text == '.' ? 1 : strncasecmp(text, "%2e", 3) == 0 ? 3 : 0;
}

/* Whether a part of a path, up to the next slash, is "." or "..". */
static bool is_dots(const char *part, const char *end)
{
    const char *at = part;
    for (int i = 0; i < 2 && at < end; ++i) {
        at += dot_length(at);
    }
    return part < end && at == end;
}

bool ics_url_is_below(const char *url, const char *prefix)
{
    const char *path = authority_end(url), *end = path + strcspn(path, "?#");
    if (strncmp(url, prefix, strlen(prefix)) != 0) {
        return false;
    }
    for (const char *at = path; at < end; ++at) {
        const char *part_end = at + 1 + strcspn(at + 1, "/?#");
        if (*at == '\\' || strncasecmp(at, "%2f", 3) == 0 || strncasecmp(at, "%5c", 3) == 0 ||
            (*at == '/' && is_dots(at + 1, part_end))) {
            return false;
        }
    }
    return true;
}

const char *ics_url_shown(const char *url, char text[ICS_URL_MOST + 1])
{
    const size_t scheme = scheme_length(url);
    const char *user = user_end(url), *from = user != NULL ? user + 1 : url + scheme;
    snprintf(text, ICS_URL_MOST + 1, "%.*s%.*s", (int)scheme, url, (int)strcspn(from, "?#"), from);
    return text;
}

const char *ics_url_name(const char *url, char name[NAME_MAX + 1])
{
    const char *path = authority_end(url);
    const size_t length = strcspn(path, "?#");
    const char *slash = length > 0 ? memrchr(path, '/', length) : NULL;
    const char *from = slash != NULL ? slash + 1 : path;
    const size_t bytes = (size_t)(path + length - from);
    name[0] = '\0';
    if (bytes == 0) {
        return "expected the name of a file behind its last slash";
    }
    if (*from == '.') {
        return "expected the name of a file that does not begin with a dot";
    }
    if (bytes > NAME_MAX - ENDINGS) {
        return "expected a name of a file of at most 200 bytes";
    }
    memcpy(name, from, bytes);
    name[bytes] = '\0';
    return NULL;
}

char *ics_url_fill(const char *pattern, const char *name)
{
    const bool encodes = ics_url_is(pattern);
    size_t count = 0;
    for (const char *at = pattern; (at = strstr(at, mark)) != NULL; at += MARK) {
        count++;
    }
    char *text = malloc(strlen(pattern) + 3 * count * strlen(name) + 1), *to = text;
    for (const char *at = pattern; text != NULL && *at != '\0';) {
        if (strncmp(at, mark, MARK) != 0) {
            *to++ = *at++;
            continue;
        }
        at += MARK;
        for (const char *from = name; *from != '\0'; ++from) {
            const unsigned char byte = (unsigned char)*from;
            if (encodes && !(isascii(byte) && (isalnum(byte) || strchr("-._~", byte) != NULL))) {
                to += sprintf(to, "%%%02X", byte);
            } else {
                *to++ = *from;
            }
        }
    }
    if (text != NULL) {
        *to = '\0';
    }
    return text;
}
