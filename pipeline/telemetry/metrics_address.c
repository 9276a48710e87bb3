#include "pipeline/telemetry/metrics_address.h"

#include "base/error.h"
#include "base/host_port.h"

#include <arpa/inet.h>
#include <string.h>

static int wrong_address(const char *address, const char *expected, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_CONFIG, "metrics.listen: found '%.200s', expected %s",
                         address, expected);
}

/* Whether only processes of this machine reach an address. */
static bool is_loopback(const ics_metrics_address *address)
{
    return address->any.sa_family == AF_INET6
               ? IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr)
               : address->v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
}

/* Returns whether the host is an address, and sets it. Brackets belong to IPv6 only. */
static bool parse_host(const ics_host_port *parsed, ics_metrics_address *out)
{
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET6, parsed->host, &out->v6.sin6_addr) == 1) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = htons(parsed->port);
        return true;
    }
    memset(out, 0, sizeof *out);
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(parsed->port);
    out->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return !parsed->is_bracketed && (strcmp(parsed->host, "localhost") == 0 ||
                                     inet_pton(AF_INET, parsed->host, &out->v4.sin_addr) == 1);
}

int ics_metrics_address_parse(const char *text, bool beyond, ics_metrics_address *out,
                              icestream_error *error)
{
    static const char near[] =
        "HOST:PORT with HOST 127.0.0.1, localhost or [::1] (without metrics.token, metrics are not "
        "served to other machines)";
    static const char any[] = "HOST:PORT with HOST an address such as 127.0.0.1, 0.0.0.0 or [::]";
    const char *expected = beyond ? any : near;
    ics_host_port parsed;
    switch (ics_host_port_parse(text, &parsed)) {
    case ICS_HOST_PORT_BAD_HOST:
        return wrong_address(text, expected, error);
    case ICS_HOST_PORT_BAD_PORT:
        return wrong_address(text, "HOST:PORT with PORT 0 .. 65535", error);
    case ICS_HOST_PORT_GOOD:
        break;
    }
    return parse_host(&parsed, out) && (beyond || is_loopback(out))
               ? ICESTREAM_OK
               : wrong_address(text, expected, error);
}

void ics_metrics_address_host(const char *text, char *host, size_t size)
{
    const char *end = strrchr(text, ':');
    const bool is_bare = text[0] != '[' && strchr(text, ':') != end;
    snprintf(host, size, "%s%.*s%s", is_bare ? "[" : "", (int)(end - text), text,
             is_bare ? "]" : "");
}
