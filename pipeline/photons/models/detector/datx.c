/* The format, from a public program that reads it (km3net/detector, read_datx) and from public
 * files. Numbers are little-endian; I: 32 bits, D: 64 bits, S: a text, I bytes long.
 *
 *   "####" S            a comment; any number of them
 *   I S                 number of the detector, version (V5)
 *   D D                 validity
 *   S S S D D D         UTM, ellipsoid, zone; x, y, z
 *   I                   modules
 *   for a module:       I ID, I LINE, I FLOOR, D x y z q0 qx qy qz t0, I STATUS, I PMTS
 *   for a PMT:          I ID, D x y z dx dy dz t0, I STATUS
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/models/detector/detx.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct datx_reader {
    const ics_text *file;
    size_t at;
    bool ended; /* the file is too short */
    FILE *out;
} datx_reader;

/* Returns the next bytes, NULL if the file has fewer. */
static const char *take(datx_reader *reader, size_t size)
{
    reader->ended = reader->ended || reader->file->size - reader->at < size;
    if (reader->ended) {
        return NULL;
    }
    reader->at += size;
    return reader->file->data + reader->at - size;
}

static int32_t take_whole(datx_reader *reader)
{
    int32_t value = 0;
    const char *bytes = take(reader, sizeof value);
    if (bytes != NULL) {
        memcpy(&value, bytes, sizeof value);
    }
    return value;
}

static void write_wholes(datx_reader *reader, int count)
{
    for (int i = 0; i < count; ++i) {
        fprintf(reader->out, "%" PRId32 " ", take_whole(reader));
    }
}

static void write_numbers(datx_reader *reader, int count)
{
    for (int i = 0; i < count; ++i) {
        double value = 0;
        const char *bytes = take(reader, sizeof value);
        if (bytes != NULL) {
            memcpy(&value, bytes, sizeof value);
        }
        fprintf(reader->out, "%.17g ", value);
    }
}

/* Writes a text as one field. Bytes that would be something else in DETX become '_'. */
static void write_word(datx_reader *reader)
{
    const int32_t size = take_whole(reader);
    const char *bytes = take(reader, size > 0 ? (size_t)size : 0);
    for (int32_t i = 0; bytes != NULL && i < size; ++i) {
        fputc(bytes[i] > ' ' && bytes[i] <= '~' && bytes[i] != '#' ? bytes[i] : '_', reader->out);
    }
    fputc(' ', reader->out);
}

static void skip_comments(datx_reader *reader)
{
    static const char mark[] = "####";
    const size_t size = sizeof mark - 1;
    while (reader->file->size - reader->at >= size &&
           memcmp(reader->file->data + reader->at, mark, size) == 0) {
        reader->at += size;
        const int32_t length = take_whole(reader);
        take(reader, length > 0 ? (size_t)length : 0);
    }
}

static void write_modules(datx_reader *reader)
{
    const int32_t modules = take_whole(reader);
    fprintf(reader->out, "\n%" PRId32 "\n", modules);
    for (int32_t i = 0; i < modules && !reader->ended; ++i) {
        write_wholes(reader, 3);
        write_numbers(reader, 8);
        write_wholes(reader, 1);
        const int32_t pmts = take_whole(reader);
        fprintf(reader->out, "%" PRId32 "\n", pmts);
        for (int32_t k = 0; k < pmts && !reader->ended; ++k) {
            write_wholes(reader, 1);
            write_numbers(reader, 7);
            write_wholes(reader, 1);
            fputc('\n', reader->out);
        }
    }
}

int ics_datx_text(const ics_text *file, ics_text *out, icestream_error *error)
{
    size_t size = 0;
    datx_reader reader = {.file = file};
    *out = (ics_text){.name = file->name};
    reader.out = open_memstream(&out->data, &size);
    if (reader.out == NULL) {
        return ics_error_no_memory(error, file->name);
    }
    skip_comments(&reader);
    write_wholes(&reader, 1);
    write_word(&reader);
    fputc('\n', reader.out);
    write_numbers(&reader, 2);
    fputc('\n', reader.out);
    for (int i = 0; i < 3; ++i) {
        write_word(&reader);
    }
    write_numbers(&reader, 3);
    write_modules(&reader);
    const bool failed = ferror(reader.out) != 0;
    const bool closed = fclose(reader.out) == 0;
    out->memory = out->data;
    out->size = size;
    if (failed || !closed) {
        return ics_error_no_memory(error, file->name);
    }
    if (reader.ended || reader.at != file->size) {
        return ics_error_add(error, ICESTREAM_E_CONFIG,
                             "%s: error: found %zu bytes, expected DATX of version 5, %s",
                             file->name, file->size,
                             reader.ended ? "whose modules need more" : "whose modules end before");
    }
    return ICESTREAM_OK;
}
