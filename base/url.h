/* URLs of files, as far as a run needs them: it moves files, or hands the URLs to programs of the
 * user, and makes names of files of them. Any thread. */
#ifndef ICS_BASE_URL_H
#define ICS_BASE_URL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes of the longest URL. */
enum { ICS_URL_MOST = 8191 };

/* Whether the text begins like a URL, with SCHEME://. */
bool ics_url_is(const char *text);

/* Whether it begins like a URL to which icestream copies files without a program of the user
 * (pipeline/production/transfer). */
bool ics_url_is_moved(const char *text);
#define ICS_URL_MOVED "a URL that begins with file:"
/* Which program moves others: until version 0.2 icestream itself spoke HTTP and S3. */
#define ICS_URL_RECIPE                                                                             \
    "such as the recipe sites/transfer/curl.sh for http:, https: and s3: (docs/transfers.md)"

/* Why a URL cannot be used, as "expected ..."; NULL: it can. Only printable ASCII characters are
 * allowed: others would have to be written as %XX. */
const char *ics_url_fault(const char *url);

/* Whether the URL may carry a secret: it has a user (USER@HOST) or a query (?...). */
bool ics_url_may_be_secret(const char *url);

/* Whether the URL has a password: SCHEME://USER:PASSWORD@HOST. */
bool ics_url_has_password(const char *url);

/* Writes the URL without user, query and fragment, for people. Returns `text`. */
const char *ics_url_shown(const char *url, char text[ICS_URL_MOST + 1]);

/* Why a text cannot be a prefix of URLs, as "expected ..."; NULL: it can. A prefix is
 * SCHEME://HOST/ or SCHEME://HOST/FOLDER/ without a user and a query. The slash at its end matters:
 * "https://host" would also be a prefix of https://host.example.org/. */
const char *ics_url_prefix_fault(const char *prefix);

/* Whether the URL begins with the prefix, which is a good one, and cannot leave its folder: the
 * path of the URL has no part "." or "..", also not as %2e, no backslash and no encoded slash. */
bool ics_url_is_below(const char *url, const char *prefix);

/* Takes the last part of the path as the name of a file. Returns NULL, or why it is no name, as
 * "expected ...": it is empty, begins with a dot, or is too long for a name with further endings.
 * It has no slash. */
const char *ics_url_name(const char *url, char name[NAME_MAX + 1]);

/* Replaces every "{name}" in the pattern by `name`. If the pattern is a URL, characters that have a
 * meaning in a URL are written as %XX. NULL: out of memory. The caller frees it. */
char *ics_url_fill(const char *pattern, const char *name);

#endif
