#include "pipeline/photons/files/format/trailer.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_read.h"
#include "pipeline/photons/files/format/crc32c.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char tail_magic[8] = {'I', 'S', 'T', 'R', 'A', 'I', 'L', '1'};
enum { TAIL_VERSION = 1 };

/* ---- checksums of rows ---------------------------------------------------------------------- */

static int close_block(ics_trailer_checksums *sums, icestream_error *error)
{
    if (sums->count == sums->capacity) {
        size_t capacity = sums->capacity ? 2 * sums->capacity : 64;
        uint32_t *grown = reallocarray(sums->values, capacity, sizeof *grown);
        if (grown == NULL) {
            return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for %zu checksums",
                                 capacity);
        }
        sums->values = grown;
        sums->capacity = capacity;
    }
    sums->values[sums->count++] = sums->current;
    sums->current = 0;
    sums->filled = 0;
    return ICESTREAM_OK;
}

int ics_trailer_checksums_add(ics_trailer_checksums *sums, const void *bytes, size_t size,
                              icestream_error *error)
{
    const unsigned char *next = bytes;
    while (size > 0) {
        size_t piece = ICS_BLOCK_BYTES - sums->filled;
        if (piece > size) {
            piece = size;
        }
        sums->current = ics_crc32c(sums->current, next, piece);
        sums->filled += piece;
        next += piece;
        size -= piece;
        if (sums->filled == ICS_BLOCK_BYTES) {
            ICS_TRY(close_block(sums, error));
        }
    }
    return ICESTREAM_OK;
}

int ics_trailer_checksums_finish(ics_trailer_checksums *sums, icestream_error *error)
{
    return sums->filled > 0 ? close_block(sums, error) : ICESTREAM_OK;
}

bool ics_trailer_checksums_same(const ics_trailer_checksums *left,
                                const ics_trailer_checksums *right)
{
    return left->count == right->count && left->current == right->current &&
           (left->count == 0 ||
            memcmp(left->values, right->values, left->count * sizeof *left->values) == 0);
}

void ics_trailer_checksums_reset(ics_trailer_checksums *sums)
{
    sums->count = 0;
    sums->current = 0;
    sums->filled = 0;
}

void ics_trailer_checksums_free(ics_trailer_checksums *sums)
{
    free(sums->values);
    *sums = (ics_trailer_checksums){0};
}

/* ---- tail ----------------------------------------------------------------------------------- */

static uint64_t read_little(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    while (count-- > 0) {
        value = value << 8 | bytes[count];
    }
    return value;
}

static void write_little(unsigned char *bytes, int count, uint64_t value)
{
    for (int i = 0; i < count; ++i) {
        bytes[i] = (unsigned char)(value >> 8 * i);
    }
}

int ics_trailer_tail_parse(const char *name, const unsigned char bytes[ICS_TAIL_BYTES],
                           uint64_t rows_end, uint64_t file_size, ics_tail *out,
                           icestream_error *error)
{
    if (memcmp(bytes + 24, tail_magic, sizeof tail_magic) != 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: found %" PRIu64
                             " bytes after the last row that do not end "
                             "in ISTRAIL1, expected nothing or a complete trailer",
                             name, file_size - rows_end);
    }
    uint64_t version = read_little(bytes + 20, 4);
    if (version != TAIL_VERSION) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: found version %" PRIu64 ", expected %d", name, version,
                             TAIL_VERSION);
    }
    out->offset = read_little(bytes, 8);
    out->length = read_little(bytes + 8, 8);
    out->checksum = (uint32_t)read_little(bytes + 16, 4);
    uint64_t length = file_size - rows_end - ICS_TAIL_BYTES;
    if (out->offset != rows_end || out->length != length) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: found metadata at byte %" PRIu64 " with %" PRIu64
                             " bytes, expected it at byte %" PRIu64 " with %" PRIu64,
                             name, out->offset, out->length, rows_end, length);
    }
    if (length > ICS_METADATA_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: found %" PRIu64
                             " bytes of metadata, expected at most %d",
                             name, length, ICS_METADATA_MAX);
    }
    return ICESTREAM_OK;
}

void ics_trailer_tail_write(const ics_tail *tail, unsigned char bytes[ICS_TAIL_BYTES])
{
    write_little(bytes, 8, tail->offset);
    write_little(bytes + 8, 8, tail->length);
    write_little(bytes + 16, 4, tail->checksum);
    write_little(bytes + 20, 4, TAIL_VERSION);
    memcpy(bytes + 24, tail_magic, sizeof tail_magic);
}

/* ---- metadata ------------------------------------------------------------------------------- */

int ics_trailer_wrong(const char *name, const char *key, const json_t *found, const char *expected,
                      icestream_error *error)
{
    ICS_FREES char *text = ics_json_dump(found, JSON_COMPACT | JSON_ENCODE_ANY);
    return ics_error_set(error, ICESTREAM_E_INPUT, "%s: trailer: %s: found %.60s, expected %s",
                         name, key, text != NULL ? text : "nothing", expected);
}

static int check_integer(const char *name, const json_t *metadata, const char *key,
                         uint64_t expected, icestream_error *error)
{
    char text[24];
    const json_t *found = json_object_get(metadata, key);
    snprintf(text, sizeof text, "%" PRIu64, expected);
    return json_is_integer(found) && json_integer_value(found) == (json_int_t)expected
               ? ICESTREAM_OK
               : ics_trailer_wrong(name, key, found, text, error);
}

static int check_header(const char *name, const json_t *metadata, const ics_layout *schema,
                        uint64_t rows, icestream_error *error)
{
    const json_t *found = json_object_get(metadata, "schema");
    const char *text = json_string_value(found);
    if (text == NULL || strcmp(text, schema->name) != 0) {
        return ics_trailer_wrong(name, "schema", found, schema->name, error);
    }
    ICS_TRY(check_integer(name, metadata, "version", schema->version, error));
    return check_integer(name, metadata, "rows", rows, error);
}

static int read_checksums(const char *name, const json_t *metadata, uint64_t row_bytes,
                          ics_trailer *out, icestream_error *error)
{
    const json_t *sums = json_object_get(metadata, "crc32c");
    const json_t *found = json_object_get(sums, "block_bytes");
    if (!json_is_integer(found) || json_integer_value(found) != ICS_BLOCK_BYTES) {
        return ics_trailer_wrong(name, "crc32c.block_bytes", found, "1048576", error);
    }
    uint64_t blocks = row_bytes / ICS_BLOCK_BYTES + (row_bytes % ICS_BLOCK_BYTES != 0);
    found = json_object_get(sums, "values");
    if (!json_is_array(found) || json_array_size(found) != blocks) {
        return ics_trailer_wrong(name, "crc32c.values", found,
                                 "a list with one checksum per MiB of rows", error);
    }
    out->count = json_array_size(found);
    out->checksums = calloc(out->count ? out->count : 1, sizeof *out->checksums);
    if (out->checksums == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for %zu checksums", name,
                             out->count);
    }
    for (size_t i = 0; i < out->count; ++i) {
        const json_t *item = json_array_get(found, i);
        json_int_t value = json_integer_value(item);
        if (!json_is_integer(item) || value < 0 || value > UINT32_MAX) {
            return ics_trailer_wrong(name, "crc32c.values", item, "an integer of 32 bits", error);
        }
        out->checksums[i] = (uint32_t)value;
    }
    return ICESTREAM_OK;
}

static int parse_metadata(const char *name, const char *text, size_t length, json_t **out,
                          icestream_error *error)
{
    json_error_t reason;
    *out = ics_json_read(text, length, JSON_REJECT_DUPLICATES, &reason);
    if (*out == NULL && errno == ENOMEM) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for metadata", name);
    }
    const bool is_array = json_is_array(*out);
    return json_is_object(*out)
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: trailer: byte %d of the metadata: %s, expected a JSON object",
                               name, is_array ? 0 : reason.position,
                               is_array ? "found another JSON value" : reason.text);
}

static int check_table(const char *name, const ics_trailer_table *table, ics_trailer *trailer,
                       icestream_error *error)
{
    ICS_TRY(check_header(name, trailer->metadata, table->schema, table->rows, error));
    return read_checksums(name, trailer->metadata, table->rows * table->row_bytes, trailer, error);
}

int ics_trailer_parse(const char *name, const char *text, const ics_tail *tail,
                      const ics_trailer_table *table, ics_trailer *out, icestream_error *error)
{
    *out = (ics_trailer){0};
    const uint32_t checksum = ics_crc32c(0, text, (size_t)tail->length);
    if (checksum != tail->checksum) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: found metadata with CRC-32C %08" PRIx32
                             ", expected %08" PRIx32,
                             name, checksum, tail->checksum);
    }
    int status = parse_metadata(name, text, (size_t)tail->length, &out->metadata, error);
    status = status ? status : check_table(name, table, out, error);
    if (status) {
        ics_trailer_free(out);
    }
    return status;
}

void ics_trailer_free(ics_trailer *trailer)
{
    json_decref(trailer->metadata);
    free(trailer->checksums);
    *trailer = (ics_trailer){0};
}

int ics_trailer_verify(const ics_trailer *trailer, const char *name,
                       const ics_trailer_checksums *sums, size_t row_bytes, icestream_error *error)
{
    for (size_t i = 0; i < trailer->count && i < sums->count; ++i) {
        if (sums->values[i] == trailer->checksums[i]) {
            continue;
        }
        uint64_t first = (uint64_t)i * ICS_BLOCK_BYTES;
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: rows %" PRIu64 " to %" PRIu64 ": found CRC-32C %08" PRIx32
                             ", expected %08" PRIx32 " (the rows were damaged after writing)",
                             name, first / row_bytes, (first + ICS_BLOCK_BYTES - 1) / row_bytes,
                             sums->values[i], trailer->checksums[i]);
    }
    return ICESTREAM_OK;
}

/* Sets the keys that the file determines. The _new functions of jansson release the value on
 * failure, and fail for NULL, so the combined result shows whether any allocation failed. */
static int complete(json_t *metadata, const ics_layout *schema, uint64_t rows,
                    const ics_trailer_checksums *sums)
{
    int failed = 0;
    json_t *units = json_object(), *values = json_array();
    for (size_t i = 0; i < schema->field_count; ++i) {
        failed |=
            json_object_set_new(units, schema->fields[i].name, json_string(schema->fields[i].unit));
    }
    for (size_t i = 0; i < sums->count; ++i) {
        failed |= json_array_append_new(values, json_integer(sums->values[i]));
    }
    failed |= json_object_set_new(metadata, "schema", json_string(schema->name));
    failed |= json_object_set_new(metadata, "version", json_integer(schema->version));
    if (json_object_get(metadata, "producer") == NULL) {
        failed |=
            json_object_set_new(metadata, "producer", json_string("icestream " ICESTREAM_VERSION));
    }
    failed |= json_object_set_new(metadata, "coordinates", json_string(schema->coordinates));
    failed |= json_object_set_new(metadata, "units", units);
    failed |= json_object_set_new(metadata, "rows", json_integer((json_int_t)rows));
    failed |= json_object_set_new(
        metadata, "crc32c",
        json_pack("{s:i, s:o}", "block_bytes", (int)ICS_BLOCK_BYTES, "values", values));
    return failed;
}

int ics_trailer_format(const json_t *metadata, const ics_trailer_table *table,
                       const ics_trailer_checksums *sums, uint64_t rows_end, char **out,
                       size_t *size, icestream_error *error)
{
    json_auto_t *completed =
        metadata != NULL ? json_copy((json_t *)(uintptr_t)metadata) : json_object();
    ICS_FREES char *text = NULL;
    /* If memory ran out during the copy, keys are missing. */
    if (completed != NULL && json_object_size(completed) == json_object_size(metadata) &&
        complete(completed, table->schema, table->rows, sums) == 0) {
        text = ics_json_dump(completed, JSON_COMPACT);
    }
    const size_t length = text != NULL ? strlen(text) : 0;
    char *whole = text != NULL ? realloc(text, length + ICS_TAIL_BYTES) : NULL;
    if (whole == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "out of memory for the metadata of %s",
                             table->schema->short_name);
    }
    text = NULL;
    const ics_tail tail = {
        .offset = rows_end, .length = length, .checksum = ics_crc32c(0, whole, length)};
    ics_trailer_tail_write(&tail, (unsigned char *)whole + length);
    *out = whole;
    *size = length + ICS_TAIL_BYTES;
    return ICESTREAM_OK;
}

bool ics_trailer_scan_ends(ics_trailer_scan *scan, char character)
{
    if (!scan->is_quoted) {
        scan->depth += (character == '{') - (character == '}');
    }
    if (character == '"' && !scan->is_escaped) {
        scan->is_quoted = !scan->is_quoted;
    }
    scan->is_escaped = scan->is_quoted && character == '\\' && !scan->is_escaped;
    return scan->depth == 0;
}
