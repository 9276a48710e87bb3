#include "pipeline/production/telemetry/metrics_http.h"

#include "base/new.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The page loads its own files and nothing else, nobody else may show it in a frame, and no cache
 * keeps the numbers. */
static void add_headers(struct MHD_Response *response, unsigned status, const char *type)
{
    static const char *const always[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
         "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"}};
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; i < sizeof always / sizeof *always; ++i) {
        MHD_add_response_header(response, always[i][0], always[i][1]);
    }
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    }
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status, const char *type,
                             struct MHD_Response *response)
{
    ics_new_made(response);
    add_headers(response, status, type);
    const enum MHD_Result queued =
        status == MHD_HTTP_UNAUTHORIZED
            ? MHD_queue_basic_auth_fail_response(connection, "icestream", response)
            : MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

enum MHD_Result ics_metrics_http_answer(struct MHD_Connection *connection, unsigned status,
                                        const char *type, const char *text)
{
    return queue(connection, status, type,
                 MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                 MHD_RESPMEM_PERSISTENT));
}

enum MHD_Result ics_metrics_http_answer_made(struct MHD_Connection *connection, const char *type,
                                             char *text, size_t size)
{
    return queue(connection, MHD_HTTP_OK, type,
                 MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE));
}

enum MHD_Result ics_metrics_http_answer_line(struct MHD_Connection *connection, unsigned status,
                                             const char *text)
{
    return ics_metrics_http_answer(connection, status, "text/plain; charset=utf-8", text);
}

bool ics_metrics_http_is_host_ours(struct MHD_Connection *connection)
{
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    char name[INET6_ADDRSTRLEN + 1];
    struct in6_addr address;
    if (host == NULL) {
        return true; /* HTTP 1.0: no browser */
    }
    const bool brackets = host[0] == '[';
    const size_t length = strcspn(host + brackets, brackets ? "]" : ":");
    const char *rest = host + brackets + length;
    if (length >= sizeof name || (brackets && *rest != ']')) {
        return false;
    }
    memcpy(name, host + brackets, length);
    name[length] = '\0';
    rest += brackets;
    if (*rest == ':') {
        rest += 1 + strspn(rest + 1, "0123456789");
    }
    if (*rest != '\0') {
        return false; /* such as [::1].evil.example */
    }
    return brackets ? inet_pton(AF_INET6, name, &address) == 1
                    : strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &address) == 1;
}

bool ics_metrics_http_has_token(struct MHD_Connection *connection, const ics_access_token *token)
{
    static const char scheme[] = "Bearer ";
    const char *given =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    if (given != NULL && strncasecmp(given, scheme, sizeof scheme - 1) == 0) {
        given += sizeof scheme - 1;
        return ics_access_token_matches(token, given, strlen(given));
    }
    char *password = NULL;
    char *user = MHD_basic_auth_get_username_password(connection, &password);
    const bool has =
        password != NULL && ics_access_token_matches(token, password, strlen(password));
    MHD_free(user);
    MHD_free(password);
    return has;
}
