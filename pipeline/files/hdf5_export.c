/* From .npy files to HDF5. */
#include "base/error.h"
#include "base/json_dump.h"
#include "pipeline/files/format/crc32c.h"
#include "pipeline/files/format/table_reader.h"
#include "pipeline/files/hdf5.h"
#include "pipeline/files/hdf5_common.h"
#include "pipeline/files/output.h"
#include "pipeline/files/stream_output.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 16384 }; /* rows: 1 MiB */

/* ---- types and attributes ------------------------------------------------------------------- */

static hid_t number_type(ics_layout_number_type type)
{
    static const char kinds[] = "fui";
    const hid_t types[3][4] = {
        {H5I_INVALID_HID, H5I_INVALID_HID, H5T_IEEE_F32LE, H5T_IEEE_F64LE},
        {H5T_STD_U8LE, H5T_STD_U16LE, H5T_STD_U32LE, H5T_STD_U64LE},
        {H5T_STD_I8LE, H5T_STD_I16LE, H5T_STD_I32LE, H5T_STD_I64LE},
    };
    return types[strchr(kinds, type.kind) - kinds][__builtin_ctz(type.bytes)];
}

/* The compound type of a schema, with the layout of its rows. The caller closes it. */
static hid_t schema_type(const ics_layout *schema)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, schema->row_bytes);
    for (size_t i = 0; i < schema->field_count && type >= 0; ++i) {
        const ics_layout_field *field = &schema->fields[i];
        if (H5Tinsert(type, field->name, field->offset, number_type(field->type)) < 0) {
            H5Tclose(type);
            return H5I_INVALID_HID;
        }
    }
    return type;
}

static bool write_text(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5I_INVALID_HID;
    if (H5Tset_size(type, strlen(text) + 1) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0) {
        attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    }
    bool written = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return written;
}

/* ---- export --------------------------------------------------------------------------------- */

/* Creates a dataset, in chunks of `chunk` rows or, with 0, in one piece. It keeps no time, so the
 * same table becomes the same bytes at any time of the day. */
static hid_t create_dataset(hid_t file, const char *name, hid_t type, hid_t space, hsize_t chunk)
{
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = H5I_INVALID_HID;
    if (H5Pset_obj_track_times(properties, false) >= 0 &&
        (chunk == 0 || H5Pset_chunk(properties, 1, &chunk) >= 0)) {
        set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    }
    H5Pclose(properties);
    return set;
}

/* Writes the checksum of the metadata, which the tail of a .npy file has, as an attribute. */
static bool write_checksum(hid_t set, uint32_t checksum)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute =
        H5Acreate2(set, ICS_HDF5_CHECKSUM, H5T_STD_U32LE, space, H5P_DEFAULT, H5P_DEFAULT);
    bool written = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_UINT32, &checksum) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return written;
}

/* Writes the metadata as a dataset of bytes, because an attribute has at most 64 KiB. */
static bool write_metadata(hid_t file, const json_t *metadata)
{
    char *text = ics_json_dump(metadata, JSON_COMPACT);
    hsize_t length = text != NULL ? strlen(text) : 0;
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t set =
        text != NULL ? create_dataset(file, "metadata", H5T_STD_U8LE, space, 0) : H5I_INVALID_HID;
    bool written = set >= 0 &&
                   H5Dwrite(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0 &&
                   write_checksum(set, ics_crc32c(0, text, (size_t)length));
    H5Dclose(set);
    H5Sclose(space);
    free(text);
    return written;
}

static bool write_attributes(hid_t set, const ics_layout *schema)
{
    bool written = write_text(set, "schema", schema->name) &&
                   write_text(set, "coordinates", schema->coordinates);
    for (size_t i = 0; i < schema->field_count && written; ++i) {
        char name[40];
        snprintf(name, sizeof name, "unit of %s", schema->fields[i].name);
        written = write_text(set, name, schema->fields[i].unit);
    }
    return written;
}

static hid_t create_set(hid_t file, const ics_layout *schema, hid_t type, uint64_t rows)
{
    hsize_t size = rows, unlimited = H5S_UNLIMITED;
    hid_t space = H5Screate_simple(1, &size, &unlimited);
    hid_t set = create_dataset(file, schema->short_name, type, space, CHUNK);
    H5Sclose(space);
    return set;
}

static int export_rows(ics_table_reader *reader, const char *to, hid_t set, hid_t type,
                       icestream_error *error)
{
    unsigned char *rows = malloc((size_t)CHUNK * ICS_ROW_BYTES_MAX);
    if (rows == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", to);
    }
    int status = ICESTREAM_OK;
    for (size_t got = 1; got > 0 && !status;) {
        uint64_t first = ics_table_reader_position(reader);
        status = ics_table_reader_read(reader, rows, CHUNK, &got, error);
        if (!status && got > 0 && !ics_hdf5_transfer(set, type, first, got, rows, true)) {
            status = ics_hdf5_failed(to, ICESTREAM_E_OUTPUT, "cannot write rows", error);
        }
    }
    free(rows);
    return status;
}

static int export_table(ics_table_reader *reader, const char *to, hid_t file,
                        icestream_error *error)
{
    const ics_layout *schema = ics_table_reader_layout(reader);
    const json_t *metadata = ics_table_reader_metadata(reader);
    hid_t type = schema_type(schema);
    hid_t set = create_set(file, schema, type, ics_table_reader_rows(reader));
    int status = ICESTREAM_OK;
    if (type < 0 || set < 0 || !write_attributes(set, schema) ||
        (metadata != NULL && !write_metadata(file, metadata))) {
        status = ics_hdf5_failed(to, ICESTREAM_E_OUTPUT, "cannot create the table", error);
    } else {
        status = export_rows(reader, to, set, type, error);
    }
    /* HDF5 writes the last rows here. */
    if (H5Dclose(set) < 0 && !status) {
        status = ics_hdf5_failed(to, ICESTREAM_E_OUTPUT, "cannot write rows", error);
    }
    H5Tclose(type);
    return status;
}

static int export_file(ics_table_reader *reader, const char *to, const char *part,
                       icestream_error *error)
{
    hid_t file = ics_hdf5_create(part);
    if (file < 0) {
        return ics_hdf5_failed(to, ICESTREAM_E_OUTPUT, "cannot create", error);
    }
    return ics_hdf5_finish(file, to, export_table(reader, to, file, error), error);
}

/* Standard input is one table, which may have a trailer: a dataset has a known number of rows. */
static int open_table(const char *from, ics_table_reader **out, icestream_error *error)
{
    int descriptor = -1;
    if (strcmp(from, "-") != 0) {
        return ics_table_reader_open(from, NULL, out, error);
    }
    ICS_TRY(ics_stream_output_keep_input(&descriptor, error));
    icestream_error reason = {.text = ""};
    const int status =
        ics_table_reader_open_descriptor(descriptor, "standard input", NULL, out, &reason);
    return status == ICESTREAM_E_INPUT
               ? ics_error_set(error, status, "%s (HDF5 takes one file or one message)",
                               reason.text)
               : ics_error_copy(error, &reason);
}

int ics_hdf5_export(const char *from, const char *to, bool force, icestream_error *error)
{
    ics_table_reader *reader = NULL;
    ics_output *output = NULL;
    int status = open_table(from, &reader, error);
    if (!status) {
        status = ics_output_create(to, force, &output, error);
    }
    if (!status) {
        ics_hdf5_reason reason;
        ics_hdf5_silence before = ics_hdf5_keep_first(&reason);
        status = export_file(reader, to, ics_output_part(output), error);
        ics_hdf5_speak_again(&before);
    }
    if (!status) {
        status = ics_output_commit(output, error);
    }
    ics_output_destroy(output);
    ics_table_reader_destroy(reader);
    return status;
}
