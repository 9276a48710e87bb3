/* What follows the rows of a step or hit file: metadata as JSON and a 32-byte tail.
 *
 * A file may end after its rows. Otherwise a complete and correct trailer must follow. Checksums:
 * CRC-32C of every MiB of row bytes; the last block may be shorter.
 */
#ifndef ICS_PHOTONS_FILES_FORMAT_TRAILER_H
#define ICS_PHOTONS_FILES_FORMAT_TRAILER_H

#include "pipeline/icestream.h"
#include "pipeline/photons/files/format/layout.h"

#include <jansson.h>

enum {
    ICS_TAIL_BYTES = 32,
    ICS_BLOCK_BYTES = 1 << 20,  /* bytes of rows with one checksum */
    ICS_METADATA_MAX = 64 << 20 /* bytes of the longest metadata that are accepted */
};

/* ---- checksums of rows ---------------------------------------------------------------------- */

/* Checksums of a sequence of bytes, block by block. Zero-initialise. */
typedef struct ics_trailer_checksums {
    uint32_t *values; /* [count], of complete blocks; after _finish also of the last block */
    size_t count, capacity;
    uint32_t current; /* checksum of the incomplete block */
    size_t filled;    /* bytes in the incomplete block */
} ics_trailer_checksums;

/* Adds row bytes. ICESTREAM_E_MEMORY. */
int ics_trailer_checksums_add(ics_trailer_checksums *sums, const void *bytes, size_t size,
                              icestream_error *error);
/* Ends the last block. ICESTREAM_E_MEMORY. */
int ics_trailer_checksums_finish(ics_trailer_checksums *sums, icestream_error *error);
/* Whether all checksums are the same. */
bool ics_trailer_checksums_same(const ics_trailer_checksums *left,
                                const ics_trailer_checksums *right);
/* Starts again and keeps the memory. */
void ics_trailer_checksums_reset(ics_trailer_checksums *sums);
void ics_trailer_checksums_free(ics_trailer_checksums *sums);

/* ---- tail ----------------------------------------------------------------------------------- */

typedef struct ics_tail {
    uint64_t offset;   /* where the metadata begin (bytes from the start of the file) */
    uint64_t length;   /* length of the metadata (bytes) */
    uint32_t checksum; /* CRC-32C of the metadata */
} ics_tail;

/* Reads a tail. The metadata must start at `rows_end`, and the tail must end at `file_size`
 * (bytes). ICESTREAM_E_INPUT. */
int ics_trailer_tail_parse(const char *name, const unsigned char bytes[ICS_TAIL_BYTES],
                           uint64_t rows_end, uint64_t file_size, ics_tail *out,
                           icestream_error *error);
void ics_trailer_tail_write(const ics_tail *tail, unsigned char bytes[ICS_TAIL_BYTES]);

/* ---- metadata ------------------------------------------------------------------------------- */

typedef struct ics_trailer {
    json_t *metadata;
    uint32_t *checksums; /* [count], one per MiB of rows */
    size_t count;
} ics_trailer;

/* The table that a trailer belongs to. */
typedef struct ics_trailer_table {
    const ics_layout *schema;
    uint64_t rows;
    size_t row_bytes; /* size of a row as stored in the file */
} ics_trailer_table;

/* Reads metadata of tail->length bytes and compares it with the tail's checksum and with the table
 * (name and version of the schema, rows, number of checksums). `out` needs ics_trailer_free() only
 * after success. ICESTREAM_E_INPUT, ICESTREAM_E_MEMORY. */
int ics_trailer_parse(const char *name, const char *text, const ics_tail *tail,
                      const ics_trailer_table *table, ics_trailer *out, icestream_error *error);
void ics_trailer_free(ics_trailer *trailer);
/* The error that a key of the metadata has a wrong value, or none (NULL): "NAME: trailer: KEY:
 * found 5, expected 6". Returns ICESTREAM_E_INPUT. */
int ics_trailer_wrong(const char *name, const char *key, const json_t *found, const char *expected,
                      icestream_error *error);

/* Compares the checksums of the rows that were read with those of the trailer. ICESTREAM_E_INPUT.
 */
int ics_trailer_verify(const ics_trailer *trailer, const char *name,
                       const ics_trailer_checksums *sums, size_t row_bytes, icestream_error *error);

/* Makes the bytes of a trailer for rows that end at byte `rows_end`: a completed copy of `metadata`
 * (may be NULL), and the tail. The caller frees *out. ICESTREAM_E_MEMORY. */
int ics_trailer_format(const json_t *metadata, const ics_trailer_table *table,
                       const ics_trailer_checksums *sums, uint64_t rows_end, char **out,
                       size_t *size, icestream_error *error);

/* Finds the end of the metadata in a stream, where their length is not known. Zero-initialise. */
typedef struct ics_trailer_scan {
    int depth; /* open brackets */
    bool is_quoted, is_escaped;
} ics_trailer_scan;

/* Takes the next character of the metadata, the first one being '{'. Returns true if this character
 * is the bracket that closes the first one. */
bool ics_trailer_scan_ends(ics_trailer_scan *scan, char character);

#endif
