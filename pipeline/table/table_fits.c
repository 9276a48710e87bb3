/* Photon tables in FITS, in the layout of clsim's tabulator, which photospline's tools read: the
 * primary image has the normalised sums with under- and overflow, the image ERRORS the squared
 * ones, EDGES0, EDGES1, ... the edges, and keys _i3_* say how the table was made. */
#include "base/error.h"
#include "pipeline/files/output.h"
#include "pipeline/table/table_export.h"
#include "pipeline/table/table_volume.h"

#ifdef ICS_HAVE_CFITSIO

#include <fitsio.h>
#include <stdlib.h>

/* cfitsio's functions do nothing once *state is not 0, so it is looked at in the end. */

static void put_key(fitsfile *file, const char *key, double value, int *state)
{
    char name[40];
    snprintf(name, sizeof name, "HIERARCH _i3_%s", key);
    fits_write_key(file, TDOUBLE, name, &value, NULL, state);
}

static void put_whole_key(fitsfile *file, const char *key, int value, int *state)
{
    char name[40];
    snprintf(name, sizeof name, "HIERARCH _i3_%s", key);
    fits_write_key(file, TINT, name, &value, NULL, state);
}

static void put_text_key(fitsfile *file, const char *key, const char *value, int *state)
{
    char name[40], copy[ICS_DIGEST_TEXT];
    snprintf(name, sizeof name, "HIERARCH icestream %s", key);
    snprintf(copy, sizeof copy, "%s", value);
    fits_write_key_longwarn(file, state);
    fits_write_key_longstr(file, name, copy, NULL, state);
}

static void put_keys(fitsfile *file, const ics_table *table, int *state)
{
    const ics_table_facts *facts = &table->facts;
    put_key(file, "n_photons",
            (double)table->weight.whole + table->weight.fraction * ICS_TABLE_UNIT, state);
    put_key(file, "n_group", facts->n_group, state);
    put_key(file, "n_phase", facts->n_phase, state);
    put_key(file, "z", facts->z, state);
    put_key(file, "zenith", facts->zenith, state);
    put_key(file, "azimuth", facts->azimuth, state);
    put_key(file, "energy", facts->energy, state);
    put_whole_key(file, "type", facts->type, state);
    put_whole_key(file, "efficiency", facts->efficiency, state);
    put_whole_key(file, "geometry", (int)facts->geometry, state); /* photonics' numbers */
    put_whole_key(file, "parity", 0, state);
    put_whole_key(file, "level", 1, state);
    put_text_key(file, "configuration", facts->configuration, state);
    put_text_key(file, "ice", facts->ice, state);
    put_text_key(file, "detector", facts->detector, state);
}

/* The shape of the image: the first axis of a FITS image is the fastest one. */
static void create_image(fitsfile *file, const ics_table *table, int *state)
{
    long shape[ICS_TABLE_AXES_MAX];
    for (uint32_t i = 0; i < table->axis_count; ++i) {
        shape[table->axis_count - 1 - i] = (long)table->axes[i].bins + 2;
    }
    fits_create_img(file, FLOAT_IMG, (int)table->axis_count, shape, state);
}

/* Writes normalised sums; a row is all cells of one cell of the three axes of position. */
static bool put_image(fitsfile *file, const ics_table *table, const int64_t *sums, int *state)
{
    const uint64_t row = table->strides[2];
    float *values = malloc(row * sizeof *values);
    if (values == NULL) {
        return false;
    }
    for (uint64_t first = 0; first < table->cells && *state == 0; first += row) {
        double norm = ics_table_norm(table, first);
        norm = sums == table->squares ? norm * norm : norm;
        for (uint64_t i = 0; i < row; ++i) {
            values[i] = (float)((double)sums[first + i] * ICS_TABLE_UNIT / norm);
        }
        fits_write_img(file, TFLOAT, (LONGLONG)first + 1, (LONGLONG)row, values, state);
    }
    free(values);
    return true;
}

static void name_image(fitsfile *file, const char *name, int *state)
{
    char copy[16];
    snprintf(copy, sizeof copy, "%s", name);
    fits_write_key(file, TSTRING, "EXTNAME", copy, NULL, state);
}

static bool put_edges(fitsfile *file, const ics_table_axis *axis, uint32_t number, int *state)
{
    char name[16];
    long count = (long)axis->bins + 1;
    double *edges = malloc((size_t)count * sizeof *edges);
    if (edges == NULL) {
        return false;
    }
    for (uint32_t i = 0; i <= axis->bins; ++i) {
        edges[i] = ics_table_edge(axis, i);
    }
    snprintf(name, sizeof name, "EDGES%u", number);
    fits_create_img(file, DOUBLE_IMG, 1, &count, state);
    name_image(file, name, state);
    fits_write_img(file, TDOUBLE, 1, count, edges, state);
    free(edges);
    return true;
}

static bool put_all(fitsfile *file, const ics_table *table, int *state)
{
    create_image(file, table, state);
    put_keys(file, table, state);
    bool has_memory = put_image(file, table, table->sums, state);
    if (table->squares != NULL) {
        create_image(file, table, state);
        name_image(file, "ERRORS", state);
        has_memory = has_memory && put_image(file, table, table->squares, state);
    }
    for (uint32_t i = 0; i < table->axis_count && has_memory; ++i) {
        has_memory = put_edges(file, &table->axes[i], i, state);
    }
    return has_memory;
}

/* The bytes of a file that cfitsio makes in memory: it cannot write to a file that is open. */
typedef struct memory_file {
    void *bytes;
    size_t size; /* of the memory */
    size_t used; /* bytes of the file */
} memory_file;

enum { BLOCK = 2880, GROWTH = 64 << 20 };

static int failed(const char *to, int state, icestream_error *error)
{
    char reason[FLEN_STATUS] = "";
    fits_get_errstatus(state, reason);
    fits_clear_errmsg();
    return ics_error_set(error,
                         state == MEMORY_ALLOCATION ? ICESTREAM_E_MEMORY : ICESTREAM_E_OUTPUT,
                         "%s: cannot make the file: cfitsio says: %s", to, reason);
}

static int make_file(const ics_table *table, const char *to, memory_file *out,
                     icestream_error *error)
{
    fitsfile *file = NULL;
    LONGLONG end = 0;
    int state = 0, closed = 0;
    if (fits_create_memfile(&file, &out->bytes, &out->size, GROWTH, realloc, &state) != 0) {
        return failed(to, state, error);
    }
    if (!put_all(file, table, &state) && state == 0) {
        state = MEMORY_ALLOCATION;
    }
    fits_flush_file(file, &state);
    fits_get_hduaddrll(file, NULL, NULL, &end, &state);
    fits_close_file(file, &closed);
    if (state != 0 || closed != 0) {
        return failed(to, state != 0 ? state : closed, error);
    }
    out->used = (size_t)end;
    return ICESTREAM_OK;
}

static int write_file(const ics_table *table, const char *path, bool force, icestream_error *error)
{
    ics_output *output = NULL;
    memory_file made = {.bytes = malloc(BLOCK), .size = BLOCK};
    if (made.bytes == NULL) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", path);
    }
    int status = ics_output_create(path, force, &output, error);
    if (status == ICESTREAM_OK) {
        status = make_file(table, path, &made, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_output_write(output, made.bytes, made.used, error);
    }
    if (status == ICESTREAM_OK) {
        status = ics_output_commit(output, error);
    }
    ics_output_destroy(output);
    free(made.bytes);
    return status;
}

int ics_table_export_fits(const ics_table *table, const char *name, const char *path, bool force,
                          icestream_error *error)
{
    ICS_TRY(ics_table_volume_check(table, name, error));
    return write_file(table, path, force, error);
}

#else

int ics_table_export_fits(const ics_table *table, const char *name, const char *path, bool force,
                          icestream_error *error)
{
    (void)table;
    (void)name;
    (void)force;
    return ics_error_set(error, ICESTREAM_E_USAGE,
                         "%s: icestream was built without cfitsio, expected another ending", path);
}

#endif
