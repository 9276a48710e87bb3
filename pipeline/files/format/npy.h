/* Headers of NumPy .npy files: reading any that numpy.save writes, writing our own.
 *
 * Reading accepts versions 1 to 3 and one-dimensional structured arrays with fields of any type in
 * any order, padding included; whether a field is usable is decided when it is converted. `name` is
 * the file's name, for messages.
 */
#ifndef IS_NPY_H
#define IS_NPY_H

#include "pipeline/files/format/schema.h"
#include "pipeline/icestream.h"

enum {
    IS_NPY_PREAMBLE = 12,        /* bytes that is_npy_header_size needs */
    IS_NPY_HEADER_MAX = 1 << 20, /* longest header that is accepted, bytes */
    IS_NPY_ROW_MAX = 1 << 20,    /* longest row that is accepted, bytes */
    IS_NPY_OWN_HEADER = 1024,    /* size of the headers that we write */
    IS_NPY_COUNT_OFFSET = 21,    /* where the number of rows stands in them */
    IS_NPY_COUNT_BYTES = 20
};

typedef struct is_npy_field {
    char name[40];       /* longer names are cut: ours are all shorter */
    char found[24];      /* the type as the header spells it, for messages */
    is_number_type type; /* kind 0: not a little-endian number */
    size_t offset;       /* bytes from the start of the row */
} is_npy_field;

typedef struct is_npy_header {
    size_t header_bytes; /* where the rows start */
    uint64_t rows;
    size_t row_bytes;     /* 1 .. IS_NPY_ROW_MAX; rows * row_bytes < 2^63 - IS_NPY_HEADER_MAX */
    is_npy_field *fields; /* [field_count] */
    size_t field_count;
} is_npy_header;

/* How long the header is, preamble included, from the first IS_NPY_PREAMBLE bytes (or fewer, if the
 * file is shorter). IS_E_INPUT: not an .npy file, unknown version, longer than IS_NPY_HEADER_MAX.
 */
int is_npy_header_size(const char *name, const unsigned char *bytes, size_t size,
                       size_t *header_size, is_error *error);

/* Reads a complete header of `size` bytes, as is_npy_header_size said. IS_E_INPUT, IS_E_MEMORY. */
int is_npy_parse(const char *name, const unsigned char *bytes, size_t size, is_npy_header *out,
                 is_error *error);
/* Frees what is_npy_parse took; a zeroed header is fine. */
void is_npy_header_free(is_npy_header *header);

/* Makes our own header: version 1.0, `shape` first, its count at IS_NPY_COUNT_OFFSET. */
void is_npy_write_header(const is_schema *schema, uint64_t rows,
                         unsigned char header[IS_NPY_OWN_HEADER]);
/* The text of a count, blank-padded, as it stands in our header. */
void is_npy_write_count(uint64_t rows, char count[IS_NPY_COUNT_BYTES]);

#endif
