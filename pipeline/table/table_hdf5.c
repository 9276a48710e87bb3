/* Photon tables in HDF5, in the schema of the Unified Histogram Interface (uhi.readthedocs.io). */
#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/table/table_export.h"

#ifdef ICS_HAVE_HDF5

#include "pipeline/files/hdf5_common.h"

#include <stdlib.h>
#include <string.h>

enum { UHI_SCHEMA = 1 };

/* ---- attributes and datasets ----------------------------------------------------------------- */

static bool put_attribute(hid_t object, const char *name, hid_t type, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool written = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    return written;
}

static bool put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    const bool written = H5Tset_size(type, strlen(text) + 1) >= 0 &&
                         H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
                         put_attribute(object, name, type, text);
    H5Tclose(type);
    return written;
}

static bool put_number(hid_t object, const char *name, double value)
{
    return put_attribute(object, name, H5T_NATIVE_DOUBLE, &value);
}

static bool put_whole(hid_t object, const char *name, int64_t value)
{
    return put_attribute(object, name, H5T_NATIVE_INT64, &value);
}

/* A truth value as h5py writes it: an enumeration of FALSE and TRUE. */
static bool put_truth(hid_t object, const char *name, bool value)
{
    const int8_t no = 0, yes = 1, stored = value ? 1 : 0;
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    const bool written = H5Tenum_insert(type, "FALSE", &no) >= 0 &&
                         H5Tenum_insert(type, "TRUE", &yes) >= 0 &&
                         put_attribute(object, name, type, &stored);
    H5Tclose(type);
    return written;
}

/* Creates a dataset that keeps no time, so equal tables become equal bytes. */
static hid_t create_set(hid_t group, const char *name, hid_t type, hid_t space)
{
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(properties, false);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Pclose(properties);
    return set;
}

static hid_t create_group(hid_t parent, const char *name)
{
    return H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static bool put_edges(hid_t group, const ics_table_axis *axis)
{
    const hsize_t count = (hsize_t)axis->bins + 1;
    double *edges = malloc(count * sizeof *edges);
    if (edges == NULL) {
        return false;
    }
    for (uint32_t i = 0; i <= axis->bins; ++i) {
        edges[i] = ics_table_edge(axis, i);
    }
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = create_set(group, "edges", H5T_IEEE_F64LE, space);
    const bool written =
        set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, edges) >= 0;
    H5Dclose(set);
    H5Sclose(space);
    free(edges);
    return written;
}

static bool put_axis(hid_t group, const ics_table_axis *axis)
{
    const bool is_regular = axis->power == 1 && axis->edges == NULL;
    hid_t metadata = create_group(group, "metadata");
    bool written = metadata >= 0 && put_text(metadata, "name", axis->name) &&
                   put_text(metadata, "unit", axis->unit) &&
                   put_whole(metadata, "power", axis->power);
    H5Gclose(metadata);
    written = written && put_text(group, "type", is_regular ? "regular" : "variable") &&
              put_truth(group, "underflow", true) && put_truth(group, "overflow", true) &&
              put_truth(group, "circular", false);
    if (!is_regular) {
        return written && put_edges(group, axis);
    }
    return written && put_number(group, "lower", axis->from) &&
           put_number(group, "upper", axis->to) && put_whole(group, "bins", axis->bins);
}

static bool put_axes(hid_t table_group, const ics_table *table)
{
    const hsize_t count = table->axis_count;
    hobj_ref_t references[ICS_TABLE_AXES_MAX];
    hid_t all = create_group(table_group, "ref_axes");
    bool written = all >= 0;
    for (uint32_t i = 0; i < table->axis_count && written; ++i) {
        char name[16];
        snprintf(name, sizeof name, "axis_%u", i);
        hid_t group = create_group(all, name);
        written = group >= 0 && put_axis(group, &table->axes[i]) &&
                  H5Rcreate(&references[i], all, name, H5R_OBJECT, -1) >= 0;
        H5Gclose(group);
    }
    hid_t space = H5Screate_simple(1, &count, NULL);
    hid_t set = written ? create_set(table_group, "axes", H5T_STD_REF_OBJ, space) : -1;
    written =
        set >= 0 && H5Dwrite(set, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, references) >= 0;
    H5Dclose(set);
    H5Sclose(space);
    H5Gclose(all);
    return written;
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Writes sums as weights, one bin of the first axis at a time. */
static bool put_rows(hid_t set, const ics_table *table, const int64_t *sums, const hsize_t *shape)
{
    const uint64_t row = table->strides[0];
    hsize_t first[ICS_TABLE_AXES_MAX] = {0}, count[ICS_TABLE_AXES_MAX];
    memcpy(count, shape, sizeof count);
    count[0] = 1;
    double *values = malloc(row * sizeof *values);
    hid_t space = H5Dget_space(set);
    hid_t memory = H5Screate_simple((int)table->axis_count, count, NULL);
    bool written = values != NULL;
    for (first[0] = 0; first[0] < shape[0] && written; ++first[0]) {
        for (uint64_t i = 0; i < row; ++i) {
            values[i] = (double)sums[first[0] * row + i] * ICS_TABLE_UNIT;
        }
        written = H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL) >= 0 &&
                  H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, values) >= 0;
    }
    H5Sclose(memory);
    H5Sclose(space);
    free(values);
    return written;
}

static bool put_sums(hid_t group, const char *name, const ics_table *table, const int64_t *sums)
{
    hsize_t shape[ICS_TABLE_AXES_MAX] = {0};
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        shape[i] = (hsize_t)table->axes[i].bins + 2;
    }
    hid_t space = H5Screate_simple((int)table->axis_count, shape, NULL);
    hid_t set = create_set(group, name, H5T_IEEE_F64LE, space);
    const bool written = set >= 0 && put_rows(set, table, sums, shape);
    H5Dclose(set);
    H5Sclose(space);
    return written;
}

static bool put_storage(hid_t table_group, const ics_table *table)
{
    hid_t group = create_group(table_group, "storage");
    bool written = group >= 0 &&
                   put_text(group, "type", table->squares != NULL ? "weighted" : "double") &&
                   put_sums(group, "values", table, table->sums);
    if (written && table->squares != NULL) {
        written = put_sums(group, "variances", table, table->squares);
    }
    H5Gclose(group);
    return written;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool put_facts(hid_t table_group, const ics_table *table)
{
    const ics_table_facts *facts = &table->facts;
    char seed[24];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)facts->seed);
    hid_t group = create_group(table_group, "metadata");
    const bool written =
        group >= 0 && put_text(group, "geometry", ics_table_geometry_name(facts->geometry)) &&
        put_number(group, "step_length", facts->step_length) &&
        put_number(group, "area", facts->area) && put_number(group, "n_group", facts->n_group) &&
        put_number(group, "n_phase", facts->n_phase) && put_number(group, "z", facts->z) &&
        put_number(group, "zenith", facts->zenith) &&
        put_number(group, "azimuth", facts->azimuth) &&
        put_number(group, "energy", facts->energy) && put_whole(group, "type", facts->type) &&
        put_whole(group, "efficiency", facts->efficiency) &&
        put_number(group, "photons", (double)table->photons) &&
        put_number(group, "weight",
                   (double)table->weight.whole + table->weight.fraction * ICS_TABLE_UNIT) &&
        put_text(group, "seed", seed) && put_text(group, "configuration", facts->configuration) &&
        put_text(group, "ice", facts->ice) && put_text(group, "detector", facts->detector);
    H5Gclose(group);
    return written;
}

static bool put_writer(hid_t table_group)
{
    hid_t group = create_group(table_group, "writer_info");
    hid_t inner = create_group(group, "icestream");
    const bool written = inner >= 0 && put_text(inner, "version", ICESTREAM_VERSION);
    H5Gclose(inner);
    H5Gclose(group);
    return written;
}

static int fill_file(const ics_table *table, const char *to, const char *part,
                     icestream_error *error)
{
    hid_t file = ics_hdf5_create(part);
    if (file < 0) {
        return ics_hdf5_failed(to, ICESTREAM_E_OUTPUT, "cannot create", error);
    }
    hid_t group = create_group(file, "table");
    int status = ICESTREAM_OK;
    if (group < 0 || !put_whole(group, "uhi_schema", UHI_SCHEMA) || !put_facts(group, table) ||
        !put_writer(group) || !put_axes(group, table) || !put_storage(group, table)) {
        status = ics_hdf5_failed(to, ICESTREAM_E_OUTPUT, "cannot write the table", error);
    }
    H5Gclose(group);
    return ics_hdf5_finish(file, to, status, error);
}

int ics_table_export_hdf5(const ics_table *table, const char *path, bool force,
                          icestream_error *error)
{
    ics_output *output = NULL;
    ICS_TRY(ics_output_create(path, force, &output, error));
    ics_hdf5_reason reason;
    ics_hdf5_silence before = ics_hdf5_keep_first(&reason);
    int status = fill_file(table, path, ics_output_part(output), error);
    ics_hdf5_speak_again(&before);
    if (status == ICESTREAM_OK) {
        status = ics_output_commit(output, error);
    }
    ics_output_destroy(output);
    return status;
}

#else

int ics_table_export_hdf5(const ics_table *table, const char *path, bool force,
                          icestream_error *error)
{
    (void)table;
    (void)force;
    return ics_error_set(error, ICESTREAM_E_USAGE,
                         "%s: icestream was built without HDF5, expected another ending", path);
}

#endif
