/* Promise: `icestream convert` copies rows and metadata to HDF5 and back without a change, reads
 * HDF5 files of other programs, explains what is wrong with a file, and leaves no incomplete one.
 * To join: a new fault of an HDF5 file is a member of `fault` with its message. */
#include "pipeline/files/step_reader.h"
#include "tests/files/table_files.h"
#include "tests/support/scratch_files.h"
#include "tests/support/test_main.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if ICS_HAVE_HDF5
#include <hdf5.h>
#endif

START_TEST(endings_decide)
{
    icestream_error error;
    ck_assert_int_eq(icestream_convert("a.npy", "b.root", false, &error), ICESTREAM_E_USAGE);
    expect_in(error.text, "b.root: found an unknown ending, expected .npy, .h5 or .hdf5");
    ck_assert_int_eq(icestream_convert("folder.npy/a", "b.h5", false, &error), ICESTREAM_E_USAGE);
    expect_in(error.text, "folder.npy/a: found an unknown ending");
    ck_assert_int_eq(icestream_convert("a.h5", "b.hdf5", false, &error), ICESTREAM_E_USAGE);
    expect_in(error.text, "found the same kind of file twice");
    ck_assert_int_eq(icestream_convert("a.npy", "b.npy", false, &error), ICESTREAM_E_USAGE);
}
END_TEST

#if ICS_HAVE_HDF5
static void round_trip(const ics_layout *schema, size_t rows, const json_t *metadata)
{
    scratch place = scratch_create();
    char from[SCRATCH_PATH], hdf5[SCRATCH_PATH], back[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    size_t from_size, back_size;
    write_table(scratch_path(&place, "a.npy", from), schema, rows, metadata);
    ck_assert_msg(icestream_convert(from, scratch_path(&place, "a.h5", hdf5), false, &error) == 0,
                  "%s", error.text);
    ck_assert(!scratch_exists(&place, "a.h5.part"));
    ck_assert_msg(icestream_convert(hdf5, scratch_path(&place, "b.npy", back), false, &error) == 0,
                  "%s", error.text);
    unsigned char *from_bytes = scratch_read(from, &from_size);
    unsigned char *back_bytes = scratch_read(back, &back_size);
    ck_assert_uint_eq(from_size, back_size);
    ck_assert_mem_eq(from_bytes, back_bytes, from_size);
    free(from_bytes);
    free(back_bytes);
    scratch_remove(&place);
}

START_TEST(there_and_back_gives_the_same_bytes)
{
    json_t *metadata = hit_metadata(ROWS);
    json_object_set_new(metadata, "producer", json_string("icestream of another version"));
    round_trip(ics_layout_hits(), ROWS, metadata);
    round_trip(ics_layout_hits(), 0, metadata);
    round_trip(ics_layout_steps(), ROWS, NULL);
    json_decref(metadata);
}
END_TEST

START_TEST(existing_targets_are_kept_without_force)
{
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    write_table(scratch_path(&place, "a.npy", from), ics_layout_steps(), 5, NULL);
    scratch_write(scratch_path(&place, "a.hdf5", to), "precious", 8);
    ck_assert_int_eq(icestream_convert(from, to, false, &error), ICESTREAM_E_OUTPUT);
    expect_in(error.text, "found an existing file");
    ck_assert_msg(icestream_convert(from, to, true, &error) == 0, "%s", error.text);
    ck_assert_int_eq(icestream_convert(to, from, false, &error), ICESTREAM_E_OUTPUT);
    ck_assert_msg(icestream_convert(to, from, true, &error) == 0, "%s", error.text);
    scratch_remove(&place);
}
END_TEST

START_TEST(units_and_metadata_are_in_the_hdf5_file)
{
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH], unit[8] = "";
    icestream_error error = {.text = ""};
    write_table(scratch_path(&place, "a.npy", from), ics_layout_hits(), 5, NULL);
    ck_assert_int_eq(icestream_convert(from, scratch_path(&place, "a.h5", to), false, &error), 0);
    hid_t file = H5Fopen(to, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert(file >= 0);
    hid_t set = H5Dopen2(file, "hits", H5P_DEFAULT);
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    ck_assert_int_eq(H5Tget_nmembers(type), 16);
    ck_assert_uint_eq(H5Tget_size(type), 64);
    ck_assert_int_eq(H5Sget_simple_extent_npoints(space), 5);
    hid_t attribute = H5Aopen(set, "unit of wavelength", H5P_DEFAULT);
    hid_t text = H5Aget_type(attribute);
    ck_assert_uint_eq(H5Tget_size(text), 3);
    ck_assert(H5Aread(attribute, text, unit) >= 0);
    ck_assert_str_eq(unit, "nm");
    ck_assert(H5Lexists(file, "metadata", H5P_DEFAULT) > 0);
    H5Tclose(text);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
    H5Fclose(file);
    scratch_remove(&place);
}
END_TEST

/* Files that hold the time at which they were made would differ whenever a clock had ticked between
 * them. */
START_TEST(the_hdf5_file_holds_no_time)
{
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    write_table(scratch_path(&place, "a.npy", from), ics_layout_hits(), 5, NULL);
    ck_assert_int_eq(icestream_convert(from, scratch_path(&place, "a.h5", to), false, &error), 0);
    hid_t file = H5Fopen(to, H5F_ACC_RDONLY, H5P_DEFAULT);
    ck_assert(file >= 0);
    static const char *const objects[] = {"/", "hits", "metadata"};
    for (size_t i = 0; i < 3; ++i) {
        H5O_info_t about;
        ck_assert(H5Oget_info_by_name(file, objects[i], &about, H5P_DEFAULT) >= 0);
        ck_assert_msg(about.ctime == 0 && about.mtime == 0, "%s was made at %lld", objects[i],
                      (long long)about.ctime);
    }
    H5Fclose(file);
    scratch_remove(&place);
}
END_TEST

/* An HDF5 file of another program: big-endian, wider types, another order, one more column. */
START_TEST(foreign_tables_are_converted)
{
    typedef struct foreign {
        double beta, weight, x, y, z, t, dx, dy, dz, length;
        int64_t photons, source_id, event_id, step_id;
        int32_t kind, spectrum, flags, more;
    } foreign;
    static const char *const names[] = {"beta",     "weight",    "x",        "y",       "z",
                                        "t",        "dx",        "dy",       "dz",      "length",
                                        "photons",  "source_id", "event_id", "step_id", "kind",
                                        "spectrum", "flags",     "more"};
    foreign rows[2] = {{.beta = 1, .weight = 1, .dz = -1, .photons = 9, .step_id = 1},
                       {.beta = 0.5, .weight = 1, .dz = 1, .photons = 8, .step_id = 2, .kind = 3}};
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    for (int bad = 0; bad < 2; ++bad) {
        hsize_t count = 2;
        hid_t memory = H5Tcreate(H5T_COMPOUND, sizeof(foreign));
        hid_t stored = H5Tcreate(H5T_COMPOUND, sizeof(foreign));
        for (size_t i = 0; i < 18; ++i) {
            size_t offset = i < 14 ? 8 * i : 112 + 4 * (i - 14);
            H5Tinsert(memory, names[i], offset,
                      i < 10   ? H5T_NATIVE_DOUBLE
                      : i < 14 ? H5T_NATIVE_INT64
                               : H5T_NATIVE_INT32);
            H5Tinsert(stored, names[i], offset,
                      i < 10   ? H5T_IEEE_F64BE
                      : i < 14 ? H5T_STD_I64BE
                               : H5T_STD_I32BE);
        }
        hid_t file =
            H5Fcreate(scratch_path(&place, "a.h5", from), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        hid_t space = H5Screate_simple(1, &count, NULL);
        hid_t set = H5Dcreate2(file, "steps", stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        ck_assert(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
        H5Dclose(set);
        H5Sclose(space);
        H5Fclose(file);
        H5Tclose(stored);
        H5Tclose(memory);
        int status = icestream_convert(from, scratch_path(&place, "a.steps.npy", to), true, &error);
        ck_assert_msg(status == (bad ? ICESTREAM_E_INPUT : 0), "%s", error.text);
        if (!bad) {
            ics_step_reader *reader = NULL;
            icestream_step steps[2];
            size_t got;
            ck_assert_int_eq(ics_step_reader_open(to, 7, &reader, &error), 0);
            ck_assert_msg(ics_step_reader_read(reader, steps, 2, &got, &error) == 0, "%s",
                          error.text);
            ck_assert_uint_eq(got, 2);
            ck_assert(steps[1].beta == 0.5f && steps[1].kind == 3 && steps[1].photons == 8);
            ics_step_reader_destroy(reader);
        }
        rows[1].photons = -1;
    }
    expect_in(error.text, "a.h5: row 1, field photons: found -1, expected a value that fits");
    scratch_remove(&place);
}
END_TEST

/* HDF5 files that cannot be imported, each with one fault. */
typedef enum fault { NO_TABLE, NOT_COMPOUND, TWO_DIMENSIONS, MISSING_FIELDS, FAULTS } fault;

START_TEST(unfit_hdf5_files_are_refused)
{
    static const char *const expected[FAULTS] = {
        "found none of the datasets /steps, /hits, /paths and /waveforms",
        "found a dataset that is no table", "found 2 dimensions, expected 1",
        "field x: found none of this name"};
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    hsize_t sizes[2] = {2, 2};
    hid_t file =
        H5Fcreate(scratch_path(&place, "a.h5", from), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t compound = H5Tcreate(H5T_COMPOUND, 4);
    H5Tinsert(compound, "q", 0, H5T_IEEE_F32LE);
    hid_t space = H5Screate_simple(_i == TWO_DIMENSIONS ? 2 : 1, sizes, NULL);
    hid_t set = H5Dcreate2(file, _i == NO_TABLE ? "other" : "steps",
                           _i == NOT_COMPOUND ? H5T_IEEE_F32LE : compound, space, H5P_DEFAULT,
                           H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(compound);
    H5Fclose(file);
    ck_assert_int_eq(icestream_convert(from, scratch_path(&place, "b.npy", to), false, &error),
                     ICESTREAM_E_INPUT);
    expect_in(error.text, expected[_i]);
    ck_assert(!scratch_exists(&place, "b.npy"));
    ck_assert(!scratch_exists(&place, "b.npy.part"));
    scratch_remove(&place);
}
END_TEST

/* A wrong number of rows: HDF5 would invent the missing rows until the disk is full. */
START_TEST(rows_that_are_not_there)
{
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    write_table(scratch_path(&place, "a.npy", from), ics_layout_steps(), 5, NULL);
    ck_assert_int_eq(icestream_convert(from, scratch_path(&place, "a.h5", to), false, &error),
                     ICESTREAM_OK);
    const hsize_t many = UINT64_C(1) << 50;
    hid_t file = H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, "steps", H5P_DEFAULT);
    ck_assert_int_ge(H5Dset_extent(set, &many), 0);
    H5Dclose(set);
    H5Fclose(file);
    ck_assert_int_eq(icestream_convert(to, from, true, &error), ICESTREAM_E_INPUT);
    expect_in(error.text, "a.h5: dataset steps: found 1125899906842624 rows in 1179648 bytes");
    ck_assert(!scratch_exists(&place, "a.npy.part"));
    scratch_remove(&place);
}
END_TEST

/* A bit that flips in rows or metadata, or a checksum that is missing, is found. Each fault changes
 * a file that was converted correctly. */
typedef enum changed_part {
    CHANGED_ROW,
    CHANGED_METADATA,
    LOST_CHECKSUMS,
    CHANGED_PARTS
} changed_part;

/* Replaces the metadata of a file by another text, with or without its checksum. */
static void replace_metadata(hid_t file, const char *text)
{
    ck_assert_int_ge(H5Ldelete(file, "metadata", H5P_DEFAULT), 0);
    const hsize_t length = strlen(text);
    hid_t space = H5Screate_simple(1, &length, NULL);
    hid_t set =
        H5Dcreate2(file, "metadata", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Dwrite(set, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, text), 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void change_bytes(hid_t file, const char *name)
{
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    hid_t type = H5Dget_type(set);
    hid_t space = H5Dget_space(set);
    const size_t size = H5Tget_size(type) * (size_t)H5Sget_simple_extent_npoints(space);
    unsigned char *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_ge(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes), 0);
    bytes[size / 2] ^= 1;
    ck_assert_int_ge(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes), 0);
    free(bytes);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(set);
}

START_TEST(changed_hdf5_files_are_refused)
{
    static const char *const expected[CHANGED_PARTS] = {
        "a.h5: rows 0 to 16383: found CRC-32C", "a.h5: dataset metadata: found ",
        "a.h5: dataset metadata: crc32c: found none next to digests"};
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH], back[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    json_t *metadata = hit_metadata(ROWS);
    write_table(scratch_path(&place, "a.npy", from), ics_layout_hits(), ROWS, metadata);
    json_decref(metadata);
    ck_assert_int_eq(icestream_convert(from, scratch_path(&place, "a.h5", to), false, &error), 0);
    hid_t file = H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT);
    if (_i == LOST_CHECKSUMS) {
        replace_metadata(file, "{\"digests\": {\"ice\": \"1\"}}");
    } else {
        change_bytes(file, _i == CHANGED_ROW ? "hits" : "metadata");
    }
    H5Fclose(file);
    scratch_path(&place, "b.npy", back);
    ck_assert_int_eq(icestream_convert(to, back, false, &error), ICESTREAM_E_INPUT);
    expect_in(error.text, expected[_i]);
    ck_assert(!scratch_exists(&place, "b.npy"));
    ck_assert(!scratch_exists(&place, "b.npy.part"));
    /* Without metadata nothing is claimed, and the rows are those of another program. */
    file = H5Fopen(to, H5F_ACC_RDWR, H5P_DEFAULT);
    ck_assert_int_ge(H5Ldelete(file, "metadata", H5P_DEFAULT), 0);
    H5Fclose(file);
    ck_assert_msg(icestream_convert(to, back, false, &error) == 0, "%s", error.text);
    scratch_remove(&place);
}
END_TEST

/* Every failure inside HDF5 becomes our error, and HDF5 prints nothing. */
START_TEST(hdf5_is_silent)
{
    scratch place = scratch_create();
    char path[SCRATCH_PATH], to[SCRATCH_PATH], printed[SCRATCH_PATH];
    icestream_error error = {.text = ""};
    size_t size;
    scratch_path(&place, "b.npy", to);
    fflush(stderr);
    ck_assert_ptr_nonnull(freopen(scratch_path(&place, "stderr", printed), "w", stderr));
    ck_assert_int_eq(icestream_convert(scratch_path(&place, "none.h5", path), to, false, &error),
                     ICESTREAM_E_INPUT);
    expect_in(error.text, "none.h5: cannot open: HDF5 says: ");
    scratch_write(scratch_path(&place, "junk.h5", path), "no HDF5 at all, but long enough", 31);
    ck_assert_int_eq(icestream_convert(path, to, false, &error), ICESTREAM_E_INPUT);
    ck_assert_int_eq(mkfifo(scratch_path(&place, "pipe.h5", path), 0666), 0);
    ck_assert_int_eq(icestream_convert(path, to, false, &error), ICESTREAM_E_INPUT);
    expect_in(error.text, "found something that is not a file");
    fflush(stderr);
    free(scratch_read(printed, &size));
    ck_assert_uint_eq(size, 0);
    ck_assert(!scratch_exists(&place, "b.npy"));
    scratch_remove(&place);
}
END_TEST

START_TEST(damaged_sources_leave_no_target)
{
    scratch place = scratch_create();
    char from[SCRATCH_PATH], to[SCRATCH_PATH];
    icestream_error error;
    size_t size;
    write_table(scratch_path(&place, "a.npy", from), ics_layout_steps(), ROWS, NULL);
    unsigned char *bytes = scratch_read(from, &size);
    bytes[1024 + 72 * 19000] ^= 1;
    scratch_write(from, bytes, size);
    free(bytes);
    ck_assert_int_eq(icestream_convert(from, scratch_path(&place, "a.h5", to), false, &error),
                     ICESTREAM_E_INPUT);
    expect_in(error.text, "rows 14563 to 29127: found CRC-32C");
    ck_assert(!scratch_exists(&place, "a.h5"));
    ck_assert(!scratch_exists(&place, "a.h5.part"));
    scratch_remove(&place);
}
END_TEST
#else
START_TEST(without_hdf5_convert_says_so)
{
    icestream_error error;
    ck_assert_int_eq(icestream_convert("a.npy", "b.h5", false, &error), ICESTREAM_E_FAILED);
    expect_in(error.text, "b.h5: found an icestream built without HDF5");
    ck_assert_int_eq(icestream_convert("a.h5", "b.npy", false, &error), ICESTREAM_E_FAILED);
    expect_in(error.text, "a.h5: found an icestream built without HDF5");
}
END_TEST
#endif

ICS_TEST_MAIN("convert")
{
    TCase *convert = tcase_create("convert");
    tcase_add_test(convert, endings_decide);
#if ICS_HAVE_HDF5
    tcase_add_test(convert, there_and_back_gives_the_same_bytes);
    tcase_add_test(convert, existing_targets_are_kept_without_force);
    tcase_add_test(convert, units_and_metadata_are_in_the_hdf5_file);
    tcase_add_test(convert, the_hdf5_file_holds_no_time);
    tcase_add_test(convert, foreign_tables_are_converted);
    tcase_add_loop_test(convert, unfit_hdf5_files_are_refused, 0, FAULTS);
    tcase_add_test(convert, rows_that_are_not_there);
    tcase_add_loop_test(convert, changed_hdf5_files_are_refused, 0, CHANGED_PARTS);
    tcase_add_test(convert, hdf5_is_silent);
    tcase_add_test(convert, damaged_sources_leave_no_target);
#else
    tcase_add_test(convert, without_hdf5_convert_says_so);
#endif
    suite_add_tcase(suite, convert);
}
