#include "pipeline/table/table_file.h"

#include "base/destroys.h"
#include "base/disk.h"
#include "base/error.h"
#include "pipeline/files/format/npy.h"
#include "pipeline/files/format/trailer.h"
#include "pipeline/files/output.h"
#include "pipeline/table/table_metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUM_BYTES = 8, PIECE = 8 << 20 };

static const ics_layout_field sum_field = {"sum", {'i', SUM_BYTES}, 0, "2^-32 of a weight"};
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
    json_t *metadata = NULL;
    char *bytes = NULL;
    size_t size = 0;
    const uint64_t rows = table->squares != NULL ? 2 * table->cells : table->cells;
    const ics_trailer_table about = {.schema = &table_layout, .rows = rows, .row_bytes = SUM_BYTES};
    ICS_TRY(ics_trailer_checksums_finish(sums, error));
    ICS_TRY(ics_table_metadata_create(table, &metadata, error));
    int status =
        ics_trailer_format(metadata, &about, sums, ics_output_size(output), &bytes, &size, error);
    json_decref(metadata);
    if (status == ICESTREAM_OK && size > ICS_METADATA_MAX) {
        status = ics_error_set(error, ICESTREAM_E_OUTPUT,
                               "%s: the axes and parts need %zu bytes of metadata, more than %d",
                               ics_output_path(output), size, ICS_METADATA_MAX);
    }
    if (status == ICESTREAM_OK) {
        status = ics_output_write(output, bytes, size, error);
    }
    free(bytes);
    return status;
}

int ics_table_write_into(const ics_table *table, ics_output *output, icestream_error *error)
{
    unsigned char header[ICS_NPY_OWN_HEADER];
    ics_trailer_checksums sums = {.count = 0};
    make_header(table, header);
    int status = ics_output_write(output, header, sizeof header, error);
    if (status == ICESTREAM_OK) {
        status = write_array(output, &sums, table->sums, table->cells, error);
    }
    if (status == ICESTREAM_OK && table->squares != NULL) {
        status = write_array(output, &sums, table->squares, table->cells, error);
    }
    if (status == ICESTREAM_OK) {
        status = write_trailer(table, output, &sums, error);
    }
    ics_trailer_checksums_free(&sums);
    return status == ICESTREAM_OK ? ics_output_commit(output, error) : status;
}

int ics_table_write(const ics_table *table, const char *path, bool force, icestream_error *error)
{
    ics_output *output = NULL;
    ICS_TRY(ics_output_create(path, force, &output, error));
    const int status = ics_table_write_into(table, output, error);
    ics_output_destroy(output);
    return status;
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

static int read_array(int file, const char *name, int64_t *values, uint64_t count, uint64_t offset,
                      ics_trailer_checksums *sums, icestream_error *error)
{
    unsigned char *next = (unsigned char *)values;
    for (uint64_t done = 0; done < count * SUM_BYTES;) {
        const uint64_t left = count * SUM_BYTES - done;
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
    for (uint64_t i = 0; i < table->cells; ++i) {
        if (values[i] < 0) {
            return ics_error_set(error, ICESTREAM_E_INPUT,
                                 "%s: cell %" PRIu64 ": found the %s %" PRId64
                                 ", expected 0 or more",
                                 name, i, values == table->sums ? "sum" : "squared sum", values[i]);
        }
    }
    return ICESTREAM_OK;
}

static int read_sums(int file, const char *name, ics_table *table, const ics_trailer *trailer,
                     icestream_error *error)
{
    ics_trailer_checksums sums = {.count = 0};
    int status =
        read_array(file, name, table->sums, table->cells, ICS_NPY_OWN_HEADER, &sums, error);
    if (status == ICESTREAM_OK && table->squares != NULL) {
        status = read_array(file, name, table->squares, table->cells,
                            ICS_NPY_OWN_HEADER + table->cells * SUM_BYTES, &sums, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_trailer_checksums_finish(&sums, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_trailer_verify(trailer, name, &sums, SUM_BYTES, error);
    }
    ics_trailer_checksums_free(&sums);
    if (status == ICESTREAM_OK) {
        status = check_signs(name, table, table->sums, error);
    }
    if (status == ICESTREAM_OK && table->squares != NULL) {
        status = check_signs(name, table, table->squares, error);
    }
    return status;
}

static int read_trailer(int file, const char *name, const ics_tail *tail, uint64_t rows,
                        ics_trailer *out, icestream_error *error)
{
    const ics_trailer_table about = {.schema = &table_layout, .rows = rows, .row_bytes = SUM_BYTES};
    char *text = malloc((size_t)tail->length + 1);
    if (text == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory for metadata", name);
    }
    int status = read_bytes(file, name, text, (size_t)tail->length, tail->offset, error);
    if (status == ICESTREAM_OK) {
        status = ics_trailer_parse(name, text, tail, &about, out, error);
    }
    free(text);
    return status;
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
    int status = ics_table_metadata_read(name, trailer.metadata, rows, out, error);
    if (status == ICESTREAM_OK) {
        status = check_header(file, name, *out, error);
    }
    if (status == ICESTREAM_OK) {
        status = read_sums(file, name, *out, &trailer, error);
    }
    ics_trailer_free(&trailer);
    if (status != ICESTREAM_OK) {
        ics_table_destroy(*out);
        *out = NULL;
    }
    return status;
}

bool ics_table_file_is(const char *path)
{
    static const char magic[] = "\x93NUMPY", type[] = "'descr': '<i8'";
    char start[ICS_NPY_OWN_HEADER];
    struct stat about;
    ssize_t got = -1;
    const int file = TEMP_FAILURE_RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (file < 0) {
        return false;
    }
    errno = 0;
    if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) {
        got = TEMP_FAILURE_RETRY(pread(file, start, sizeof start, 0));
    }
    const int cause = got < 0 ? errno : 0;
    close(file);
    errno = cause;
    return got >= (ssize_t)sizeof magic && memcmp(start, magic, sizeof magic - 1) == 0 &&
           memmem(start, (size_t)got, type, sizeof type - 1) != NULL;
}

int ics_table_read(const char *path, ics_table **out, icestream_error *error)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        const int cause = errno;
        return ics_error_set_cause(error, ICESTREAM_E_INPUT, cause, "%s: cannot open: %s", path,
                                   strerror(cause));
    }
    const int status = ics_table_read_descriptor(file, path, out, error);
    close(file);
    return status;
}
