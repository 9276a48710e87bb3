/* SHA-256 digests, over libcrypto: identity of configurations, models and input files. */
#ifndef IS_DIGEST_H
#define IS_DIGEST_H

#include "pipeline/icestream.h"

/* 64 lower-case hexadecimal digits and the terminating zero. */
enum { IS_DIGEST_TEXT = 65 };

typedef struct is_digest is_digest;

/* Starts a digest. IS_E_MEMORY. */
int is_digest_create(is_digest **out, is_error *error);
/* Accepts NULL. */
void is_digest_destroy(is_digest *digest);
/* Forgets what was added and starts again. */
void is_digest_reset(is_digest *digest);
/* Adds `size` bytes; any number of calls, the cuts between them do not matter. */
void is_digest_add(is_digest *digest, const void *bytes, size_t size);
/* Adds a number as eight little-endian bytes; -0 counts as 0. */
void is_digest_add_number(is_digest *digest, double value);
/* Adds how many there are, then each. */
void is_digest_add_numbers(is_digest *digest, const double *values, size_t count);
/* Writes the digest of all bytes added since the start as text; more bytes may follow later. The
 * text is empty if there was no memory for it. */
void is_digest_text(const is_digest *digest, char text[IS_DIGEST_TEXT]);

/* The digest of one block of memory. IS_E_MEMORY. */
int is_digest_of(const void *bytes, size_t size, char text[IS_DIGEST_TEXT], is_error *error);

#endif
