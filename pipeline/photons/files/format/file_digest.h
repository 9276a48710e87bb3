/* The digest of an open file, computed by threads while the file is read by others.
 *
 * SHA-256 takes longer than reading and checking the rows of steps. So a reader of a large file
 * need not wait for the digest before it goes on. The threads read the file again; checksums show
 * that they have read the same rows. */
#ifndef ICS_PHOTONS_FILES_FORMAT_FILE_DIGEST_H
#define ICS_PHOTONS_FILES_FORMAT_FILE_DIGEST_H

#include "pipeline/photons/files/format/parts_digest.h"
#include "pipeline/photons/files/format/trailer.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>

typedef struct ics_file_digest ics_file_digest;

/* All of it must live as long as the digest. */
typedef struct ics_file_digest_order {
    int descriptor;
    const char *name;            /* name in error texts */
    const unsigned char *header; /* [header_bytes], the first bytes of the file as they were read */
    size_t header_bytes;
    uint64_t rows_end;  /* where the rows end, which begin behind the header (bytes) */
    struct stat opened; /* state of the file when it was opened */
    bool is_plain;      /* the SHA-256 of the whole file is wanted, also of a large one */
} ics_file_digest_order;

/* Whether size and modification time of an open file are the same as before. */
bool ics_file_digest_is_unchanged(int descriptor, const struct stat *before);

/* Starts the threads. If there cannot be one more thread, ics_file_digest_await() computes the
 * digest. ICESTREAM_E_MEMORY. */
int ics_file_digest_begin(const ics_file_digest_order *order, ics_file_digest **out,
                          icestream_error *error);
/* Ends the threads if they still read. Accepts NULL. */
void ics_file_digest_destroy(ics_file_digest *digest);
ICS_CAN_DESTROY(ics_file_digest, ics_file_digest_destroy)

/* Waits for the digest. Returns the same again if it is called again. `cancel` (may be NULL): when
 * it becomes true, the function returns ICESTREAM_E_INTERRUPTED. ICESTREAM_E_INPUT: the file could
 * not be read, or was changed since it was opened. ICESTREAM_E_MEMORY. */
int ics_file_digest_await(ics_file_digest *digest, const atomic_bool *cancel,
                          char text[ICS_PARTS_DIGEST_TEXT], icestream_error *error);
/* After success: the checksums of the rows that were digested. */
const ics_trailer_checksums *ics_file_digest_checksums(const ics_file_digest *digest);

#endif
