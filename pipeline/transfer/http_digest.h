/* Digests of files as headers of HTTP name them. */
#ifndef ICS_TRANSFER_HTTP_DIGEST_H
#define ICS_TRANSFER_HTTP_DIGEST_H

#include "pipeline/files/format/digest.h"

/* Reads the SHA-256 in the value of a header: "sha-256=:BASE64:" among others (Repr-Digest, RFC
 * 9530), "SHA-256=BASE64" (Digest, RFC 3230), or 64 hexadecimal digits (the metadata of an object
 * that icestream shipped to S3). The text stays as it is if there is none. */
void ics_http_digest_read(const char *value, char sha256[ICS_DIGEST_TEXT]);

#endif
