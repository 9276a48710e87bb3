#include "pipeline/photons/table/file.h"

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/error.h"
#include "pipeline/photons/files/format/npy.h"
#include "pipeline/photons/files/format/trailer.h"
#include "pipeline/photons/files/output.h"
#include "pipeline/photons/table/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUM_BYTES = 8, PIECE = 8 << 20 };

static const ics_layout_field sum_field = {"sum", {'i', SUM_BYTES}, 0, "2^-32 of a weight", 0};
static const ics_layout table_layout = {
    .name = "icestream.table",
    .short_name = "table",
    .version = 1,
    .row_bytes = SUM_BYTES,
    .coordinates = "axes",
    .fields = &sum_field,
    .field_count = 1,
};

/* The header: the shape has a dimension of 2 in front if the file holds squares behind the sums. */
static void make_header(const ics_table *table, unsigned char header[ICS_NPY_OWN_HEADER])
{
    enum { PREAMBLE = 10, LENGTH = ICS_NPY_OWN_HEADER - PREAMBLE };
    static const unsigned char preamble[PREAMBLE] = {0x93, 'N', 'U', 'M',          'P',
                                                     'Y',  1,   0,   LENGTH & 255, LENGTH >> 8};
    char *text = (char *)header + PREAMBLE;
    int used = snprintf(text, LENGTH, "{'shape': (%s", table->squares != NULL ? "2, " : "");
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        used += snprintf(text + used, LENGTH - (size_t)used, "%" PRIu32 ",%s",
                         table->axes[i].bins + 2, i + 1 < table->axis_count ? " " : "");
    }
    used += snprintf(text + used, LENGTH - (size_t)used,
                     "), 'fortran_order': False, 'descr': '<i8', }");
    memset(text + used, ' ', LENGTH - (size_t)used - 1);
    text[LENGTH - 1] = '\n';
    memcpy(header, preamble, PREAMBLE);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_array(ics_output *output, ics_trailer_checksums *sums, const int64_t *values,
                       uint64_t count, icestream_error *error)
{
    const unsigned char *next = (const unsigned char *)values;
    for (uint64_t left = count * SUM_BYTES; left > 0;) {
        const size_t piece = left < PIECE ? (size_t)left : PIECE;
        ICS_TRY(ics_trailer_checksums_add(sums, next, piece, error));
        ICS_TRY(ics_output_write(output, next, piece, error));
        next += piece;
        left -= piece;
    }
    return ICESTREAM_OK;
}

static int write_trailer(const ics_table *table, ics_output *output, ics_trailer_checksums *sums,
                         icestream_error *error)
{
    json_auto_t *metadata = NULL;
    ICS_FREES char *bytes = NULL;
    size_t size = 0;
    const uint64_t rows = table->squares != NULL ? 2 * table->cells : table->cells;
    const ics_trailer_table about = {.schema = &table_layout, .rows = rows, .row_bytes = SUM_BYTES};
    ICS_TRY(ics_trailer_checksums_finish(sums, error));
    ICS_TRY(ics_table_metadata_create(table, &metadata, error));
    ICS_TRY(
        ics_trailer_format(metadata, &about, sums, ics_output_size(output), &bytes, &size, error));
    return size > ICS_METADATA_MAX
               ? ics_error_set(error, ICESTREAM_E_OUTPUT,
                               "%s: the axes and parts need %zu bytes of metadata, more than %d",
                               ics_output_path(output), size, ICS_METADATA_MAX)
               : ics_output_write(output, bytes, size, error);
}

static int write_parts(const ics_table *table, ics_output *output, ics_trailer_checksums *sums,
                       icestream_error *error)
{
    unsigned char header[ICS_NPY_OWN_HEADER];
    make_header(table, header);
    ICS_TRY(ics_output_write(output, header, sizeof header, error));
    ICS_TRY(write_array(output, sums, table->sums, table->cells, error));
    if (table->squares != NULL) {
        ICS_TRY(write_array(output, sums, table->squares, table->cells, error));
    }
    return write_trailer(table, output, sums, error);
}

int ics_table_write_into(const ics_table *table, ics_output *output, icestream_error *error)
{
    ics_trailer_checksums sums = {.count = 0};
    const int status = write_parts(table, output, &sums, error);
    ics_trailer_checksums_free(&sums);
    return status == ICESTREAM_OK ? ics_output_commit(output, error) : status;
}

int ics_table_write(const ics_table *table, const char *path, bool force, icestream_error *error)
{
    ICS_DESTROYS(ics_output_destroy) ics_output *output = NULL;
    ICS_TRY(ics_output_create(path, force, &output, error));
    return ics_table_write_into(table, output, error);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_bytes(int file, const char *name, void *bytes, size_t size, uint64_t offset,
                      icestream_error *error)
{
    const size_t got = ics_disk_read_at(file, bytes, size, (off_t)offset);
    return got == size
               ? ICESTREAM_OK
               : ics_error_set_cause(error, ICESTREAM_E_INPUT, errno,
                                     "%s: cannot read byte %" PRIu64 ": %s", name, offset + got,
                                     errno != 0 ? strerror(errno) : "the file became shorter");
}

/* Reads the tail; *sums_end is where the sums end. */
static int read_tail(int file, const char *name, uint64_t size, ics_tail *tail, uint64_t *sums_end,
                     icestream_error *error)
{
    unsigned char bytes[ICS_TAIL_BYTES];
    uint64_t length = 0;
    if (size < ICS_NPY_OWN_HEADER + ICS_TAIL_BYTES) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %" PRIu64
                             " bytes, expected a photon table with at least %d",
                             name, size, (int)ICS_NPY_OWN_HEADER + (int)ICS_TAIL_BYTES);
    }
    ICS_TRY(read_bytes(file, name, bytes, sizeof bytes, size - sizeof bytes, error));
    if (memcmp(bytes + 24, "ISTRAIL1", 8) != 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found no trailer at the end, expected a photon table, which ends "
                             "in ISTRAIL1 (the file was cut, or another program wrote it)",
                             name);
    }
    for (int i = 7; i >= 0; --i) {
        length = length << 8 | bytes[8 + i];
    }
    const uint64_t most = size - ICS_NPY_OWN_HEADER - ICS_TAIL_BYTES;
    *sums_end = size - ICS_TAIL_BYTES - (length < most ? length : most);
    ICS_TRY(ics_trailer_tail_parse(name, bytes, *sums_end, size, tail, error));
    if ((*sums_end - ICS_NPY_OWN_HEADER) % SUM_BYTES != 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found %" PRIu64 " bytes of sums, expected a multiple of 8", name,
                             *sums_end - ICS_NPY_OWN_HEADER);
    }
    return ICESTREAM_OK;
}

static int check_header(int file, const char *name, const ics_table *table, icestream_error *error)
{
    unsigned char found[ICS_NPY_OWN_HEADER], expected[ICS_NPY_OWN_HEADER];
    ICS_TRY(read_bytes(file, name, found, sizeof found, 0, error));
    make_header(table, expected);
    if (memcmp(found, expected, sizeof found) != 0) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: header: found other bytes than %.100s, which the axes of the "
                             "trailer need",
                             name, (const char *)expected + 10);
    }
    return ICESTREAM_OK;
}

/* Reads the sums, or the squared ones, which begin at `offset`. */
static int read_array(int file, const char *name, const ics_table *table, int64_t *values,
                      uint64_t offset, ics_trailer_checksums *sums, icestream_error *error)
{
    unsigned char *next = (unsigned char *)values;
    for (uint64_t done = 0; done < table->cells * SUM_BYTES;) {
        const uint64_t left = table->cells * SUM_BYTES - done;
        const size_t piece = left < PIECE ? (size_t)left : PIECE;
        ICS_TRY(read_bytes(file, name, next + done, piece, offset + done, error));
        ICS_TRY(ics_trailer_checksums_add(sums, next + done, piece, error));
        done += piece;
    }
    return ICESTREAM_OK;
}

static int check_signs(const char *name, const ics_table *table, const int64_t *values,
                       icestream_error *error)
{
    for (uint64_t i = 0; values != NULL && i < table->cells; ++i) {
        if (values[i] < 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: cell %" PRIu64 ": found the %s %" PRId64
                                 ", expected 0 or more",
                                 name, i, values == table->sums ? "sum" : "squared sum", values[i]);
        }
    }
    return ICESTREAM_OK;
}

static int read_arrays(int file, const char *name, ics_table *table, ics_trailer_checksums *sums,
                       icestream_error *error)
{
    const uint64_t first = ICS_NPY_OWN_HEADER;
    ICS_TRY(read_array(file, name, table, table->sums, first, sums, error));
    if (table->squares != NULL) {
        ICS_TRY(read_array(file, name, table, table->squares, first + table->cells * SUM_BYTES,
                           sums, error));
    }
    return ics_trailer_checksums_finish(sums, error);
}

static int read_sums(int file, const char *name, ics_table *table, const ics_trailer *trailer,
                     icestream_error *error)
{
    ics_trailer_checksums sums = {.count = 0};
    int status = read_arrays(file, name, table, &sums, error);
    status = status ? status : ics_trailer_verify(trailer, name, &sums, SUM_BYTES, error);
    ics_trailer_checksums_free(&sums);
    ICS_TRY(status);
    ICS_TRY(check_signs(name, table, table->sums, error));
    return check_signs(name, table, table->squares, error);
}

static int read_trailer(int file, const char *name, const ics_tail *tail, uint64_t rows,
                        ics_trailer *out, icestream_error *error)
{
    const ics_trailer_table about = {.schema = &table_layout, .rows = rows, .row_bytes = SUM_BYTES};
    ICS_FREES char *text = malloc((size_t)tail->length + 1);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for metadata", name);
    }
    ICS_TRY(read_bytes(file, name, text, (size_t)tail->length, tail->offset, error));
    return ics_trailer_parse(name, text, tail, &about, out, error);
}

static int read_table(int file, const char *name, const ics_trailer *trailer, uint64_t rows,
                      ics_table **out, icestream_error *error)
{
    ICS_DESTROYS(ics_table_destroy) ics_table *table = NULL;
    ICS_TRY(ics_table_metadata_read(name, trailer->metadata, rows, &table, error));
    ICS_TRY(check_header(file, name, table, error));
    ICS_TRY(read_sums(file, name, table, trailer, error));
    *out = ICS_HAND_OVER(table);
    return ICESTREAM_OK;
}

int ics_table_read_descriptor(int file, const char *name, ics_table **out, icestream_error *error)
{
    struct stat about;
    ics_tail tail = {.length = 0};
    ics_trailer trailer = {.count = 0};
    uint64_t sums_end = 0;
    *out = NULL;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found no regular file, expected a photon table", name);
    }
    ICS_TRY(read_tail(file, name, (uint64_t)about.st_size, &tail, &sums_end, error));
    const uint64_t rows = (sums_end - ICS_NPY_OWN_HEADER) / SUM_BYTES;
    ICS_TRY(read_trailer(file, name, &tail, rows, &trailer, error));
    const int status = read_table(file, name, &trailer, rows, out, error);
    ics_trailer_free(&trailer);
    return status;
}

bool ics_table_file_is(const char *path)
{
    static const char magic[] = "\x93NUMPY", type[] = "'descr': '<i8'";
    char start[ICS_NPY_OWN_HEADER];
    struct stat about;
    ICS_CLOSES_DESCRIPTOR int file =
        TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file < 0) {
        return false;
    }
    errno = 0;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return false;
    }
    const ssize_t got = TEMP_FAILURE_RETRY(pread(file, start, sizeof start, 0));
    return got >= (ssize_t)sizeof magic && memcmp(start, magic, sizeof magic - 1) == 0 &&
           memmem(start, (size_t)got, type, sizeof type - 1) != NULL;
}

int ics_table_read(const char *path, ics_table **out, icestream_error *error)
{
    ICS_CLOSES_DESCRIPTOR int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return file >= 0 ? ics_table_read_descriptor(file, path, out, error)
                     : ics_error_set_cause(error, ICESTREAM_E_INPUT, errno, "%s: cannot open: %s",
                                           path, strerror(errno));
}
