/* The address of metrics.listen. */
#ifndef ICS_TELEMETRY_METRICS_ADDRESS_H
#define ICS_TELEMETRY_METRICS_ADDRESS_H

#include "pipeline/icestream.h"

#include <netinet/in.h>

typedef union ics_metrics_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} ics_metrics_address;

/* Reads HOST:PORT, where HOST is 127.0.0.1, localhost (the same) or [::1], or with `beyond` any
 * address. ICESTREAM_E_CONFIG. */
int ics_metrics_address_parse(const char *text, bool beyond, ics_metrics_address *out,
                              icestream_error *error);

/* Writes the HOST of a good HOST:PORT as URLs have it: an address of IPv6 stands in brackets. */
void ics_metrics_address_host(const char *text, char *host, size_t size);

#endif
