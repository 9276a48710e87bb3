/* Fuzzes URLs of tickets and prefixes of source.allow: a URL that is below a prefix begins with it
 * and cannot leave its folder, and what is shown of a URL has no user and no query. Good inputs are
 * in corpus/url. */
#include "base/url.h"
#include "tests/fuzz/fuzz_target.h"

#include <string.h>
#include <strings.h>

/* Decodes dots, slashes and backslashes of the path, as a server may. */
static void decode(const char *url, char *out)
{
    const size_t length = strcspn(url, "?#");
    for (size_t i = 0; i < length; ++i) {
        const char *at = url + i;
        const char *found = strncasecmp(at, "%2e", 3) == 0   ? "."
                            : strncasecmp(at, "%2f", 3) == 0 ? "/"
                            : strncasecmp(at, "%5c", 3) == 0 ? "\\"
                                                             : NULL;
        *out++ = found != NULL ? *found : *at;
        i += found != NULL ? 2 : 0;
    }
    *out = '\0';
}

static void check_below(const char *url, const char *prefix)
{
    if (!ics_url_is_below(url, prefix)) {
        return;
    }
    char *decoded = malloc(strlen(url) + 2);
    if (decoded == NULL) {
        return;
    }
    decode(url, decoded);
    strcat(decoded, "/");
    require(strncmp(url, prefix, strlen(prefix)) == 0);
    const char *path = strchr(strstr(decoded, "://") + 3, '/');
    require(path != NULL && strchr(path, '\\') == NULL);
    require(strstr(path, "/../") == NULL && strstr(path, "/./") == NULL);
    free(decoded);
}

/* The input is the URL; what follows its first NUL byte is the prefix. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *url = copy_of(data, size), *shown = malloc(ICS_URL_MOST + 1);
    if (url == NULL || shown == NULL) {
        free(url);
        free(shown);
        return 0;
    }
    const char *prefix = strlen(url) < size ? url + strlen(url) + 1 : "";
    if (ics_url_prefix_fault(prefix) == NULL) {
        require(ics_url_is(prefix) && !ics_url_may_be_secret(prefix));
        require(ics_url_is_below(prefix, prefix));
        check_below(url, prefix);
    }
    if (ics_url_is(url) && ics_url_fault(url) == NULL) {
        char name[NAME_MAX + 1];
        ics_url_shown(url, shown);
        require(strchr(shown, '?') == NULL && strchr(shown, '#') == NULL);
        require(!ics_url_has_password(shown));
        require(ics_url_name(url, name) != NULL ||
                (name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL));
    }
    free(url);
    free(shown);
    return 0;
}
