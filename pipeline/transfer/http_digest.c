#include "pipeline/transfer/http_digest.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { BASE64 = 44, BYTES = 33 }; /* of a SHA-256; EVP_DecodeBlock counts the padding as a byte */

static bool is_hex(const char *value)
{
    const size_t length = strlen(value);
    return length == ICS_DIGEST_TEXT - 1 && strspn(value, "0123456789abcdefABCDEF") == length;
}

void ics_http_digest_read(const char *value, char sha256[ICS_DIGEST_TEXT])
{
    static const char name[] = "sha-256=";
    unsigned char bytes[BYTES];
    if (is_hex(value)) {
        for (size_t i = 0; i < ICS_DIGEST_TEXT; ++i) {
            sha256[i] = (char)tolower((unsigned char)value[i]);
        }
        return;
    }
    for (const char *at = value; *at != '\0'; at += strcspn(at, ",")) {
        at += strspn(at, ", \t");
        if (strncasecmp(at, name, sizeof name - 1) != 0) {
            continue;
        }
        const char *text = at + sizeof name - 1;
        text += *text == ':';
        if (strnlen(text, BASE64) == BASE64 && text[BASE64 - 1] == '=' &&
            EVP_DecodeBlock(bytes, (const unsigned char *)text, BASE64) == BYTES) {
            for (size_t i = 0; i + 1 < BYTES; ++i) {
                snprintf(sha256 + 2 * i, 3, "%02x", bytes[i]);
            }
            return;
        }
    }
}
