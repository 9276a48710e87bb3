/* Network addresses as text: HOST:PORT, with [HOST]:PORT for IPv6. */
#ifndef ICS_BASE_HOST_PORT_H
#define ICS_BASE_HOST_PORT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct ics_host_port {
    char host[256];    /* without brackets */
    bool is_bracketed; /* the text had brackets around the host */
    uint16_t port;
} ics_host_port;

typedef enum ics_host_port_result {
    ICS_HOST_PORT_GOOD,
    ICS_HOST_PORT_BAD_HOST, /* no ':', or a host with no characters or with too many */
    ICS_HOST_PORT_BAD_PORT  /* not a whole number from 0 to 65535 */
} ics_host_port_result;

/* Splits a text at its last ':'. Whether the host exists, and whether it may contain a ':', is for
 * the caller to check. `out` is valid only if the result is ICS_HOST_PORT_GOOD. */
ics_host_port_result ics_host_port_parse(const char *text, ics_host_port *out);

#endif
