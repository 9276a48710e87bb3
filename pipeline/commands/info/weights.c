#include "pipeline/commands/info/weights.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_dump.h"
#include "base/json_text.h"
#include "base/visible_text.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/photons/files/format/trailer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const ics_layout layouts[] = {
    {.name = "icestream.weights", .short_name = "weights", .version = 1},
    {.name = "icestream.gradient", .short_name = "gradient", .version = 1},
    {.name = "icestream.gradients", .short_name = "gradients", .version = 1}};

/* ---- reading --------------------------------------------------------------------------------- */

/* An open file, and where its parts are. */
typedef struct weight_file {
    FILE *stream;
    const char *name;
    uint64_t header, rows_end, size; /* bytes */
    unsigned char tail[ICS_TAIL_BYTES];
} weight_file;

static int unreadable(const weight_file *file, icestream_error *error)
{
    return ics_error_set(error, ICESTREAM_E_INPUT, "%s: cannot be read to its end", file->name);
}

static void close_file(weight_file *file)
{
    if (file->stream != NULL) {
        fclose(file->stream);
    }
}

/* Opens a file and finds its parts. False: it has no trailer. */
static bool open_file(const char *npy, weight_file *file)
{
    unsigned char preamble[ICS_NPY_PREAMBLE];
    size_t header = 0;
    struct stat found;
    *file = (weight_file){.name = npy};
    if (stat(npy, &found) != 0 || !S_ISREG(found.st_mode)) { /* to open a pipe would wait */
        return false;
    }
    file->stream = fopen(npy, "rbe");
    if (file->stream == NULL || fread(preamble, sizeof preamble, 1, file->stream) != 1 ||
        ics_npy_header_size(npy, preamble, sizeof preamble, &header, NULL) != ICESTREAM_OK ||
        fseeko(file->stream, -ICS_TAIL_BYTES, SEEK_END) != 0) {
        return false;
    }
    file->size = (uint64_t)ftello(file->stream) + ICS_TAIL_BYTES;
    if (fread(file->tail, sizeof file->tail, 1, file->stream) != 1) {
        return false;
    }
    memcpy(&file->rows_end, file->tail, sizeof file->rows_end);
    file->header = header;
    return file->rows_end >= header && file->rows_end < file->size;
}

/* Reads the text of the metadata. The caller frees *out. */
static int read_text(const weight_file *file, ics_tail *tail, char **out, icestream_error *error)
{
    ICS_TRY(
        ics_trailer_tail_parse(file->name, file->tail, file->rows_end, file->size, tail, error));
    ICS_FREES char *text = tail->length <= ICS_METADATA_MAX ? malloc(tail->length + 1) : NULL;
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", file->name);
    }
    if (fseeko(file->stream, (off_t)tail->offset, SEEK_SET) != 0 ||
        fread(text, tail->length, 1, file->stream) != 1) {
        return unreadable(file, error);
    }
    text[tail->length] = '\0';
    *out = ICS_HAND_OVER(text);
    return ICESTREAM_OK;
}

static const ics_layout *layout_of(const json_t *metadata)
{
    const char *schema = json_string_value(json_object_get(metadata, "schema"));
    for (size_t i = 0; schema != NULL && i < sizeof layouts / sizeof *layouts; ++i) {
        if (strcmp(schema, layouts[i].name) == 0) {
            return &layouts[i];
        }
    }
    return NULL;
}

bool ics_info_weights_is(const char *npy)
{
    ICS_CLEANUP(close_file) weight_file file;
    ICS_FREES char *text = NULL;
    ics_tail tail;
    if (!open_file(npy, &file) || read_text(&file, &tail, &text, NULL) != ICESTREAM_OK) {
        return false;
    }
    json_auto_t *metadata = json_loadb(text, tail.length, 0, NULL);
    return layout_of(metadata) != NULL;
}

static int check_rows(const weight_file *file, const ics_trailer *trailer, size_t row_bytes,
                      icestream_error *error)
{
    enum { PIECE = 1 << 16 };
    ICS_CLEANUP(ics_trailer_checksums_free) ics_trailer_checksums sums = {.count = 0};
    ICS_FREES unsigned char *piece = malloc(PIECE);
    if (piece == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", file->name);
    }
    if (fseeko(file->stream, (off_t)file->header, SEEK_SET) != 0) {
        return unreadable(file, error);
    }
    for (uint64_t left = file->rows_end - file->header; left > 0;) {
        const size_t size = left < PIECE ? (size_t)left : PIECE;
        if (fread(piece, size, 1, file->stream) != 1) {
            return unreadable(file, error);
        }
        ICS_TRY(ics_trailer_checksums_add(&sums, piece, size, error));
        left -= size;
    }
    ICS_TRY(ics_trailer_checksums_finish(&sums, error));
    return ics_trailer_verify(trailer, file->name, &sums, row_bytes, error);
}

/* Reads and checks the metadata and the rows. The caller owns *out. */
static int read_file(const char *npy, json_t **out, icestream_error *error)
{
    ICS_CLEANUP(close_file) weight_file file;
    ICS_FREES char *text = NULL;
    ics_tail tail;
    if (!open_file(npy, &file)) {
        return unreadable(&file, error);
    }
    ICS_TRY(read_text(&file, &tail, &text, error));
    json_auto_t *metadata = json_loadb(text, tail.length, 0, NULL);
    const uint64_t bytes = file.rows_end - file.header;
    const json_int_t rows = json_integer_value(json_object_get(metadata, "rows"));
    if (rows < 0 || (rows == 0 ? bytes > 0 : bytes % (uint64_t)rows != 0)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: trailer: rows: found %" PRId64 ", expected rows of equal size in "
                             "%" PRIu64 " bytes",
                             npy, (int64_t)rows, bytes);
    }
    const size_t row_bytes = rows > 0 ? (size_t)(bytes / (uint64_t)rows) : 1;
    const ics_trailer_table table = {layout_of(metadata), (uint64_t)rows, row_bytes};
    ics_trailer trailer;
    ICS_TRY(ics_trailer_parse(npy, text, &tail, &table, &trailer, error));
    const int status = check_rows(&file, &trailer, row_bytes, error);
    if (status == ICESTREAM_OK) {
        *out = json_incref(trailer.metadata);
    }
    ics_trailer_free(&trailer);
    return status;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_sum(const char *title, const json_t *of, FILE *out)
{
    fprintf(out, "  %-15s sum %.6g +- %.3g, effective %.0f", title,
            json_number_value(json_object_get(of, "sum")),
            json_number_value(json_object_get(of, "error")),
            json_number_value(json_object_get(of, "effective")));
}

static void print_targets(const json_t *metadata, FILE *out)
{
    const json_t *target;
    size_t i;
    print_sum("own", json_object_get(metadata, "own"), out);
    fputc('\n', out);
    json_array_foreach(json_object_get(metadata, "targets"), i, target)
    {
        const char *name = json_string_value(json_object_get(target, "name"));
        print_sum("target", target, out);
        fprintf(out, ", share %.1f %%, largest %.4g",
                100 * json_number_value(json_object_get(target, "share")),
                json_number_value(json_object_get(target, "largest")));
        ics_visible_printf(out, ": %s\n", name != NULL ? name : "");
    }
}

/* Prints each key once, with the number of its parameters. */
static void print_parameters(const json_t *metadata, FILE *out)
{
    const json_t *parameter, *list = json_object_get(metadata, "parameters");
    const char *before = NULL;
    size_t i, count = 0;
    json_array_foreach(list, i, parameter)
    {
        const char *key = json_string_value(json_object_get(parameter, "key"));
        if (key == NULL) {
            continue;
        }
        if (before != NULL && strcmp(key, before) != 0) {
            ics_visible_printf(out, "  %-15s %s (%zu)\n", "parameters", before, count);
            count = 0;
        }
        before = key;
        count += 1;
    }
    if (before != NULL) {
        ics_visible_printf(out, "  %-15s %s (%zu)\n", "parameters", before, count);
    }
}

static void print_text(const char *path, const json_t *metadata, ics_info_form form, FILE *out)
{
    const json_t *file;
    size_t i;
    ics_visible_printf(out, "%s: %s", path, layout_of(metadata)->short_name);
    fprintf(out, ", %" PRId64 " rows, of %" PRId64 " hits of %" PRId64 " photons\n",
            (int64_t)json_integer_value(json_object_get(metadata, "rows")),
            (int64_t)json_integer_value(json_object_get(metadata, "hits")),
            (int64_t)json_integer_value(json_object_get(metadata, "photons")));
    json_array_foreach(json_object_get(metadata, "files"), i, file)
    {
        const char *name = json_string_value(json_object_get(file, "name"));
        ics_visible_printf(out, "  %-15s %s (%" PRId64 " rows)\n", "hits", name != NULL ? name : "",
                           (int64_t)json_integer_value(json_object_get(file, "rows")));
    }
    if (json_object_get(metadata, "targets") != NULL) {
        print_targets(metadata, out);
    }
    print_parameters(metadata, out);
    if (form.is_verified) {
        fputs("  verified: checksums, metadata\n", out);
    }
}

static int print_json(const char *path, const json_t *metadata, ics_info_form form, FILE *out,
                      icestream_error *error)
{
    json_auto_t *object =
        json_pack("{s:o, s:s, s:s, s:b, s:o}", "file", ics_json_text(path), "format", "npy", "kind",
                  layout_of(metadata)->short_name, "verified", form.is_verified, "metadata",
                  json_copy((json_t *)(uintptr_t)metadata));
    json_object_del(json_object_get(object, "metadata"), "crc32c");
    ICS_FREES char *text =
        object != NULL ? ics_json_dump(object, form.is_list ? JSON_COMPACT : JSON_INDENT(2)) : NULL;
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    fprintf(out, "%s\n", text);
    return ICESTREAM_OK;
}

int ics_info_weights(const char *path, const char *npy, ics_info_form form, FILE *out,
                     icestream_error *error)
{
    json_auto_t *metadata = NULL;
    ICS_TRY(read_file(npy, &metadata, error));
    if (form.json) {
        return print_json(path, metadata, form, out, error);
    }
    print_text(path, metadata, form, out);
    return ICESTREAM_OK;
}
