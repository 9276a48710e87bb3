/* Headers of NumPy .npy files: reads those that numpy.save writes, and writes our own.
 *
 * Reading accepts versions 1 to 3 and one-dimensional structured arrays with fields of any type in
 * any order, with padding. Whether a field can be used is decided when it is converted. `name` is
 * the file's name, for error texts.
 */
#ifndef ICS_PHOTONS_FILES_FORMAT_NPY_H
#define ICS_PHOTONS_FILES_FORMAT_NPY_H

#include "pipeline/icestream.h"
#include "pipeline/photons/files/format/layout.h"

enum {
    ICS_NPY_PREAMBLE = 12,        /* bytes that ics_npy_header_size() needs */
    ICS_NPY_HEADER_MAX = 1 << 20, /* bytes of the longest header that is accepted */
    ICS_NPY_ROW_MAX = 1 << 20,    /* bytes of the longest row that is accepted */
    ICS_NPY_OWN_HEADER = 1024,    /* size of the headers that we write */
    ICS_NPY_COUNT_OFFSET = 21,    /* position of the number of rows in our headers */
    ICS_NPY_COUNT_BYTES = 20,
    ICS_NPY_NOTED_MAX = 9984 /* bytes of the longest header with a note that we write, because NumPy
                                reads at most 10000 */
};

typedef struct ics_npy_field {
    char name[40];               /* longer names are cut; the names of our fields are shorter */
    char found[24];              /* the type as written in the header, for error texts */
    ics_layout_number_type type; /* kind 0: not a little-endian number */
    size_t offset;               /* bytes from the start of the row */
} ics_npy_field;

typedef struct ics_npy_header {
    size_t header_bytes; /* where the rows start */
    uint64_t rows;
    size_t row_bytes;      /* 1 .. ICS_NPY_ROW_MAX; rows * row_bytes < 2^63 - ICS_NPY_HEADER_MAX */
    ics_npy_field *fields; /* [field_count] */
    size_t field_count;
    /* The record of light in a message of steps (files.md 2.4): a text without a newline, or NULL
     */
    char *note;
    /* Whether the header announces a trailer behind the rows: it has the form of our own headers
     * and no comment (files.md 2.4). */
    bool has_trailer;
} ics_npy_header;

/* Finds the length of the header, including the preamble, from the first ICS_NPY_PREAMBLE bytes (or
 * fewer, if the file is shorter). ICESTREAM_E_INPUT: not an .npy file, unknown version, longer than
 * ICS_NPY_HEADER_MAX.
 */
int ics_npy_header_size(const char *name, const unsigned char *bytes, size_t size,
                        size_t *header_size, icestream_error *error);

/* Reads a complete header; `size` is what ics_npy_header_size() returned. ICESTREAM_E_INPUT,
 * ICESTREAM_E_MEMORY. */
int ics_npy_parse(const char *name, const unsigned char *bytes, size_t size, ics_npy_header *out,
                  icestream_error *error);
/* Sets ICESTREAM_E_INPUT for a message that begins like a trailer ('{'), because the header of the
 * message before did not announce one. Returns it. */
int ics_npy_unannounced_trailer(const char *name, icestream_error *error);
/* Frees what ics_npy_parse() allocated. Accepts a zeroed header. */
void ics_npy_header_free(ics_npy_header *header);

/* Makes our own header: version 1.0, `shape` first, its count at ICS_NPY_COUNT_OFFSET. */
void ics_npy_write_header(const ics_layout *schema, uint64_t rows,
                          unsigned char header[ICS_NPY_OWN_HEADER]);
/* Makes the same with a note (header.note), which is one line of ASCII text without a final zero
 * byte. A header that needs more than ICS_NPY_OWN_HEADER bytes is longer. The caller frees *out.
 * ICESTREAM_E_OUTPUT: the note is too long. ICESTREAM_E_MEMORY. */
int ics_npy_write_noted_header(const ics_layout *schema, uint64_t rows, const char *note,
                               unsigned char **out, size_t *size, icestream_error *error);
/* The number of rows as text, padded with blanks, as in our header. */
void ics_npy_write_count(uint64_t rows, char count[ICS_NPY_COUNT_BYTES]);

#endif
