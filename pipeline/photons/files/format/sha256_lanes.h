/* SHA-256 of up to three independent streams of bytes at once, with the instructions of x86-64 for
 * it. One stream waits for the result of each instruction before the next one; three need half of
 * the time per byte. Where the processor lacks the instructions, digest.h is the only way. */
#ifndef ICS_PHOTONS_FILES_FORMAT_SHA256_LANES_H
#define ICS_PHOTONS_FILES_FORMAT_SHA256_LANES_H

#include "pipeline/photons/files/format/digest.h"

#include <stdbool.h>

enum { ICS_SHA256_LANES = 3, ICS_SHA256_BLOCK = 64 };

typedef struct ics_sha256_lane {
    uint32_t state[8];
    uint64_t bytes; /* added so far */
} ics_sha256_lane;

/* Whether this processor has the instructions; the functions below need them. */
bool ics_sha256_lanes_work(void);

void ics_sha256_lane_begin(ics_sha256_lane *lane);
/* Adds `blocks` blocks of ICS_SHA256_BLOCK bytes to each of `count` lanes, 1 to
 * ICS_SHA256_LANES. */
void ics_sha256_lanes_add(ics_sha256_lane *lanes, size_t count, const unsigned char *const *bytes,
                          size_t blocks);
/* Adds the last bytes of a lane, fewer than a block, and writes the digest. */
void ics_sha256_lane_end(ics_sha256_lane *lane, const unsigned char *bytes, size_t size,
                         char text[ICS_DIGEST_TEXT]);

#endif
