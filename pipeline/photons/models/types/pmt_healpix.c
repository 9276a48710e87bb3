#include "pipeline/photons/models/types/pmt_healpix.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "pipeline/photons/files/format/npy.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- pixels ---------------------------------------------------------------------------------- */

/* The centres of the pixels (physics.md 8.16, [GOR05]): rings of 4, 8, 12, ... pixels near the
 * poles, and of 4 side pixels near the equator, where every other ring begins half a pixel later.
 */
size_t ics_pmt_healpix_pixel(size_t side, size_t ring, size_t index, double *zenith,
                             double *azimuth)
{
    const double n = (double)side;
    const bool is_south = ring > 2 * side;
    const size_t i = is_south ? 4 * side - ring : ring; /* the northern ring at the same height */
    const size_t count = 4 * (i < side ? i : side);
    const double height =
        i < side ? 1 - (double)i * (double)i / (3 * n * n) : 4.0 / 3 - 2 * (double)i / (3 * n);
    const double begin = i < side || (i - side) % 2 == 0 ? 0.5 : 0;
    *zenith = acos(is_south ? -height : height) * (180 / M_PI);
    *azimuth = 360 * ((double)index + begin) / (double)count;
    return count;
}

/* ---- the header ------------------------------------------------------------------------------ */

typedef struct npy_array {
    size_t item;         /* bytes of a number: 4 or 8 */
    size_t pmts, pixels; /* its shape */
    const char *numbers;
} npy_array;

/* Finds what follows "'key':" in a header, which ends with a zero byte. NULL: it is not there. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (at == NULL) {
        return NULL;
    }
    at += strlen(key);
    return at + strspn(at, " ");
}

/* Reads "(PMTS, PIXELS)". */
static bool read_shape(const char *at, npy_array *out)
{
    char *end = NULL;
    if (at == NULL || at[0] != '(' || at[1] < '0' || at[1] > '9') {
        return false;
    }
    out->pmts = strtoull(at + 1, &end, 10);
    if (end[0] != ',' || end[1] != ' ' || end[2] < '0' || end[2] > '9') {
        return false;
    }
    out->pixels = strtoull(end + 2, &end, 10);
    return end[0] == ')';
}

/* Reads the header, which ends with a zero byte. Returns NULL, or what is wrong. */
static const char *read_header(const char *header, npy_array *out)
{
    const char *type = value_of(header, "'descr':");
    const char *order = value_of(header, "'fortran_order':");
    const bool is_double = type != NULL && strncmp(type, "'<f8'", 5) == 0;
    if (!is_double && (type == NULL || strncmp(type, "'<f4'", 5) != 0)) {
        return "found another type of numbers, expected '<f8' or '<f4'";
    }
    if (order == NULL || strncmp(order, "False", 5) != 0) {
        return "found an array in Fortran order, expected fortran_order False "
               "(numpy.ascontiguousarray)";
    }
    if (!read_shape(value_of(header, "'shape':"), out)) {
        return "found another shape, expected two numbers: PMTs and pixels";
    }
    out->item = is_double ? 8 : 4;
    return NULL;
}

static int read_array(ics_text_reader *reader, const ics_text *bytes, npy_array *out)
{
    const unsigned char *data = (const unsigned char *)bytes->data;
    size_t end = 0;
    if (ics_npy_header_size(bytes->name, data, bytes->size, &end, NULL) != ICESTREAM_OK ||
        end > bytes->size) {
        return ics_text_fault(reader, 0, 0, "found no whole header, expected an array of NumPy");
    }
    const size_t begin = data[6] > 1 ? 12 : 10; /* behind the length of the header */
    ICS_FREES char *header = strndup(bytes->data + begin, end - begin);
    if (header == NULL) {
        return ics_error_no_memory(reader->error, reader->name);
    }
    const char *fault = read_header(header, out);
    out->numbers = bytes->data + end;
    return fault != NULL ? ics_text_fault(reader, 0, 0, "%s", fault) : ICESTREAM_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Checks the shape. *side: of the pixels. */
static int check_shape(ics_text_reader *reader, const npy_array *array, size_t pmt_count,
                       size_t bytes, size_t *side)
{
    const size_t most = ICS_PMT_AREA_ROWS / pmt_count;
    *side = 0;
    while (12 * *side * *side < array->pixels && *side <= 1000) {
        ++*side;
    }
    if (array->pmts != pmt_count) {
        return ics_text_fault(reader, 0, 0,
                              "found the shape (%zu, %zu), expected %zu rows, one for each PMT of "
                              "the type",
                              array->pmts, array->pixels, pmt_count);
    }
    if (*side == 0 || array->pixels > most || array->pixels != 12 * *side * *side) {
        return ics_text_fault(reader, 0, 0,
                              "found %zu pixels, expected 12 n^2 with a whole number n, as HEALPix "
                              "has, and at most %zu",
                              array->pixels, most);
    }
    if (bytes != pmt_count * array->pixels * array->item) {
        return ics_text_fault(reader, 0, 0, "found %zu bytes of numbers, expected %zu", bytes,
                              pmt_count * array->pixels * array->item);
    }
    return ICESTREAM_OK;
}

static double number_at(const npy_array *array, size_t index)
{
    double number = 0;
    float single = 0;
    if (array->item == 8) {
        memcpy(&number, array->numbers + 8 * index, 8);
        return number;
    }
    memcpy(&single, array->numbers + 4 * index, 4);
    return (double)single;
}

static int add_pixel(ics_text_reader *reader, const npy_array *array, size_t pixel,
                     const double angles[2], ics_text_table *out)
{
    for (size_t k = 0; k < array->pmts; ++k) {
        const double area = number_at(array, k * array->pixels + pixel);
        const double row[ICS_PMT_AREA_COLUMNS] = {[ICS_PMT_AREA_PMT] = (double)k,
                                                  [ICS_PMT_AREA_ZENITH] = angles[0],
                                                  [ICS_PMT_AREA_AZIMUTH] = angles[1],
                                                  [ICS_PMT_AREA_X] = NAN,
                                                  [ICS_PMT_AREA_Y] = NAN,
                                                  [ICS_PMT_AREA_Z] = NAN,
                                                  [ICS_PMT_AREA_AREA] = area};
        if (!(area >= 0 && area <= ICS_PMT_AREA_MAX)) {
            ics_text_fault(reader, 0, 0, "PMT %zu, pixel %zu: found %.10g, expected 0 .. %g m2", k,
                           pixel, area, ICS_PMT_AREA_MAX);
        }
        ICS_TRY(ics_text_table_add(reader, out, row, 0));
    }
    return ICESTREAM_OK;
}

static int add_rows(ics_text_reader *reader, const npy_array *array, size_t side,
                    ics_text_table *out)
{
    size_t pixel = 0;
    for (size_t ring = 1; ring < 4 * side; ++ring) {
        double angles[2];
        for (size_t i = 0; i < ics_pmt_healpix_pixel(side, ring, i, &angles[0], &angles[1]); ++i) {
            ICS_TRY(add_pixel(reader, array, pixel++, angles, out));
        }
    }
    return ics_text_status(reader);
}

static int read_areas(ics_text_reader *reader, const ics_text *bytes, size_t pmt_count,
                      ics_text_table *out)
{
    npy_array array = {0};
    size_t side = 0;
    ICS_TRY(read_array(reader, bytes, &array));
    const size_t numbers = bytes->size - (size_t)(array.numbers - bytes->data);
    ICS_TRY(check_shape(reader, &array, pmt_count, numbers, &side));
    return add_rows(reader, &array, side, out);
}

int ics_pmt_healpix_read(const ics_text *bytes, size_t pmt_count, ics_text_table *out,
                         icestream_error *error)
{
    ics_text_reader reader = ics_text_open(bytes, ',', error);
    *out = (ics_text_table){.columns = ICS_PMT_AREA_COLUMNS};
    const int status = read_areas(&reader, bytes, pmt_count, out);
    if (status != ICESTREAM_OK) {
        ics_text_table_free(out);
    }
    return status;
}
