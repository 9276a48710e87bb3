/* Headers of .npy files from text, for tests. */
#ifndef NPY_TEXT_H
#define NPY_TEXT_H

#include "pipeline/photons/files/format/npy.h"

#include <string.h>

/* Puts magic string, version and length before a dictionary. Returns the size. */
static inline size_t frame(int version, const char *dictionary, size_t length, unsigned char *bytes)
{
    size_t preamble = version == 1 ? 10 : 12;
    memset(bytes, 0, 12);
    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)(length & 255);
    bytes[9] = (unsigned char)(length >> 8 & 255);
    memcpy(bytes + preamble, dictionary, length);
    return preamble + length;
}

/* Parses a header that is made of a dictionary. Returns the status. */
static inline int parse(int version, const char *dictionary, ics_npy_header *header,
                        icestream_error *error)
{
    unsigned char bytes[4096];
    size_t size = frame(version, dictionary, strlen(dictionary), bytes);
    error->text[0] = 0;
    return ics_npy_parse("a.npy", bytes, size, header, error);
}

#endif
