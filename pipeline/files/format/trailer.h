/* What follows the rows of a step or hit file: metadata as JSON and a 32-byte tail.
 *
 * A file without anything after its rows has no trailer and is fine; anything there must be a
 * trailer, and a right one. Checksums: CRC-32C of every MiB of row bytes, the last one shorter.
 */
#ifndef IS_TRAILER_H
#define IS_TRAILER_H

#include "pipeline/files/format/schema.h"
#include "pipeline/icestream.h"

#include <jansson.h>

enum {
    IS_TAIL_BYTES = 32,
    IS_BLOCK_BYTES = 1 << 20,  /* of rows under one checksum */
    IS_METADATA_MAX = 64 << 20 /* longest metadata accepted, bytes */
};

/* ---- checksums of rows ---------------------------------------------------------------------- */

/* Checksums of a sequence of bytes, block by block. Zero-initialise. */
typedef struct is_block_checksums {
    uint32_t *values; /* [count], of complete blocks, and of the rest after _finish */
    size_t count, capacity;
    uint32_t current; /* of the block that is filling */
    size_t filled;    /* bytes in it */
} is_block_checksums;

/* Adds row bytes. IS_E_MEMORY. */
int is_block_checksums_add(is_block_checksums *sums, const void *bytes, size_t size,
                           is_error *error);
/* Closes the last, shorter block. IS_E_MEMORY. */
int is_block_checksums_finish(is_block_checksums *sums, is_error *error);
/* Starts again, keeps the memory. */
void is_block_checksums_reset(is_block_checksums *sums);
void is_block_checksums_free(is_block_checksums *sums);

/* ---- tail ----------------------------------------------------------------------------------- */

typedef struct is_tail {
    uint64_t offset, length; /* of the metadata: bytes from the start of the file, bytes */
    uint32_t checksum;       /* CRC-32C of the metadata */
} is_tail;

/* Reads a tail. `rows_end`: where the rows end and the metadata must start; `file_size`: where the
 * tail must end. IS_E_INPUT. */
int is_tail_parse(const char *name, const unsigned char bytes[IS_TAIL_BYTES], uint64_t rows_end,
                  uint64_t file_size, is_tail *out, is_error *error);
void is_tail_write(const is_tail *tail, unsigned char bytes[IS_TAIL_BYTES]);

/* ---- metadata ------------------------------------------------------------------------------- */

typedef struct is_trailer {
    json_t *metadata;
    uint32_t *checksums; /* [count], one per MiB of rows */
    size_t count;
} is_trailer;

/* Reads metadata of tail->length bytes and holds it against the tail's checksum, the schema (name,
 * version) and the header (rows, number of checksums). IS_E_INPUT, IS_E_MEMORY. */
int is_trailer_parse(const char *name, const char *text, const is_tail *tail,
                     const is_schema *schema, uint64_t rows, size_t row_bytes, is_trailer *out,
                     is_error *error);
void is_trailer_free(is_trailer *trailer);

/* Holds the checksums of the rows that were read against the trailer's. IS_E_INPUT. */
int is_trailer_verify(const is_trailer *trailer, const char *name, const is_block_checksums *sums,
                      size_t row_bytes, is_error *error);

/* Makes the bytes of a trailer: a completed copy of `metadata` (may be NULL) and the tail, for rows
 * that end at byte `rows_end`. The caller frees *out. IS_E_MEMORY. */
int is_trailer_format(const json_t *metadata, const is_schema *schema, uint64_t rows,
                      const is_block_checksums *sums, uint64_t rows_end, char **out, size_t *size,
                      is_error *error);

#endif
