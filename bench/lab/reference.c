#include "bench/lab/reference.h"

#include "base/error.h"
#include "physics/model.h"
#include "pipeline/models/light/curve.h"
#include "pipeline/models/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Constants that clsim has in its code and not in its tables. scripts/reference_clsim.py repeats
 * them, because it makes the same ice without this file; tests/tools/test_reference.c compares the
 * two. */
#define MEAN_COSINE 0.9
#define ICE_PROPERTIES                                                                             \
    "mean_cosine: 0.9\nliu_fraction: 0.35\nalpha: 0.89860850573\nkappa: 1.0841068029\n"            \
    "absorption_a: 6954.090332\nabsorption_b: 6617.7543945\n"                                      \
    "flow_azimuth: 130\nanisotropy: [-0.0764, 0.0382]\nabsorption_exponent: 1\n"
#define TILT_AZIMUTH 225

enum { WAVELENGTHS_MAX = 1000 };

/* The names of the columns of clsim's tilt contain the distances (m). */
enum { DISTANCES_MAX = 64 };
static const char distance_prefix[] = "dz_m_at_";

/* ---- files in memory ------------------------------------------------------------------------- */

/* Stores a text in a file in memory, which disappears with this process. Returns in path[64] a path
 * by which this process can open it, and in *file its descriptor. */
static int keep_text(const char *name, const char *text, size_t size, char *path, int *file,
                     icestream_error *error)
{
    int cause = 0;
    *file = memfd_create(name, MFD_CLOEXEC);
    if (*file < 0) {
        cause = errno;
    }
    for (size_t done = 0; cause == 0 && done < size;) {
        ssize_t written = write(*file, text + done, size - done);
        if (written >= 0) {
            done += (size_t)written;
        } else if (errno != EINTR) {
            cause = errno;
        }
    }
    if (cause != 0) {
        return ics_error_set(error, ICESTREAM_E_MEMORY, "%s: cannot be stored in memory: %s", name,
                             strerror(cause));
    }
    snprintf(path, 64, "/proc/self/fd/%d", *file);
    return ICESTREAM_OK;
}

/* ---- ice ------------------------------------------------------------------------------------- */

/* Writes the layers. clsim lists them upwards, an ice file downwards. clsim has the geometric
 * scattering coefficient, an ice file the effective one, which is 1 - g times the geometric one. */
static void write_ice(const ics_text_table *table, FILE *out)
{
    enum { BOTTOM = 1, TOP, SCATTERING, DUST, DELTA_TAU };
    fputs("name: clsim reference\n" ICE_PROPERTIES "layers:\n", out);
    for (size_t i = table->rows; i-- > 0;) {
        const double *row = ics_text_table_row(table, i);
        double centre = 0.5 * (row[BOTTOM] + row[TOP]);
        fprintf(out, "  - [%.10g, %.10g, %.10g, %.10g]\n", ICE_DETECTOR_DEPTH - centre,
                (1 - MEAN_COSINE) * row[SCATTERING], row[DUST], row[DELTA_TAU]);
    }
}

static int read_ice(const ics_text *text, FILE *out, const char *tilt, icestream_error *error)
{
    static const ics_csv_column columns[] = {
        {.name = "layer", .index = 0, .required = true},
        {.name = "z_bottom_m", .index = 1, .required = true},
        {.name = "z_top_m", .index = 2, .required = true},
        {.name = "b400_per_m", .index = 3, .required = true},
        {.name = "adust400_per_m", .index = 4, .required = true},
        {.name = "delta_tau_K", .index = 5, .required = true},
    };
    ics_text_table table;
    int status = ics_text_csv_read(text, columns, 6, ICE_LAYERS_MAX,
                                   "layer,z_bottom_m,z_top_m,b400_per_m,adust400_per_m,delta_tau_K",
                                   &table, error);
    if (status == ICESTREAM_OK) {
        write_ice(&table, out);
        fprintf(out, "tilt: { file: %s, azimuth: %d }\n", tilt, TILT_AZIMUTH);
    }
    ics_text_table_free(&table);
    return status;
}

/* ---- tilt ------------------------------------------------------------------------------------ */

/* Reads the distances (m) from the first line, after "z_m". Returns their number, or 0 after an
 * error. */
static size_t read_distances(ics_text_reader *reader, const ics_text_line *line, double *distances)
{
    const size_t prefix = sizeof distance_prefix - 1;
    char shown[48];
    if (line->count < 3 || line->count > DISTANCES_MAX + 1 ||
        !ics_text_field_equals(&line->fields[0], "z_m")) {
        ics_text_fault(reader, line->number, 0,
                       "found %zu columns, expected z_m and 2 to %d of %sX", line->count,
                       DISTANCES_MAX, distance_prefix);
        return 0;
    }
    for (size_t i = 1; i < line->count; ++i) {
        ics_text_field number = line->fields[i];
        bool named = number.length > prefix && strncmp(number.start, distance_prefix, prefix) == 0;
        if (named) {
            number.start += prefix;
            number.length -= prefix;
        }
        if (!named || !ics_text_field_number(&number, &distances[i - 1])) {
            ics_text_fault(reader, line->number, line->fields[i].column,
                           "found column %s, expected %sX with a number X",
                           ics_text_field_show(&line->fields[i], shown), distance_prefix);
            return 0;
        }
    }
    return line->count - 1;
}

/* Reads the rows: z (m) and the shifts (m). */
static int read_shifts(ics_text_reader *reader, ics_text_line *line, ics_text_table *table)
{
    double row[DISTANCES_MAX + 1];
    while (ics_text_next(reader, line)) {
        if (line->count != table->columns) {
            ics_text_fault(reader, line->number, 0, "found %zu columns, expected %zu", line->count,
                           table->columns);
            continue;
        }
        bool good = true;
        for (size_t i = 0; i < table->columns; ++i) {
            good &= ics_text_number(reader, line, i, i == 0 ? "z_m" : "shift", &row[i]);
        }
        if (good) {
            ICS_TRY(ics_text_table_add(reader, table, row, line->number));
        }
    }
    return ics_text_status(reader);
}

/* Reads clsim's tilt and writes it as a table of tilt. clsim lists rows upwards; the table has
 * ascending depths. */
static int read_tilt(const ics_text *text, FILE *out, const char *unused, icestream_error *error)
{
    (void)unused;
    double distances[DISTANCES_MAX];
    ics_text_reader reader = ics_text_open(text, ',', error);
    ics_text_line *line = malloc(sizeof *line);
    if (line == NULL) {
        return ics_error_add(error, ICESTREAM_E_MEMORY, "%s: error: out of memory", text->name);
    }
    ics_text_table table = {0};
    int status = ICESTREAM_E_CONFIG;
    if (!ics_text_next(&reader, line)) {
        status = ics_text_fault(&reader, 0, 0, "found nothing, expected a table of shifts");
    } else if ((table.columns = read_distances(&reader, line, distances) + 1) > 1) {
        status = read_shifts(&reader, line, &table);
    }
    free(line);
    fputs("depth_m,position_m,shift_m\n", out);
    for (size_t i = table.rows; status == ICESTREAM_OK && i-- > 0;) {
        const double *row = ics_text_table_row(&table, i);
        for (size_t k = 1; k < table.columns; ++k) {
            fprintf(out, "%.10g,%.10g,%.10g\n", ICE_DETECTOR_DEPTH - row[0], distances[k - 1],
                    row[k]);
        }
    }
    ics_text_table_free(&table);
    return status;
}

/* ---- light ----------------------------------------------------------------------------------- */

static int read_density(const ics_text *text, const ics_text_table *table, ics_curve *density,
                        icestream_error *error)
{
    enum { WAVELENGTH, BIAS, DENSITY };
    ics_text_reader reader = ics_text_open(text, ',', error);
    int status = ICESTREAM_OK;
    double last = ICE_WAVELENGTH_MIN;
    for (size_t i = 0; status == ICESTREAM_OK && i < table->rows; ++i) {
        const double *row = ics_text_table_row(table, i);
        if (!(row[WAVELENGTH] > last && row[WAVELENGTH] < ICE_WAVELENGTH_MAX)) {
            status = ics_text_fault(&reader, table->lines[i], 0,
                                    "wavelength_nm: found %.10g, expected ascending wavelengths "
                                    "between %g and %g nm",
                                    row[WAVELENGTH], ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX);
        } else if (!(row[DENSITY] > 0 && row[DENSITY] < 1e30)) {
            status = ics_text_fault(&reader, table->lines[i], 0,
                                    "pdf_per_m: found %.10g, expected more than 0", row[DENSITY]);
        } else {
            status = ics_curve_add(density, row[WAVELENGTH], row[DENSITY], error);
        }
        last = row[WAVELENGTH];
    }
    return status;
}

/* clsim's density is linear between its points. The density of an acceptance file is linear between
 * the centres of its bins. With a bin around every whole nanometre both are the same. */
static void write_acceptance(const ics_curve *density, FILE *out)
{
    const int first = (int)ceil(density->x[0]);
    const int last = (int)floor(density->x[density->count - 1]);
    double total = 0, sum = 0;
    for (int x = first; x <= last; ++x) {
        total += ics_curve_at(density, x);
    }
    fprintf(out, "0 %.1f\n", first - 0.5);
    for (int x = first; x <= last; ++x) {
        sum += ics_curve_at(density, x);
        fprintf(out, "%.17g %.1f\n", sum / total, x + 0.5);
    }
}

static int read_light(const ics_text *text, FILE *out, const char *unused, icestream_error *error)
{
    (void)unused;
    static const ics_csv_column columns[] = {
        {.name = "wavelength_nm", .index = 0, .required = true},
        {.name = "bias", .index = 1},
        {.name = "pdf_per_m", .index = 2, .required = true},
        {.name = "cdf", .index = 3},
    };
    ics_text_table table;
    ics_curve density = {0};
    int status = ics_text_csv_read(text, columns, 4, WAVELENGTHS_MAX,
                                   "wavelength_nm,bias,pdf_per_m,cdf", &table, error);
    if (status == ICESTREAM_OK) {
        status = read_density(text, &table, &density, error);
    }
    if (status == ICESTREAM_OK && density.count > 0) {
        write_acceptance(&density, out);
    }
    ics_curve_free(&density);
    ics_text_table_free(&table);
    return status;
}

/* ---- the folder ------------------------------------------------------------------------------ */

/* Reads a table of the folder with `read`, which gets `with`, and stores what it writes in a file
 * in memory: its path in path[64], its descriptor in *file. */
static int convert(const char *directory, const char *name,
                   int (*read)(const ics_text *text, FILE *out, const char *with,
                               icestream_error *error),
                   const char *with, char *path, int *file, icestream_error *error)
{
    char source[ICS_REFERENCE_PATH];
    if (snprintf(source, sizeof source, "%s/%s", directory, name) >= (int)sizeof source) {
        return ics_error_set(error, ICESTREAM_E_CONFIG, "%s: the path is too long", name);
    }
    ics_text text;
    int status = ics_text_read(source, &text, error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    char *converted = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&converted, &size);
    bool written = false;
    if (out != NULL) {
        status = read(&text, out, with, error);
        written = !ferror(out);
        written = fclose(out) == 0 && written;
    }
    ics_text_free(&text);
    if (status == ICESTREAM_OK && !written) {
        status = ics_error_set(error, ICESTREAM_E_MEMORY, "%s: out of memory", source);
    }
    if (status == ICESTREAM_OK) {
        status = keep_text(name, converted, size, path, file, error);
    }
    free(converted);
    return status;
}

int ics_reference_open(const char *directory, ics_reference *out, icestream_error *error)
{
    *out = (ics_reference){.files = {-1, -1, -1}};
    ics_error_set(error, ICESTREAM_OK, "%s", "");
    char tilt[64];
    int status = convert(directory, "tilt.csv", read_tilt, NULL, tilt, &out->files[0], error);
    if (status == ICESTREAM_OK) {
        status =
            convert(directory, "ice_layers.csv", read_ice, tilt, out->ice, &out->files[1], error);
    }
    if (status == ICESTREAM_OK) {
        status = convert(directory, "wavelength.csv", read_light, NULL, out->acceptance,
                         &out->files[2], error);
    }
    if (status == ICESTREAM_OK && snprintf(out->modules, sizeof out->modules, "%s/doms.csv",
                                           directory) >= (int)sizeof out->modules) {
        status = ics_error_set(error, ICESTREAM_E_CONFIG, "doms.csv: the path is too long");
    }
    return status;
}

void ics_reference_close(ics_reference *reference)
{
    for (int i = 0; i < 3; ++i) {
        if (reference->files[i] >= 0) {
            close(reference->files[i]);
        }
        reference->files[i] = -1;
    }
}

/* Whether --set gives a key. */
static bool is_set(const icestream_config *config, const char *key)
{
    static const char option[] = "--set ";
    char origin[512]; /* word: place */
    ics_config_place(config, key, origin, sizeof origin);
    return strncmp(origin, option, sizeof option - 1) == 0;
}

int ics_reference_check(const icestream_config *config, const char *directory,
                        icestream_error *error)
{
    static const char *const replaced[] = {"ice.model", "ice.directory", "ice.file",
                                           "light.acceptance", "detector.layout"};
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; ++i) {
        char *value =
            is_set(config, replaced[i]) ? ics_config_value_text(config, replaced[i]) : NULL;
        if (value != NULL) {
            status =
                ics_error_add(error, ICESTREAM_E_CONFIG,
                              "--set %s: error: found %s, which has no effect, because "
                              "--reference takes ice, light and modules from the tables in %s; "
                              "expected detector.file for other modules, or no --reference",
                              replaced[i], value, directory);
        }
        free(value);
    }
    return status;
}

void ics_reference_apply(const ics_reference *reference, icestream_config *config)
{
    const bool has_modules = is_set(config, "detector.file");
    const bool has_radius = is_set(config, "detector.radius");
    /* The casts are safe, because no loader writes to these texts. */
    config->ice.model = NULL;
    config->ice.directory = NULL;
    config->ice.file = (char *)reference->ice;
    config->light.acceptance = (char *)reference->acceptance;
    config->detector.layout = NULL;
    config->detector.file = has_modules ? config->detector.file : (char *)reference->modules;
    config->detector.radius = has_radius ? config->detector.radius : ICE_MODULE_RADIUS;
    if (config->detector.keep_hit_photons == ICS_KEEP_HIT_AUTO) {
        config->detector.keep_hit_photons = ICS_KEEP_HIT_NO;
    }
}
