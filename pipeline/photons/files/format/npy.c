#include "pipeline/photons/files/format/npy.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "pipeline/photons/files/format/npy_literal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 8, PREAMBLE = 10 };

/* Python, and with it NumPy, ignores what follows #. */
static const char note_prefix[] = "# light: ";

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

int ics_npy_header_size(const char *name, const unsigned char *bytes, size_t size,
                        size_t *header_size, icestream_error *error)
{
    if (size == 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found an empty file, expected an .npy file", name);
    }
    if (memcmp(bytes, magic, size < sizeof magic ? size : sizeof magic) != 0) {
        const char *kind = ics_file_kind((const char *)bytes, size);
        kind = kind == NULL && ics_file_is_text(bytes, size) ? "text" : kind;
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: byte 0: found no .npy magic string, expected \\x93NUMPY%s%s",
                             name, kind != NULL ? "; this begins like " : "",
                             kind != NULL ? kind : "");
    }
    if (size < ICS_NPY_PREAMBLE) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %zu bytes, expected a complete .npy header", name, size);
    }
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: byte 6: found .npy version %d.%d, expected 1.0, 2.0 or 3.0", name,
                             bytes[6], bytes[7]);
    }
    uint64_t length = bytes[8] | (uint64_t)bytes[9] << 8;
    size_t preamble = 10;
    if (bytes[6] > 1) {
        length |= (uint64_t)bytes[10] << 16 | (uint64_t)bytes[11] << 24;
        preamble = 12;
    }
    if (preamble + length > ICS_NPY_HEADER_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: byte 8: found a header of %" PRIu64
                             " bytes, expected at most %zu",
                             name, length, (size_t)ICS_NPY_HEADER_MAX - preamble);
    }
    *header_size = preamble + (size_t)length;
    if (*header_size < ICS_NPY_PREAMBLE) {
        return ics_error_set(
            error, ICESTREAM_E_INPUT,
            "%s: byte 8: found a header of %" PRIu64 " bytes, expected a dictionary", name, length);
    }
    return ICESTREAM_OK;
}

/* Reads the type of one element: "<f4", "|V12", "<M8[ns]". Sets field->type if it is a number that
 * we can convert. */
static int read_type(ics_npy_cursor *c, ics_npy_field *field, uint64_t *bytes)
{
    size_t start = (ics_npy_literal_skip_blanks(c), c->at);
    ICS_TRY(ics_npy_literal_string(c, field->found, sizeof field->found, "a type such as '<f4'"));
    const char *text = field->found;
    bool big_endian = *text == '>';
    if (*text && strchr("<>|=", *text) != NULL) {
        ++text;
    }
    char kind = *text;
    text += kind != 0;
    if (kind == 'O') {
        return ics_error_set(
            c->error, ICESTREAM_E_INPUT,
            "%s: header byte %zu: field %s: found Python objects, expected numbers", c->name, start,
            field->name);
    }
    char *end = NULL;
    *bytes = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    bool unit = end != NULL && *end == '[' && (kind == 'M' || kind == 'm'); /* of dates: M8[ns] */
    if (!kind || strchr("?biufcmMSaUV", kind) == NULL || end == NULL || (*end && !unit) ||
        *bytes > INT32_MAX) {
        return ics_error_set(c->error, ICESTREAM_E_INPUT,
                             "%s: header byte %zu: field %s: found type '%s', expected one such as "
                             "'<f4'",
                             c->name, start, field->name, field->found);
    }
    bool number = (kind == 'f' && (*bytes == 2 || *bytes == 4 || *bytes == 8)) ||
                  ((kind == 'i' || kind == 'u') && *bytes > 0 && *bytes <= 8 &&
                   (*bytes & (*bytes - 1)) == 0) ||
                  (kind == 'b' && *bytes == 1);
    if (number && (!big_endian || *bytes == 1)) {
        field->type = (ics_layout_number_type){.kind = kind, .bytes = (uint8_t)*bytes};
    }
    if (kind == 'U') {
        *bytes *= 4;
    }
    return ICESTREAM_OK;
}

/* Reads the shape of a sub-array and multiplies the size of the element by it. */
static int read_extent(ics_npy_cursor *c, uint64_t *bytes)
{
    uint64_t extent;
    bool tuple = ics_npy_literal_accept(c, '(');
    bool more = !tuple || !ics_npy_literal_accept(c, ')');
    while (more) {
        ICS_TRY(ics_npy_literal_integer(c, &extent, "the extent of a sub-array"));
        if (__builtin_mul_overflow(*bytes, extent, bytes) || *bytes > ICS_NPY_ROW_MAX) {
            return ics_npy_literal_unexpected(c, "a sub-array of less than 1 MiB");
        }
        more = false;
        if (tuple) {
            ICS_TRY(ics_npy_literal_next(c, ')', &more));
        }
    }
    return ICESTREAM_OK;
}

static int read_fields(ics_npy_cursor *c, ics_npy_header *header, uint64_t *bytes);

/* Reads ('name', type) or ('name', type, shape); the name may be ('title', 'name'). */
static int read_field(ics_npy_cursor *c, ics_npy_field *field, uint64_t *bytes)
{
    ICS_TRY(ics_npy_literal_expect(c, '('));
    const bool titled = ics_npy_literal_accept(c, '(');
    ICS_TRY(ics_npy_literal_string(c, field->name, sizeof field->name, "the name of a field"));
    if (titled) {
        ICS_TRY(ics_npy_literal_expect(c, ','));
        ICS_TRY(ics_npy_literal_string(c, field->name, sizeof field->name, "a field's name"));
        ICS_TRY(ics_npy_literal_expect(c, ')'));
    }
    ICS_TRY(ics_npy_literal_expect(c, ','));
    if (ics_npy_literal_peek(c) == '[') {
        snprintf(field->found, sizeof field->found, "a structure");
        ICS_TRY(read_fields(c, NULL, bytes));
    } else {
        ICS_TRY(read_type(c, field, bytes));
    }
    if (ics_npy_literal_accept(c, ',') && ics_npy_literal_peek(c) != ')') {
        field->type = (ics_layout_number_type){0, 0};
        snprintf(field->found, sizeof field->found, "a sub-array");
        ICS_TRY(read_extent(c, bytes));
    }
    return ics_npy_literal_expect(c, ')');
}

static int keep_field(ics_npy_cursor *c, ics_npy_header *header, size_t *capacity,
                      const ics_npy_field *field)
{
    if (header->field_count == *capacity) {
        *capacity = *capacity ? 2 * *capacity : 32;
        ics_npy_field *grown = reallocarray(header->fields, *capacity, sizeof *grown);
        if (grown == NULL) {
            return ics_error_set(c->error, ICESTREAM_E_MEMORY,
                                 "%s: out of memory for the header's fields", c->name);
        }
        header->fields = grown;
    }
    header->fields[header->field_count++] = *field;
    return ICESTREAM_OK;
}

/* Reads a list of fields into `header`. NULL: for a nested structure, of which only the size is
 * needed. */
static int read_fields(ics_npy_cursor *c, ics_npy_header *header, uint64_t *bytes)
{
    size_t capacity = 0;
    ICS_TRY(ics_npy_literal_expect(c, '['));
    if (++c->depth > NESTING_MAX) {
        return ics_npy_literal_unexpected(c, "structures nested at most 8 deep");
    }
    *bytes = 0;
    bool more = !ics_npy_literal_accept(c, ']');
    while (more) {
        ics_npy_field field = {.offset = *bytes};
        uint64_t field_bytes = 0;
        ICS_TRY(read_field(c, &field, &field_bytes));
        *bytes += field_bytes; /* both below 2^34 */
        if (*bytes > ICS_NPY_ROW_MAX) {
            return ics_npy_literal_unexpected(c, "rows of at most 1 MiB");
        }
        if (header != NULL) {
            ICS_TRY(keep_field(c, header, &capacity, &field));
        }
        ICS_TRY(ics_npy_literal_next(c, ']', &more));
    }
    --c->depth;
    return ICESTREAM_OK;
}

static int read_descr(ics_npy_cursor *c, ics_npy_header *header)
{
    const unsigned char first = ics_npy_literal_peek(c);
    if (first == '\'' || first == '"') {
        const size_t start = c->at;
        char type[32];
        ICS_TRY(ics_npy_literal_string(c, type, sizeof type, "a type"));
        return ics_error_set(c->error, ICESTREAM_E_INPUT,
                             "%s: header byte %zu: found an array of plain numbers, type '%s', "
                             "expected a list of fields (a structured array)",
                             c->name, start, type);
    }
    if (first != '[') {
        return ics_npy_literal_unexpected(c, "a list of fields (a structured array)");
    }
    uint64_t bytes = 0;
    ICS_TRY(read_fields(c, header, &bytes));
    if (bytes == 0) {
        return ics_npy_literal_unexpected(c, "at least one field before this");
    }
    header->row_bytes = (size_t)bytes;
    return ICESTREAM_OK;
}

static int read_order(ics_npy_cursor *c)
{
    size_t left = (ics_npy_literal_skip_blanks(c), c->size - c->at);
    if (left >= 5 && memcmp(c->bytes + c->at, "False", 5) == 0) {
        c->at += 5;
        return ICESTREAM_OK;
    }
    return ics_npy_literal_unexpected(c, "fortran_order False (C order)");
}

static int read_shape(ics_npy_cursor *c, ics_npy_header *header)
{
    static const char expected[] = "a shape of one dimension such as (5,)";
    ICS_TRY(ics_npy_literal_expect(c, '('));
    ICS_TRY(ics_npy_literal_integer(c, &header->rows, expected));
    if (!ics_npy_literal_accept(c, ',') || !ics_npy_literal_accept(c, ')')) {
        return ics_npy_literal_unexpected(c, expected);
    }
    return ICESTREAM_OK;
}

/* Reads a comment of Python, which ends with its line. Only a note of icestream is kept. */
static int read_note(ics_npy_cursor *c, ics_npy_header *header)
{
    const char *text = (const char *)c->bytes + c->at;
    const char *end = memchr(text, '\n', c->size - c->at);
    const size_t length = end != NULL ? (size_t)(end - text) : c->size - c->at;
    c->at += length;
    if (length <= sizeof note_prefix - 1 || memchr(text, 0, length) != NULL ||
        memcmp(text, note_prefix, sizeof note_prefix - 1) != 0) {
        return ICESTREAM_OK;
    }
    header->note = strndup(text + sizeof note_prefix - 1, length - (sizeof note_prefix - 1));
    return header->note != NULL ? ICESTREAM_OK
                                : ics_error_set(c->error, ICESTREAM_E_MEMORY,
                                                "%s: out of memory for the header", c->name);
}

static int read_dictionary(ics_npy_cursor *c, ics_npy_header *header)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false};
    ICS_TRY(ics_npy_literal_expect(c, '{'));
    bool more = !ics_npy_literal_accept(c, '}');
    while (more) {
        char key[24];
        size_t start = (ics_npy_literal_skip_blanks(c), c->at), which = 0;
        ICS_TRY(ics_npy_literal_string(c, key, sizeof key, "a key"));
        while (which < 3 && strcmp(key, keys[which]) != 0) {
            ++which;
        }
        if (which == 3 || seen[which]) {
            return ics_error_set(c->error, ICESTREAM_E_INPUT,
                                 "%s: header byte %zu: found key '%s'%s, expected descr, "
                                 "fortran_order and shape once each",
                                 c->name, start, key, which < 3 ? " again" : "");
        }
        seen[which] = true;
        ICS_TRY(ics_npy_literal_expect(c, ':'));
        ICS_TRY(which == 0   ? read_descr(c, header)
                : which == 1 ? read_order(c)
                             : read_shape(c, header));
        ICS_TRY(ics_npy_literal_next(c, '}', &more));
    }
    for (size_t i = 0; i < 3; ++i) {
        if (!seen[i]) {
            return ics_error_set(c->error, ICESTREAM_E_INPUT,
                                 "%s: header byte %zu: found no key '%s', expected descr, "
                                 "fortran_order and shape",
                                 c->name, c->at, keys[i]);
        }
    }
    header->has_trailer = ics_npy_literal_peek(c) != '#';
    if (!header->has_trailer) {
        ICS_TRY(read_note(c, header));
    }
    if (ics_npy_literal_peek(c)) {
        return ics_npy_literal_unexpected(c, "nothing but blanks after the dictionary");
    }
    return c->at < c->size ? ics_npy_literal_unexpected(c, "the end of the header") : ICESTREAM_OK;
}

/* How the dictionary of our own headers begins; NumPy begins with another key. */
static const char own_beginning[] = "{'shape': (";

static bool is_own(const unsigned char *bytes, size_t size)
{
    return size == ICS_NPY_OWN_HEADER && bytes[6] == 1 &&
           memcmp(bytes + PREAMBLE, own_beginning, sizeof own_beginning - 1) == 0;
}

int ics_npy_parse(const char *name, const unsigned char *bytes, size_t size, ics_npy_header *out,
                  icestream_error *error)
{
    *out = (ics_npy_header){0};
    size_t header_size = 0;
    int status = ics_npy_header_size(name, bytes, size, &header_size, error);
    if (status) {
        return status;
    }
    if (size < header_size) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %zu bytes, expected a header of %zu (cut short)", name,
                             size, header_size);
    }
    ics_npy_cursor c = {.name = name, .bytes = bytes, .size = header_size, .error = error};
    c.at = bytes[6] > 1 ? 12 : 10;
    if ((status = read_dictionary(&c, out))) {
        ics_npy_header_free(out);
        return status;
    }
    out->header_bytes = header_size;
    out->has_trailer &= is_own(bytes, header_size);
    uint64_t total;
    if (__builtin_mul_overflow(out->rows, (uint64_t)out->row_bytes, &total) ||
        total >= (uint64_t)INT64_MAX - ICS_NPY_HEADER_MAX) {
        status =
            ics_error_set(error, ICESTREAM_E_INPUT,
                          "%s: header: found %" PRIu64 " rows of %zu bytes, expected less than "
                          "2^63 bytes in all",
                          name, out->rows, out->row_bytes);
        ics_npy_header_free(out);
    }
    return status;
}

int ics_npy_unannounced_trailer(const char *name, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_INPUT,
                         "%s: byte 0: found a trailer, expected \\x93NUMPY, because the header of "
                         "the message before announces no trailer (docs/files.md 2.4)",
                         name);
}

void ics_npy_header_free(ics_npy_header *header)
{
    free(header->fields);
    free(header->note);
    *header = (ics_npy_header){0};
}

void ics_npy_write_count(uint64_t rows, char count[ICS_NPY_COUNT_BYTES])
{
    char text[ICS_NPY_COUNT_BYTES + 1];
    snprintf(text, sizeof text, "%20" PRIu64, rows);
    memcpy(count, text, ICS_NPY_COUNT_BYTES);
}

/* Writes the dictionary. Returns its length. */
static size_t write_dictionary(const ics_layout *schema, uint64_t rows, char *text, size_t size)
{
    size_t used =
        (size_t)snprintf(text, size, "%s%20" PRIu64 ",), 'descr': [", own_beginning, rows);
    for (size_t i = 0; i < schema->field_count; ++i) {
        const ics_layout_field *field = &schema->fields[i];
        used += (size_t)snprintf(text + used, size - used, "%s('%s', '%c%c%d'", i ? ", " : "",
                                 field->name, field->type.bytes > 1 ? '<' : '|', field->type.kind,
                                 field->type.bytes);
        used += field->count > 0
                    ? (size_t)snprintf(text + used, size - used, ", (%" PRIu32 ",))", field->count)
                    : (size_t)snprintf(text + used, size - used, ")");
    }
    return used + (size_t)snprintf(text + used, size - used, "], 'fortran_order': False, }");
}

/* Fills a header of `size` bytes with blanks, and writes what stands before and behind the
 * dictionary. */
static void write_frame(unsigned char *header, size_t size)
{
    memset(header, ' ', size);
    memcpy(header, magic, sizeof magic);
    header[6] = 1;
    header[7] = 0;
    header[8] = (size - PREAMBLE) & 0xff;
    header[9] = (unsigned char)((size - PREAMBLE) >> 8);
    header[size - 1] = '\n';
}

void ics_npy_write_header(const ics_layout *schema, uint64_t rows,
                          unsigned char header[ICS_NPY_OWN_HEADER])
{
    char text[ICS_NPY_OWN_HEADER];
    const size_t used = write_dictionary(schema, rows, text, sizeof text);
    write_frame(header, ICS_NPY_OWN_HEADER);
    memcpy(header + PREAMBLE, text, used);
}

int ics_npy_write_noted_header(const ics_layout *schema, uint64_t rows, const char *note,
                               unsigned char **out, size_t *size, icestream_error *error)
{
    char text[ICS_NPY_OWN_HEADER];
    const size_t used = write_dictionary(schema, rows, text, sizeof text);
    const size_t length = note != NULL ? sizeof note_prefix - 1 + strlen(note) : 0;
    const size_t wanted = PREAMBLE + used + 1 + length + 1;
    *size = wanted <= ICS_NPY_OWN_HEADER ? ICS_NPY_OWN_HEADER : (wanted + 63) / 64 * 64;
    *out = NULL;
    if (*size > ICS_NPY_NOTED_MAX) {
        return ics_error_set(error, ICESTREAM_E_OUTPUT,
                             "header of a message: found %zu bytes with the record of light, "
                             "expected at most %d; shorten light.spectra, or write a file",
                             *size, ICS_NPY_NOTED_MAX);
    }
    *out = malloc(*size);
    if (*out == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY,
                             "out of memory for the header of a message");
    }
    write_frame(*out, *size);
    memcpy(*out + PREAMBLE, text, used);
    if (note != NULL) {
        memcpy(*out + PREAMBLE + used + 1, note_prefix, sizeof note_prefix - 1);
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the header is no string */
        memcpy(*out + PREAMBLE + used + sizeof note_prefix, note, strlen(note));
    }
    return ICESTREAM_OK;
}
