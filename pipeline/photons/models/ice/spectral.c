/* Water from a YAML file: absorption, scattering and index of refraction by wavelength. */
#include "base/cleanup.h"
#include "base/error.h"
#include "physics/water.h"
#include "pipeline/photons/config/schema/kinds.def"
#include "pipeline/photons/models/ice/file.h"
#include "pipeline/photons/models/ice/medium.h"
#include "pipeline/photons/models/ice/scatter.h"
#include "pipeline/photons/models/ice/sources.h"
#include "pipeline/photons/models/light/wavelength_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A layer: its coefficients are those of the table times these factors. */
typedef struct water_layer {
    double z; /* of its centre, m */
    double scattering, absorption;
} water_layer;

typedef struct water_file {
    char *name;
    char *optics_path, *index_path;     /* of CSV files, or NULL */
    ics_wavelength_table optics, index; /* an index without points: the formula of water */
    bool optics_extend, index_extend;   /* the values at the ends of a table hold beyond them */
    double rayleigh_fraction, mean_cosine;
    double scatter[ICS_ICE_SCATTER_MAX]; /* parameters of scatter variants (ice/scatter.h) */
    ice_water water;
    double density;      /* g/cm3; 0: not given */
    water_layer *layers; /* [layer_count], from below; none: one layer, as the table */
    size_t layer_count;
    const ics_yaml_node *root;
    ics_ice_keys keys;
    icestream_error *error;
} water_file;

/* Columns of the two tables. */
enum {
    ABSORPTION_LENGTH,
    ABSORPTION,
    SCATTERING_LENGTH,
    SCATTERING,
    EFFECTIVE_LENGTH,
    EFFECTIVE,
    OPTICS
};
enum { PHASE_INDEX, GROUP_INDEX, INDICES };

/* The range of a group index. */
#define INDEX_MIN 1.001
#define INDEX_MAX 3.0

/* Whether a table has a column. */
static bool has_column(const ics_wavelength_table *table, int column)
{
    return table->curves[column].count > 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const ics_wavelength_column optics_columns[OPTICS] = {
    [ABSORPTION_LENGTH] = {"absorption_length_m", 1e-4, 1e6},
    [ABSORPTION] = {"absorption_per_m", 1e-6, 1e4},
    [SCATTERING_LENGTH] = {"scattering_length_m", 1e-4, 1e6},
    [SCATTERING] = {"scattering_per_m", 1e-6, 1e4},
    [EFFECTIVE_LENGTH] = {"effective_scattering_length_m", 1e-4, 1e6},
    [EFFECTIVE] = {"effective_scattering_per_m", 1e-6, 1e4},
};

static const ics_wavelength_column index_columns[INDICES] = {
    [PHASE_INDEX] = {"phase_index", INDEX_MIN, INDEX_MAX},
    [GROUP_INDEX] = {"group_index", INDEX_MIN, INDEX_MAX},
};

/* Reads the table that stands in the file under `key`, or in the CSV file `path`. Without both it
 * stays empty. */
static int read_table(const water_file *file, const char *key, const char *path,
                      const ics_wavelength_column *columns, size_t count, ics_wavelength_table *out)
{
    ICS_CLEANUP(ics_text_free) ics_text text = {0};
    const ics_yaml_node *node = ics_ice_file_given(&file->keys, key);
    if (node != NULL) {
        return ics_wavelength_table_read_yaml(node, columns, count, out, file->error);
    }
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    ICS_TRY(ics_text_read(path, &text, file->error));
    return ics_wavelength_table_read_text(&text, columns, count, out, file->error);
}

/* ---- layers ---------------------------------------------------------------------------------- */

static void clear_layers(void *target)
{
    water_file *file = target;
    free(file->layers);
    file->layers = NULL;
    file->layer_count = 0;
}

static int read_layer(const ics_yaml_node *node, size_t i, water_layer *layer,
                      icestream_error *error)
{
    static const char *const names[] = {"z", "scattering", "absorption"};
    double *const numbers[] = {&layer->z, &layer->scattering, &layer->absorption};
    char found[128];
    int status = ICESTREAM_OK;
    if (node->kind != ICS_YAML_LIST || node->count != 3) {
        return ics_yaml_error(error, node,
                              "layers[%zu]: found %s, expected [z_m, factor of scattering, factor "
                              "of absorption]",
                              i, ics_yaml_describe(node, found, sizeof found));
    }
    for (size_t k = 0; k < 3; ++k) {
        char what[64];
        snprintf(what, sizeof what, "layers[%zu].%s", i, names[k]);
        status = ics_error_first(status, ics_schema_number(node->items[k], what, k ? 1e-3 : -20000,
                                                           k ? 1e3 : 20000, numbers[k], error));
    }
    return status;
}

static int check_spacing(const ics_yaml_node *node, const water_layer *layers,
                         icestream_error *error)
{
    const double spacing = node->count > 1 ? layers[1].z - layers[0].z : 100;
    if (!(spacing >= 0.1 && spacing <= 10000)) {
        return ics_yaml_error(error, node->items[1],
                              "layers[1].z: found %.10g after %.10g, expected it to rise by 0.1 .. "
                              "10000 m",
                              layers[1].z, layers[0].z);
    }
    for (size_t i = 2; i < node->count; ++i) {
        if (!(fabs(layers[i].z - layers[i - 1].z - spacing) <= 1e-5 * spacing)) {
            return ics_yaml_error(error, node->items[i],
                                  "layers[%zu].z: found %.10g, expected %.10g: equal spacing of "
                                  "%.10g m",
                                  i, layers[i].z, layers[i - 1].z + spacing, spacing);
        }
    }
    return ICESTREAM_OK;
}

static int read_layers(const ics_yaml_node *node, void *target, icestream_error *error)
{
    water_file *file = target;
    clear_layers(file);
    if (node->kind != ICS_YAML_LIST || node->count < 1 || node->count > ICE_LAYERS_MAX) {
        return ics_yaml_unexpected(error, node, "layers", "a list of 1 .. %d layers",
                                   ICE_LAYERS_MAX);
    }
    file->layers = calloc(node->count, sizeof *file->layers);
    if (file->layers == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    file->layer_count = node->count;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        status = ics_error_first(status, read_layer(node->items[i], i, &file->layers[i], error));
    }
    return status ? status : check_spacing(node, file->layers, error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static const ics_schema_node table_field = {
    .expected = "a list of the columns' names and lists of numbers"};
static const ics_schema_custom layers_field = {
    .expected = "a list of [z_m, factor of scattering, factor of absorption]",
    .read = read_layers,
    .clear = clear_layers,
};

#define ROW(key, member, kind) FIELD(water_file, key, member, kind)
static const ics_schema_field fields[] = {
    ROW("name", name, TEXT),
    ROW("optics.file", optics_path, PATH REQUIRED ONE_OF("optics")),
    {.path = "optics.table", NODE(table_field) ONE_OF("optics")},
    ROW("optics.extend", optics_extend, CHOICE("none", "constant")),
    ROW("scattering.rayleigh_fraction", rayleigh_fraction, NUMBER(0, 1)),
    ROW("scattering.mean_cosine", mean_cosine, NUMBER(-0.999, 0.9999) REQUIRED),
    ROW("index.salinity", water.salinity, NUMBER(0, 45)),
    ROW("index.temperature", water.temperature, NUMBER(-2, 40)),
    ROW("index.pressure", water.pressure, NUMBER(0, 1200)),
    ROW("index.file", index_path, PATH ONE_OF("index")),
    {.path = "index.table", NODE(table_field) ONE_OF("index")},
    ROW("index.extend", index_extend, CHOICE("none", "constant")),
    ROW("density", density, NUMBER(0.5, 2)),
    ROW("layers", layers, CUSTOM(layers_field)),
};

/* Reads all keys of a file and its CSV files. All errors are reported together. */
static int read_keys(water_file *file)
{
    ics_ice_keys *keys = &file->keys;
    memcpy(keys->fields, fields, sizeof fields);
    keys->count = sizeof fields / sizeof *fields;
    ics_ice_scatter_add_keys(keys, true, offsetof(water_file, scatter));
    int status = ics_schema_defaults(keys->fields, keys->count, "", file, file->error);
    status = ics_error_first(status, ics_schema_read(file->root, keys->fields, keys->count, file,
                                                     keys->given, file->error));
    status = ics_error_first(status, read_table(file, "optics.table", file->optics_path,
                                                optics_columns, OPTICS, &file->optics));
    return ics_error_first(status, read_table(file, "index.table", file->index_path, index_columns,
                                              INDICES, &file->index));
}

enum { ROWS = (int)(ICE_WAVELENGTH_MAX - ICE_WAVELENGTH_MIN) + 1 };

/* Returns where the table of the optics or of the index is given. NULL: nowhere. */
static const ics_yaml_node *table_node(const water_file *file, const char *file_key,
                                       const char *table_key)
{
    const ics_yaml_node *node = ics_ice_file_given(&file->keys, file_key);
    return node != NULL ? node : ics_ice_file_given(&file->keys, table_key);
}

/* The keys of the formula of the index, which exclude a table. */
static const char *const formula_keys[] = {"index.salinity", "index.temperature", "index.pressure"};

/* ---- checks ---------------------------------------------------------------------------------- */

/* Checks that the table spans the band, unless the values at its ends hold beyond them. */
static int check_band(const water_file *file, const ics_yaml_node *node, const char *what,
                      const ics_curve *curve, bool extend)
{
    const double first = curve->x[0], last = curve->x[curve->count - 1];
    if (extend || (first <= ICE_WAVELENGTH_MIN && last >= ICE_WAVELENGTH_MAX)) {
        return ICESTREAM_OK;
    }
    return ics_yaml_error(
        file->error, node,
        "%s: found wavelengths of %.10g .. %.10g nm, expected at least %g .. %g nm, or "
        "%s.extend: constant, which takes the values of both ends beyond them",
        what, first, last, ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX, what);
}

static int check_optics(const water_file *file)
{
    const ics_wavelength_table *table = &file->optics;
    const ics_yaml_node *node = table_node(file, "optics.file", "optics.table");
    int absorption = 0, scattering = 0, status = ICESTREAM_OK;
    for (int i = 0; i < OPTICS; ++i) {
        *(i < SCATTERING_LENGTH ? &absorption : &scattering) += has_column(table, i);
    }
    if (absorption != 1) {
        status = ics_yaml_error(file->error, node,
                                "optics: found %d columns of absorption, expected one: "
                                "absorption_length_m or absorption_per_m",
                                absorption);
    }
    if (scattering != 1) {
        status = ics_yaml_error(file->error, node,
                                "optics: found %d columns of scattering, expected one: "
                                "scattering_length_m, scattering_per_m or either of them after "
                                "effective_",
                                scattering);
    }
    for (int i = 0; i < OPTICS && status == ICESTREAM_OK; ++i) {
        if (has_column(table, i)) {
            return check_band(file, node, "optics", &table->curves[i], file->optics_extend);
        }
    }
    return status;
}

static int check_index_table(const water_file *file, const ics_yaml_node *node)
{
    const ics_wavelength_table *table = &file->index;
    const ics_curve *phase = &table->curves[PHASE_INDEX];
    for (int i = 0; i < 3; ++i) {
        const ics_yaml_node *given = ics_ice_file_given(&file->keys, formula_keys[i]);
        if (given != NULL) {
            return ics_yaml_error(file->error, given,
                                  "%s: found also a table of the index, expected one of the two",
                                  formula_keys[i]);
        }
    }
    if (!has_column(table, PHASE_INDEX)) {
        return ics_yaml_error(file->error, node, "index: found no column 'phase_index'");
    }
    if (!has_column(table, GROUP_INDEX) && phase->count < 3) {
        return ics_yaml_error(file->error, node,
                              "index: found %zu rows, expected 3 or more, or a column "
                              "'group_index', which is the slope of the phase index otherwise",
                              phase->count);
    }
    return check_band(file, node, "index", phase, file->index_extend);
}

static int check_index(const water_file *file)
{
    const ics_yaml_node *node = table_node(file, "index.file", "index.table");
    const ics_yaml_node *section = ics_yaml_find(file->root, "index");
    int status = ICESTREAM_OK;
    if (node != NULL) {
        return check_index_table(file, node);
    }
    for (int i = 0; i < 3; ++i) {
        if (ics_ice_file_given(&file->keys, formula_keys[i]) == NULL) {
            status =
                ics_yaml_error(file->error, section != NULL ? section : file->root,
                               "the key '%s' is missing: the index needs salinity (per mille), "
                               "temperature (deg C) and pressure (bar), or phase indices in "
                               "index.table or index.file",
                               formula_keys[i]);
        }
    }
    const ics_yaml_node *extend = ics_ice_file_given(&file->keys, "index.extend");
    if (extend != NULL) {
        status = ics_yaml_error(file->error, extend,
                                "index.extend: is for index.file or index.table, and neither is "
                                "given");
    }
    return status;
}

/* ---- the medium ------------------------------------------------------------------------------ */

/* Computes the group index n - wavelength dn/dwavelength at the points of the phase index. */
static int derive_group_index(const water_file *file, ics_wavelength_table *table)
{
    const ics_curve *phase = &table->curves[PHASE_INDEX];
    ics_curve *group = &table->curves[GROUP_INDEX];
    const ics_yaml_node *node = table_node(file, "index.file", "index.table");
    for (size_t i = 0; i < phase->count; ++i) {
        double value = phase->y[i] - phase->x[i] * ics_wavelength_table_slope(phase, i);
        if (!(value >= INDEX_MIN && value <= INDEX_MAX)) {
            return ics_yaml_error(
                file->error, node,
                "index: found a group index of %.6g at %.10g nm from the slope of "
                "phase_index, expected %g .. %g",
                value, phase->x[i], INDEX_MIN, INDEX_MAX);
        }
        ICS_TRY(ics_curve_add(group, phase->x[i], value, file->error));
    }
    return ICESTREAM_OK;
}

/* Returns a coefficient (1/m) at a wavelength, from the column with lengths or from the column with
 * coefficients, whichever the table has. */
static double coefficient(const ics_wavelength_table *table, int length, int inverse, double at)
{
    return has_column(table, length) ? 1 / ics_curve_at_or_end(&table->curves[length], at)
                                     : ics_curve_at_or_end(&table->curves[inverse], at);
}

static ice_spectral_optics optics_at(const water_file *file, double wavelength)
{
    const ics_wavelength_table *optics = &file->optics, *index = &file->index;
    const double effective = 1 - (1 - file->rayleigh_fraction) * file->mean_cosine;
    ice_spectral_optics at = {.absorption =
                                  coefficient(optics, ABSORPTION_LENGTH, ABSORPTION, wavelength)};
    if (has_column(optics, EFFECTIVE_LENGTH) || has_column(optics, EFFECTIVE)) {
        at.scattering = coefficient(optics, EFFECTIVE_LENGTH, EFFECTIVE, wavelength) / effective;
    } else {
        at.scattering = coefficient(optics, SCATTERING_LENGTH, SCATTERING, wavelength);
    }
    if (has_column(index, PHASE_INDEX)) {
        at.phase_index = ics_curve_at_or_end(&index->curves[PHASE_INDEX], wavelength);
        at.group_index = ics_curve_at_or_end(&index->curves[GROUP_INDEX], wavelength);
    } else {
        at.phase_index = ice_water_phase_index(&file->water, wavelength);
        at.group_index = ice_water_group_index(&file->water, wavelength);
    }
    return at;
}

static void set_layers(const water_file *file, ice_medium *medium)
{
    static const water_layer everywhere = {.scattering = 1, .absorption = 1};
    const water_layer *layers = file->layer_count ? file->layers : &everywhere;
    const size_t last = medium->layer_count - 1;
    medium->thickness = last ? (layers[last].z - layers[0].z) / (double)last : 100;
    medium->bottom = layers[0].z - 0.5 * medium->thickness;
    for (size_t i = 0; i <= last; ++i) {
        medium->layers[i] =
            (ice_layer){.effective_scattering = (1 - file->mean_cosine) * layers[i].scattering,
                        .dust_absorption = layers[i].absorption};
    }
}

static int make_medium(const water_file *file, const char *path, ice_medium **out)
{
    ice_medium *medium;
    ICS_TRY(ics_ice_allocate(file->name != NULL ? file->name : path,
                             file->layer_count ? file->layer_count : 1, &medium, file->error));
    medium->spectral = calloc(ROWS, sizeof *medium->spectral);
    if (medium->spectral == NULL) {
        ics_ice_destroy(medium);
        return ics_yaml_no_memory(file->error, file->root);
    }
    medium->mean_cosine = file->mean_cosine;
    const bool has_formula = !has_column(&file->index, PHASE_INDEX);
    medium->density = file->density;
    if (has_formula && file->density == 0) {
        medium->density = ice_water_density(&file->water);
    }
    medium->rayleigh_fraction = file->rayleigh_fraction;
    set_layers(file, medium);
    for (int i = 0; i < ROWS; ++i) {
        medium->spectral[i] = optics_at(file, ICE_WAVELENGTH_MIN + i);
    }
    *out = medium;
    return ICESTREAM_OK;
}

static int read_water(water_file *file, const char *path, const char *scatter, ice_medium **out,
                      ics_warnings *warnings)
{
    ics_wavelength_table *index = &file->index;
    ICS_TRY(read_keys(file));
    const int status = check_optics(file);
    ICS_TRY(ics_error_first(status, check_index(file)));
    const bool has_formula = !has_column(index, PHASE_INDEX);
    if (!has_formula && !has_column(index, GROUP_INDEX)) {
        ICS_TRY(derive_group_index(file, index));
    }
    if (has_formula && file->water.salinity > 1) {
        ics_warnings_add(
            warnings,
            "%s: what salinity adds to the index of refraction was fitted for %g .. %g nm and is "
            "trusted down to %g nm; for light below, give index.table",
            path, ICE_WATER_FITTED_FROM, ICE_WATER_FITTED_TO, ICE_WATER_TRUSTED_FROM);
    }
    ICS_TRY(make_medium(file, path, out));
    ics_ice_scatter_choose(scatter, file->scatter, *out);
    ics_ice_scatter_warn(ics_ice_scatter_variant(0), scatter, true, &file->keys, warnings);
    return ICESTREAM_OK;
}

int ics_ice_from_spectral(const char *path, const ics_yaml_node *root, const char *scatter,
                          ice_medium **out, ics_warnings *warnings, icestream_error *error)
{
    water_file file = {.root = root, .error = error};
    *out = NULL;
    const int status = read_water(&file, path, scatter, out, warnings);
    ics_schema_clear(file.keys.fields, file.keys.count, &file);
    ics_wavelength_table_free(&file.optics);
    ics_wavelength_table_free(&file.index);
    return status;
}
