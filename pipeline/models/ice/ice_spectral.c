/* Water from a YAML file: absorption, scattering and index of refraction by wavelength. */
#include "base/error.h"
#include "physics/water.h"
#include "pipeline/config/schema/schema.h"
#include "pipeline/models/ice/ice_medium.h"
#include "pipeline/models/ice/ice_sources.h"
#include "pipeline/models/light/wavelength_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = (int)(ICE_WAVELENGTH_MAX - ICE_WAVELENGTH_MIN) + 1 };

/* A layer by what its coefficients are times those of the table. */
typedef struct water_layer {
    double z; /* of its centre, m */
    double scattering, absorption;
} water_layer;

typedef struct water_file {
    char *name;
    char *optics_path, *index_path;     /* CSV files, or NULL */
    ics_wavelength_table optics, index; /* index without points: the formula of water */
    bool optics_extend, index_extend;   /* the values of the ends hold beyond them */
    double rayleigh_fraction, mean_cosine;
    ice_water water;
    double density;      /* g/cm^3; 0: not given */
    water_layer *layers; /* [layer_count], from below; none: one that is as the table says */
    size_t layer_count;
} water_file;

/* ---- tables ---------------------------------------------------------------------------------- */

enum {
    ABSORPTION_LENGTH,
    ABSORPTION,
    SCATTERING_LENGTH,
    SCATTERING,
    EFFECTIVE_LENGTH,
    EFFECTIVE,
    OPTICS
};
static const ics_wavelength_column optics_columns[OPTICS] = {
    [ABSORPTION_LENGTH] = {"absorption_length_m", 1e-4, 1e6},
    [ABSORPTION] = {"absorption_per_m", 1e-6, 1e4},
    [SCATTERING_LENGTH] = {"scattering_length_m", 1e-4, 1e6},
    [SCATTERING] = {"scattering_per_m", 1e-6, 1e4},
    [EFFECTIVE_LENGTH] = {"effective_scattering_length_m", 1e-4, 1e6},
    [EFFECTIVE] = {"effective_scattering_per_m", 1e-6, 1e4},
};

enum { PHASE_INDEX, GROUP_INDEX, INDICES };
static const ics_wavelength_column index_columns[INDICES] = {
    [PHASE_INDEX] = {"phase_index", 1.001, 3},
    [GROUP_INDEX] = {"group_index", 1.001, 3},
};

static void clear_optics(void *target)
{
    ics_wavelength_table_free(&((water_file *)target)->optics);
}

static int read_optics(const ics_yaml_node *node, void *target, icestream_error *error)
{
    clear_optics(target);
    return ics_wavelength_table_read_yaml(node, optics_columns, OPTICS,
                                          &((water_file *)target)->optics, error);
}

static void clear_index(void *target)
{
    ics_wavelength_table_free(&((water_file *)target)->index);
}

static int read_index(const ics_yaml_node *node, void *target, icestream_error *error)
{
    clear_index(target);
    return ics_wavelength_table_read_yaml(node, index_columns, INDICES,
                                          &((water_file *)target)->index, error);
}

/* Reads the table's CSV file, where there is one. */
static int read_csv(const char *path, const ics_wavelength_column *columns, size_t count,
                    ics_wavelength_table *out, icestream_error *error)
{
    ics_text text;
    if (path == NULL) {
        return ICESTREAM_OK;
    }
    int status = ics_text_read(path, &text, error);
    if (status == ICESTREAM_OK) {
        status = ics_wavelength_table_read_text(&text, columns, count, out, error);
    }
    ics_text_free(&text);
    return status;
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
        int result = ics_schema_number(node->items[k], what, k ? 1e-3 : -20000, k ? 1e3 : 20000,
                                       numbers[k], error);
        status = status ? status : result;
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
    char found[128];
    clear_layers(file);
    if (node->kind != ICS_YAML_LIST || node->count < 1 || node->count > ICE_LAYERS_MAX) {
        return ics_yaml_error(error, node, "layers: found %s, expected a list of 1 .. %d layers",
                              ics_yaml_describe(node, found, sizeof found), ICE_LAYERS_MAX);
    }
    file->layers = calloc(node->count, sizeof *file->layers);
    if (file->layers == NULL) {
        return ics_yaml_no_memory(error, node);
    }
    file->layer_count = node->count;
    int status = ICESTREAM_OK;
    for (size_t i = 0; i < node->count; ++i) {
        int result = read_layer(node->items[i], i, &file->layers[i], error);
        status = status ? status : result;
    }
    return status ? status : check_spacing(node, file->layers, error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static const char *extend_names(const char *path, size_t index)
{
    static const char *const names[] = {"none", "constant"};
    (void)path;
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

static const ics_schema_custom optics_field = {
    .expected = "a list of the columns' names and lists of numbers",
    .read = read_optics,
    .clear = clear_optics,
};
static const ics_schema_custom index_field = {
    .expected = "a list of the columns' names and lists of numbers",
    .read = read_index,
    .clear = clear_index,
};
static const ics_schema_custom layers_field = {
    .expected = "a list of [z_m, factor of scattering, factor of absorption]",
    .read = read_layers,
    .clear = clear_layers,
};

#define AT(member)          ICS_SCHEMA_AT(water_file, member)
#define EXTEND(member)      .type = ICS_SCHEMA_CHOICE, AT(member), .choice = extend_names
#define WITHIN(least, most) .type = ICS_SCHEMA_NUMBER, .low = (least), .high = (most)

enum {
    NAME,
    OPTICS_FILE,
    OPTICS_TABLE,
    OPTICS_EXTEND,
    RAYLEIGH,
    COSINE,
    SALINITY,
    TEMPERATURE,
    PRESSURE,
    INDEX_FILE,
    INDEX_TABLE,
    INDEX_EXTEND,
    DENSITY,
    LAYERS,
    FIELDS
};
static const ics_schema_field fields[FIELDS] = {
    [NAME] = {.path = "name", .type = ICS_SCHEMA_TEXT, AT(name)},
    [OPTICS_FILE] = {.path = "optics.file",
                     .type = ICS_SCHEMA_PATH,
                     AT(optics_path),
                     .group = "optics",
                     .required = true},
    [OPTICS_TABLE] = {.path = "optics.table",
                      .type = ICS_SCHEMA_CUSTOM,
                      AT(optics),
                      .custom = &optics_field,
                      .group = "optics"},
    [OPTICS_EXTEND] = {.path = "optics.extend", EXTEND(optics_extend)},
    [RAYLEIGH] = {.path = "scattering.rayleigh_fraction", WITHIN(0, 1), AT(rayleigh_fraction)},
    [COSINE] = {.path = "scattering.mean_cosine",
                WITHIN(-0.999, 0.9999),
                AT(mean_cosine),
                .required = true},
    [SALINITY] = {.path = "index.salinity", WITHIN(0, 45), AT(water.salinity)},
    [TEMPERATURE] = {.path = "index.temperature", WITHIN(-2, 40), AT(water.temperature)},
    [PRESSURE] = {.path = "index.pressure", WITHIN(0, 1200), AT(water.pressure)},
    [INDEX_FILE] = {.path = "index.file",
                    .type = ICS_SCHEMA_PATH,
                    AT(index_path),
                    .group = "index"},
    [INDEX_TABLE] = {.path = "index.table",
                     .type = ICS_SCHEMA_CUSTOM,
                     AT(index),
                     .custom = &index_field,
                     .group = "index"},
    [INDEX_EXTEND] = {.path = "index.extend", EXTEND(index_extend)},
    [DENSITY] = {.path = "density", WITHIN(0.5, 2), AT(density)},
    [LAYERS] = {.path = "layers", .type = ICS_SCHEMA_CUSTOM, AT(layers), .custom = &layers_field},
};

typedef struct water_reader {
    water_file file;
    const ics_yaml_node *root;
    const ics_yaml_node *given[FIELDS];
    icestream_error *error;
} water_reader;

static const ics_yaml_node *one_of(const water_reader *reader, int first, int second)
{
    return reader->given[first] != NULL ? reader->given[first] : reader->given[second];
}

static bool has(const ics_wavelength_table *table, int column)
{
    return table->curves[column].count > 0;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The table has to span the band, unless its ends hold beyond. */
static int check_band(const water_reader *reader, const ics_yaml_node *node, const char *what,
                      const ics_curve *curve, bool extend)
{
    const double first = curve->x[0], last = curve->x[curve->count - 1];
    if (extend || (first <= ICE_WAVELENGTH_MIN && last >= ICE_WAVELENGTH_MAX)) {
        return ICESTREAM_OK;
    }
    return ics_yaml_error(reader->error, node,
                          "%s: found wavelengths of %.10g .. %.10g nm, expected %g .. %g nm, or "
                          "%s.extend: constant, which takes the values of both ends beyond them",
                          what, first, last, ICE_WAVELENGTH_MIN, ICE_WAVELENGTH_MAX, what);
}

static int check_optics(const water_reader *reader)
{
    const ics_wavelength_table *table = &reader->file.optics;
    const ics_yaml_node *node = one_of(reader, OPTICS_FILE, OPTICS_TABLE);
    int absorption = 0, scattering = 0, status = ICESTREAM_OK;
    for (int i = 0; i < OPTICS; ++i) {
        *(i < SCATTERING_LENGTH ? &absorption : &scattering) += has(table, i);
    }
    if (absorption != 1) {
        status = ics_yaml_error(reader->error, node,
                                "optics: found %d columns of absorption, expected one: "
                                "absorption_length_m or absorption_per_m",
                                absorption);
    }
    if (scattering != 1) {
        status = ics_yaml_error(reader->error, node,
                                "optics: found %d columns of scattering, expected one: "
                                "scattering_length_m, scattering_per_m or either of them after "
                                "effective_",
                                scattering);
    }
    for (int i = 0; i < OPTICS && status == ICESTREAM_OK; ++i) {
        if (has(table, i)) {
            return check_band(reader, node, "optics", &table->curves[i],
                              reader->file.optics_extend);
        }
    }
    return status;
}

static int check_index_table(const water_reader *reader, const ics_yaml_node *node)
{
    const ics_wavelength_table *table = &reader->file.index;
    const ics_curve *phase = &table->curves[PHASE_INDEX];
    for (int i = SALINITY; i <= PRESSURE; ++i) {
        if (reader->given[i] != NULL) {
            return ics_yaml_error(reader->error, reader->given[i],
                                  "%s: found a table of the index as well, expected one of them",
                                  fields[i].path);
        }
    }
    if (!has(table, PHASE_INDEX)) {
        return ics_yaml_error(reader->error, node, "index: found no column 'phase_index'");
    }
    if (!has(table, GROUP_INDEX) && phase->count < 3) {
        return ics_yaml_error(reader->error, node,
                              "index: found %zu rows, expected 3 or more, or a column "
                              "'group_index', which is the slope of the phase index otherwise",
                              phase->count);
    }
    return check_band(reader, node, "index", phase, reader->file.index_extend);
}

static int check_index(const water_reader *reader)
{
    const ics_yaml_node *node = one_of(reader, INDEX_FILE, INDEX_TABLE);
    const ics_yaml_node *section = ics_yaml_find(reader->root, "index");
    int status = ICESTREAM_OK;
    if (node != NULL) {
        return check_index_table(reader, node);
    }
    for (int i = SALINITY; i <= PRESSURE; ++i) {
        if (reader->given[i] == NULL) {
            status = ics_yaml_error(reader->error, section != NULL ? section : reader->root,
                                    "the key '%s' is missing (per mille, deg C, bar), or an "
                                    "index.table or index.file of phase indices",
                                    fields[i].path);
        }
    }
    if (reader->given[INDEX_EXTEND] != NULL) {
        status = ics_yaml_error(reader->error, reader->given[INDEX_EXTEND],
                                "index.extend: found it without a table of the index, to which it "
                                "would belong");
    }
    return status;
}

static int read_file(water_reader *reader)
{
    water_file *file = &reader->file;
    int status = ics_schema_read(reader->root, fields, FIELDS, file, reader->given, reader->error);
    int result = read_csv(file->optics_path, optics_columns, OPTICS, &file->optics, reader->error);
    status = status ? status : result;
    result = read_csv(file->index_path, index_columns, INDICES, &file->index, reader->error);
    status = status ? status : result;
    if (status != ICESTREAM_OK) {
        return status;
    }
    status = check_optics(reader);
    result = check_index(reader);
    return status ? status : result;
}

/* ---- the medium ------------------------------------------------------------------------------ */

/* n - wavelength dn/dwavelength at the points of the phase index. */
static int derive_group_index(const water_reader *reader, ics_wavelength_table *table)
{
    const ics_curve *phase = &table->curves[PHASE_INDEX];
    ics_curve *group = &table->curves[GROUP_INDEX];
    const ics_wavelength_column *limits = &index_columns[GROUP_INDEX];
    const ics_yaml_node *node = one_of(reader, INDEX_FILE, INDEX_TABLE);
    for (size_t i = 0; i < phase->count; ++i) {
        double value = phase->y[i] - phase->x[i] * ics_wavelength_table_slope(phase, i);
        if (!(value >= limits->low && value <= limits->high)) {
            return ics_yaml_error(
                reader->error, node,
                "index: found a group index of %.6g at %.10g nm from the slope of "
                "phase_index, expected %g .. %g",
                value, phase->x[i], limits->low, limits->high);
        }
        if (ics_curve_add(group, phase->x[i], value) != ICESTREAM_OK) {
            return ics_yaml_no_memory(reader->error, node);
        }
    }
    return ICESTREAM_OK;
}

/* The coefficient of whichever column the table has. */
static double coefficient(const ics_wavelength_table *table, int length, int inverse, double at)
{
    return has(table, length) ? 1 / ics_curve_at_or_end(&table->curves[length], at)
                              : ics_curve_at_or_end(&table->curves[inverse], at);
}

static ice_spectral_optics optics_at(const water_file *file, double wavelength)
{
    const ics_wavelength_table *optics = &file->optics, *index = &file->index;
    const double effective = 1 - (1 - file->rayleigh_fraction) * file->mean_cosine;
    ice_spectral_optics at = {.absorption =
                                  coefficient(optics, ABSORPTION_LENGTH, ABSORPTION, wavelength)};
    if (has(optics, EFFECTIVE_LENGTH) || has(optics, EFFECTIVE)) {
        at.scattering = coefficient(optics, EFFECTIVE_LENGTH, EFFECTIVE, wavelength) / effective;
    } else {
        at.scattering = coefficient(optics, SCATTERING_LENGTH, SCATTERING, wavelength);
    }
    if (has(index, PHASE_INDEX)) {
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

static int make_medium(const water_reader *reader, const char *path, ice_medium **out)
{
    const water_file *file = &reader->file;
    ice_medium *medium;
    int status =
        ics_ice_allocate(file->name != NULL ? file->name : path,
                         file->layer_count ? file->layer_count : 1, &medium, reader->error);
    if (status != ICESTREAM_OK) {
        return status;
    }
    medium->spectral = calloc(ROWS, sizeof *medium->spectral);
    if (medium->spectral == NULL) {
        ics_ice_destroy(medium);
        return ics_yaml_no_memory(reader->error, reader->root);
    }
    medium->mean_cosine = file->mean_cosine;
    medium->density = file->density;
    medium->rayleigh_fraction = file->rayleigh_fraction;
    set_layers(file, medium);
    for (int i = 0; i < ROWS; ++i) {
        medium->spectral[i] = optics_at(file, ICE_WAVELENGTH_MIN + i);
    }
    *out = medium;
    return ICESTREAM_OK;
}

int ics_ice_from_spectral(const char *path, const ics_yaml_node *root, ice_medium **out,
                          ics_warnings *warnings, icestream_error *error)
{
    water_reader reader = {.root = root, .error = error};
    ics_wavelength_table *index = &reader.file.index;
    *out = NULL;
    int status = read_file(&reader);
    if (status == ICESTREAM_OK && has(index, PHASE_INDEX) && !has(index, GROUP_INDEX)) {
        status = derive_group_index(&reader, index);
    }
    if (status == ICESTREAM_OK && !has(index, PHASE_INDEX) &&
        ics_warnings_add(
            warnings,
            "%s: the index of refraction by salinity, temperature and pressure was "
            "fitted for %g .. %g nm and is trusted down to %g nm; for light below, give "
            "index.table",
            path, ICE_WATER_FITTED_FROM, ICE_WATER_FITTED_TO,
            ICE_WATER_TRUSTED_FROM) != ICESTREAM_OK) {
        status = ics_yaml_no_memory(error, root);
    }
    if (status == ICESTREAM_OK) {
        status = make_medium(&reader, path, out);
    }
    ics_schema_clear(fields, FIELDS, &reader.file);
    return status;
}
