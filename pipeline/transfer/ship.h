/* What the two ways of shipping share: in one request (ship.c), and in parts (ship_parts.c). */
#ifndef ICS_TRANSFER_SHIP_H
#define ICS_TRANSFER_SHIP_H

#include "pipeline/transfer/http.h"

enum { ICS_SHIP_PART = 16 << 20 }; /* bytes */

typedef struct ics_shipment {
    const ics_transfer_request *request;
    const ics_transfer_target *target;
    int file;
    ics_transfer_result *result; /* bytes and sha256 are known */
} ics_shipment;

/* Memory for lines of headers, which must live as long as the request. */
typedef struct ics_ship_lines {
    char digest[ICS_DIGEST_TEXT + 32];
} ics_ship_lines;

/* Adds the digest of the whole file for S3, if `describes`; and, if `creates`, the condition that
 * nothing is at the URL, unless it may be replaced. */
void ics_ship_headers(const ics_shipment *ship, bool creates, bool describes, ics_ship_lines *lines,
                      ics_http_request *request);

/* Ships a file to S3 in parts of `part` bytes, or larger ones if there would be more than 10,000.
 * A part that fails is sent again a few times. After an error nothing of the parts stays at the
 * server. answer->status 412: something is at the URL. Errors as of ics_transfer_ship(). */
int ics_ship_parts(const ics_shipment *ship, uint64_t part, ics_http_answer *answer,
                   icestream_error *error);

#endif
