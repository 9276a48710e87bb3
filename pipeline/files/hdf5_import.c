/* From HDF5 to .npy files. */
#include "base/error.h"
#include "base/json_read.h"
#include "pipeline/files/contained.h"
#include "pipeline/files/format/conversion.h"
#include "pipeline/files/format/crc32c.h"
#include "pipeline/files/format/trailer.h"
#include "pipeline/files/hdf5.h"
#include "pipeline/files/hdf5_common.h"
#include "pipeline/files/output.h"
#include "pipeline/files/table_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ics_layout_number_type number_of(hid_t type)
{
    ics_layout_number_type number = {.bytes = (uint8_t)H5Tget_size(type)};
    H5T_class_t class = H5Tget_class(type);
    if (H5Tget_size(type) > 8) {
        return (ics_layout_number_type){0, 0};
    }
    if (class == H5T_FLOAT && number.bytes >= 2) {
        number.kind = 'f';
    }
    if (class == H5T_INTEGER) {
        number.kind = H5Tget_sign(type) == H5T_SGN_2 ? 'i' : 'u';
    }
    return number;
}

/* Describes the members of a compound type as fields of a .npy file, so that the same rules apply:
 * any order, further members, other number types. */
static int describe_members(const char *path, hid_t type, ics_npy_field **out, size_t *count,
                            icestream_error *error)
{
    int members = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_nmembers(type) : 0;
    size_t bytes = H5Tget_size(type);
    if (members <= 0 || bytes == 0 || bytes > ICS_NPY_ROW_MAX) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found a dataset that is no table, expected compound rows of at "
                             "most 1 MiB",
                             path);
    }
    ics_npy_field *fields = calloc((size_t)members, sizeof *fields);
    if (fields == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    for (int i = 0; i < members; ++i) {
        char *name = H5Tget_member_name(type, (unsigned)i);
        hid_t member = H5Tget_member_type(type, (unsigned)i);
        snprintf(fields[i].name, sizeof fields[i].name, "%s", name != NULL ? name : "");
        snprintf(fields[i].found, sizeof fields[i].found, "another type");
        fields[i].offset = H5Tget_member_offset(type, (unsigned)i);
        fields[i].type = number_of(member);
        H5Tclose(member);
        H5free_memory(name);
    }
    *out = fields;
    *count = (size_t)members;
    return ICESTREAM_OK;
}

/* A table that is being read. */
typedef struct import_table {
    const char *path;
    hid_t set;
    hid_t type; /* of the rows in memory: as in the file, but in this machine's byte order */
    hsize_t rows;
    ics_conversion conversion;
    json_t *metadata; /* NULL: none */
    /* What the rows must have, if icestream wrote the metadata. */
    bool has_trailer;
    ics_trailer trailer;
    ics_trailer_checksums sums; /* of the rows that were read: as they are in the file, if icestream
                                   wrote them before it made steps of 72 bytes */
} import_table;

static int import_rows(import_table *table, ics_table_writer *writer, icestream_error *error)
{
    size_t row_bytes = H5Tget_size(table->type);
    size_t piece = ICS_NPY_ROW_MAX / row_bytes;
    unsigned char *source = malloc(ICS_NPY_ROW_MAX);
    unsigned char *target = reallocarray(NULL, piece, ICS_ROW_BYTES_MAX);
    int status = source != NULL && target != NULL
                     ? ICESTREAM_OK
                     : ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", table->path);
    for (hsize_t first = 0; first < table->rows && !status; first += piece) {
        size_t count = table->rows - first < piece ? (size_t)(table->rows - first) : piece;
        if (!ics_hdf5_transfer(table->set, table->type, first, count, source, false)) {
            status = ics_hdf5_failed(table->path, ICESTREAM_E_INPUT, "cannot read rows", error);
            break;
        }
        status = ics_conversion_rows(&table->conversion, table->path, first, source, count, target,
                                     error);
        if (!status) {
            const bool is_older = row_bytes != table->conversion.schema->row_bytes;
            status = ics_trailer_checksums_add(&table->sums, is_older ? source : target,
                                               count * row_bytes, error);
        }
        if (!status) {
            status = ics_table_writer_append(writer, target, count, error);
        }
    }
    free(target);
    free(source);
    return status;
}

/* Compares the rows with the checksums of the metadata. */
static int verify_rows(import_table *table, icestream_error *error)
{
    if (!table->has_trailer) {
        return ICESTREAM_OK;
    }
    int status = ics_trailer_checksums_finish(&table->sums, error);
    return status ? status
                  : ics_trailer_verify(&table->trailer, table->path, &table->sums,
                                       H5Tget_size(table->type), error);
}

/* Compares the metadata with their checksum, if the file has one. Files from before November 22,
 * 2026, have none. */
static int verify_metadata(const char *path, hid_t set, const char *text, size_t length,
                           icestream_error *error)
{
    uint32_t expected = 0;
    const uint32_t found = ics_crc32c(0, text, length);
    if (H5Aexists(set, ICS_HDF5_CHECKSUM) <= 0) {
        return ICESTREAM_OK;
    }
    hid_t attribute = H5Aopen(set, ICS_HDF5_CHECKSUM, H5P_DEFAULT);
    const bool is_read = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_UINT32, &expected) >= 0;
    H5Aclose(attribute);
    if (!is_read) {
        return ics_hdf5_failed(path, ICESTREAM_E_INPUT, "cannot read the checksum of the metadata",
                               error);
    }
    return found == expected
               ? ICESTREAM_OK
               : ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: dataset metadata: found CRC-32C %08" PRIx32
                               ", expected %08" PRIx32 " (the metadata were damaged or changed)",
                               path, found, expected);
}

/* Metadata of icestream hold the checksums of the rows. Metadata that name the origin of the rows
 * by digests, but have lost the checksums, prove nothing. */
static int read_trailer(import_table *table, const char *text, size_t length,
                        icestream_error *error)
{
    char name[512];
    snprintf(name, sizeof name, "%s: dataset metadata", table->path);
    if (json_object_get(table->metadata, "crc32c") == NULL) {
        return json_object_get(table->metadata, "digests") == NULL
                   ? ICESTREAM_OK
                   : ics_error_set(error, ICESTREAM_E_INPUT,
                                   "%s: crc32c: found none next to digests, expected the checksums "
                                   "of the rows (remove the dataset if the rows were changed)",
                                   name);
    }
    const ics_tail tail = {.length = length, .checksum = ics_crc32c(0, text, length)};
    const ics_trailer_table expected = {.schema = table->conversion.schema,
                                        .rows = table->rows,
                                        .row_bytes = H5Tget_size(table->type)};
    int status = ics_trailer_parse(name, text, &tail, &expected, &table->trailer, error);
    table->has_trailer = status == ICESTREAM_OK;
    return status;
}

static int read_metadata(import_table *table, hid_t file, icestream_error *error)
{
    if (H5Lexists(file, "metadata", H5P_DEFAULT) <= 0) {
        return ICESTREAM_OK;
    }
    hid_t set = H5Dopen2(file, "metadata", H5P_DEFAULT);
    hid_t space = set >= 0 ? H5Dget_space(set) : H5I_INVALID_HID;
    hssize_t length = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    char *text = length > 0 && length <= ICS_METADATA_MAX ? malloc((size_t)length) : NULL;
    if (text != NULL && H5Dread(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0) {
        table->metadata = ics_json_read(text, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
    }
    int status = ICESTREAM_OK;
    if (!json_is_object(table->metadata)) {
        status = ics_error_set(error, ICESTREAM_E_INPUT,
                               "%s: dataset metadata: found something else, expected the bytes of "
                               "a JSON object",
                               table->path);
    }
    if (!status) {
        status = verify_metadata(table->path, set, text, (size_t)length, error);
    }
    if (!status) {
        status = read_trailer(table, text, (size_t)length, error);
    }
    free(text);
    H5Sclose(space);
    H5Dclose(set);
    return status;
}

/* Whether the file can contain this number of rows. If the number is damaged, it may be larger than
 * any disk, and the library would invent the missing rows. We assume that compression makes rows at
 * most 2^16 times smaller. */
static bool is_stored(hid_t set, hsize_t rows)
{
    const hid_t properties = H5Dget_create_plist(set), type = H5Dget_type(set);
    const bool compressed = properties >= 0 && H5Pget_nfilters(properties) > 0;
    const hsize_t bytes = H5Dget_storage_size(set), row = type >= 0 ? H5Tget_size(type) : 0;
    H5Tclose(type);
    H5Pclose(properties);
    return rows == 0 || (row > 0 && (compressed ? rows >> 16 : rows) <= bytes / row);
}

static int open_table(import_table *table, hid_t file, icestream_error *error)
{
    const ics_layout *schema = NULL;
    for (size_t k = 0; (schema = ics_layout_at(k)) != NULL; ++k) {
        if (H5Lexists(file, schema->short_name, H5P_DEFAULT) > 0) {
            break;
        }
    }
    if (schema == NULL) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found none of the datasets /steps, /hits, /paths and /waveforms, "
                             "expected one of them",
                             table->path);
    }
    table->set = H5Dopen2(file, schema->short_name, H5P_DEFAULT);
    hid_t stored = H5Dget_type(table->set), space = H5Dget_space(table->set);
    table->type = H5Tget_native_type(stored, H5T_DIR_ASCEND);
    hssize_t rows = H5Sget_simple_extent_npoints(space);
    int dimensions = H5Sget_simple_extent_ndims(space);
    H5Sclose(space);
    H5Tclose(stored);
    if (table->type < 0 || rows < 0) {
        return ics_hdf5_failed(table->path, ICESTREAM_E_INPUT, "cannot open the table", error);
    }
    if (dimensions != 1) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: dataset %s: found %d dimensions, expected 1", table->path,
                             schema->short_name, dimensions);
    }
    table->rows = (hsize_t)rows;
    ics_npy_field *fields = NULL;
    size_t count = 0;
    int status = describe_members(table->path, table->type, &fields, &count, error);
    if (!status) {
        status = ics_conversion_create(table->path, fields, count, H5Tget_size(table->type), schema,
                                       &table->conversion, error);
    }
    free(fields);
    if (!status && !is_stored(table->set, table->rows)) {
        status =
            ics_error_set(error, ICESTREAM_E_INPUT,
                          "%s: dataset %s: found %llu rows in %llu bytes, expected rows that are "
                          "in the file",
                          table->path, schema->short_name, (unsigned long long)rows,
                          (unsigned long long)H5Dget_storage_size(table->set));
    }
    return status ? status : read_metadata(table, file, error);
}

static int import_file(import_table *table, const char *to, bool force, icestream_error *error)
{
    hid_t file = H5Fopen(table->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) {
        return ics_hdf5_failed(table->path, ICESTREAM_E_INPUT, "cannot open", error);
    }
    ics_table_writer *writer = NULL;
    int status = open_table(table, file, error);
    if (!status) {
        status = ics_table_writer_create(to, table->conversion.schema, force, &writer, error);
    }
    if (!status) {
        status = import_rows(table, writer, error);
    }
    if (!status) {
        status = verify_rows(table, error);
    }
    if (!status) {
        status = ics_table_writer_commit(writer, table->metadata, error);
    }
    ics_table_writer_destroy(writer);
    H5Tclose(table->type);
    H5Dclose(table->set);
    json_decref(table->metadata);
    ics_trailer_free(&table->trailer);
    ics_trailer_checksums_free(&table->sums);
    H5Fclose(file);
    return status;
}

/* The arguments of the child process that reads the file. */
typedef struct import_order {
    const char *from, *to;
    bool force;
    int descriptor; /* takes what goes to standard output; -1: standard output */
} import_order;

static int import_in_child(void *user, icestream_error *error)
{
    const import_order *order = user;
    import_table table = {.path = order->from, .set = H5I_INVALID_HID, .type = H5I_INVALID_HID};
    if (order->descriptor >= 0 && dup2(order->descriptor, STDOUT_FILENO) < 0) {
        return ics_error_set_cause(error, ICESTREAM_E_FAILED, errno, "%s: cannot be read: %s",
                                   order->from, strerror(errno));
    }
    ics_hdf5_silence before = ics_hdf5_be_silent();
    int status = import_file(&table, order->to, order->force, error);
    ics_hdf5_speak_again(&before);
    return status;
}

/* Removes the .part of a child that has crashed. */
static void clean_part(const char *to)
{
    ics_output *output = NULL;
    icestream_error ignored; /* the first error is the one to report */
    if (ics_output_create(to, true, &output, &ignored) == ICESTREAM_OK) {
        ics_output_destroy(output);
    }
}

static int import_contained(import_order *order, icestream_error *error)
{
    struct stat about;
    /* HDF5 would open a named pipe and wait for a writer. */
    if (stat(order->from, &about) == 0 && !S_ISREG(about.st_mode)) {
        return ics_error_set(error, ICESTREAM_E_INPUT,
                             "%s: found something that is not a file, expected an HDF5 file",
                             order->from);
    }
    /* Of 1000 files with one wrong byte in their structures, 5 made the library read invalid
     * memory. So a child process reads the file. */
    return ics_contained_check(import_in_child, order, order->from, error);
}

int ics_hdf5_import(const char *from, const char *to, bool force, icestream_error *error)
{
    import_order order = {.from = from, .to = to, .force = force, .descriptor = -1};
    const int status = import_contained(&order, error);
    if (status == ICESTREAM_E_INPUT && strcmp(to, "-") != 0) {
        clean_part(to);
    }
    return status;
}

int ics_hdf5_import_into(const char *from, int descriptor, icestream_error *error)
{
    import_order order = {.from = from, .to = "-", .descriptor = descriptor};
    return import_contained(&order, error);
}
