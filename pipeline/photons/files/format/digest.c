#include "pipeline/photons/files/format/digest.h"

#include "base/error.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

struct ics_digest {
    EVP_MD_CTX *state;
    EVP_MD_CTX *copy; /* copy that is finished for the text, because finishing destroys a state */
    unsigned char pending[1024]; /* small additions, which enter the state together */
    size_t pending_size;
    bool broken; /* a step has failed: OpenSSL 3 may allocate memory in every step */
};

int ics_digest_create(ics_digest **out, icestream_error *error)
{
    ics_digest *digest = calloc(1, sizeof *digest);
    if (digest != NULL) {
        digest->state = EVP_MD_CTX_new();
        digest->copy = EVP_MD_CTX_new();
    }
    if (digest == NULL || digest->state == NULL || digest->copy == NULL ||
        EVP_DigestInit_ex(digest->state, EVP_sha256(), NULL) != 1 ||
        EVP_MD_CTX_copy_ex(digest->copy, digest->state) != 1) {
        ics_digest_destroy(digest);
        ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a digest");
        return ICESTREAM_E_MEMORY;
    }
    *out = digest;
    return ICESTREAM_OK;
}

void ics_digest_destroy(ics_digest *digest)
{
    if (digest == NULL) {
        return;
    }
    EVP_MD_CTX_free(digest->state);
    EVP_MD_CTX_free(digest->copy);
    free(digest);
}

void ics_digest_reset(ics_digest *digest)
{
    digest->broken = EVP_DigestInit_ex(digest->state, NULL, NULL) != 1;
    digest->pending_size = 0;
}

static void add_to_state(ics_digest *digest, const void *bytes, size_t size)
{
    if (!digest->broken) {
        digest->broken = EVP_DigestUpdate(digest->state, bytes, size) != 1;
    }
}

void ics_digest_add(ics_digest *digest, const void *bytes, size_t size)
{
    if (size > sizeof digest->pending - digest->pending_size) {
        add_to_state(digest, digest->pending, digest->pending_size);
        digest->pending_size = 0;
    }
    if (size > sizeof digest->pending) {
        add_to_state(digest, bytes, size);
    } else if (size > 0) {
        memcpy(digest->pending + digest->pending_size, bytes, size);
        digest->pending_size += size;
    }
}

void ics_digest_add_number(ics_digest *digest, double value)
{
    value += 0.0;
    uint64_t bits;
    unsigned char bytes[8];
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; ++i) {
        bytes[i] = (unsigned char)(bits >> (8 * i));
    }
    ics_digest_add(digest, bytes, sizeof bytes);
}

void ics_digest_add_numbers(ics_digest *digest, const double *values, size_t count)
{
    ics_digest_add_number(digest, (double)count);
    for (size_t i = 0; i < count; ++i) {
        ics_digest_add_number(digest, values[i]);
    }
}

void ics_digest_text(const ics_digest *digest, char text[ICS_DIGEST_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char value[EVP_MAX_MD_SIZE] = {0};
    text[0] = 0;
    if (digest->broken || EVP_MD_CTX_copy_ex(digest->copy, digest->state) != 1 ||
        EVP_DigestUpdate(digest->copy, digest->pending, digest->pending_size) != 1 ||
        EVP_DigestFinal_ex(digest->copy, value, NULL) != 1) {
        return;
    }
    for (size_t i = 0; i < 32; ++i) {
        text[2 * i] = digits[value[i] >> 4];
        text[2 * i + 1] = digits[value[i] & 15];
    }
    text[64] = 0;
}

int ics_digest_of(const void *bytes, size_t size, char text[ICS_DIGEST_TEXT],
                  icestream_error *error)
{
    ics_digest *digest = NULL;
    ICS_TRY(ics_digest_create(&digest, error));
    ics_digest_add(digest, bytes, size);
    ics_digest_text(digest, text);
    ics_digest_destroy(digest);
    return text[0] ? ICESTREAM_OK
                   : ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for a digest");
}
