#include "base/host_port.h"

#include <stdlib.h>
#include <string.h>

ics_host_port_result ics_host_port_parse(const char *text, ics_host_port *out)
{
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t)(colon - text) : 0;
    if (length == 0 || length >= sizeof out->host) {
        return ICS_HOST_PORT_BAD_HOST;
    }
    char *end = NULL;
    const unsigned long port = strtoul(colon + 1, &end, 10);
    if (colon[1] < '0' || colon[1] > '9' || *end != 0 || port > UINT16_MAX) {
        return ICS_HOST_PORT_BAD_PORT;
    }
    out->is_bracketed = length > 2 && text[0] == '[' && colon[-1] == ']';
    if (out->is_bracketed) {
        text += 1;
        length -= 2;
    }
    memcpy(out->host, text, length);
    out->host[length] = 0;
    out->port = (uint16_t)port;
    return ICS_HOST_PORT_GOOD;
}
