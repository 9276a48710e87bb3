/* SHA-256 digests, computed by libcrypto. They identify configurations, models and input files. */
#ifndef ICS_PHOTONS_FILES_FORMAT_DIGEST_H
#define ICS_PHOTONS_FILES_FORMAT_DIGEST_H

#include "base/cleanup.h"
#include "pipeline/icestream.h"

/* 64 lower-case hexadecimal digits and the terminating zero. */
enum { ICS_DIGEST_TEXT = 65 };

typedef struct ics_digest ics_digest;

/* Starts a digest. ICESTREAM_E_MEMORY. */
int ics_digest_create(ics_digest **out, icestream_error *error);
/* Accepts NULL. */
void ics_digest_destroy(ics_digest *digest);
ICS_CAN_DESTROY(ics_digest, ics_digest_destroy)
/* Forgets what was added and starts again. */
void ics_digest_reset(ics_digest *digest);
/* Adds `size` bytes. It does not matter how the bytes are divided between calls. */
void ics_digest_add(ics_digest *digest, const void *bytes, size_t size);
/* Adds a number as eight little-endian bytes; -0 counts as 0. */
void ics_digest_add_number(ics_digest *digest, double value);
/* Adds `count`, then each number. */
void ics_digest_add_numbers(ics_digest *digest, const double *values, size_t count);
/* Writes the digest of all bytes added since the start, as text. More bytes may be added later. The
 * text is empty if there was no memory. */
void ics_digest_text(const ics_digest *digest, char text[ICS_DIGEST_TEXT]);

/* The digest of one block of memory. ICESTREAM_E_MEMORY. */
int ics_digest_of(const void *bytes, size_t size, char text[ICS_DIGEST_TEXT],
                  icestream_error *error);

#endif
