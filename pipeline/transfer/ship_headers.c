/* Headers that all ways of shipping send. */
#include "pipeline/transfer/ship.h"

#include <stdio.h>

void ics_ship_headers(const ics_shipment *ship, bool creates, bool describes, ics_ship_lines *lines,
                      ics_http_request *request)
{
    if (creates && !ship->request->replaces) {
        request->headers[request->header_count++] = "If-None-Match: *";
    }
    if (describes && ship->target->scheme == ICS_TRANSFER_S3) {
        snprintf(lines->digest, sizeof lines->digest, "x-amz-meta-sha256: %s",
                 ship->result->sha256);
        request->headers[request->header_count++] = lines->digest;
    }
}
