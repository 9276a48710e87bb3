#include "pipeline/files/vtp_output.h"

#include "base/error.h"
#include "pipeline/files/text_output.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 3 << 10, /* bytes that are encoded at a time; a multiple of 3 */
    LARGEST = 24     /* bytes of the largest row of an array: a vector of doubles */
};

struct ics_vtp_output {
    ics_text_output *text;
    bool has_piece;
    size_t filled;
    unsigned char bytes[BLOCK + LARGEST]; /* of an array, not encoded yet */
    unsigned char letters[BLOCK / 3 * 4 + 1];
};

int ics_vtp_output_create(const char *path, const char *about, bool force, ics_vtp_output **out,
                          icestream_error *error)
{
    *out = NULL;
    ics_vtp_output *file = calloc(1, sizeof *file);
    if (file == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    int status = ics_text_output_create(path, force, &file->text, error);
    if (status == ICESTREAM_OK) {
        status = ics_text_output_put(
            file->text, error,
            "<?xml version=\"1.0\"?>\n<!-- icestream " ICESTREAM_VERSION ", %s -->\n"
            "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\">\n<PolyData>\n",
            about);
    }
    if (status != ICESTREAM_OK) {
        ics_vtp_output_destroy(file);
        return status;
    }
    *out = file;
    return ICESTREAM_OK;
}

void ics_vtp_output_destroy(ics_vtp_output *file)
{
    if (file == NULL) {
        return;
    }
    ics_text_output_destroy(file->text);
    free(file);
}

/* ---- base64 ---------------------------------------------------------------------------------- */

/* Encodes the first `size` bytes that wait, and keeps the others. */
static int encode(ics_vtp_output *file, size_t size, icestream_error *error)
{
    const int length = EVP_EncodeBlock(file->letters, file->bytes, (int)size);
    file->filled -= size;
    memmove(file->bytes, file->bytes + size, file->filled);
    return ics_text_output_put_bytes(file->text, file->letters, (size_t)length, error);
}

static int put_row(ics_vtp_output *file, const void *bytes, size_t size, icestream_error *error)
{
    memcpy(file->bytes + file->filled, bytes, size);
    file->filled += size;
    return file->filled >= BLOCK ? encode(file, BLOCK, error) : ICESTREAM_OK;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static const char *kind_name(char kind)
{
    return kind == 'f' ? "Float" : kind == 'i' ? "Int" : "UInt";
}

static int begin_array(ics_vtp_output *file, const ics_vtp_array *array, uint64_t bytes,
                       icestream_error *error)
{
    ICS_TRY(ics_text_output_put(file->text, error,
                                "<DataArray type=\"%s%d\" Name=\"%s\" NumberOfComponents=\"%u\" "
                                "format=\"binary\">\n",
                                kind_name(array->type.kind), 8 * array->type.bytes, array->name,
                                array->components));
    return put_row(file, &bytes, sizeof bytes, error);
}

static int end_array(ics_vtp_output *file, icestream_error *error)
{
    ICS_TRY(encode(file, file->filled, error));
    return ics_text_output_put(file->text, error, "\n</DataArray>\n");
}

static int put_array(ics_vtp_output *file, const ics_vtp_array *array, size_t rows,
                     icestream_error *error)
{
    const size_t size = (size_t)array->type.bytes * array->components;
    const unsigned char *next = array->first;
    ICS_TRY(begin_array(file, array, (uint64_t)size * rows, error));
    for (size_t i = 0; i < rows; ++i, next += array->stride) {
        ICS_TRY(put_row(file, next, size, error));
    }
    return end_array(file, error);
}

static int put_arrays(ics_vtp_output *file, const char *element, const ics_vtp_array *arrays,
                      size_t count, size_t rows, icestream_error *error)
{
    ICS_TRY(ics_text_output_put(file->text, error, "<%s>\n", element));
    for (size_t i = 0; i < count; ++i) {
        ICS_TRY(put_array(file, &arrays[i], rows, error));
    }
    return ics_text_output_put(file->text, error, "</%s>\n", element);
}

/* An array of the numbers from `first` on, in equal steps. */
static int put_numbers(ics_vtp_output *file, const char *name, int32_t first, int32_t step,
                       size_t count, icestream_error *error)
{
    const ics_vtp_array array = {.name = name, .type = {'i', sizeof first}, .components = 1};
    ICS_TRY(begin_array(file, &array, sizeof first * (uint64_t)count, error));
    for (size_t i = 0; i < count; ++i, first += step) {
        ICS_TRY(put_row(file, &first, sizeof first, error));
    }
    return end_array(file, error);
}

/* Which points each triangle consists of. */
static int put_triangles(ics_vtp_output *file, const ics_vtp_piece *piece, icestream_error *error)
{
    ICS_TRY(ics_text_output_put(file->text, error, "<Polys>\n"));
    ICS_TRY(put_array(file, &piece->corners, 3 * piece->triangle_count, error));
    ICS_TRY(put_numbers(file, "offsets", 3, 3, piece->triangle_count, error));
    return ics_text_output_put(file->text, error, "</Polys>\n");
}

/* Which points each dot, line or triangle consists of. */
static int put_cells(ics_vtp_output *file, const ics_vtp_piece *piece, icestream_error *error)
{
    if (piece->triangle_count > 0) {
        return put_triangles(file, piece, error);
    }
    const char *element = piece->has_lines ? "Lines" : "Verts";
    ICS_TRY(ics_text_output_put(file->text, error, "<%s>\n", element));
    ICS_TRY(put_numbers(file, "connectivity", 0, 1, piece->point_count, error));
    ICS_TRY(piece->has_lines ? put_array(file, &piece->line_ends, piece->line_count, error)
                             : put_numbers(file, "offsets", 1, 1, piece->point_count, error));
    return ics_text_output_put(file->text, error, "</%s>\n", element);
}

int ics_vtp_output_put(ics_vtp_output *file, const ics_vtp_piece *piece, icestream_error *error)
{
    const bool has_triangles = piece->triangle_count > 0;
    const size_t dots = piece->has_lines || has_triangles ? 0 : piece->point_count;
    const size_t cells = has_triangles ? piece->triangle_count : piece->line_count;
    file->has_piece = true;
    ICS_TRY(ics_text_output_put(
        file->text, error,
        "<Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"%zu\" NumberOfLines=\"%zu\" "
        "NumberOfStrips=\"0\" NumberOfPolys=\"%zu\">\n",
        piece->point_count, dots, piece->has_lines ? piece->line_count : 0, piece->triangle_count));
    ICS_TRY(put_arrays(file, "Points", &piece->positions, 1, piece->point_count, error));
    ICS_TRY(put_arrays(file, "PointData", piece->point_data, piece->point_array_count,
                       piece->point_count, error));
    ICS_TRY(put_arrays(file, "CellData", piece->line_data, piece->line_array_count, cells, error));
    ICS_TRY(put_cells(file, piece, error));
    ICS_TRY(ics_text_output_put(file->text, error, "</Piece>\n"));
    return ics_text_output_pass_on(file->text, error);
}

int ics_vtp_output_commit(ics_vtp_output *file, icestream_error *error)
{
    /* A reader expects at least one piece. */
    const ics_vtp_piece none = {
        .positions = {.name = "points", .type = {'f', sizeof(float)}, .components = 3}};
    if (!file->has_piece) {
        ICS_TRY(ics_vtp_output_put(file, &none, error));
    }
    ICS_TRY(ics_text_output_put(file->text, error, "</PolyData>\n</VTKFile>\n"));
    return ics_text_output_commit(file->text, error);
}
